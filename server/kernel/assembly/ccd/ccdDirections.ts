/**
 * Separating directions of two moving primitives: chooses a direction, and finds how long it separates.
 *
 * In a fixed direction d the distance of two points that move in straight lines, g(t) = d.(y(t) - x(t)), is linear in
 * t: positive between two times at which it is positive. If it is positive for every pair of corners, the primitives do
 * not touch. So one direction clears an interval of time exactly, and any direction is valid. Only the bound on
 * rounding must be right:
 *   g = d.(y - x) in float64 has 4 roundings a term (difference, product, two sums), so |error| <= 4.1 u sum |d_i (y_i
 *   - x_i)|, u = 2^-53; the code uses 6 u times the computed sum, plus UNDERFLOW.
 * Then (1-t) G0 + t G1 with G = g - error at t = 0 and 1 is below the true distance for all t, and its zero is rounded
 * inwards.
 */

import { at } from "./ccdLanes";

/** The direction to try, set by closestVertexTriangle or closestEdgeEdge. */
let dx: f64 = 0;
let dy: f64 = 0;
let dz: f64 = 0;
/** Whether the closest points are inside both primitives by more than INSIDE of their size. */
export let inside: bool = false;
/** The interval that `separate` cleared; empty if low > high. */
export let clearLow: f64 = 0;
export let clearHigh: f64 = 0;

const ROUNDING: f64 = 6.0 / 9007199254740992.0;
/**
 * Products below 2^-1022 and scaled coordinates lose up to 2^-1074, times at most 2^202 (a cross product of scaled
 * differences below 2^100): less than 2^-860.
 */
const UNDERFLOW: f64 = 1.3e-259;
/**
 * Below this squared sine, the common normal of two edges has lost half of its digits, and the closest points are more
 * accurate.
 */
const PARALLEL: f64 = 1e-14;
/** Below this squared sine a triangle's normal is rounding. */
const FLAT: f64 = 1e-26;
/** 2^-20: rounding does not move a closest point across an edge that is further away than this part of the size. */
const INSIDE: f64 = 9.5367431640625e-7;

/** Lower bounds of d.(y - x) at t0 and t1 for the points at byte offsets `from` and `to`. */
// @inline
function gap(q: usize, scale: v128, from: usize, to: usize): v128 {
  const px = f64x2.mul(f64x2.splat(dx), f64x2.sub(at(q, to, scale), at(q, from, scale)));
  const py = f64x2.mul(f64x2.splat(dy), f64x2.sub(at(q, to + 8, scale), at(q, from + 8, scale)));
  const pz = f64x2.mul(f64x2.splat(dz), f64x2.sub(at(q, to + 16, scale), at(q, from + 16, scale)));
  const size = f64x2.add(f64x2.add(f64x2.abs(px), f64x2.abs(py)), f64x2.abs(pz));
  return f64x2.sub(
    f64x2.add(f64x2.add(px, py), pz),
    f64x2.add(f64x2.mul(size, f64x2.splat(ROUNDING)), f64x2.splat(UNDERFLOW)),
  );
}

/** Narrows the cleared interval to times at which this pair of corners is separated. */
function narrow(g: v128): void {
  const g0 = f64x2.extract_lane(g, 0);
  const g1 = f64x2.extract_lane(g, 1);
  if (g0 > 0.0) {
    // 3 roundings in the quotient: 1 - 2^-50 covers 8, and 1e-300 covers the loss of a subnormal quotient.
    if (!(g1 > 0.0)) clearHigh = min(clearHigh, (g0 / (g0 - g1)) * (1.0 - 8.8817841970012523e-16) - 1e-300);
  } else if (g1 > 0.0) clearLow = max(clearLow, (g0 / (g0 - g1)) * (1.0 + 8.8817841970012523e-16) + 1e-300);
  else clearLow = 3.0;
}

/**
 * Sets clearLow and clearHigh (above 1: to the end) for (dx, dy, dz), which points from the triangle to the vertex or
 * from edge a to edge b.
 */
// @inline
export function separate(q: usize, edges: bool, scaling: f64): void {
  const scale = f64x2.splat(scaling);
  const g0 = edges ? gap(q, scale, 0, 48) : gap(q, scale, 24, 0);
  const g1 = edges ? gap(q, scale, 0, 72) : gap(q, scale, 48, 0);
  const g2 = edges ? gap(q, scale, 24, 48) : gap(q, scale, 72, 0);
  const g3 = edges ? gap(q, scale, 24, 72) : g2;
  clearLow = 0.0;
  clearHigh = 2.0;
  if (i64x2.all_true(f64x2.gt(f64x2.pmin(f64x2.pmin(g0, g1), f64x2.pmin(g2, g3)), f64x2.splat(0.0)))) return;
  narrow(g0);
  narrow(g1);
  narrow(g2);
  if (edges) narrow(g3);
}

// @inline
function direct(x: f64, y: f64, z: f64): void {
  inside = false;
  dx = x;
  dy = y;
  dz = z;
}

