/**
 * Examines one pair in float64: closest points at the safe positions S and at x, and whether the way from S to x is
 * clear. Like contactCheck.ts, for pairs that it could not clear.
 */
import { spendWork } from "../../scheduler/clock";
import * as L from "../../layout/layout";
import { EDGE_SHARE, KEEP } from "../prepare/contactList";
import { dot3, sub, xs, ys, zs } from "../../math/lanes";
import { edgeEdge, vertexTriangle } from "../../ccd/ccd";

/** Results of `examine`. */
export const CLEAR = 0;
/** The pair does not meet, but ends nearer than allowed. */
const TOO_NEAR = 1;
export const MEET = 2;

/** Kind, particle addresses and least distance, m, of the last examined pair. */
let vertex: bool;
export let particle0: usize, particle1: usize, particle2: usize, particle3: usize;
export let keep: f64;
/** Time of impact, if the pair meets. */
export let impact: f64;
/** Approach after which a clear pair with a known direction is still clear, m; 0: unknown. */
export let slack: f32;
/** Direction, weights and distance of the closest points, from the last `closest`. */
export let nx: f64, ny: f64, nz: f64, b0: f64, b1: f64, b2: f64, b3: f64, gap: f64;

/**
 * A pair that is already nearer than allowed may lose this part of its distance in a substep, because of float32
 * rounding.
 */
const ROUNDING: f64 = 1.0 / 1024;

/** Part of its least distance by which a direction must separate a pair, in float64. */
const SURE: f64 = 1e-6;

/** Part of the rounding of a check in float32 that float64 keeps as a distance, for surfaces without thickness. */
const EXACT: f64 = 1.0 / 4096;

// @inline
function at(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_PAIR_SCRATCH) + ((<usize>n) << 3);
}

/** Address of a pair's lane: its block plus four times its lane. */
export function laneOf(pair: i32): usize {
  return (
    <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) +
    <usize>(pair >> 2) * L.CONTACT_BLOCK_BYTES +
    ((<usize>(pair & 3)) << 2)
  );
}

/** Sets the results of `examine` other than its return value: S and x in the scratch. */
export function lookAt(pair: i32): void {
  const lane = laneOf(pair);
  vertex = pair < load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) << 2;
  particle0 = <usize>load<u32>(lane);
  particle1 = <usize>load<u32>(lane, 16);
  particle2 = <usize>load<u32>(lane, 32);
  particle3 = <usize>load<u32>(lane, 48);
  open(lane);
}

/** Puts S at q[0 .. 11] and x at q[12 .. 23] of the scratch. */
function open(lane: usize): void {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  put(0, particle0 + toSafe);
  put(3, particle1 + toSafe);
  put(6, particle2 + toSafe);
  put(9, particle3 + toSafe);
  put(12, particle0);
  put(15, particle1);
  put(18, particle2);
  put(21, particle3);
  keep = leastOf(lane);
}

/**
 * Returns the least distance of a pair, m. Beside large triangles a block has more than its thickness asks for, because
 * it is checked in float32: a ball hovered 6 mm above triangles of 2 km, without friction.
 */
// @inline
function leastOf(lane: usize): f64 {
  const least: f64 = load<f32>(lane, L.CONTACT_BLOCK_KEEP);
  const r: f64 = load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  const asked = vertex ? KEEP * r : (KEEP / EDGE_SHARE) * r;
  return r >= 0 && least > 1.001 * asked ? max<f64>(asked, EXACT * least) : least;
}

// @inline
function put(n: i32, particle: usize): void {
  store<f64>(at(n), <f64>load<f32>(particle));
  store<f64>(at(n + 1), <f64>load<f32>(particle, 4));
  store<f64>(at(n + 2), <f64>load<f32>(particle, 8));
}

/**
 * Examines pair number `pair`. Most pairs whose neighbors moved are still separated by their stored direction. A pair
 * that is cleared by another direction stores that one.
 */
export function examine(pair: i32): i32 {
  spendWork(2);
  const lane = laneOf(pair);
  vertex = pair < load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) << 2;
  if (heldApart(lane)) return CLEAR;
  slack = 0;
  open(lane);
  closest(12);
  const end = gap;
  const ex = nx;
  const ey = ny;
  const ez = nz;
  const before = separation(0, ex, ey, ez);
  // apart by the least distance at the end, and in the same direction at the start, where any separation suffices
  if (end >= keep && end < Infinity && before > SURE * keep) {
    if (before >= 0.5 * keep) {
      learn(lane);
      slack = <f32>(end - keep);
    }
    return CLEAR;
  }
  closest(0);
  // NaN or infinity: the guard (guard.ts) will reset the body
  if (!(gap > 0) || !(gap < Infinity) || !(end < Infinity)) return CLEAR;
  keep = min<f64>(keep, gap * (1 - ROUNDING));
  const sure = SURE * keep;
  if (!(separation(12, nx, ny, nz) > sure || (end > 0 && before > sure))) {
    // neither end's direction separates them at the other end: try one between the two
    const mx = ex + nx;
    const my = ey + ny;
    const mz = ez + nz;
    const length = sqrt(mx * mx + my * my + mz * mz);
    const between =
      length > 0 &&
      separation(0, mx / length, my / length, mz / length) > sure &&
      separation(12, mx / length, my / length, mz / length) > sure;
    if (!between) {
      impact = vertex ? vertexTriangle(at(0)) : edgeEdge(at(0));
      if (impact >= 0) return MEET;
    }
  }
  return end >= keep ? CLEAR : TOO_NEAR;
}

