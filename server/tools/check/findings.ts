/**
 * Findings of the checker in a frame, and in the interval that leads to it. Plain data, so that threads can send it.
 */

/**
 * Static findings:
 *   crossing   two triangles without a common corner intersect
 *   touching   ... meet in a point, along an edge, or lie in each other
 *   neighbors  two triangles with one common corner intersect
 * Swept findings, between the previous frame and this one:
 *   vertex     a vertex passed through a triangle, or touched it
 *   edge       an edge passed through an edge, or touched it
 * Other:
 *   plane      a particle is below a plane
 */
export const KINDS = ["crossing", "touching", "neighbors", "vertex", "edge", "plane"] as const;
export type Kind = (typeof KINDS)[number];
export const STATIC: readonly Kind[] = ["crossing", "touching", "neighbors"];
export const SWEPT: readonly Kind[] = ["vertex", "edge"];

export interface Finding {
  kind: Kind;
  /** Names of the two surfaces, or of the body and the plane. */
  between: [string, string];
  /** Particle numbers of the first surface, then of the second. */
  particles: number[];
  /** m: displacement that separates the two, or how far they have passed each other at the end of the interval. */
  depth: number;
  /** Time of the first contact in the interval, 0 to 1; swept findings only. */
  time?: number;
}

export interface FrameFindings {
  frame: number;
  counts: Record<Kind, number>;
  /** The deepest findings, deepest first. */
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
