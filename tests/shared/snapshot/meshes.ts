/** Small meshes and motions for the codec's tests, from a seeded generator so that a failure can be reproduced. */
import { gridTriangles } from "../../../load-tests/codec/clothTrajectory.ts";

export interface TestBody {
  count: number;
  triangles: Uint32Array;
}

/** Numbers in [0, 1): mulberry32 (Tommy Ettinger). */
export function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const grid = (side: number): TestBody => ({ count: side * side, triangles: gridTriangles(side) });

/** Particles without a triangle. */
export const dust = (count: number): TestBody => ({ count, triangles: new Uint32Array(0) });

/** Random triangles, repeated corners and triangles included. */
export function soup(count: number, triangles: number, seed: number): TestBody {
  const next = random(seed);
  return { count, triangles: Uint32Array.from({ length: 3 * triangles }, () => Math.floor(next() * count)) };
}

/** One hub in `spokes` triangles: more neighbors than the model counts. */
export function fan(spokes: number): TestBody {
  return {
    count: spokes + 1,
    triangles: Uint32Array.from(Array.from({ length: spokes }, (_, i) => [0, 1 + i, 1 + ((i + 1) % spokes)]).flat()),
  };
}

/** A sheet of particles `step` grid units apart, numbered as `grid` does, with some relief. */
export function sheet(side: number, step: number, seed: number): Int32Array {
  const next = random(seed);
  const out = new Int32Array(3 * side * side);
  for (let v = 0; v < side * side; v++) {
    out[3 * v] = step * (v % side);
    out[3 * v + 1] = Math.floor(next() * 9) + 500;
    out[3 * v + 2] = step * Math.floor(v / side);
  }
  return out;
}

/** The frame after `frame`: everything moves by `drift`, and every coordinate by up to +-`noise` more. */
export function move(frame: Int32Array, drift: readonly number[], noise: number, next: () => number): Int32Array {
  return frame.map((x, i) => x + drift[i % 3] + Math.round((2 * next() - 1) * noise));
}
