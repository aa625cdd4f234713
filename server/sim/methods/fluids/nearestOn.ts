/** The point of a triangle nearest to a place (Ericson, Real-Time Collision Detection, 5.1.5). */
import type { Surface } from "../method.ts";

/**
 * Offsets in nearestOn's result: distance, height above the plane (negative behind it), weights of b and c, direction
 * from the triangle to the place.
 */
export const DISTANCE = 0;
export const HEIGHT = 1;
export const WEIGHT_B = 2;
export const WEIGHT_C = 3;
export const ALONG = 4;
export const NEAREST = 7;

const flat = new Float64Array(2);

/**
 * Finds the nearest point.
 * @param k index in x at which the place begins
 * @param limit m
 * @param out float64[NEAREST]; ALONG points from the triangle to the place; if the place is on the triangle, it is the
 * normal
 * @returns false if the triangle is not nearer than the limit
 */
export function nearestOn(
  { triangles, x: s }: Surface,
  triangle: number,
  x: Float64Array,
  k: number,
  limit: number,
  out: Float64Array,
): boolean {
  const a = 3 * triangles[3 * triangle]!;
  const b = 3 * triangles[3 * triangle + 1]!;
  const c = 3 * triangles[3 * triangle + 2]!;
  const ax = s[a]!;
  const ay = s[a + 1]!;
  const az = s[a + 2]!;
  const abx = s[b]! - ax;
  const aby = s[b + 1]! - ay;
  const abz = s[b + 2]! - az;
  const acx = s[c]! - ax;
  const acy = s[c + 1]! - ay;
  const acz = s[c + 2]! - az;
  const apx = x[k]! - ax;
  const apy = x[k + 1]! - ay;
  const apz = x[k + 2]! - az;
  const nx = aby * acz - abz * acy;
  const ny = abz * acx - abx * acz;
  const nz = abx * acy - aby * acx;
  const area = Math.sqrt(nx * nx + ny * ny + nz * nz);
  if (!(area > 0)) return false;
  const height = (apx * nx + apy * ny + apz * nz) / area;
  if (!(Math.abs(height) < limit)) return false;
  plant(
    abx * apx + aby * apy + abz * apz,
    acx * apx + acy * apy + acz * apz,
    abx * abx + aby * aby + abz * abz,
    abx * acx + aby * acy + abz * acz,
    acx * acx + acy * acy + acz * acz,
  );
  const v = flat[0]!;
  const w = flat[1]!;
  const dx = apx - v * abx - w * acx;
  const dy = apy - v * aby - w * acy;
  const dz = apz - v * abz - w * acz;
  const distance = Math.sqrt(dx * dx + dy * dy + dz * dz);
  if (!(distance < limit)) return false;
  const on = distance === 0;
  out[DISTANCE] = distance;
  out[HEIGHT] = height;
  out[WEIGHT_B] = v;
  out[WEIGHT_C] = w;
  out[ALONG] = on ? nx / area : dx / distance;
  out[ALONG + 1] = on ? ny / area : dy / distance;
  out[ALONG + 2] = on ? nz / area : dz / distance;
  return true;
}

/** Writes the weights of b and c to `flat`. d1 = ab.ap, d2 = ac.ap, and products of the triangle's own sides. */
function plant(d1: number, d2: number, bb: number, bc: number, cc: number): void {
  if (d1 <= 0 && d2 <= 0) return set(0, 0);
  const d3 = d1 - bb;
  const d4 = d2 - bc;
  if (d3 >= 0 && d4 <= d3) return set(1, 0);
  const vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return set(d1 / (d1 - d3), 0);
  const d5 = d1 - bc;
  const d6 = d2 - cc;
  if (d6 >= 0 && d5 <= d6) return set(0, 1);
  const vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return set(0, d2 / (d2 - d6));
  const va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const w = (d4 - d3) / (d4 - d3 + d5 - d6);
    return set(1 - w, w);
  }
  set(vb / (va + vb + vc), vc / (va + vb + vc));
}

function set(v: number, w: number): void {
  flat[0] = v;
  flat[1] = w;
}
