/** Surfaces in memory without a world, for tests of intersections. */
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Kernel } from "../../../server/sim/world/kernelModule.ts";
import { openMemory } from "../kernelMemory.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import {
  planSurfaces,
  SOLID,
  uniqueEdges,
  type Meets,
  type SurfaceSource,
} from "../../../server/sim/memory/contact/surfaceRows.ts";
import type { Vector } from "../../../server/sim/reference/vector.ts";

/** One surface: its particles from 0, current positions, and positions at rest (default: the same). */
export interface Sheet {
  x: readonly Vector[];
  rest?: readonly Vector[];
  triangles: readonly number[][];
  edges?: readonly number[][];
  radius: number;
  touchesItself?: boolean;
  solid?: SurfaceSource["solid"];
  /** Inverse mass; default 1. */
  w?: (particle: number) => number;
}

/** A surface by particle numbers. */
interface SurfaceTwin {
  vertices: readonly number[];
  /** Three particles each, and two particles each. */
  triangles: readonly number[][];
  edges: readonly number[][];
  /** By surface number. */
  meets: readonly boolean[];
}

export interface SurfaceRoom {
  kernel: Kernel;
  memory: WebAssembly.Memory;
  /** Addresses of X and of a second array of positions. */
  x: number;
  other: number;
  twins: SurfaceTwin[];
  /** Stored values, float32. */
  positions: Vector[];
  rest: Vector[];
  w: number[];
}

const round = (p: Vector): Vector => [Math.fround(p[0]), Math.fround(p[1]), Math.fround(p[2])];

const groups = (list: Uint32Array, size: number): number[][] =>
  Array.from({ length: list.length / size }, (_, i) => [...list.subarray(size * i, size * i + size)]);

/** The source of a sheet whose particles begin at number `first`, as a world's builder passes it. */
const sourceOf = (s: Sheet, first: number): SurfaceSource => ({
  first,
  count: s.x.length,
  triangles: Uint32Array.from(s.triangles.flat(), (p) => first + p),
  ...(s.edges && { edges: Uint32Array.from(s.edges.flat(), (p) => first + p) }),
  radius: s.radius,
  solid: s.solid ?? SOLID.cloth,
  staticFriction: 0,
  friction: 0,
  restitution: 0,
  rest: Float64Array.from((s.rest ?? s.x).flat()),
  touchesItself: s.touchesItself ?? true,
});

export function surfaceRoom(sheets: readonly Sheet[], meets: Meets = () => true): SurfaceRoom {
  let count = 0;
  const sources = sheets.map((sheet) => {
    const source = sourceOf(sheet, count);
    count += sheet.x.length;
    return source;
  });
  const allocator = new Allocator();
  const x = allocator.take(16 * count);
  const other = allocator.take(16 * count);
  const planned = planSurfaces(sources, count, allocator, meets);
  const { kernel, memory, f32 } = openMemory(allocator, { [L.H_X]: x });
  planned.write(memory.buffer, x);
  const w = sheets.flatMap((s) => s.x.map((_, i) => s.w?.(i) ?? 1));
  const positions = sheets.flatMap((s) => s.x.map(round));
  positions.forEach((p, i) => f32.set([...p, w[i]!], x / 4 + 4 * i));
  const twins = sources.map(
    (source, n): SurfaceTwin => ({
      vertices: Array.from({ length: source.count }, (_, i) => source.first + i),
      triangles: groups(source.triangles, 3),
      edges: groups(source.edges ?? uniqueEdges(source.triangles), 2),
      meets: sources.map((_, m) => (m === n ? source.touchesItself : meets(Math.min(m, n), Math.max(m, n)))),
    }),
  );
  return {
    kernel,
    memory,
    x,
    other,
    twins,
    w,
    positions,
    rest: sheets.flatMap((s) => (s.rest ?? s.x).map(round)),
  };
}

/** A sheet of n x m squares of the given side in the plane y = 0, with alternating diagonals. */
export function grid(n: number, m: number, side: number): { x: Vector[]; triangles: number[][] } {
  const x: Vector[] = [];
  const triangles: number[][] = [];
  for (let i = 0; i <= n; i++) for (let j = 0; j <= m; j++) x.push([i * side, 0, j * side]);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const a = i * (m + 1) + j;
      const b = a + m + 1;
      triangles.push(
        ...((i + j) % 2
          ? [
              [a, b, a + 1],
              [b, b + 1, a + 1],
            ]
          : [
              [a, b, b + 1],
              [a, b + 1, a + 1],
            ]),
      );
    }
  }
  return { x, triangles };
}

/** The closed surface of a box of n^3 cells, with a corner at the origin. */
export function box(n: number, side: number): { x: Vector[]; triangles: number[][] } {
  const x: Vector[] = [];
  const triangles: number[][] = [];
  const numbers = new Map<string, number>();
  const particle = (p: Vector): number => {
    const key = p.join();
    if (!numbers.has(key)) numbers.set(key, x.push([p[0] * side, p[1] * side, p[2] * side]) - 1);
    return numbers.get(key)!;
  };
  for (const [axis, at] of [
    [0, 0],
    [0, n],
    [1, 0],
    [1, n],
    [2, 0],
    [2, n],
  ] as const) {
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const corner = (u: number, v: number): number => {
          const p: [number, number, number] = [0, 0, 0];
          p[axis] = at;
          p[(axis + 1) % 3] = i + u;
          p[(axis + 2) % 3] = j + v;
          return particle(p);
        };
        const quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)] as const;
        const [a, b, c, d] = at ? quad : [quad[0], quad[3], quad[2], quad[1]];
        triangles.push([a, b, c], [a, c, d]);
      }
    }
  }
  return { x, triangles };
}
