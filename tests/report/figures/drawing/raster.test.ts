/**
 * The rasterizer of the report's pictures: nearer surfaces hide farther ones, edges are smooth, and nothing behind the
 * camera is drawn.
 */
import { decode } from "fast-png";
import { expect, test } from "vitest";
import { render, type Color, type RasterMesh } from "./raster.ts";

const CAMERA = { position: [0, 0, 2], target: [0, 0, 0], fov: 60 } as const;
const RED: Color = [1, 0, 0];
const BLUE: Color = [0, 0, 1];
/** Square of half edge `half` at depth z that faces the camera. */
const square = (z: number, half: number, color: Color): RasterMesh => ({
  positions: [-half, -half, z, half, -half, z, half, half, z, -half, half, z],
  triangles: [0, 1, 2, 0, 2, 3],
  color,
});

function pixels(meshes: readonly RasterMesh[], ground?: number): (x: number, y: number) => [number, number, number] {
  const { data, width } = decode(
    render({ meshes, camera: CAMERA, width: 60, height: 40, ...(ground !== undefined && { ground }) }),
  );
  return (x, y) => [data[3 * (y * width + x)]!, data[3 * (y * width + x) + 1]!, data[3 * (y * width + x) + 2]!];
}
const isRed = ([r, g, b]: readonly number[]): boolean => r! > 2 * g! && r! > 2 * b!;
const isBlue = ([r, g, b]: readonly number[]): boolean => b! > 2 * r! && b! > 2 * g!;

test("the nearer square hides the farther one, in either order", () => {
  const near = square(0.5, 0.2, RED);
  const far = square(0, 0.5, BLUE);
  for (const at of [pixels([near, far]), pixels([far, near])]) {
    expect(isRed(at(30, 20))).toBe(true);
    // 0.5 m at 2 m under 60 degrees is 8.7 pixels, 0.2 m at 1.5 m 4.6
    expect(isBlue(at(30, 13))).toBe(true);
    expect(isBlue(at(30, 10))).toBe(false);
  }
});

test("an edge pixel mixes the colors of both sides", () => {
  const [r, g] = pixels([square(0, 0.5, RED)])(30, 11);
  const [inside] = pixels([square(0, 0.5, RED)])(30, 15);
  expect(g).toBeGreaterThan(10);
  expect(g).toBeLessThan(220);
  expect(r).toBeGreaterThan(Math.min(inside, 200));
});

test("triangles behind the camera are not drawn, and triangles that reach behind it are clipped", () => {
  const empty = pixels([])(30, 20);
  expect(pixels([square(3, 1, RED)])(30, 20)).toEqual(empty);
  const floor: RasterMesh = {
    positions: [-1, -0.5, -5, 1, -0.5, -5, 1, -0.5, 5, -1, -0.5, 5],
    triangles: [0, 2, 1, 0, 3, 2],
    color: RED,
  };
  expect(isRed(pixels([floor])(30, 36))).toBe(true);
  expect(isRed(pixels([floor])(30, 5))).toBe(false);
});

test("the ground is below the horizon, and a body casts its shadow on it", () => {
  const bare = pixels([], -0.5);
  const shaded = pixels([square(0, 0.3, RED)], -0.5);
  const sky = pixels([]);
  expect(bare(30, 2)).toEqual(sky(30, 2));
  expect(bare(30, 36)).not.toEqual(sky(30, 36));
  // Row 27 looks at the ground 2.309 m away, z = -0.309. A point h above the ground casts its shadow h (0.45,
  // -0.55)/0.8 away: there h = 0.449, and the shadow of the square between x = -0.3 and 0.3 lies between -0.047 and
  // 0.553, between the pixels 29.3 and 38.3.
  const dark = Array.from({ length: 60 }, (_, x) => x).filter((x) => shaded(x, 27)[1] < 0.9 * bare(x, 27)[1]);
  expect(dark.every((x) => x >= 29 && x <= 38)).toBe(true);
  expect(dark).toEqual(expect.arrayContaining([30, 31, 32, 33, 34, 35, 36, 37]));
});
