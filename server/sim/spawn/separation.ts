/**
 * Distance of two triangles: the smallest distance of a corner of one from the other and of two of their sides
 * (Ericson, Real-Time Collision Detection, 2005, sections 5.1.5 and 5.1.9). It is 0 if a side of one passes through the
 * other. Triangles without area count as their sides, so a point is allowed, too.
 *
 * Float64 on float32 numbers: distances are exact to about 2^-50 of the coordinates' size. If a side passes through a
 * triangle further than that from all of its sides, signs are clear; if it is nearer, the distance itself gives the
 * result.
 */
import { triangleDistance2 } from "../../meshing/tetrahedra/triangleTree.ts";

const ONE = Uint32Array.of(0, 1, 2);

/**
 * @param a float64[9] m, three corners
 * @param b float64[9] m, three corners
 * @param within m: triangles whose boxes are further apart are not measured
 * @returns m; Infinity: not measured
 */
export function separation(a: Float64Array, b: Float64Array, within = Infinity): number {
  for (let r = 0; r < 3; r++) {
    const a0 = a[r]!;
    const a1 = a[3 + r]!;
    const a2 = a[6 + r]!;
    const b0 = b[r]!;
    const b1 = b[3 + r]!;
    const b2 = b[6 + r]!;
    if (Math.min(a0, a1, a2) - Math.max(b0, b1, b2) > within || Math.min(b0, b1, b2) - Math.max(a0, a1, a2) > within)
      return Infinity;
  }
  let least = Infinity;
  for (let k = 0; k < 9; k += 3) {
    least = Math.min(
      least,
      triangleDistance2(b, ONE, 0, a[k]!, a[k + 1]!, a[k + 2]!),
      triangleDistance2(a, ONE, 0, b[k]!, b[k + 1]!, b[k + 2]!),
    );
  }
  for (let i = 0; i < 9; i += 3) for (let j = 0; j < 9; j += 3) least = Math.min(least, sidesDistance2(a, i, b, j));
  if (least > 0 && (goesThrough(a, b) || goesThrough(b, a))) return 0;
  return Math.sqrt(least);
}

/** Squared distance of two sides: from corner i (of 0, 3, 6) of a to its next, and from corner j of b to its next. */
function sidesDistance2(a: Float64Array, i: number, b: Float64Array, j: number): number {
  const k = (i + 3) % 9;
  const l = (j + 3) % 9;
  const ux = a[k]! - a[i]!;
  const uy = a[k + 1]! - a[i + 1]!;
  const uz = a[k + 2]! - a[i + 2]!;
  const vx = b[l]! - b[j]!;
  const vy = b[l + 1]! - b[j + 1]!;
  const vz = b[l + 2]! - b[j + 2]!;
  const wx = a[i]! - b[j]!;
  const wy = a[i + 1]! - b[j + 1]!;
  const wz = a[i + 2]! - b[j + 2]!;
  const uu = ux * ux + uy * uy + uz * uz;
  const vv = vx * vx + vy * vy + vz * vz;
  const uv = ux * vx + uy * vy + uz * vz;
  const uw = ux * wx + uy * wy + uz * wz;
  const vw = vx * wx + vy * wy + vz * wz;
  const across = uu * vv - uv * uv;
  let s = across > 0 ? clamp((uv * vw - uw * vv) / across) : 0;
  const t = vv > 0 ? clamp((uv * s + vw) / vv) : 0;
  // the clamped end may have a nearer partner
  s = uu > 0 ? clamp((uv * t - uw) / uu) : 0;
  const x = wx + s * ux - t * vx;
  const y = wy + s * uy - t * vy;
  const z = wz + s * uz - t * vz;
  return x * x + y * y + z * z;
}

const clamp = (s: number): number => (s < 0 ? 0 : s > 1 ? 1 : s);

/** Whether a side of a passes through the inside of b. */
function goesThrough(a: Float64Array, b: Float64Array): boolean {
  const e = b[0]!;
  const f = b[1]!;
  const g = b[2]!;
  const ux = b[3]! - e;
  const uy = b[4]! - f;
  const uz = b[5]! - g;
  const vx = b[6]! - e;
  const vy = b[7]! - f;
  const vz = b[8]! - g;
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const nn = nx * nx + ny * ny + nz * nz;
  if (!(nn > 0)) return false;
  const height = (k: number): number => (a[k]! - e) * nx + (a[k + 1]! - f) * ny + (a[k + 2]! - g) * nz;
  const heights = [height(0), height(3), height(6)] as const;
  for (let k = 0; k < 3; k++) {
    const from = heights[k]!;
    const to = heights[(k + 1) % 3]!;
    if (from > 0 === to > 0) continue;
    const s = from / (from - to);
    const i = 3 * k;
    const j = (i + 3) % 9;
    const x = a[i]! + s * (a[j]! - a[i]!) - e;
    const y = a[i + 1]! + s * (a[j + 1]! - a[i + 1]!) - f;
    const z = a[i + 2]! + s * (a[j + 2]! - a[i + 2]!) - g;
    const wb = ((y * vz - z * vy) * nx + (z * vx - x * vz) * ny + (x * vy - y * vx) * nz) / nn;
    const wc = ((uy * z - uz * y) * nx + (uz * x - ux * z) * ny + (ux * y - uy * x) * nz) / nn;
    if (wb >= 0 && wc >= 0 && wb + wc <= 1) return true;
  }
  return false;
}
