/** The point of a triangle that is nearest to a place (Ericson, Real-Time Collision Detection, 5.1.5). */
import type { Surface } from "./method.ts";

export interface Nearest {
  triangle: number;
  /** Of the triangle's corners. */
  weights: [number, number, number];
  /** m; and how high the place is over the triangle's plane, negative behind it. */
  distance: number;
  height: number;
  /** From the surface to the place. */
  normal: [number, number, number];
}

/** @param k where the place begins in x. @returns undefined: it is no nearer than `limit` */
export function nearestOn(surface: Surface, triangle: number, x: Float64Array, k: number, limit: number): Nearest | undefined {
  const { triangles, x: s } = surface;
  const a = 3 * triangles[3 * triangle]!;
  const b = 3 * triangles[3 * triangle + 1]!;
  const c = 3 * triangles[3 * triangle + 2]!;
  const [abx, aby, abz] = [s[b]! - s[a]!, s[b + 1]! - s[a + 1]!, s[b + 2]! - s[a + 2]!];
  const [acx, acy, acz] = [s[c]! - s[a]!, s[c + 1]! - s[a + 1]!, s[c + 2]! - s[a + 2]!];
  const [apx, apy, apz] = [x[k]! - s[a]!, x[k + 1]! - s[a + 1]!, x[k + 2]! - s[a + 2]!];
  const [nx, ny, nz] = [aby * acz - abz * acy, abz * acx - abx * acz, abx * acy - aby * acx];
  const area = Math.sqrt(nx * nx + ny * ny + nz * nz);
  if (!(area > 0)) return undefined;
  const height = (apx * nx + apy * ny + apz * nz) / area;
  if (!(Math.abs(height) < limit)) return undefined;
  const [v, w] = planted(
    abx * apx + aby * apy + abz * apz,
    acx * apx + acy * apy + acz * apz,
    abx * abx + aby * aby + abz * abz,
    abx * acx + aby * acy + abz * acz,
    acx * acx + acy * acy + acz * acz,
  );
  const dx = apx - v * abx - w * acx;
  const dy = apy - v * aby - w * acy;
  const dz = apz - v * abz - w * acz;
  const distance = Math.sqrt(dx * dx + dy * dy + dz * dz);
  if (!(distance < limit)) return undefined;
  const normal: Nearest["normal"] =
    distance > 0 ? [dx / distance, dy / distance, dz / distance] : [nx / area, ny / area, nz / area];
  return { triangle, weights: [1 - v - w, v, w], distance, height, normal };
}

/**
 * Which of two is nearer; of triangles that are equally near, since they share what is nearest, the one that the place
 * is highest over or under says on which side it is.
 */
export function nearer(a: Nearest, b: Nearest | undefined): boolean {
  if (!b) return true;
  const tie = 1e-9 * b.distance;
  if (Math.abs(a.distance - b.distance) > tie) return a.distance < b.distance;
  return Math.abs(a.height) > Math.abs(b.height);
}

/** Weights of b and c: d1 = ab.ap, d2 = ac.ap; the triangle's own products. */
function planted(d1: number, d2: number, bb: number, bc: number, cc: number): [number, number] {
  if (d1 <= 0 && d2 <= 0) return [0, 0];
  const [d3, d4] = [d1 - bb, d2 - bc];
  if (d3 >= 0 && d4 <= d3) return [1, 0];
  const vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return [d1 / (d1 - d3), 0];
  const [d5, d6] = [d1 - bc, d2 - cc];
  if (d6 >= 0 && d5 <= d6) return [0, 1];
  const vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return [0, d2 / (d2 - d6)];
  const va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const w = (d4 - d3) / (d4 - d3 + d5 - d6);
    return [1 - w, w];
  }
  const sum = va + vb + vc;
  return [vb / sum, vc / sum];
}
