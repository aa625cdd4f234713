/**
 * Finds the part of a surface that is on the wrong side of another one (Baraff, Witkin & Kass 2003, Untangling cloth,
 * global intersection analysis). Edges that pass through the other surface an odd number of times, or touch it, are
 * cut; the connected components of the rest are parts. For a closed surface the wrong side is behind its triangles; for
 * an open one it is the side of the smaller parts.
 */
import type { Intersection } from "./intersection.ts";
import { edgeKey, type IntersectingSurface } from "./surface.ts";

/** Share of the edges at a part that must indicate "behind" for the part to count as behind. */
const BEHIND = 0.5;

export interface Sides {
  /** uint8 per particle of the surface, 1: wrong side. */
  wrong: Uint8Array;
  /** Share of its particles on the wrong side. 0: the surface is not separated into parts. */
  share: number;
}

/**
 * @param intersections of edges of this surface
 * @param closed whether the triangles belong to a closed surface
 */
export function findSides(
  surface: IntersectingSurface,
  intersections: readonly Intersection[],
  closed: boolean,
): Sides {
  const { count, edges, first } = surface;
  const cuts = new Map<number, number>();
  const end = (t: Intersection, k: 0 | 1): number => t.particles[k] - first;
  for (const t of intersections) {
    const key = edgeKey(end(t, 0), end(t, 1));
    cuts.set(key, t.crosses ? (cuts.get(key) ?? 0) + 1 : NaN); // unknown parity
  }
  const parts = Int32Array.from({ length: count }, (_, i) => i);
  const root = (i: number): number => {
    let r = i;
    while (parts[r] !== r) r = parts[r]!;
    while (parts[i] !== r) [parts[i], i] = [r, parts[i]!];
    return r;
  };
  for (let k = 0; k < edges.length; k += 2) {
    if ((cuts.get(edgeKey(edges[k]!, edges[k + 1]!)) ?? 0) % 2 !== 0) continue;
    const a = root(edges[k]!);
    const b = root(edges[k + 1]!);
    parts[Math.max(a, b)] = Math.min(a, b);
  }
  const sizes = new Map<number, number>();
  const votes = new Map<number, { behind: number; all: number }>();
  for (let i = 0; i < count; i++) sizes.set(root(i), (sizes.get(root(i)) ?? 0) + 1);
  for (const t of intersections) {
    for (const k of [0, 1] as const) {
      const part = root(end(t, k));
      const vote = votes.get(part) ?? { behind: 0, all: 0 };
      vote.all++;
      if (t.heights[k] < t.heights[1 - k]!) vote.behind++;
      votes.set(part, vote);
    }
  }
  let largest = root(0);
  for (const [part, size] of sizes) if (size > sizes.get(largest)!) largest = part;
  const isWrong = (part: number): boolean => {
    const vote = votes.get(part);
    return vote !== undefined && sizes.size > 1 && (closed ? vote.behind > BEHIND * vote.all : part !== largest);
  };
  const wrong = Uint8Array.from({ length: count }, (_, i) => (isWrong(root(i)) ? 1 : 0));
  return { wrong, share: wrong.reduce((n, w) => n + w, 0) / count };
}
