/** Finds particles below a plane. Planes have no triangles, so a particle below one has passed through it. */
import { note, type FrameFindings } from "./findings.ts";
import type { Recording } from "./recording.ts";

/**
 * Rounding tolerance. Positions and planes are float32 in the simulation: each coordinate, each component of the normal
 * and the offset has a relative error of 2^-24. A moving plane is placed by a rotation whose entries have it, too. A
 * particle counts as below only by more than the sum of these errors.
 */
const ROUNDING = 4 * 2 ** -24;

/** Records the free particles of one frame that are below a plane. @param base offset of the frame in x */
export function belowPlanes(
  { planes, pinned, bodies, surfaces }: Recording,
  x: Float32Array,
  base: number,
  findings: FrameFindings,
  most: number,
): void {
  for (const plane of planes) {
    const { rows } = plane;
    const row = rows.length === 4 ? 0 : 4 * findings.frame;
    const nx = rows[row]!;
    const ny = rows[row + 1]!;
    const nz = rows[row + 2]!;
    const offset = rows[row + 3]!;
    for (const b of plane.bodies) {
      const { name, first, count } = bodies[b]!;
      if (surfaces[b]!.absent.has(findings.frame)) continue;
      for (let p = first; p < first + count; p++) {
        if (pinned[p]) continue;
        const a = nx * x[base + 3 * p]!;
        const b = ny * x[base + 3 * p + 1]!;
        const c = nz * x[base + 3 * p + 2]!;
        const height = a + b + c - offset;
        if (height < -ROUNDING * (Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(offset)))
          note(findings, { kind: "plane", between: [name, plane.name], particles: [p], depth: -height }, most);
      }
    }
  }
}
