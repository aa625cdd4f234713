/**
 * Strain of a surface, for the strain view. Per triangle, with rest edges Dm in its plane and displayed edges Ds:
 *
 *   F = Ds Dm^-1,   C = F^T F,   s = sqrt(eigenvalues of C)
 *
 * The principal strain is s - 1 for the principal stretch s that is farther from 1: positive is tension, negative
 * compression. The strain of the area is the product of both stretches - 1: a sheet that narrows when pulled has less.
 */
import type { Topology } from "../../../shared/topology.ts";

export type StrainKind = NonNullable<Topology["showStrain"]>;

/** Ends of the scale that the legend may have, largest strain. */
const SCALES = [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2] as const;
/** The scale shrinks only to less than this part of itself. */
const SHRINK_BELOW = 0.25;
/** Share of the particles that may be beyond the end of the scale: single corners at pins. */
const BEYOND = 0.01;

export class SurfaceStrain {
  /** float32[count]: strain of each particle, the mean of its triangles by rest area. */
  readonly values: Float32Array;
  private readonly triangles: Uint32Array;
  /** float32[4*T]: inverse of the rest edges, upper triangle, and the area. */
  private readonly rest: Float32Array;
  /** float32[count]: rest area around each particle, m^2. */
  private readonly areas: Float32Array;
  private readonly kind: StrainKind;

  /** @param rest float32[3*count] m. @param triangles uint32[3*T] */
  constructor(rest: Float32Array, triangles: Uint32Array, kind: StrainKind) {
    this.kind = kind;
    this.triangles = triangles;
    this.values = new Float32Array(rest.length / 3);
    this.areas = new Float32Array(rest.length / 3);
    this.rest = new Float32Array((4 * triangles.length) / 3);
    for (let t = 0; t < triangles.length; t += 3) {
      const [ux, uy, uz, vx, vy, vz] = edgesAt(rest, triangles, t);
      const length = Math.hypot(ux, uy, uz);
      const along = length > 0 ? (ux * vx + uy * vy + uz * vz) / length : 0;
      const height = Math.sqrt(Math.max(0, vx * vx + vy * vy + vz * vz - along * along));
      const area = 0.5 * length * height;
      // A triangle without area has no strain.
      if (!(area > 1e-14)) continue;
      this.rest.set([1 / length, -along / (length * height), 1 / height, area], (4 * t) / 3);
      for (let k = 0; k < 3; k++) this.areas[triangles[t + k]!]! += area;
    }
  }

  /** @param positions float32[3*count] m, displayed */
  update(positions: Float32Array): void {
    const { values, triangles, rest, areas } = this;
    values.fill(0);
    for (let t = 0, r = 0; t < triangles.length; t += 3, r += 4) {
      const area = rest[r + 3]!;
      if (area === 0) continue;
      const [ux, uy, uz, vx, vy, vz] = edgesAt(positions, triangles, t);
      const [p, q, s] = [rest[r]!, rest[r + 1]!, rest[r + 2]!];
      const [fx, fy, fz] = [p * ux, p * uy, p * uz];
      const [gx, gy, gz] = [q * ux + s * vx, q * uy + s * vy, q * uz + s * vz];
      const [a, b, c] = [fx * fx + fy * fy + fz * fz, fx * gx + fy * gy + fz * gz, gx * gx + gy * gy + gz * gz];
      const strain = this.kind === "area" ? Math.sqrt(Math.max(0, a * c - b * b)) - 1 : principal(a, b, c);
      for (let k = 0; k < 3; k++) values[triangles[t + k]!]! += area * strain;
    }
    for (let i = 0; i < values.length; i++) if (areas[i]! > 0) values[i]! /= areas[i]!;
  }
}

const edge: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0];

/** Edges from the first corner of a triangle to the others; the result is reused. */
function edgesAt(positions: Float32Array, triangles: Uint32Array, t: number): typeof edge {
  const a = 3 * triangles[t]!;
  const b = 3 * triangles[t + 1]!;
  const c = 3 * triangles[t + 2]!;
  for (let r = 0; r < 3; r++) {
    edge[r as 0] = positions[b + r]! - positions[a + r]!;
    edge[(r + 3) as 0] = positions[c + r]! - positions[a + r]!;
  }
  return edge;
}

/** @returns the principal strain of larger size, of C = [[a, b], [b, c]] */
function principal(a: number, b: number, c: number): number {
  const middle = 0.5 * (a + c);
  const half = Math.hypot(0.5 * (a - c), b);
  const most = Math.sqrt(middle + half) - 1;
  const least = Math.sqrt(Math.max(0, middle - half)) - 1;
  return most > -least ? most : least;
}

/**
 * End of the legend's scale for the strains of all bodies: it grows at once and shrinks late, so that colors do not
 * flicker. It is at most `most`: no area shrinks by more than 1.
 */
export function scaleFor(strains: readonly Float32Array[], current: number, most = Infinity): number {
  const counts = new Uint32Array(SCALES.length + 1);
  let total = 0;
  const rank = (size: number): number => {
    const at = SCALES.findIndex((end) => size <= end);
    return at < 0 ? SCALES.length : at;
  };
  for (const values of strains) {
    total += values.length;
    for (let i = 0; i < values.length; i++) counts[rank(Math.abs(values[i]!))]!++;
  }
  let beyond = 0;
  let wanted = SCALES.length - 1;
  for (let at = SCALES.length; at > 0; at--) {
    beyond += counts[at]!;
    wanted = Math.min(at, SCALES.length - 1);
    if (beyond > BEYOND * total) break;
    wanted = at - 1;
  }
  const end = Math.min(most, SCALES[wanted]!);
  return end >= current || end < SHRINK_BELOW * current ? end : current;
}

/** Colors of the scale, from the largest compression to the largest tension; the legend shows the same. */
export const STRAIN_COLORS = ["#1d4fa3", "#63a2d8", "#ececec", "#f0a04b", "#b3201d"] as const;