/**
 * Returns whether the pair's stored direction separates it at both ends. Like contactCheck.ts, for one pair: its four
 * particles are the lanes.
 */
function heldApart(lane: usize): bool {
  const p0 = <usize>load<u32>(lane);
  const p1 = <usize>load<u32>(lane, 16);
  const p2 = <usize>load<u32>(lane, 32);
  const p3 = <usize>load<u32>(lane, 48);
  const x = v128.load32_splat(lane, L.CONTACT_BLOCK_NORMAL);
  const y = v128.load32_splat(lane, L.CONTACT_BLOCK_NORMAL + 16);
  const z = v128.load32_splat(lane, L.CONTACT_BLOCK_NORMAL + 32);
  const least = load<f32>(lane, L.CONTACT_BLOCK_KEEP);
  particle0 = p0;
  particle1 = p1;
  particle2 = p2;
  particle3 = p3;
  slack = apart(p0, p1, p2, p3, x, y, z) - least;
  if (!(slack >= 0)) return false;
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  return apart(p0 + toSafe, p1 + toSafe, p2 + toSafe, p3 + toSafe, x, y, z) >= <f32>0.5 * least;
}

/** Returns how far a direction (one number in all lanes) separates four particles at these addresses. */
// @inline
function apart(p0: usize, p1: usize, p2: usize, p3: usize, x: v128, y: v128, z: v128): f32 {
  const d = v128.load(p3);
  const a = sub(v128.load(p0), d);
  const b = sub(v128.load(p1), d);
  const c = sub(v128.load(p2), d);
  const none = f32x4.splat(0);
  const s = dot3(x, xs(a, b, c, none), y, ys(a, b, c, none), z, zs(a, b, c, none));
  const s0 = f32x4.extract_lane(s, 0);
  const s1 = f32x4.extract_lane(s, 1);
  const s2 = f32x4.extract_lane(s, 2);
  return vertex ? s0 - max<f32>(0, max<f32>(s1, s2)) : min<f32>(s0, s1) - max<f32>(0, s2);
}

/** Stores the direction of the last `closest` in the pair. */
function learn(lane: usize): void {
  store<f32>(lane, <f32>nx, L.CONTACT_BLOCK_NORMAL);
  store<f32>(lane, <f32>ny, L.CONTACT_BLOCK_NORMAL + 16);
  store<f32>(lane, <f32>nz, L.CONTACT_BLOCK_NORMAL + 32);
}

/** Returns how far a direction separates the pair at q[n .. n + 11]. */
function separation(n: i32, x: f64, y: f64, z: f64): f64 {
  const q = at(n);
  const cx = load<f64>(q, 72);
  const cy = load<f64>(q, 80);
  const cz = load<f64>(q, 88);
  const s0 = x * (load<f64>(q) - cx) + y * (load<f64>(q, 8) - cy) + z * (load<f64>(q, 16) - cz);
  const s1 = x * (load<f64>(q, 24) - cx) + y * (load<f64>(q, 32) - cy) + z * (load<f64>(q, 40) - cz);
  const s2 = x * (load<f64>(q, 48) - cx) + y * (load<f64>(q, 56) - cy) + z * (load<f64>(q, 64) - cz);
  return vertex ? s0 - max<f64>(0, max<f64>(s1, s2)) : min<f64>(s0, s1) - max<f64>(0, s2);
}

/** q[24 .. 35] = the pair at time t between S and x. */
export function between(t: f64): void {
  for (let k = 0; k < 12; k++)
    store<f64>(at(24 + k), load<f64>(at(k)) + t * (load<f64>(at(12 + k)) - load<f64>(at(k))));
}

/** Returns the sum of the four particles at q[n .. n + 11], weighted by the last `closest`, along (x, y, z). */
export function weighted(n: i32, x: f64, y: f64, z: f64): f64 {
  const q = at(n);
  const cx = load<f64>(q, 72);
  const cy = load<f64>(q, 80);
  const cz = load<f64>(q, 88);
  return (
    x * (b0 * (load<f64>(q) - cx) + b1 * (load<f64>(q, 24) - cx) + b2 * (load<f64>(q, 48) - cx)) +
    y * (b0 * (load<f64>(q, 8) - cy) + b1 * (load<f64>(q, 32) - cy) + b2 * (load<f64>(q, 56) - cy)) +
    z * (b0 * (load<f64>(q, 16) - cz) + b1 * (load<f64>(q, 40) - cz) + b2 * (load<f64>(q, 64) - cz))
  );
}

