/**
 * kernel/assembly/state: the measurements of bodies at rest, and the copies of sound bodies, against the same sums in
 * TypeScript. Sums in float64 are equal to the bit.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import type { Kernel } from "../../server/sim/world/kernelModule.ts";
import { openMemory } from "./kernelMemory.ts";
import { Allocator } from "../../server/sim/memory/memoryMap.ts";
import { randomStream } from "./kit.ts";

const COUNT = 23;
/** The body is part of the particles. */
const FIRST = 5;
const BODY = 13;

interface Room {
  kernel: Kernel;
  f32: Float32Array;
  X: number;
  V: number;
  anchor: number;
  places: number;
  velocities: number;
}

function room(): Room {
  const allocator = new Allocator();
  const take = (): number => allocator.take(16 * COUNT);
  const [X, V, anchor, places, velocities] = [take(), take(), take(), take(), take()] as const;
  const { kernel, f32 } = openMemory(allocator, { [L.H_X]: X, [L.H_V]: V });
  const random = randomStream(7);
  for (const row of [X, V, anchor]) for (let i = 0; i < 4 * COUNT; i++) f32[row / 4 + i] = 2 * random() - 1;
  return { kernel, f32, X, V, anchor, places, velocities };
}

const particle = (f32: Float32Array, row: number, i: number): Float32Array =>
  f32.subarray(row / 4 + 4 * i, row / 4 + 4 * i + 4);

test("distances from anchors, and anchors that follow", () => {
  const { kernel, f32, X, anchor } = room();
  let expected = 0;
  for (let i = 0; i < BODY; i++) {
    const [x, y, z] = particle(f32, X, FIRST + i);
    const [a, b, c] = f32.subarray(anchor / 4 + 3 * i, anchor / 4 + 3 * i + 3);
    expected += (x! - a!) ** 2 + (y! - b!) ** 2 + (z! - c!) ** 2;
  }
  expect(kernel.distancesFromAnchor(FIRST, BODY, anchor, Infinity)).toBe(expected);
  expect(kernel.distancesFromAnchor(FIRST, BODY, anchor, expected)).toBe(expected);
  const part = kernel.distancesFromAnchor(FIRST, BODY, anchor, expected / 2);
  expect(part).toBeGreaterThan(expected / 2);
  expect(part).toBeLessThan(expected);
  const behind = f32[anchor / 4 + 3 * BODY];
  kernel.setAnchor(FIRST, BODY, anchor);
  expect(kernel.distancesFromAnchor(FIRST, BODY, anchor, Infinity)).toBe(0);
  expect(f32[anchor / 4 + 3 * BODY]).toBe(behind);
});

test("the share of fast particles", () => {
  const { kernel, f32, V } = room();
  const squares = Array.from({ length: BODY }, (_, i) => {
    const [x, y, z] = particle(f32, V, FIRST + i);
    return x! * x! + y! * y! + z! * z!;
  });
  const most = squares.toSorted((a, b) => a - b)[BODY - 5]!;
  // four are faster
  expect(kernel.moreMove(FIRST, BODY, most, 3)).toBe(1);
  expect(kernel.moreMove(FIRST, BODY, most, 3.5)).toBe(1);
  expect(kernel.moreMove(FIRST, BODY, most, 4)).toBe(0);
});

test("a sound body is copied; one with a bad particle leaves the copy as it is", () => {
  const { kernel, f32, X, V, places, velocities } = room();
  const keep = (): number => kernel.keepIfSound(FIRST, BODY, 10, 0.5, 0, 0, places, velocities);
  const rows = (row: number, first: number): number[] => [
    ...f32.subarray(row / 4 + 4 * first, row / 4 + 4 * (first + BODY)),
  ];
  expect(keep()).toBe(1);
  const [here, speeds] = [rows(X, FIRST), rows(V, FIRST)];
  expect(rows(places, 0)).toEqual(here);
  expect(rows(velocities, 0)).toEqual(speeds);
  expect(f32[places / 4 + 4 * BODY]).toBe(0);
  for (let i = 0; i < BODY; i++)
    for (let r = 0; r < 3; r++)
      for (const [row, value] of [
        [X, Number.NaN],
        [X, 10.6],
        [X, -11],
        [V, Number.POSITIVE_INFINITY],
        [V, Number.NaN],
      ] as const) {
        const bad = particle(f32, row, FIRST + i);
        const before = bad[r]!;
        bad[r] = value;
        expect(keep(), `particle ${i}, component ${r}: ${value}`).toBe(0);
        bad[r] = before;
        expect(rows(places, 0)).toEqual(here);
        expect(rows(velocities, 0)).toEqual(speeds);
      }
  // the fourth lanes (inverse mass, damping) do not count
  particle(f32, X, FIRST)[3] = 1e30;
  expect(keep()).toBe(1);
  // particles of other bodies do not count
  particle(f32, X, FIRST + BODY)[0] = Number.NaN;
  particle(f32, X, FIRST - 1)[0] = Number.NaN;
  expect(keep()).toBe(1);
});
