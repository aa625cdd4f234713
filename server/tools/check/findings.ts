/** What the checker can find in a frame, and in the interval that leads to it. Plain data: threads send it. */

/**
 * crossing   two triangles without a common corner cut each other          static
 * touching   ... meet in a point, along an edge, or lie in each other
 * neighbors  two triangles with one common corner cut each other
 * vertex     a vertex went through (or met) a triangle on the way from the frame before          swept
 * edge       an edge went through (or met) an edge
 * plane      a particle is below a plane
 */
export const KINDS = ["crossing", "touching", "neighbors", "vertex", "edge", "plane"] as const;
export type Kind = (typeof KINDS)[number];
export const STATIC: readonly Kind[] = ["crossing", "touching", "neighbors"];
export const SWEPT: readonly Kind[] = ["vertex", "edge"];

export interface Finding {
  kind: Kind;
  /** The surfaces by name; of a plane the body and the plane. */
  between: [string, string];
  /** Particle numbers: of the first, then of the second. */
  particles: number[];
  /** m: how far one would have to be moved, or has gone past the other at the end of the interval. */
  depth: number;
  /** When in the interval they meet first, 0 to 1; swept findings only. */
  time?: number;
}

export interface FrameFindings {
  frame: number;
  counts: Record<Kind, number>;
  /** The deepest ones, deepest first. */
  list: Finding[];
}

export const noFindings = (frame: number): FrameFindings => ({
  frame,
  counts: { crossing: 0, touching: 0, neighbors: 0, vertex: 0, edge: 0, plane: 0 },
  list: [],
});

export const sum = (counts: Record<Kind, number>, kinds: readonly Kind[]): number =>
  kinds.reduce((n, kind) => n + counts[kind], 0);

/** Counts a finding and keeps it if it is among the `most` deepest of its frame. */
export function note(findings: FrameFindings, finding: Finding, most: number): void {
  findings.counts[finding.kind]++;
  const { list } = findings;
  if (list.length === most && list[most - 1]!.depth >= finding.depth) return;
  let place = list.length;
  while (place > 0 && list[place - 1]!.depth < finding.depth) place--;
  list.splice(place, 0, finding);
  if (list.length > most) list.pop();
}
