/**
 * Measures pairs of primitives of two leaves (measureLeaves.ts), four at a time in any combination. All pairs are
 * queued first, then all are measured, then the rows among them are reported. No result decides the next step, so
 * groups of four do not wait for each other.
 * For pairs that are no row, the least distance is a lower bound: all corners are projected on the direction between
 * the two closest points. In float32: any direction gives a valid bound, so only the projections' rounding matters
 * (2^-21 of the primitives' size).
 * Tried, slower: one primitive against four neighbors in lanes, half of them dead (broad phase 1.25 times as long).
 */
import * as L from "../../layout/layout";
import { add, dot3, madd, mul, sub, xs, ys, zs } from "../../math/lanes";
import { SWAPPED_NAME, addResult } from "./pairResults";

// pairs that come nearer than this by x are rows
let rowLimit: v128 = i32x4(0, 0, 0, 0);
// pairs separated by this at S, and by nearLimit at BEYOND substeps past x, are no rows
let sureLimit: v128 = i32x4(0, 0, 0, 0);
let nearLimit: v128 = i32x4(0, 0, 0, 0);
/** True if any row was found. */
let found = false;
/** Largest motion of the leaves against each other from S to x, m; 0: all pairs near at S become rows. */
let way: v128 = i32x4(0, 0, 0, 0);
// how far the first leaf may move against the second, by axis, m
let lowX: v128 = i32x4(0, 0, 0, 0);
let lowY: v128 = i32x4(0, 0, 0, 0);
let lowZ: v128 = i32x4(0, 0, 0, 0);
let highX: v128 = i32x4(0, 0, 0, 0);
let highY: v128 = i32x4(0, 0, 0, 0);
let highZ: v128 = i32x4(0, 0, 0, 0);
/** Least distance of pairs that are no row, in each lane. */
export let least: v128 = i32x4(0, 0, 0, 0);
/** Square of the largest sum of two sides. */
export let size2: v128 = i32x4(0, 0, 0, 0);
// from the second leaf to the first between the primitives `least` apart, of any length
export let alongX: v128 = i32x4(0, 0, 0, 0);
export let alongY: v128 = i32x4(0, 0, 0, 0);
export let alongZ: v128 = i32x4(0, 0, 0, 0);
// results of `findNearest`
let nearestX: v128 = i32x4(0, 0, 0, 0);
let nearestY: v128 = i32x4(0, 0, 0, 0);
let nearestZ: v128 = i32x4(0, 0, 0, 0);
// results of `gather`
let gatheredX: v128 = i32x4(0, 0, 0, 0);
let gatheredY: v128 = i32x4(0, 0, 0, 0);
let gatheredZ: v128 = i32x4(0, 0, 0, 0);
/** True if only pairs that come near between S and x become rows. */
let sparse = false;
/** True if no pair becomes a row. */
let silent = false;
/** Offset from a particle's place at x to the place where it is measured. */
let toSafe: usize = 0;
let queue: usize = 0;
let queued = 0;
/** Number of pairs of primitives that this thread has measured. */
export let measuredPairs = 0;

/** Paths are extended past x by this part of their length, as in the check (contactCheck.ts). */
const BEYOND: f32 = 0.5;

// @inline
function clamp(a: v128): v128 {
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), a));
}

/** @param scratch of this thread; rows limit of rows, m; look greatest distance that is measured, m */
export function openPairs(scratch: usize, rows: f32, look: f32): void {
  queue = scratch + L.FRONT_SCRATCH_QUEUE;
  queued = 0;
  rowLimit = f32x4.splat(rows);
  way = f32x4.splat(0);
  found = false;
  least = f32x4.splat(look);
  size2 = f32x4.splat(0);
  alongX = alongY = alongZ = f32x4.splat(0);
  sparse = false;
  silent = false;
  toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
}

