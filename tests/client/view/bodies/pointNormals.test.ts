/** Shading directions of a cloud of points. */
import { expect, test } from "vitest";
import { outwardInto } from "../../../../client/view/bodies/pointNormals.ts";

const SPACING = 0.1;
const SIDE = 5;

/** A cube of points; index x + SIDE (y + SIDE z). */
function cube(): Float32Array {
  const points: number[] = [];
  for (let k = 0; k < SIDE ** 3; k++)
    points.push(SPACING * (k % SIDE), SPACING * (Math.floor(k / SIDE) % SIDE), SPACING * Math.floor(k / SIDE ** 2));
  return Float32Array.from(points);
}

const at = (out: Float32Array, x: number, y: number, z: number): number[] => [
  ...out.subarray(3 * (x + SIDE * (y + SIDE * z)), 3 * (x + SIDE * (y + SIDE * z)) + 3),
];

test("directions leave the cloud: none inside, along the normal of a face, along the diagonal of a corner", () => {
  const out = new Float32Array(3 * SIDE ** 3);
  outwardInto(out, cube(), SPACING);
  for (const part of at(out, 2, 2, 2)) expect(part).toBeCloseTo(0, 5);
  const [x, y, z] = at(out, 2, 2, 0) as [number, number, number];
  expect(x).toBeCloseTo(0, 5);
  expect(y).toBeCloseTo(0, 5);
  expect(z).toBeCloseTo(-1, 5);
  for (const part of at(out, 4, 4, 4)) expect(part).toBeCloseTo(1 / Math.sqrt(3), 5);
});

test("a lone point, and one in the place of another, have no direction and spoil no neighbor", () => {
  const out = new Float32Array(9).fill(7);
  outwardInto(out, Float32Array.of(0, 0, 0, 0, 0, 0, 9, 9, 9), SPACING);
  expect([...out]).toEqual(Array.from({ length: 9 }, () => 0));
});