/** Sets the direction to the plane's normal on c's side. */
// @inline
function directNormal(x: f64, y: f64, z: f64, cx: f64, cy: f64, cz: f64): void {
  const turn: f64 = x * cx + y * cy + z * cz < 0.0 ? -1.0 : 1.0;
  direct(turn * x, turn * y, turn * z);
}

// @inline
function clamp(x: f64): f64 {
  return min(max(x, 0.0), 1.0);
}

/** Sets the direction from the closest point of the segment (0, e) to c. Returns its squared length. */
function closestOnSegment(ex: f64, ey: f64, ez: f64, cx: f64, cy: f64, cz: f64): f64 {
  const ee = ex * ex + ey * ey + ez * ez;
  const s = ee > 0.0 ? clamp((ex * cx + ey * cy + ez * cz) / ee) : 0.0;
  direct(cx - s * ex, cy - s * ey, cz - s * ez);
  return dx * dx + dy * dy + dz * dz;
}

/** The same for the three edges of a triangle (0, a, b) without area, where Voronoi regions are undefined. */
function closestOnEdges(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): void {
  const first = closestOnSegment(ax, ay, az, cx, cy, cz);
  const second = closestOnSegment(bx, by, bz, cx, cy, cz);
  const third = closestOnSegment(bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az);
  if (third <= first && third <= second) return;
  if (first <= second) closestOnSegment(ax, ay, az, cx, cy, cz);
  else closestOnSegment(bx, by, bz, cx, cy, cz);
}

/**
 * Sets the direction from the closest point of the triangle (0, a, b) to c, by Voronoi regions (Ericson 2005, section
 * 5.1.5); the face's normal if the point is inside.
 */
export function closestVertexTriangle(
  ax: f64,
  ay: f64,
  az: f64,
  bx: f64,
  by: f64,
  bz: f64,
  cx: f64,
  cy: f64,
  cz: f64,
): void {
  const nx = ay * bz - az * by;
  const ny = az * bx - ax * bz;
  const nz = ax * by - ay * bx;
  if (nx * nx + ny * ny + nz * nz <= FLAT * (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)) {
    closestOnEdges(ax, ay, az, bx, by, bz, cx, cy, cz);
    return;
  }
  const d1 = ax * cx + ay * cy + az * cz;
  const d2 = bx * cx + by * cy + bz * cz;
  if (d1 <= 0.0 && d2 <= 0.0) {
    direct(cx, cy, cz);
    return;
  }
  const px = cx - ax;
  const py = cy - ay;
  const pz = cz - az;
  const d3 = ax * px + ay * py + az * pz;
  const d4 = bx * px + by * py + bz * pz;
  if (d3 >= 0.0 && d4 <= d3) {
    direct(px, py, pz);
    return;
  }
  const qx = cx - bx;
  const qy = cy - by;
  const qz = cz - bz;
  const d5 = ax * qx + ay * qy + az * qz;
  const d6 = bx * qx + by * qy + bz * qz;
  if (d6 >= 0.0 && d5 <= d6) {
    direct(qx, qy, qz);
    return;
  }
  const vc = d1 * d4 - d3 * d2;
  const vb = d5 * d2 - d1 * d6;
  const va = d3 * d6 - d5 * d4;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    const s = d1 / (d1 - d3);
    direct(cx - s * ax, cy - s * ay, cz - s * az);
    return;
  }
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    const s = d2 / (d2 - d6);
    direct(cx - s * bx, cy - s * by, cz - s * bz);
    return;
  }
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    const s = (d4 - d3) / (d4 - d3 + (d5 - d6));
    direct(px - s * (bx - ax), py - s * (by - ay), pz - s * (bz - az));
    return;
  }
  directNormal(nx, ny, nz, cx, cy, cz);
  inside = min(va, min(vb, vc)) > INSIDE * (va + vb + vc);
}

/**
 * Sets the direction from the edge (0, a) to the edge (c, c + b) between closest points (Ericson 2005, section 5.1.9);
 * the common normal if both are inside their edges.
 */
export function closestEdgeEdge(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): void {
  const aa = ax * ax + ay * ay + az * az;
  const bb = bx * bx + by * by + bz * bz;
  const ac = ax * cx + ay * cy + az * cz;
  const bc = bx * cx + by * cy + bz * cz;
  let s: f64 = 0;
  let r: f64 = 0;
  if (aa > 0.0 && bb > 0.0) {
    const ab = ax * bx + ay * by + az * bz;
    const square = aa * bb - ab * ab;
    const free = square > 0.0 ? (ac * bb - ab * bc) / square : 0.0;
    s = clamp(free);
    r = (ab * s - bc) / bb;
    if (r < 0.0) {
      r = 0.0;
      s = clamp(ac / aa);
    } else if (r > 1.0) {
      r = 1.0;
      s = clamp((ac + ab) / aa);
    } else if (free > 0.0 && free < 1.0 && square > PARALLEL * aa * bb) {
      directNormal(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx, cx, cy, cz);
      inside = min(min(free, r), 1.0 - max(free, r)) > INSIDE;
      return;
    }
  } else if (aa > 0.0) s = clamp(ac / aa);
  else if (bb > 0.0) r = clamp(-bc / bb);
  direct(cx + r * bx - s * ax, cy + r * by - s * ay, cz + r * bz - s * az);
}