/** Sets how far the first leaf moves against the second: `low` to `high`, by axis. */
export function moves(low: v128, high: v128): void {
  lowX = v128.shuffle<f32>(low, low, 0, 0, 0, 0);
  lowY = v128.shuffle<f32>(low, low, 1, 1, 1, 1);
  lowZ = v128.shuffle<f32>(low, low, 2, 2, 2, 2);
  highX = v128.shuffle<f32>(high, high, 0, 0, 0, 0);
  highY = v128.shuffle<f32>(high, high, 1, 1, 1, 1);
  highZ = v128.shuffle<f32>(high, high, 2, 2, 2, 2);
}

/** Only pairs that come near by x become rows: see measureOnWay (measureLeaves.ts). Distances in m. */
export function lookOnWay(clear: f32, sure: f32, step: f32): void {
  sparse = true;
  nearLimit = f32x4.splat(clear);
  sureLimit = f32x4.splat(sure);
  way = f32x4.splat(step);
}

/** No pair becomes a row. @param toRest offset from a particle's place at x to its rest position */
export function lookAtRest(toRest: usize): void {
  silent = true;
  moves(f32x4.splat(0), f32x4.splat(0));
  toSafe = toRest;
}

/**
 * @param first particle of a vertex, or edge of a leaf; second first corner of a triangle, or edge; name of the row
 * that they may become
 */
// @inline
export function enqueue(first: usize, second: usize, name: i32): void {
  const at = queue + <usize>queued * L.QUEUED_BYTES;
  store<u32>(at, <u32>first, L.QUEUED_FIRST);
  store<u32>(at, <u32>second, L.QUEUED_SECOND);
  store<i32>(at, name, L.QUEUED_NAME);
  queued++;
}

/** Fills the last group of four with copies of its first pair. */
function fill(): void {
  const last = queue + <usize>((queued - 1) & ~3) * L.QUEUED_BYTES;
  for (let k = queued; k & 3; k++) memory.copy(queue + <usize>k * L.QUEUED_BYTES, last, L.QUEUED_BYTES);
}

/** Gathers x, y and z of four particles. */
// @inline
function gather(p: u32, q: u32, r: u32, s: u32, to: usize): void {
  const a = v128.load(<usize>p + to);
  const b = v128.load(<usize>q + to);
  const c = v128.load(<usize>r + to);
  const d = v128.load(<usize>s + to);
  gatheredX = xs(a, b, c, d);
  gatheredY = ys(a, b, c, d);
  gatheredZ = zs(a, b, c, d);
}

/** Gathers the particles at `offset` in the first or second primitive of four pairs from `at` on. */
// @inline
function gatherOf(at: usize, which: usize, offset: usize, to: usize): void {
  gather(
    load<u32>(<usize>load<u32>(at + which) + offset),
    load<u32>(<usize>load<u32>(at + which, L.QUEUED_BYTES) + offset),
    load<u32>(<usize>load<u32>(at + which, 2 * L.QUEUED_BYTES) + offset),
    load<u32>(<usize>load<u32>(at + which, 3 * L.QUEUED_BYTES) + offset),
    to,
  );
}

/** Gathers the vertices of four pairs. */
// @inline
function gatherVertices(at: usize, to: usize): void {
  gather(
    load<u32>(at, L.QUEUED_FIRST),
    load<u32>(at, L.QUEUED_FIRST + L.QUEUED_BYTES),
    load<u32>(at, L.QUEUED_FIRST + 2 * L.QUEUED_BYTES),
    load<u32>(at, L.QUEUED_FIRST + 3 * L.QUEUED_BYTES),
    to,
  );
}

/** Returns which lanes of a group are pairs. @param left number of pairs left */
// @inline
function lanes(left: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(left));
}

