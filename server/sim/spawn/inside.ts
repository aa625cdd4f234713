/**
 * Tests for a point inside a closed surface, by winding number (Van Oosterom & Strackee 1983), which avoids special
 * cases of rays that meet an edge; and the distance out of it, straight up or down. Plain IEEE arithmetic: the same
 * result on any machine.
 */
import { arcTangent } from "../../meshing/tetrahedra/windingNumber.ts";

/** A surface: float64[3N] m and three indices into it for each triangle. */
export interface Shell {
  x: Float64Array;
  triangles: Int32Array;
}

/** Number of turns above which a point is inside: 1 inside, 0 outside, up to rounding. */
const HALF = 0.5;

/** Whether the closed surface encloses the point, for either orientation of its triangles. */
export function encloses({ x, triangles }: Shell, px: number, py: number, pz: number): boolean {
  let turns = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    const ax = x[a]! - px;
    const ay = x[a + 1]! - py;
    const az = x[a + 2]! - pz;
    const bx = x[b]! - px;
    const by = x[b + 1]! - py;
    const bz = x[b + 2]! - pz;
    const cx = x[c]! - px;
    const cy = x[c + 1]! - py;
    const cz = x[c + 2]! - pz;
    const la = Math.sqrt(ax * ax + ay * ay + az * az);
    const lb = Math.sqrt(bx * bx + by * by + bz * bz);
    const lc = Math.sqrt(cx * cx + cy * cy + cz * cz);
    turns += arcTangent(
      ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx),
      la * lb * lc +
        (ax * bx + ay * by + az * bz) * lc +
        (bx * cx + by * cy + bz * cz) * la +
        (cx * ax + cy * ay + cz * az) * lb,
    );
  }
  return Math.abs(turns) / (2 * Math.PI) > HALF;
}

/** Distance from the point to the surface straight up (way 1) or down (-1), m; Infinity: no surface there. */
export function wayOut({ x, triangles }: Shell, px: number, py: number, pz: number, way: 1 | -1): number {
  let nearest = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    const ux = x[b]! - x[a]!;
    const uz = x[b + 2]! - x[a + 2]!;
    const vx = x[c]! - x[a]!;
    const vz = x[c + 2]! - x[a + 2]!;
    const qx = px - x[a]!;
    const qz = pz - x[a + 2]!;
    const area = ux * vz - uz * vx;
    if (area === 0) continue;
    const wb = (qx * vz - qz * vx) / area;
    const wc = (ux * qz - uz * qx) / area;
    if (!(wb >= 0 && wc >= 0 && wb + wc <= 1)) continue;
    const height = way * (x[a + 1]! + wb * (x[b + 1]! - x[a + 1]!) + wc * (x[c + 1]! - x[a + 1]!) - py);
    if (height >= 0) nearest = Math.min(nearest, height);
  }
  return nearest;
}

/** One particle of each connected part of the triangles. */
export function partsOf(triangles: Int32Array, count: number): number[] {
  const parents = Int32Array.from({ length: count }, (_, i) => i);
  const root = (i: number): number => {
    while (parents[i] !== i) i = parents[i] = parents[parents[i]!]!;
    return i;
  };
  for (let t = 0; t < triangles.length; t++) {
    const a = root(triangles[t]!);
    const b = root(triangles[t - (t % 3)]!);
    parents[Math.max(a, b)] = Math.min(a, b);
  }
  return [...new Set(Array.from(triangles, root))];
}

/** True if every side of every triangle has its counterpart. */
export function isClosed(triangles: Int32Array): boolean {
  const open = new Set<number>();
  const key = (a: number, b: number): number => a * 2 ** 26 + b;
  for (let t = 0; t < triangles.length; t++) {
    const a = triangles[t]!;
    const b = triangles[t % 3 === 2 ? t - 2 : t + 1]!;
    if (!open.delete(key(b, a))) open.add(key(a, b));
  }
  return triangles.length > 0 && open.size === 0;
}

/** Lowest and highest coordinates, float64[6] m. */
export function boxOf(x: Float64Array): Float64Array {
  const box = Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
  for (let i = 0; i < x.length; i++) {
    box[i % 3] = Math.min(box[i % 3]!, x[i]!);
    box[3 + (i % 3)] = Math.max(box[3 + (i % 3)]!, x[i]!);
  }
  return box;
}
