/**
 * Surfaces in a memory of their own, without a world around them, for the broad phase: as the kernel and as its float64
 * twin have them.
 */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel, type Kernel } from "../../server/sim/kernelModule.ts";
import { Allocator } from "../../server/sim/memory/map.ts";
import { planPairList } from "../../server/sim/memory/pairChunks.ts";
import { planSurfaces, SOLID, uniqueEdges, type Meets, type SurfaceSource } from "../../server/sim/memory/surfaces.ts";
import type { PairSurface } from "../../server/sim/reference/pairs.ts";
import type { Vector } from "../../server/sim/reference/vector.ts";

/** One surface: its own particles from 0, where they are now and where at rest (default: the same). */
export interface Sheet {
  x: readonly Vector[];
  rest?: readonly Vector[];
  triangles: readonly number[][];
  edges?: readonly number[][];
  radius: number;
  margin?: number;
  /** How far each particle goes while the list lives; default: nowhere. */
  trajectories?: readonly Vector[];
  touchesItself?: boolean;
  solid?: SurfaceSource["solid"];
  /** Inverse mass; default 1. */
  w?: (particle: number) => number;
}

export interface Row {
  kind: "vertex" | "edges";
  particles: [number, number, number, number];
  surfaces: [number, number];
  normal: Vector;
  gap: number;
  thickness: number;
}

export interface SurfaceRoom {
  kernel: Kernel;
  memory: WebAssembly.Memory;
  /** Addresses: of X, of the trajectories, and of a second array. */
  x: number;
  trajectories: number;
  other: number;
  twins: PairSurface[];
  /** As stored: float32. */
  positions: Vector[];
  rest: Vector[];
  displacements: Vector[];
  w: number[];
  /** The kernel's list, vertex-triangle first, each in its order. */
  rows: () => Row[];
}

const round = (p: Vector): Vector => [Math.fround(p[0]), Math.fround(p[1]), Math.fround(p[2])];

const groups = (list: Uint32Array, size: number): number[][] =>
  Array.from({ length: list.length / size }, (_, i) => [...list.subarray(size * i, size * i + size)]);

/** A sheet whose particles begin at number `first`, as a world's builder gets it. */
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

/** The rows of the kernel's list. @param x address of X */
function readRows(memory: WebAssembly.Memory, x: number): Row[] {
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  const rowAt = (at: number, kind: Row["kind"]): Row => ({
    kind,
    particles: Array.from(i32.subarray(at, at + 4), (address) => (address - x) / 16) as Row["particles"],
    surfaces: [i32[at + L.PAIR_SURFACES / 4]! >> 16, i32[at + L.PAIR_SURFACES / 4]! & 0xffff],
    normal: [f32[at + 4]!, f32[at + 5]!, f32[at + 6]!],
    gap: f32[at + L.PAIR_GAP / 4]!,
    thickness: f32[at + L.PAIR_THICKNESS / 4]!,
  });
  const begin = header(L.H_PAIRS) / 4;
  const end = begin + (header(L.H_PAIR_CAPACITY) * L.PAIR_BYTES) / 4;
  const step = L.PAIR_BYTES / 4;
  return [
    ...Array.from({ length: header(L.H_VERTEX_PAIRS) }, (_, n) => rowAt(begin + n * step, "vertex")),
    ...Array.from({ length: header(L.H_EDGE_PAIRS) }, (_, n) => rowAt(end - (n + 1) * step, "edges")),
  ];
}

export function surfaceRoom(sheets: readonly Sheet[], meets: Meets = () => true): SurfaceRoom {
  let count = 0;
  const sources = sheets.map((sheet) => {
    const source = sourceOf(sheet, count);
    count += sheet.x.length;
    return source;
  });
  const allocator = new Allocator();
  const x = allocator.take(16 * count);
  const trajectories = allocator.take(16 * count);
  const other = allocator.take(16 * count);
  const planned = planSurfaces(sources, count, allocator, meets);
  const writeList = planPairList(sources, meets, allocator);
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  new Int32Array(memory.buffer)[(L.HEADER + L.H_X) / 4] = x;
  planned.write(memory.buffer, x);
  writeList(memory.buffer);
  const w = sheets.flatMap((s) => s.x.map((_, i) => s.w?.(i) ?? 1));
  const positions = sheets.flatMap((s) => s.x.map(round));
  const displacements = sheets.flatMap((s) => s.x.map((_, i) => round(s.trajectories?.[i] ?? [0, 0, 0])));
  positions.forEach((p, i) => f32.set([...p, w[i]!], x / 4 + 4 * i));
  displacements.forEach((d, i) => f32.set(d, trajectories / 4 + 4 * i));
  const twins = sources.map((source, n): PairSurface => {
    const { margin = 0 } = sheets[n]!;
    f32[(planned.rows + n * L.SURFACE_BYTES + L.SURFACE_MARGIN) / 4] = margin;
    return {
      vertices: Array.from({ length: source.count }, (_, i) => source.first + i),
      triangles: groups(source.triangles, 3),
      edges: groups(source.edges ?? uniqueEdges(source.triangles), 2),
      radius: Math.fround(source.radius),
      margin: Math.fround(margin),
      meets: sources.map((_, m) => (m === n ? source.touchesItself : meets(Math.min(m, n), Math.max(m, n)))),
    };
  });
  return {
    kernel: instantiateKernel(memory),
    memory,
    x,
    trajectories,
    other,
    twins,
    w,
    positions,
    rest: sheets.flatMap((s) => (s.rest ?? s.x).map(round)),
    displacements,
    rows: () => readRows(memory, x),
  };
}

/** A sheet of n x m squares of the given side in the plane y = 0, diagonals alternating. */
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

/** A closed box of n^3 cells, its surface, with a corner at zero. */
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
