/**
 * The broad phase of contact on a cloth that is folded onto itself, 1 mm apart, slightly wavy and rotated, from 1,000
 * to 100,000 triangles. Each part of 64 blocks (256 vertices or edges) is timed alone, many times, and the fastest
 * times are added, which excludes other load of the machine.
 */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel } from "../../server/sim/kernelModule.ts";
import { Allocator } from "../../server/sim/memory/map.ts";
import { planPairList } from "../../server/sim/memory/pairChunks.ts";
import { planSurfaces, SOLID, type SurfaceSource } from "../../server/sim/memory/surfaces.ts";
import type { Row } from "../part.ts";

export const name = "pairs";
export const about =
  "a folded cloth, 1 mm apart, 1 mm of margin: ns per triangle to list all pairs on one thread, and its growth";
export const runs = 3;

const CELLS = [23, 50, 100, 158, 224];
const SIDE = 0.01;
const GAP = 0.001;
const BLOCKS = 64;
const REPEATS = 15;

/** @returns seconds for one list, pairs in it, triangles */
function measure(n: number): { seconds: number; pairs: number; triangles: number } {
  const count = (n + 1) ** 2;
  const rest = new Float64Array(3 * count);
  const triangles = new Uint32Array(6 * n * n);
  for (let i = 0; i < count; i++) rest.set([Math.floor(i / (n + 1)) * SIDE, 0, (i % (n + 1)) * SIDE], 3 * i);
  for (let q = 0; q < n * n; q++) {
    const a = Math.floor(q / n) * (n + 1) + (q % n);
    const b = a + n + 1;
    triangles.set((Math.floor(q / n) + q) % 2 ? [a, b, a + 1, b, b + 1, a + 1] : [a, b, b + 1, a, b + 1, a + 1], 6 * q);
  }
  const allocator = new Allocator();
  const x = allocator.take(16 * count);
  const trajectories = allocator.take(16 * count); // All zero: nothing moves.
  const sources: SurfaceSource[] = [
    {
      first: 0,
      count,
      triangles,
      radius: GAP / 2,
      solid: SOLID.cloth,
      staticFriction: 0,
      friction: 0,
      restitution: 0,
      rest,
      touchesItself: true,
    },
  ];
  const planned = planSurfaces(sources, count, allocator);
  const writeList = planPairList(sources, () => true, allocator);
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  i32[(L.HEADER + L.H_X) / 4] = x;
  planned.write(memory.buffer, x);
  writeList(memory.buffer);
  f32[(planned.rows + L.SURFACE_MARGIN) / 4] = GAP / 2;
  const cos = Math.cos(0.4);
  const sin = Math.sin(0.4);
  for (let i = 0; i < count; i++) {
    const along = rest[3 * i]! - (n * SIDE) / 2 + 0.13 * SIDE;
    const z = rest[3 * i + 2]!;
    const u = Math.abs(along);
    const v = (along > 0 ? 0 : GAP) + 2 * GAP * Math.sin(20 * u) * Math.cos(15 * z);
    f32.set([cos * u - sin * v, sin * u + cos * v, z, 1], x / 4 + 4 * i);
  }
  const kernel = instantiateKernel(memory);
  const begin = i32[(L.HEADER + L.H_PAIRS) / 4]!;
  const end = begin + L.PAIR_BYTES * i32[(L.HEADER + L.H_PAIR_CAPACITY) / 4]!;
  const pairs = kernel.listPairs(x, trajectories);
  if (pairs < 0) throw new Error(`the list of ${n} x ${n} cells does not fit`);
  const parts: (() => void)[] = [() => kernel.refitTrees(x, trajectories)];
  for (let from = 0; from < kernel.vertexBlocks(0); from += BLOCKS)
    parts.push(() => kernel.listVertices(0, 0, from, Math.min(from + BLOCKS, kernel.vertexBlocks(0))));
  for (let from = 0; from < kernel.edgeBlocks(0); from += BLOCKS)
    parts.push(() => kernel.listEdges(0, 0, from, Math.min(from + BLOCKS, kernel.edgeBlocks(0))));
  const fastest = parts.map(() => Infinity);
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    kernel.openRegion(begin, end, x, trajectories);
    kernel.openPair(0, 0, x, trajectories);
    parts.forEach((part, p) => {
      const start = performance.now();
      part();
      fastest[p] = Math.min(fastest[p]!, (performance.now() - start) / 1000);
    });
  }
  return { seconds: fastest.reduce((a, b) => a + b, 0), pairs, triangles: triangles.length / 3 };
}

export async function run(): Promise<Row[]> {
  const all = CELLS.map(measure);
  const rows: Row[] = [];
  for (const { seconds, pairs, triangles } of all) {
    rows.push({ what: `${triangles} triangles, ${pairs} pairs`, value: 1000 * seconds, unit: "ms" });
    rows.push({ what: `${triangles} triangles, per triangle`, value: (1e9 * seconds) / triangles, unit: "ns" });
  }
  // Least squares through the logarithms.
  const points = all.map(({ seconds, triangles }) => [Math.log(triangles), Math.log(seconds)] as const);
  const mean = [0, 1].map((k) => points.reduce((sum, p) => sum + p[k]!, 0) / points.length) as [number, number];
  const slope =
    points.reduce((sum, p) => sum + (p[0] - mean[0]) * (p[1] - mean[1]), 0) /
    points.reduce((sum, p) => sum + (p[0] - mean[0]) ** 2, 0);
  rows.push({ what: "slope on a log-log plot", value: slope, unit: "", target: { atMost: 1.15 } });
  return rows;
}