/** Measures the queued pairs of vertices and triangles. */
export function separateVertices(): void {
  if (!queued) return;
  measuredPairs += queued;
  fill();
  for (let n = 0, at = queue; n < queued; n += 4, at += 4 * L.QUEUED_BYTES)
    store<i32>(at, separateTriangles(at, lanes(queued - n)), L.QUEUED_ROWS);
  if (found)
    for (let n = 0, at = queue; n < queued; n += 4, at += 4 * L.QUEUED_BYTES)
      for (let bits = load<i32>(at, L.QUEUED_ROWS); bits; bits &= bits - 1)
        tellVertex(at + <usize>ctz(bits) * L.QUEUED_BYTES);
  queued = 0;
}

// @inline
function tellVertex(pair: usize): void {
  const lane = <usize>load<u32>(pair, L.QUEUED_SECOND);
  const p = load<u32>(pair, L.QUEUED_FIRST);
  addResult(p, load<u32>(lane), load<u32>(lane, 16), load<u32>(lane, 32), load<i32>(pair, L.QUEUED_NAME));
}

/** Measures the queued pairs of edges. */
export function separateEdges(): void {
  if (!queued) return;
  measuredPairs += queued;
  fill();
  for (let n = 0, at = queue; n < queued; n += 4, at += 4 * L.QUEUED_BYTES)
    store<i32>(at, separateLines(at, lanes(queued - n)), L.QUEUED_ROWS);
  if (found)
    for (let n = 0, at = queue; n < queued; n += 4, at += 4 * L.QUEUED_BYTES)
      for (let bits = load<i32>(at, L.QUEUED_ROWS); bits; bits &= bits - 1)
        tellEdges(at + <usize>ctz(bits) * L.QUEUED_BYTES);
  queued = 0;
}

// @inline
function tellEdges(pair: usize): void {
  const a = <usize>load<u32>(pair, L.QUEUED_FIRST);
  const b = <usize>load<u32>(pair, L.QUEUED_SECOND);
  addResult(load<u32>(a), load<u32>(a, 4), load<u32>(b), load<u32>(b, 4), load<i32>(pair, L.QUEUED_NAME));
}

/** Measures four vertices and triangles. @param hit lanes that are pairs @returns bits of those that are rows */
// @inline
function separateTriangles(at: usize, hit: v128): i32 {
  gatherOf(at, L.QUEUED_SECOND, 32, toSafe);
  const cx = gatheredX;
  const cy = gatheredY;
  const cz = gatheredZ;
  gatherOf(at, L.QUEUED_SECOND, 0, toSafe);
  const ux = sub(gatheredX, cx);
  const uy = sub(gatheredY, cy);
  const uz = sub(gatheredZ, cz);
  gatherOf(at, L.QUEUED_SECOND, 16, toSafe);
  const vx = sub(gatheredX, cx);
  const vy = sub(gatheredY, cy);
  const vz = sub(gatheredZ, cz);
  gatherVertices(at, toSafe);
  const qx = sub(gatheredX, cx);
  const qy = sub(gatheredY, cy);
  const qz = sub(gatheredZ, cz);
  const sides = findNearest(ux, uy, uz, vx, vy, vz, qx, qy, qz);
  const ex = nearestX;
  const ey = nearestY;
  const ez = nearestZ;
  const size = f32x4.sqrt(dot3(ex, ex, ey, ey, ez, ez));
  const top = f32x4.pmax(f32x4.splat(0), f32x4.pmax(dot3(ex, ux, ey, uy, ez, uz), dot3(ex, vx, ey, vy, ez, vz)));
  const held = sub(dot3(ex, qx, ey, qy, ez, qz), top);
  let then = held;
  if (sparse) then = trianglesNow(at, hit, ex, ey, ez);
  const turned = signs(at);
  return keep(hit, held, then, size, sides, v128.xor(turned, ex), v128.xor(turned, ey), v128.xor(turned, ez));
}

/** Returns sign bits for those of four vertices that belong to the second leaf. */
// @inline
function signs(at: usize): v128 {
  const names = i32x4(
    load<i32>(at, L.QUEUED_NAME),
    load<i32>(at, L.QUEUED_NAME + L.QUEUED_BYTES),
    load<i32>(at, L.QUEUED_NAME + 2 * L.QUEUED_BYTES),
    load<i32>(at, L.QUEUED_NAME + 3 * L.QUEUED_BYTES),
  );
  return i32x4.shl(i32x4.ge_s(names, i32x4.splat(SWAPPED_NAME)), 31);
}

