/** Strain of surfaces: exact for linear deformations, free of rotation, and shown on a scale that does not flicker. */
import { expect, test } from "vitest";
import { scaleFor, type StrainKind, SurfaceStrain } from "../../../../client/view/bodies/strainView.ts";

/** Two triangles of a square in the plane z = 0. */
const REST = Float32Array.of(0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 2, 0);
const TRIANGLES = Uint32Array.of(0, 1, 2, 0, 2, 3);

/** @param map new position of a point. @returns strain of the four corners */
function strainOf(map: (x: number, y: number) => [number, number, number], kind: StrainKind): number[] {
  const strain = new SurfaceStrain(REST, TRIANGLES, kind);
  const positions = new Float32Array(12);
  for (let i = 0; i < 4; i++) positions.set(map(REST[3 * i]!, REST[3 * i + 1]!), 3 * i);
  strain.update(positions);
  return [...strain.values];
}

test.each([
  ["rest", (x: number, y: number) => [x, y, 0], 0, 0],
  ["a turn out of the plane", (x: number, y: number) => [x, 0.6 * y, 0.8 * y], 0, 0],
  ["20 % longer in y", (x: number, y: number) => [x, 1.2 * y, 0], 0.2, 0.2],
  ["30 % shorter in x, 10 % longer in y", (x: number, y: number) => [0.7 * x, 0, 1.1 * y], -0.3, 0.77 - 1],
  // Principal stretches of a simple shear by g: sqrt(1 + g^2 / 4) +- g / 2. It keeps the area.
  ["a shear by 0.5", (x: number, y: number) => [x + 0.5 * y, y, 0], Math.sqrt(1 + 0.0625) + 0.25 - 1, 0],
] as [string, (x: number, y: number) => [number, number, number], number, number][])(
  "%s",
  (_, map, principal, area) => {
    for (const value of strainOf(map, "principal")) expect(value).toBeCloseTo(principal, 5);
    for (const value of strainOf(map, "area")) expect(value).toBeCloseTo(area, 5);
  },
);

test("a corner has the mean of its triangles, weighted by rest area", () => {
  // The second triangle has three times the area of the first, and only it is stretched, along its own height.
  const rest = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -3, 0);
  const strain = new SurfaceStrain(rest, Uint32Array.of(0, 1, 2, 0, 3, 1), "principal");
  strain.update(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -6, 0));
  expect(strain.values[2]).toBeCloseTo(0, 6);
  expect(strain.values[3]).toBeCloseTo(1, 6);
  expect(strain.values[0]).toBeCloseTo(0.75, 6);
});

test("a triangle without area has no strain", () => {
  const flat = new Float32Array(9);
  const strain = new SurfaceStrain(flat, Uint32Array.of(0, 1, 2), "principal");
  strain.update(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0));
  expect([...strain.values]).toEqual([0, 0, 0]);
});

test("the scale ends at a round value above nearly all strains, grows at once and shrinks late", () => {
  const all = (value: number): Float32Array[] => [new Float32Array(200).fill(value)];
  expect(scaleFor(all(0.004), 0)).toBe(0.01);
  expect(scaleFor(all(-0.04), 0.01)).toBe(0.05);
  expect(scaleFor(all(0.015), 0.05)).toBe(0.05);
  expect(scaleFor(all(0.004), 0.05)).toBe(0.01);
  expect(scaleFor(all(9), 0.05)).toBe(2);
  expect(scaleFor(all(9), 0.05, 1)).toBe(1);
  const spiked = all(0.04);
  spiked[0]![0] = 1.5;
  expect(scaleFor(spiked, 0)).toBe(0.05);
  expect(scaleFor([], 0)).toBe(0.01);
});
