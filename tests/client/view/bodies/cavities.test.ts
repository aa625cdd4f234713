/** Light in hollows and through thin parts: flat and raised places have all of it, hollows of any size less. */
import { expect, test } from "vitest";
import { hollowAndThinLight } from "../../../../client/view/bodies/cavities.ts";
import { vertexNormalsInto } from "../../../../shared/skinning/index.ts";

const SIDE = 41;

/**
 * @param height of the point (x, z), both from -1 to 1
 * @returns light at the middle and at a corner, and through the middle, 0..255
 */
function lightOf(height: (x: number, z: number) => number): { middle: number; corner: number; through: number } {
  const positions = new Float32Array(3 * SIDE * SIDE);
  const triangles: number[] = [];
  for (let j = 0; j < SIDE; j++)
    for (let i = 0; i < SIDE; i++) {
      const [x, z] = [i, j].map((k) => (2 * k) / (SIDE - 1) - 1) as [number, number];
      const v = j * SIDE + i;
      positions.set([x, height(x, z), z], 3 * v);
      if (i < SIDE - 1 && j < SIDE - 1) triangles.push(v, v + SIDE, v + 1, v + 1, v + SIDE, v + SIDE + 1);
    }
  const normals = new Float32Array(positions.length);
  const faces = Uint32Array.from(triangles);
  vertexNormalsInto(positions, faces, normals);
  const light = hollowAndThinLight(positions, normals, faces);
  const middle = (SIDE * SIDE - 1) / 2;
  return { middle: light[2 * middle]!, corner: light[0]!, through: light[2 * middle + 1]! };
}

const bump = (x: number, z: number, width: number): number => Math.exp(-(x * x + z * z) / (width * width));

test("a plane has all light", () => {
  expect(lightOf(() => 0)).toEqual({ middle: 255, corner: 255, through: 0 });
});

test.each([0.1, 0.3])("a hollow of width %f is darker than the plane around it, a bump is not", (width) => {
  const hollow = lightOf((x, z) => -width * bump(x, z, width));
  expect(hollow.corner).toBe(255);
  expect(hollow.middle).toBeLessThan(150);
  expect(lightOf((x, z) => width * bump(x, z, width)).middle).toBe(255);
});

test("no place is black", () => {
  expect(lightOf((x, z) => -5 * bump(x, z, 0.1)).middle).toBeGreaterThan(80);
});

test("light passes a narrow horn, and neither a wide hill nor a hollow", () => {
  expect(lightOf((x, z) => bump(x, z, 0.12)).through).toBeGreaterThan(50);
  expect(lightOf((x, z) => 0.2 * bump(x, z, 0.6)).through).toBeLessThan(20);
  expect(lightOf((x, z) => -bump(x, z, 0.12)).through).toBe(0);
});
