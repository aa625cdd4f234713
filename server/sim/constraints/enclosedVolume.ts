/**
 * The volume inside a body's whole closed surface, one constraint over all of its particles (Mueller et al. 2007,
 * section 4.3; Rodero Gomez, section 4.2; kernel/assembly/constraints/enclosedVolume.ts).
 */
import { vectorAt, type Particles } from "../reference/particles.ts";
import type { Pace } from "./constraint.ts";
import { holdOf, project, stored, type Held, type Hold } from "./geometric.ts";
import { polyhedron, sixVolumes, triplesOf } from "./polyhedron.ts";

/** One constraint over a body's whole surface. */
export interface EnclosedVolume extends Hold {
  /** six times the wanted volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
}

/**
 * @param X float64[3N] m, undeformed positions; triangles uint32[3T], closed, outward; pressure the wanted volume in
 *   rest volumes
 */
export function enclosedVolume(
  X: Float64Array,
  triangles: Uint32Array,
  asked: Held & { pressure?: number },
  pace: Pace,
): EnclosedVolume {
  const { hold, alpha } = holdOf(asked, pace);
  return { ...hold, alpha, rest: (asked.pressure ?? 1) * sixVolumes(X, triplesOf(triangles), triangles[0]!) };
}

/** The volume that a closed surface of a room's particles encloses. */
export interface ReferenceEnclosed extends Hold {
  /** The surface's particles are first .. first + count. */
  first: number;
  count: number;
  /** uint32[3T] particle numbers of the room, outward */
  triangles: Uint32Array;
  /** six times the wanted volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
  lambda: number;
}

export function solveEnclosedVolumes(p: Particles, e: ReferenceEnclosed, h: number): void {
  const corners = Array.from({ length: e.count }, (_, i) => e.first + i);
  const triangles = triplesOf(e.triangles.map((c) => c - e.first));
  e.lambda = project(
    p,
    corners,
    polyhedron(
      corners.map((c) => vectorAt(p.x, c)),
      triangles,
      e.rest,
    ),
    e,
    e.alpha,
    e.lambda,
    [e.unilateral ? 0 : -Infinity, Infinity],
    h,
  );
}

/** J. @param x float64[3N] m; triangles uint32[3T] outward */
export function enclosedEnergy(x: Float64Array, triangles: Uint32Array, e: EnclosedVolume): number {
  let six = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((r) => x[3 * triangles[t + k]! + r]! - x[r]!)) as [
      number[],
      number[],
      number[],
    ];
    six +=
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
  }
  const C = (six - e.rest) / 6;
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha);
}
