/** Printed output: a row for each frame with findings, then a summary. */
import { KINDS, STATIC, sum, SWEPT, type Finding, type FrameFindings, type Kind } from "./findings.ts";
import type { Recording } from "./recording.ts";

const HEADS: Record<Kind, string> = {
  crossing: "crossing",
  touching: "touching",
  neighbors: "neighbors",
  vertex: "swept vertex",
  edge: "swept edge",
  plane: "below plane",
};

export const tableHead = (): string =>
  ["frame".padStart(9), ...KINDS.map((kind) => HEADS[kind].padStart(12)), "  deepest"].join("");

export function tableRows({ frame, counts, list }: FrameFindings): string[] {
  const row = [String(frame).padStart(9), ...KINDS.map((kind) => (counts[kind] || "-").toString().padStart(12))].join(
    "",
  );
  return list.map((finding, i) => `${i === 0 ? row : " ".repeat(row.length)}  ${describe(finding)}`);
}

/** Number of particles that belong to the first of the two surfaces. */
const SPLIT: Record<Kind, number> = { crossing: 3, touching: 3, neighbors: 3, vertex: 1, edge: 2, plane: 1 };

function describe({ kind, between: [a, b], particles, depth, time }: Finding): string {
  const first = particles.slice(0, SPLIT[kind]).join(" ");
  const second = particles.slice(SPLIT[kind]).join(" ");
  return `${HEADS[kind]}: ${a} ${first} | ${b}${second && ` ${second}`}, ${depth.toExponential(2)} m${time === undefined ? "" : ` at ${time.toFixed(3)}`}`;
}

export interface Summary {
  frames: number;
  surfaces: number;
  vertices: number;
  triangles: number;
  /** Number of pairs, summed over all frames. */
  staticIntersections: number;
  sweptCrossings: number;
  belowPlanes: number;
  counts: Record<Kind, number>;
  framesWithFindings: number;
  firstFrame: number | null;
  worst: (Finding & { frame: number }) | null;
  /** The first finding of each pair of surfaces. */
  pairs: { between: [string, string]; firstFrame: number; worst: Finding }[];
}

/** Accumulates the findings frame by frame. */
export class Tally {
  readonly summary: Summary;
  private readonly byPair = new Map<string, Summary["pairs"][number]>();

  constructor({ frames, surfaces }: Recording) {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
    const total = (of: (s: Recording["surfaces"][number]) => number): number => surfaces.reduce((n, s) => n + of(s), 0);
    this.summary = {
      frames,
      surfaces: surfaces.length,
      vertices: total((s) => s.vertices.length),
      triangles: total((s) => s.triangles.length / 3),
      staticIntersections: 0,
      sweptCrossings: 0,
      belowPlanes: 0,
      counts,
      framesWithFindings: 0,
      firstFrame: null,
      worst: null,
      pairs: [],
    };
  }

  add({ frame, counts, list }: FrameFindings): void {
    const { summary, byPair } = this;
    for (const kind of KINDS) summary.counts[kind] += counts[kind];
    summary.staticIntersections += sum(counts, STATIC);
    summary.sweptCrossings += sum(counts, SWEPT);
    summary.belowPlanes += counts.plane;
    summary.framesWithFindings++;
    summary.firstFrame ??= frame;
    for (const finding of list) {
      if (!summary.worst || finding.depth > summary.worst.depth) summary.worst = { ...finding, frame };
      const key = [...finding.between].sort().join("\0");
      const known = byPair.get(key);
      if (!known) {
        const pair = { between: finding.between, firstFrame: frame, worst: finding };
        byPair.set(key, pair);
        summary.pairs.push(pair);
      } else if (finding.depth > known.worst.depth) known.worst = finding;
    }
  }
}

export function summaryLines(summary: Summary, { every, title }: Recording): string[] {
  const { counts, worst } = summary;
  const number = (n: number): string => n.toLocaleString("en-US");
  const lines = [
    `${title}: ${number(summary.frames)} frames, ${summary.surfaces} surfaces, ${number(summary.vertices)} vertices, ${number(summary.triangles)} triangles`,
    `static intersections  ${number(summary.staticIntersections)} (${number(counts.crossing)} crossing, ${number(counts.touching)} touching, ${number(counts.neighbors)} of neighbors)`,
    `swept crossings       ${number(summary.sweptCrossings)} (${number(counts.vertex)} vertex-triangle, ${number(counts.edge)} edge-edge)`,
    `below a plane         ${number(summary.belowPlanes)}`,
  ];
  if (every !== "substep")
    lines.push(
      "one frame per tick: motion in between is assumed to be straight, so swept crossings may be artifacts; record with --every substep to check",
    );
  if (worst) {
    lines.push(
      `first in frame        ${summary.firstFrame}, in ${number(summary.framesWithFindings)} frames in total`,
      `deepest               frame ${worst.frame}, ${describe(worst)}`,
    );
    for (const pair of summary.pairs)
      lines.push(
        `  ${pair.between.join(" | ")}: from frame ${pair.firstFrame}, deepest ${pair.worst.depth.toExponential(2)} m`,
      );
  } else lines.push("nothing meets");
  return lines;
}
