/**
 * kernel/assembly/broadPhase/pairChunks.ts: chunks, in any order and from any instance of the kernel, are together the
 * list of one thread, row by row.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel, type Kernel } from "../../server/sim/kernelModule.ts";
import { add, scale, type Vector } from "../../server/sim/reference/vector.ts";
import { randomStream } from "./kit.ts";
import { folded } from "./pairKit.ts";
import { box, grid, surfaceRoom, type SurfaceRoom } from "./surfaces.ts";

/**
 * A large cloth on itself, a small sheet and a box near it, a point, and two fixed ones; a filter between two;
 * everything moves.
 */
function room(): SurfaceRoom {
  const random = randomStream(3);
  const cloth = folded(36, 0.01, 0.001);
  const near = box(6, 0.01);
  const sheet = grid(9, 9, 0.012);
  const shift = (x: readonly Vector[], by: Vector): Vector[] => x.map((p) => add(p, by));
  const swing = (x: readonly Vector[]): Vector[] =>
    x.map(([a, , c]): Vector => [0.002 * Math.sin(40 * c), 0.004 * Math.cos(30 * a), 0.0003 * random()]);
  return surfaceRoom(
    [
      { ...cloth, margin: 0.0005, trajectories: swing(cloth.x) },
      { ...near, x: shift(near.x, [0.05, 0.0022, 0.1]), radius: 0.0005, margin: 0.0005, trajectories: swing(near.x) },
      { ...sheet, x: shift(sheet.x, [0.05, -0.0025, 0.1]), radius: 0.001, margin: 0.0005 },
      { x: [[0.07, -0.0021, 0.13]], triangles: [], radius: 0.001, trajectories: [[0, 0.01, 0]] },
      { ...sheet, x: shift(sheet.x, [0.02, 0.004, 0.05]), radius: 0.001, solid: 3, touchesItself: false, w: () => 0 },
      { ...sheet, x: shift(sheet.x, [0.021, 0.0042, 0.05]), radius: 0.001, solid: 3, touchesItself: false, w: () => 0 },
    ],
    (a, b) => !(a === 1 && b === 2),
  );
}

const orders: [string, (count: number) => number[]][] = [
  ["in order", (n) => Array.from({ length: n }, (_, i) => i)],
  ["backward", (n) => Array.from({ length: n }, (_, i) => n - 1 - i)],
  ...[1, 2, 3].map((seed): [string, (n: number) => number[]] => [
    `shuffled ${seed}`,
    (n) => {
      const random = randomStream(seed);
      const order = Array.from({ length: n }, (_, i) => i);
      for (let i = n - 1; i > 0; i--) {
        const j = Math.floor(((random() + 1) / 2) * (i + 1));
        [order[i], order[j]] = [order[j]!, order[i]!];
      }
      return order;
    },
  ]),
];

/** One instance begins, two list by turns of different length, the other joins. */
function list({ x, trajectories, memory }: SurfaceRoom, order: (count: number) => number[]): number {
  const [first, second] = [instantiateKernel(memory), instantiateKernel(memory)] as [Kernel, Kernel];
  const chunks = first.beginChunks(x, trajectories);
  expect(chunks).toBeGreaterThan(20);
  order(chunks).forEach((chunk, i) => (i % 3 === 1 ? second : first).listChunk(chunk));
  return second.joinChunks();
}

test("any order, two instances: the list of listPairs", () => {
  const r = room();
  const wanted = r.kernel.listPairs(r.x, r.trajectories);
  const rows = r.rows();
  expect(wanted).toBeGreaterThan(3000);
  expect(new Set(rows.map((row) => row.surfaces.join())).size).toBeGreaterThan(6);
  for (const [name, order] of orders) {
    new Int32Array(r.memory.buffer, L.HEADER + L.H_VERTEX_PAIRS, 2).fill(0);
    expect(list(r, order), name).toBe(wanted);
    expect(r.rows(), name).toEqual(rows);
  }
});

test("again after everything has moved: nothing is left of the list before", () => {
  const r = room();
  const f32 = new Float32Array(r.memory.buffer);
  expect(list(r, orders[2]![1])).toBeGreaterThan(3000);
  r.rest.forEach((p, i) => f32.set(scale(2, p), r.x / 4 + 4 * i));
  const few = list(r, orders[3]![1]);
  const rows = r.rows();
  expect(few).toBe(r.kernel.listPairs(r.x, r.trajectories));
  expect(rows).toEqual(r.rows());
});

test("what just fits into the list fits into the pages; one row less, or too few pages, is -1 and empty in any order", () => {
  const r = room();
  const i32 = new Int32Array(r.memory.buffer);
  const needed = r.kernel.listPairs(r.x, r.trajectories);
  const rows = r.rows();
  const capacity = (L.HEADER + L.H_PAIR_CAPACITY) / 4;
  const chunks = i32[(L.HEADER + L.H_CHUNKS) / 4]!;
  const pages = (chunks + L.CHUNKS_PAGE_COUNT) / 4;
  const whole = i32[pages]!;
  i32[capacity] = needed;
  i32[pages] = Math.ceil(needed / L.PAGE_CAPACITY) + 2 * i32[(chunks + L.CHUNKS_COUNT) / 4]!;
  for (const [name, order] of orders) {
    expect(list(r, order), name).toBe(needed);
    expect(r.rows(), name).toHaveLength(rows.length);
  }
  const taken = i32[(chunks + L.CHUNKS_TAKEN) / 4]!;
  i32[capacity] = needed - 1;
  for (const [name, order] of orders) expect([list(r, order), r.rows().length], name).toEqual([-1, 0]);
  i32[capacity] = needed;
  for (const [count, answer] of [
    [taken, needed],
    [taken - 1, -1],
    [1, -1],
    [0, -1],
    [whole, needed],
  ] as const) {
    i32[pages] = count;
    for (const [name, order] of orders)
      expect([list(r, order), r.rows().length], `${name}, ${count} pages`).toEqual([answer, Math.max(0, answer)]);
  }
});

test("nothing that could touch: no chunks, an empty list", () => {
  const r = surfaceRoom([{ ...grid(3, 3, 1), radius: 1, touchesItself: false }]);
  const { kernel } = r;
  expect(kernel.beginChunks(r.x, r.trajectories)).toBe(0);
  expect(kernel.joinChunks()).toBe(0);
});
