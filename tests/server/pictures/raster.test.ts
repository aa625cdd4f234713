/** Painted triangles: their place on the picture, hidden surfaces, their shadow, and the file. */
import { expect, test } from "vitest";
import { encodePng } from "../../../server/pictures/png.ts";
import { Raster, type Shade } from "../../../server/pictures/raster.ts";
import { decodePng } from "./png.ts";

const WIDTH = 60;
const HEIGHT = 40;
/** One metre is 20 pixels high at a distance of 1 m. */
const VIEW = { eye: [0, 0, 1] as [number, number, number], target: [0, 0, 0] as [number, number, number], tanY: 1 };
const flat =
  (r: number, g: number, b: number): Shade =>
  (_, out, at) =>
    out.set([r, g, b], at);
const RED = flat(1, 0, 0);
const BLUE = flat(0, 0, 1);
const NO_SHADE = { color: [0, 0, 0], opacity: 0 } as const;

/** A square perpendicular to the view, facing the eye. */
const square = (x: number, y: number, z: number, half: number) => ({
  positions: [x - half, y - half, z, x + half, y - half, z, x + half, y + half, z, x - half, y + half, z],
  normals: [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1],
  triangles: [0, 1, 2, 0, 2, 3],
  crease: -1,
});
const pixel = (pixels: Uint8Array, x: number, y: number): number[] => [
  ...pixels.subarray(4 * (y * WIDTH + x), 4 * (y * WIDTH + x) + 4),
];

test("a square is at its place in perspective, in its front's color; around it is nothing", () => {
  const raster = new Raster(WIDTH, HEIGHT, VIEW);
  // 0.5 m to the right and 0.25 m up: 10 and 5 pixels; half as wide as high is 5 pixels.
  raster.draw({ ...square(0.5, 0.25, 0, 0.25), front: RED, back: BLUE });
  const pixels = raster.pixels(NO_SHADE);
  const covered: [number, number][] = [];
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) {
      const [r, g, b, a] = pixel(pixels, x, y);
      if (a === 0) continue;
      expect([r, g, b, a]).toEqual([255, 0, 0, 255]);
      covered.push([x, y]);
    }
  const columns = covered.map(([x]) => x);
  const rows = covered.map(([, y]) => y);
  expect([Math.min(...columns), Math.max(...columns), Math.min(...rows), Math.max(...rows)]).toEqual([35, 44, 10, 19]);
  expect(covered).toHaveLength(100);
});

test("near surfaces hide far ones in any drawing order; from behind the back is visible", () => {
  const near = { ...square(0, 0, 0.5, 0.1), front: RED, back: RED };
  const far = { ...square(0, 0, 0, 1), triangles: [0, 2, 1, 0, 3, 2], front: RED, back: BLUE };
  for (const order of [
    [near, far],
    [far, near],
  ]) {
    const raster = new Raster(WIDTH, HEIGHT, VIEW);
    for (const surface of order) raster.draw(surface);
    const pixels = raster.pixels(NO_SHADE);
    expect(pixel(pixels, 30, 20)).toEqual([255, 0, 0, 255]);
    expect(pixel(pixels, 40, 20)).toEqual([0, 0, 255, 255]);
  }
});

test("surfaces behind the eye, edge-on or with NaN are not drawn", () => {
  const raster = new Raster(WIDTH, HEIGHT, VIEW);
  for (const z of [1, 2, Number.NaN]) raster.draw({ ...square(0, 0, z, 1), front: RED, back: RED });
  raster.draw({ ...square(0, 0, 0, 0), front: RED, back: RED });
  expect(raster.pixels(NO_SHADE).every((value) => value === 0)).toBe(true);
});

test("a soft shadow is on the floor beside its caster", () => {
  const eye: [number, number, number] = [0, 3, 3];
  const raster = new Raster(WIDTH, HEIGHT, { eye, target: [0, 0, 0], tanY: 1 });
  const above = { positions: [-0.5, 1, -0.5, 0.5, 1, -0.5, 0, 1, 0.5], triangles: [0, 2, 1] };
  raster.shadow(above, [0, 1, 0], 0);
  const pixels = raster.pixels({ color: [10, 20, 30], opacity: 0.5 });
  expect(pixel(pixels, WIDTH / 2, HEIGHT / 2).slice(0, 3)).toEqual([10, 20, 30]);
  const opacities = pixels.filter((_, i) => i % 4 === 3);
  expect(Math.max(...opacities)).toBeLessThanOrEqual(128);
  expect(new Set(opacities).size).toBeGreaterThan(5);
  expect(pixel(pixels, 2, 2)).toEqual([0, 0, 0, 0]);
});

test("the file contains the picture, to two of 255 levels", () => {
  const pixels = Uint8Array.from({ length: 4 * WIDTH * HEIGHT }, (_, i) => (i * 7919) % 256);
  const decoded = decodePng(encodePng(pixels, WIDTH, HEIGHT));
  expect([decoded.width, decoded.height]).toEqual([WIDTH, HEIGHT]);
  const worst = decoded.pixels.reduce((most, value, i) => Math.max(most, Math.abs(value - pixels[i]!)), 0);
  expect(worst).toBeLessThanOrEqual(2);
});
