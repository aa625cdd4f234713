/** Findings of the checker in a frame and in the interval before it. Plain data, because threads send it. */

/**
 * Kinds of findings:
 * crossing   two triangles without a common corner intersect          static
 * touching   ... meet in a point, along an edge, or in a common area
 * neighbors  two triangles with one common corner intersect
 * vertex     a vertex passed through (or met) a triangle since the previous frame          swept
 * edge       an edge passed through (or met) an edge
 * plane      a particle is below a plane
 */
export const KINDS = ["crossing", "touching", "neighbors", "vertex", "edge", "plane"] as const;
export type Kind = (typeof KINDS)[number];
export const STATIC: readonly Kind[] = ["crossing", "touching", "neighbors"];
export const SWEPT: readonly Kind[] = ["vertex", "edge"];

export interface Finding {
  kind: Kind;
  /** Names of the two surfaces; for a plane, of the body and the plane. */
  between: [string, string];
  /** Particle indices: of the first surface, then of the second. */
  particles: number[];
  /** m: the distance to move one apart, or how far it has passed the other at the end of the interval. */
  depth: number;
  /** Time of first contact within the interval, 0 to 1; swept findings only. */
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

/** Counts a finding, and keeps it if it is among the `most` deepest of its frame. */
export function note(findings: FrameFindings, finding: Finding, most: number): void {
  findings.counts[finding.kind]++;
  const { list } = findings;
  if (list.length === most && list[most - 1]!.depth >= finding.depth) return;
  let place = list.length;
  while (place > 0 && list[place - 1]!.depth < finding.depth) place--;
  list.splice(place, 0, finding);
  if (list.length > most) list.pop();
}