/**
 * Finds vectors from the closest points of four triangles to points q: nearestX, nearestY, nearestZ. All are relative
 * to the triangles' corner c; u and v lead to the other corners.
 * @returns u^2 + v^2
 */
// @inline
function findNearest(ux: v128, uy: v128, uz: v128, vx: v128, vy: v128, vz: v128, qx: v128, qy: v128, qz: v128): v128 {
  const zero = f32x4.splat(0);
  const uu = dot3(ux, ux, uy, uy, uz, uz);
  const vv = dot3(vx, vx, vy, vy, vz, vz);
  const uv = dot3(ux, vx, uy, vy, uz, vz);
  const uq = dot3(ux, qx, uy, qy, uz, qz);
  const vq = dot3(vx, qx, vy, qy, vz, qz);
  const det = sub(mul(uu, vv), mul(uv, uv));
  const s = sub(mul(vv, uq), mul(uv, vq));
  const t = sub(mul(uu, vq), mul(uv, uq));
  // the nearest of three sides' closest points, or the foot of the perpendicular if it lies inside
  const k1 = clamp(f32x4.div(uq, uu));
  const e1x = sub(qx, mul(k1, ux));
  const e1y = sub(qy, mul(k1, uy));
  const e1z = sub(qz, mul(k1, uz));
  const d1 = dot3(e1x, e1x, e1y, e1y, e1z, e1z);
  const k2 = clamp(f32x4.div(vq, vv));
  const e2x = sub(qx, mul(k2, vx));
  const e2y = sub(qy, mul(k2, vy));
  const e2z = sub(qz, mul(k2, vz));
  const d2 = dot3(e2x, e2x, e2y, e2y, e2z, e2z);
  const mx = sub(vx, ux);
  const my = sub(vy, uy);
  const mz = sub(vz, uz);
  const rx = sub(qx, ux);
  const ry = sub(qy, uy);
  const rz = sub(qz, uz);
  const k3 = clamp(f32x4.div(dot3(rx, mx, ry, my, rz, mz), dot3(mx, mx, my, my, mz, mz)));
  const e3x = sub(rx, mul(k3, mx));
  const e3y = sub(ry, mul(k3, my));
  const e3z = sub(rz, mul(k3, mz));
  const d3 = dot3(e3x, e3x, e3y, e3y, e3z, e3z);
  const second = f32x4.lt(d2, d1);
  const third = f32x4.lt(d3, f32x4.pmin(d1, d2));
  const inside = v128.and(
    v128.and(f32x4.ge(s, zero), f32x4.ge(t, zero)),
    v128.and(f32x4.le(add(s, t), det), f32x4.gt(det, mul(f32x4.splat(1e-5), mul(uu, vv)))),
  );
  const by = f32x4.div(f32x4.splat(1), det);
  const a = mul(s, by);
  const b = mul(t, by);
  nearestX = v128.bitselect(sub(qx, madd(a, ux, mul(b, vx))), oneOf(e1x, e2x, e3x, second, third), inside);
  nearestY = v128.bitselect(sub(qy, madd(a, uy, mul(b, vy))), oneOf(e1y, e2y, e3y, second, third), inside);
  nearestZ = v128.bitselect(sub(qz, madd(a, uz, mul(b, vz))), oneOf(e1z, e2z, e3z, second, third), inside);
  return add(uu, vv);
}

// @inline
function oneOf(first: v128, second: v128, third: v128, isSecond: v128, isThird: v128): v128 {
  return v128.bitselect(third, v128.bitselect(second, first, isSecond), isThird);
}

