/** A surface for the search for intersections, read from its SURFACE row: particles are numbered within it, from 0. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";

export interface IntersectingSurface {
  /** Room number of its first particle, and number of particles. */
  first: number;
  count: number;
  /** int32[2E], int32[3T] */
  edges: Int32Array;
  triangles: Int32Array;
  /** SURFACE_SOLID */
  solid: number;
  /** Opposite corners of the triangles, by edge: edgeKey. Made at first use. */
  beside: () => Map<number, number[]>;
}

export const edgeKey = (a: number, b: number): number => Math.min(a, b) * 2 ** 26 + Math.max(a, b);

/**
 * @param x address of the room's positions
 * @param n number of the surface
 */
export function readSurface({ i32 }: Views, x: number, n: number): IntersectingSurface {
  const at = (i32[(L.HEADER + L.H_SURFACE) / 4]! + n * L.SURFACE_BYTES) / 4;
  const field = (offset: number): number => i32[at + offset / 4]!;
  const start = field(L.SURFACE_FIRST);
  const table = (from: number, length: number): Int32Array =>
    i32.slice(from / 4, from / 4 + length).map((address) => (address - start) / 16);
  const triangles = table(field(L.SURFACE_TRIANGLES), 3 * field(L.SURFACE_TRIANGLE_COUNT));
  let made: Map<number, number[]> | undefined;
  return {
    first: (start - x) / 16,
    count: field(L.SURFACE_COUNT),
    edges: table(field(L.SURFACE_EDGES), 2 * field(L.SURFACE_EDGE_COUNT)),
    triangles,
    solid: field(L.SURFACE_SOLID),
    beside: () => (made ??= opposites(triangles)),
  };
}

function opposites(triangles: Int32Array): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let i = 0; i < triangles.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const key = edgeKey(triangles[i + k]!, triangles[i + ((k + 1) % 3)]!);
      const list = found.get(key);
      if (list) list.push(triangles[i + ((k + 2) % 3)]!);
      else found.set(key, [triangles[i + ((k + 2) % 3)]!]);
    }
  }
  return found;
}

/**
 * Six times the volume that the surface encloses, m^3.
 * @param f32 holds its particles' rows
 * @param x index at which the room's rows begin
 */
export function enclosedVolume({ first, triangles }: IntersectingSurface, f32: Float32Array, x: number): number {
  const from = x + 4 * first;
  const p = (i: number, r: number): number => f32[from + 4 * triangles[i]! + r]! - f32[from + r]!;
  let sum = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    sum +=
      p(i, 0) * (p(i + 1, 1) * p(i + 2, 2) - p(i + 1, 2) * p(i + 2, 1)) +
      p(i, 1) * (p(i + 1, 2) * p(i + 2, 0) - p(i + 1, 0) * p(i + 2, 2)) +
      p(i, 2) * (p(i + 1, 0) * p(i + 2, 1) - p(i + 1, 1) * p(i + 2, 0));
  }
  return sum;
}
