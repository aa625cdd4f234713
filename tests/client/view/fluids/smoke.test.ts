/** Smoke of tracers: taken up in the source, lost over time, and darker behind other smoke. */
import { expect, test } from "vitest";
import { Smoke } from "../../../../client/view/fluids/smoke.ts";

const SOURCE = { center: [0, 0, 0], radius: 0.1 } as const;
const UP = [0, 1, 0] as const;
/** Tracers in two corners of the gas. */
const WALLS = [-3, -3, -3, 3, 3, 3] as const;
const smokeOf = (packed: number): number => packed - Math.floor(packed);
const lightOf = (packed: number): number => Math.floor(packed) / 255;

test("a tracer takes up smoke in the source and loses it slowly outside", () => {
  const smoke = new Smoke(4, { center: [...SOURCE.center], radius: SOURCE.radius }, UP);
  const at = (x: number): Float32Array => Float32Array.of(x, 0, 0, 1, 0, 0, ...WALLS);
  for (const s of [-0.4, -0.2, 0]) smoke.update(at(0.05), s);
  expect(smokeOf(smoke.packed[0]!)).toBeGreaterThan(0.95);
  const never = smokeOf(smoke.packed[1]!);
  expect(never).toBeLessThan(0.05);
  for (let s = 0.5; s <= 4; s += 0.5) smoke.update(at(0.5), s);
  const later = smokeOf(smoke.packed[0]!);
  expect(later).toBeGreaterThan(0.15);
  expect(later).toBeLessThan(0.25);
  // A jump of time, as in a replay, changes nothing at once.
  smoke.update(at(0.5), 500);
  expect(smokeOf(smoke.packed[0]!)).toBeCloseTo(later, 5);
  smoke.update(at(0.5), 2);
  expect(smokeOf(smoke.packed[0]!)).toBeCloseTo(later, 5);
});

test("a page that draws every two seconds shows the same smoke at the source", () => {
  const smoke = new Smoke(3, { center: [...SOURCE.center], radius: SOURCE.radius }, UP);
  for (const s of [0, 2, 4]) smoke.update(Float32Array.of(0.05, 0, 0, ...WALLS), s);
  expect(smokeOf(smoke.packed[0]!)).toBeGreaterThan(0.95);
});

test("smoke fades toward the walls of its box, so that it does not show their shape, and comes back from there", () => {
  const smoke = new Smoke(3, { center: [...SOURCE.center], radius: SOURCE.radius }, UP);
  const shownAt = (x: number, s: number): number => {
    smoke.update(Float32Array.of(x, 0, 0, ...WALLS), s);
    return smokeOf(smoke.packed[0]!);
  };
  for (const s of [-0.2, -0.1, 0]) shownAt(0, s);
  const [middle, near, wall, back] = [0.5, 2.8, 3, 0.5].map((x) => shownAt(x, 0)) as [number, number, number, number];
  expect(middle).toBeGreaterThan(0.9);
  expect(near).toBeLessThan(0.2);
  expect(wall).toBe(0);
  expect(back).toBe(middle);
});

test("gas without a source is smoke everywhere", () => {
  const smoke = new Smoke(2, undefined, UP);
  smoke.update(Float32Array.of(0, 0, 0, 1, 1, 1), 0);
  expect(smokeOf(smoke.packed[0]!)).toBeGreaterThan(0.2);
  expect(smokeOf(smoke.packed[1]!)).toBeCloseTo(smokeOf(smoke.packed[0]!), 6);
});

test("smoke is darker under other smoke", () => {
  const column = Float32Array.from({ length: 60 }, (_, i) => (i % 3 === 1 ? i / 57 : 0));
  const smoke = new Smoke(20, undefined, UP);
  smoke.update(column, 0);
  expect(lightOf(smoke.packed[19]!)).toBe(1);
  expect(lightOf(smoke.packed[0]!)).toBeLessThan(0.9);
});