/** Returns how far direction e separates four vertices and triangles at x, times the length of e. */
function trianglesNow(at: usize, hit: v128, ex: v128, ey: v128, ez: v128): v128 {
  gatherOf(at, L.QUEUED_SECOND, 32, 0);
  const wx = gatheredX;
  const wy = gatheredY;
  const wz = gatheredZ;
  gatherVertices(at, 0);
  const foot = dot3(ex, sub(gatheredX, wx), ey, sub(gatheredY, wy), ez, sub(gatheredZ, wz));
  gatherOf(at, L.QUEUED_SECOND, 0, 0);
  const ix = sub(gatheredX, wx);
  const iy = sub(gatheredY, wy);
  const iz = sub(gatheredZ, wz);
  gatherOf(at, L.QUEUED_SECOND, 16, 0);
  const jx = sub(gatheredX, wx);
  const jy = sub(gatheredY, wy);
  const jz = sub(gatheredZ, wz);
  size2 = f32x4.pmax(size2, v128.and(hit, add(dot3(ix, ix, iy, iy, iz, iz), dot3(jx, jx, jy, jy, jz, jz))));
  return sub(foot, f32x4.pmax(f32x4.splat(0), f32x4.pmax(dot3(ex, ix, ey, iy, ez, iz), dot3(ex, jx, ey, jy, ez, jz))));
}

/**
 * Measures four pairs of edges a + s f and b + t g. @param hit lanes that are pairs @returns bits of those that are
 * rows
 */
// @inline
function separateLines(at: usize, hit: v128): i32 {
  gatherOf(at, L.QUEUED_FIRST, 0, toSafe);
  const ax = gatheredX;
  const ay = gatheredY;
  const az = gatheredZ;
  gatherOf(at, L.QUEUED_FIRST, 4, toSafe);
  const fx = sub(gatheredX, ax);
  const fy = sub(gatheredY, ay);
  const fz = sub(gatheredZ, az);
  gatherOf(at, L.QUEUED_SECOND, 0, toSafe);
  const rx = sub(ax, gatheredX);
  const ry = sub(ay, gatheredY);
  const rz = sub(az, gatheredZ);
  const bx = gatheredX;
  const by = gatheredY;
  const bz = gatheredZ;
  gatherOf(at, L.QUEUED_SECOND, 4, toSafe);
  const gx = sub(gatheredX, bx);
  const gy = sub(gatheredY, by);
  const gz = sub(gatheredZ, bz);
  const ff = dot3(fx, fx, fy, fy, fz, fz);
  const gg = dot3(gx, gx, gy, gy, gz, gz);
  const fg = dot3(fx, gx, fy, gy, fz, gz);
  const fr = dot3(fx, rx, fy, ry, fz, rz);
  const gr = dot3(gx, rx, gy, ry, gz, rz);
  let s = clamp(f32x4.div(sub(mul(fg, gr), mul(fr, gg)), sub(mul(ff, gg), mul(fg, fg))));
  const t = clamp(f32x4.div(madd(fg, s, gr), gg));
  s = clamp(f32x4.div(sub(mul(fg, t), fr), ff));
  const ex = add(rx, sub(mul(s, fx), mul(t, gx)));
  const ey = add(ry, sub(mul(s, fy), mul(t, gy)));
  const ez = add(rz, sub(mul(s, fz), mul(t, gz)));
  const pa = dot3(ex, rx, ey, ry, ez, rz);
  const pb = add(pa, dot3(ex, fx, ey, fy, ez, fz));
  const pd = dot3(ex, gx, ey, gy, ez, gz);
  const size = f32x4.sqrt(dot3(ex, ex, ey, ey, ez, ez));
  const held = sub(f32x4.pmin(pa, pb), f32x4.pmax(f32x4.splat(0), pd));
  let then = held;
  if (sparse) then = linesNow(at, hit, ex, ey, ez);
  return keep(hit, held, then, size, add(ff, gg), ex, ey, ez);
}