// @inline
function share(num: f64, den: f64): f64 {
  return den > 0 ? max<f64>(0, min<f64>(1, num / den)) : 0;
}

/** Finds the closest points of the pair at q[n .. n + 11]: contactLanes.ts in float64. */
export function closest(n: i32): void {
  const q = at(n);
  const cx = load<f64>(q, 72);
  const cy = load<f64>(q, 80);
  const cz = load<f64>(q, 88);
  const x0 = load<f64>(q) - cx;
  const y0 = load<f64>(q, 8) - cy;
  const z0 = load<f64>(q, 16) - cz;
  const x1 = load<f64>(q, 24) - cx;
  const y1 = load<f64>(q, 32) - cy;
  const z1 = load<f64>(q, 40) - cz;
  const x2 = load<f64>(q, 48) - cx;
  const y2 = load<f64>(q, 56) - cy;
  const z2 = load<f64>(q, 64) - cz;
  if (vertex) closestOfTriangle(x0, y0, z0, x1, y1, z1, x2, y2, z2);
  else closestOfEdges(x0, y0, z0, x1, y1, z1, x2, y2, z2);
  gap = sqrt(nx * nx + ny * ny + nz * nz);
  nx /= gap;
  ny /= gap;
  nz /= gap;
}

/** Takes a closest point: weights of corners 1 and 2, and the vector (x, y, z) from it. */
// @inline
function take(weight1: f64, weight2: f64, x: f64, y: f64, z: f64): void {
  b1 = -weight1;
  b2 = -weight2;
  b3 = weight1 + weight2 - 1;
  nx = x;
  ny = y;
  nz = z;
}

/** Closest point of the triangle 1 2 3 to vertex 0, relative to corner 3. */
// @inline
function closestOfTriangle(x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64, x2: f64, y2: f64, z2: f64): void {
  const uu = x1 * x1 + y1 * y1 + z1 * z1;
  const vv = x2 * x2 + y2 * y2 + z2 * z2;
  const uv = x1 * x2 + y1 * y2 + z1 * z2;
  const uq = x1 * x0 + y1 * y0 + z1 * z0;
  const vq = x2 * x0 + y2 * y0 + z2 * z0;
  const det = uu * vv - uv * uv;
  const s = vv * uq - uv * vq;
  const t = uu * vq - uv * uq;
  b0 = 1;
  if (s >= 0 && t >= 0 && s + t <= det && det > 1e-12 * uu * vv) {
    const wa = s / det;
    const wb = t / det;
    take(wa, wb, x0 - wa * x1 - wb * x2, y0 - wa * y1 - wb * y2, z0 - wa * z1 - wb * z2);
    return;
  }
  // the nearest of the three sides' closest points
  const k1 = share(uq, uu);
  take(k1, 0, x0 - k1 * x1, y0 - k1 * y1, z0 - k1 * z1);
  const k2 = share(vq, vv);
  takeNearer(0, k2, x0 - k2 * x2, y0 - k2 * y2, z0 - k2 * z2);
  const mx = x2 - x1;
  const my = y2 - y1;
  const mz = z2 - z1;
  const rx = x0 - x1;
  const ry = y0 - y1;
  const rz = z0 - z1;
  const k3 = share(rx * mx + ry * my + rz * mz, mx * mx + my * my + mz * mz);
  takeNearer(1 - k3, k3, rx - k3 * mx, ry - k3 * my, rz - k3 * mz);
}

// @inline
function takeNearer(weight1: f64, weight2: f64, x: f64, y: f64, z: f64): void {
  if (x * x + y * y + z * z < nx * nx + ny * ny + nz * nz) take(weight1, weight2, x, y, z);
}

/** Closest points of edges 0 1 and 2 3, relative to corner 3. */
// @inline
function closestOfEdges(x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64, x2: f64, y2: f64, z2: f64): void {
  const fx = x1 - x0;
  const fy = y1 - y0;
  const fz = z1 - z0;
  const rx = x0 - x2;
  const ry = y0 - y2;
  const rz = z0 - z2;
  const ff = fx * fx + fy * fy + fz * fz;
  const gg = x2 * x2 + y2 * y2 + z2 * z2;
  const fg = -(fx * x2 + fy * y2 + fz * z2);
  const fr = fx * rx + fy * ry + fz * rz;
  const gr = -(x2 * rx + y2 * ry + z2 * rz);
  const det = ff * gg - fg * fg;
  let s: f64 = det > 1e-12 * ff * gg ? share(fg * gr - fr * gg, det) : 0;
  let t = share(fg * s + gr, gg);
  s = share(fg * t - fr, ff);
  t = share(fg * s + gr, gg);
  b0 = 1 - s;
  b1 = s;
  b2 = t - 1;
  b3 = -t;
  nx = rx + s * fx + t * x2;
  ny = ry + s * fy + t * y2;
  nz = rz + s * fz + t * z2;
}