/** Returns how far direction e separates four pairs of edges at x, times the length of e. */
function linesNow(at: usize, hit: v128, ex: v128, ey: v128, ez: v128): v128 {
  const zero = f32x4.splat(0);
  gatherOf(at, L.QUEUED_FIRST, 0, 0);
  const ox = gatheredX;
  const oy = gatheredY;
  const oz = gatheredZ;
  gatherOf(at, L.QUEUED_FIRST, 4, 0);
  const ix = sub(gatheredX, ox);
  const iy = sub(gatheredY, oy);
  const iz = sub(gatheredZ, oz);
  gatherOf(at, L.QUEUED_SECOND, 0, 0);
  const wx = gatheredX;
  const wy = gatheredY;
  const wz = gatheredZ;
  gatherOf(at, L.QUEUED_SECOND, 4, 0);
  const jx = sub(gatheredX, wx);
  const jy = sub(gatheredY, wy);
  const jz = sub(gatheredZ, wz);
  size2 = f32x4.pmax(size2, v128.and(hit, add(dot3(ix, ix, iy, iy, iz, iz), dot3(jx, jx, jy, jy, jz, jz))));
  const qa = dot3(ex, sub(ox, wx), ey, sub(oy, wy), ez, sub(oz, wz));
  const low = add(qa, f32x4.pmin(zero, dot3(ex, ix, ey, iy, ez, iz)));
  return sub(low, f32x4.pmax(zero, dot3(ex, jx, ey, jy, ez, jz)));
}

/**
 * Updates the least distance of the pairs in `hit` that become no rows, and its direction e. `size` is the length of e,
 * `held` and `then` the separations along e at S and at x, times `size`, and `sides` the squared sizes of the
 * primitives. A pair with NaN becomes a row, so that float64 examines it. A silent pass, which makes no rows, gives it
 * a distance below 0.
 * @returns bits of those that are rows
 */
// @inline
function keep(hit: v128, held: v128, then: v128, size: v128, sides: v128, ex: v128, ey: v128, ez: v128): i32 {
  const apart = f32x4.div(sparse ? held : add(held, lost(ex, ey, ez)), size);
  const out = f32x4.ge(apart, rowLimit);
  size2 = f32x4.pmax(size2, v128.and(hit, sides));
  if (silent) {
    const distance = v128.bitselect(apart, f32x4.splat(-1), out);
    least = v128.bitselect(f32x4.pmin(least, distance), least, hit);
    return 0;
  }
  let is = apart;
  let far = v128.and(hit, out);
  if (sparse) {
    const now = f32x4.div(then, size);
    is = v128.bitselect(sub(apart, way), now, out);
    far = v128.and(hit, v128.or(out, staysClear(apart, now)));
  }
  const nearer = v128.and(far, f32x4.lt(is, least));
  alongX = v128.bitselect(ex, alongX, nearer);
  alongY = v128.bitselect(ey, alongY, nearer);
  alongZ = v128.bitselect(ez, alongZ, nearer);
  least = v128.bitselect(is, least, nearer);
  const rows = v128.andnot(hit, far);
  found = found || v128.any_true(rows);
  return v128.bitmask<i32>(rows);
}

/** Returns how much of the separation along e the leaves' motion may take, times the length of e; not positive. */
// @inline
function lost(ex: v128, ey: v128, ez: v128): v128 {
  return add(
    f32x4.pmin(mul(ex, lowX), mul(ex, highX)),
    add(f32x4.pmin(mul(ey, lowY), mul(ey, highY)), f32x4.pmin(mul(ez, lowZ), mul(ez, highZ))),
  );
}

/** Returns lanes that one direction separates by `was` at S and by `is` at x, and keeps separating past x. */
// @inline
function staysClear(was: v128, is: v128): v128 {
  const closing = f32x4.pmax(f32x4.splat(0), sub(was, is));
  return v128.and(f32x4.ge(was, sureLimit), f32x4.ge(sub(is, mul(f32x4.splat(BEYOND), closing)), nearLimit));
}
