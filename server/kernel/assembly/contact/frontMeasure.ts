/**
 * Two leaves of the front (front.ts) against each other, at the safe positions S: what comes within `rowLimit` becomes
 * a row (frontRows.ts); of all else the least distance is a lower bound by one direction that parts the two primitives,
 * that of their closest points, along which all corners are projected. Four lanes at a time in float32: any direction
 * parts what it parts, so rounding matters in the projections only (2^-21 of the primitives' size).
 * Of crowded leaves (`sparse`) what the same direction parts at S and at x is no row, for it parts it on all of the
 * straight way; then the least distance is one at x. That is a tenth of the rows where things pass each other, but the
 * leaves have to be measured in both fronts of a substep: for all leaves it costs twice what the rows cost (hundred
 * bodies 43 and 70 ms a tick, drape with three hands 19 and 33, a crumpled cloth 88 and 79).
 * Tried and lost, too: Gilbert's directions between hulls of leaves before they are measured. Half of the pairs really
 * are near; of the others a quarter is parted by four directions, which cost as much as is saved.
 */
import {
  HEADER,
  H_X,
  H_SAFE,
  CLOSE_NORMAL,
  FRONT_GATHERED,
  FRONT_LEAVES,
  FRONT_MOVES,
  FRONT_REST,
  FRONT_SCRATCH,
  SHARED_PARTS,
  FRONT_STAMP,
  GATHERED_BOX_HIGH,
  GATHERED_BOX_LOW,
  GATHERED_BYTES,
  GATHERED_EDGE_BYTES,
  GATHERED_EDGES,
  GATHERED_HIGH,
  GATHERED_LOW,
  GATHERED_NOW,
  GATHERED_NOW_EDGES,
  GATHERED_NOW_EDGE_BYTES,
  GATHERED_NOW_STAMP,
  GATHERED_STAMP,
  H_FRONT,
  LEAF_BYTES,
  LEAF_EDGE,
  LEAF_EDGES,
  LEAF_TRIANGLE,
  LEAF_TRIANGLES,
  LEAF_VERTEX,
  LEAF_VERTICES,
} from "../layout/layout";
import { add, dot3, largest, madd, mul, smallest, sub, xs, ys, zs } from "../math/lanes";
import { EDGE_NAME, LEAF_MOST, SWAPPED_NAME, foundRow } from "./frontFound";

// further apart than this at S: need not be looked at at x
let rowLimit: v128 = i32x4(0, 0, 0, 0);
// what is parted by so much at S, and at x so much further than where it will have gone to, is no row
let sureLimit: v128 = i32x4(0, 0, 0, 0);
let nearLimit: v128 = i32x4(0, 0, 0, 0);
/** How many came within `rowLimit` at S. */
export let candidates = 0;
/** How far the leaves may move against each other from S to x, m; 0: all that comes near at S becomes a row. */
let way: v128 = i32x4(0, 0, 0, 0);
// least distance at x
let far2: v128 = i32x4(0, 0, 0, 0);
let least: v128 = i32x4(0, 0, 0, 0);
let size2: v128 = i32x4(0, 0, 0, 0);
// from the second leaf to the first, between what is apart by `least`, of any length
let alongX: v128 = i32x4(0, 0, 0, 0);
let alongY: v128 = i32x4(0, 0, 0, 0);
let alongZ: v128 = i32x4(0, 0, 0, 0);
// what `findNearest` found
let nearestX: v128 = i32x4(0, 0, 0, 0);
let nearestY: v128 = i32x4(0, 0, 0, 0);
let nearestZ: v128 = i32x4(0, 0, 0, 0);
let itself = false;
/** Vertices of the second leaf against triangles of the first are measured now. */
let swapped = false;
/** Only what comes near by x becomes a row. */
let sparse = false;
/** Nothing becomes a row. */
let silent = false;
let toSafe: usize = 0;
/** Which of the scratches is this thread's. */
let scratch: usize = 0;

/** Rounding of a projection, a part of the primitives' size. */
export const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21
/** What comes near is looked for so much further along its way than x, as the check does (contactCheck.ts). */
const BEYOND: f32 = 0.5;
/** And of a box's distance. */
const MORE: f32 = 1.00001;

// @inline
function front(): usize {
  return <usize>load<u32>(HEADER, H_FRONT);
}
// @inline
function row(at: usize, n: usize): v128 {
  return v128.load(at + (n << 4));
}
// @inline
function clamp(a: v128): v128 {
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), a));
}
// @inline
function safe(particle: u32): v128 {
  return v128.load(<usize>particle + toSafe);
}

/** @param n number of a part of the front that only this thread has now */
export function useScratch(n: i32): void {
  scratch = <usize>(n % SHARED_PARTS) * (2 * GATHERED_BYTES);
}

/** A leaf's primitives at S, in lanes. Two threads may gather one leaf at once: the same numbers. */
function gathered(n: i32): usize {
  const at = <usize>load<u32>(front(), FRONT_GATHERED) + <usize>n * GATHERED_BYTES;
  const stamp = load<i32>(front(), FRONT_STAMP);
  if (atomic.load<i32>(at, GATHERED_STAMP) === stamp) return at;
  gather(<usize>load<u32>(front(), FRONT_LEAVES) + <usize>n * LEAF_BYTES, at);
  atomic.store<i32>(at, stamp, GATHERED_STAMP);
  return at;
}

/** A leaf's primitives where `safe` says that they are. */
function gather(leaf: usize, at: usize): void {
  let lx = f32x4.splat(Infinity);
  let ly = lx;
  let lz = lx;
  let hx = f32x4.splat(-Infinity);
  let hy = hx;
  let hz = hx;
  for (let c: usize = 0; c < 3; c++) {
    const from = leaf + LEAF_TRIANGLE + (c << 4);
    const p = safe(load<u32>(from));
    const q = safe(load<u32>(from, 4));
    const r = safe(load<u32>(from, 8));
    const s = safe(load<u32>(from, 12));
    const to = at + c * 48;
    const x = xs(p, q, r, s);
    const y = ys(p, q, r, s);
    const z = zs(p, q, r, s);
    v128.store(to, x);
    v128.store(to, y, 16);
    v128.store(to, z, 32);
    lx = f32x4.pmin(lx, x);
    ly = f32x4.pmin(ly, y);
    lz = f32x4.pmin(lz, z);
    hx = f32x4.pmax(hx, x);
    hy = f32x4.pmax(hy, y);
    hz = f32x4.pmax(hz, z);
  }
  v128.store(at, lx, GATHERED_LOW);
  v128.store(at, ly, GATHERED_LOW + 16);
  v128.store(at, lz, GATHERED_LOW + 32);
  v128.store(at, hx, GATHERED_HIGH);
  v128.store(at, hy, GATHERED_HIGH + 16);
  v128.store(at, hz, GATHERED_HIGH + 32);
  v128.store(at, f32x4(smallest(lx), smallest(ly), smallest(lz), 0), GATHERED_BOX_LOW);
  v128.store(at, f32x4(largest(hx), largest(hy), largest(hz), 0), GATHERED_BOX_HIGH);
  const edges = load<i32>(leaf, LEAF_EDGES);
  for (let g = 0; g < edges; g += 4) {
    const from = leaf + LEAF_EDGE + ((<usize>g) << 3);
    const to = at + GATHERED_EDGES + <usize>(g >> 2) * GATHERED_EDGE_BYTES;
    for (let c: usize = 0; c < 2; c++) {
      const end = from + (c << 2);
      const p = safe(load<u32>(end));
      const q = safe(load<u32>(end, 8));
      const r = safe(load<u32>(end, 16));
      const s = safe(load<u32>(end, 24));
      const into = to + c * 48;
      v128.store(into, xs(p, q, r, s));
      v128.store(into, ys(p, q, r, s), 16);
      v128.store(into, zs(p, q, r, s), 32);
    }
    for (let k: usize = 0; k < 3; k++) {
      const a = row(to, k);
      const b = row(to, k + 3);
      v128.store(to + (k << 4), f32x4.pmin(a, b), 96);
      v128.store(to + (k << 4), f32x4.pmax(a, b), 144);
    }
  }
}

/** Corners at x of the triangles of leaf n, and ends of its edges, in lanes. */
function gatheredNow(n: i32): usize {
  const at = <usize>load<u32>(front(), FRONT_GATHERED) + <usize>n * GATHERED_BYTES;
  const stamp = load<i32>(front(), FRONT_MOVES);
  if (atomic.load<i32>(at, GATHERED_NOW_STAMP) === stamp) return at;
  const leaf = <usize>load<u32>(front(), FRONT_LEAVES) + <usize>n * LEAF_BYTES;
  for (let c: usize = 0; c < 3; c++) toLanes(leaf + LEAF_TRIANGLE + (c << 4), 4, at + GATHERED_NOW + c * 48);
  const edges = load<i32>(leaf, LEAF_EDGES);
  for (let g = 0; g < edges; g += 4) {
    const from = leaf + LEAF_EDGE + ((<usize>g) << 3);
    const to = at + GATHERED_NOW_EDGES + <usize>(g >> 2) * GATHERED_NOW_EDGE_BYTES;
    toLanes(from, 8, to);
    toLanes(from + 4, 8, to + 48);
  }
  atomic.store<i32>(at, stamp, GATHERED_NOW_STAMP);
  return at;
}

/** Four particles at x, whose addresses are `apart` bytes apart -> x, y and z. */
// @inline
function toLanes(from: usize, apart: usize, to: usize): void {
  const p = v128.load(<usize>load<u32>(from));
  const q = v128.load(<usize>load<u32>(from + apart));
  const r = v128.load(<usize>load<u32>(from + 2 * apart));
  const s = v128.load(<usize>load<u32>(from + 3 * apart));
  v128.store(to, xs(p, q, r, s));
  v128.store(to, ys(p, q, r, s), 16);
  v128.store(to, zs(p, q, r, s), 32);
}

/** Lanes that one direction keeps apart by `was` at S and by `is` at x, and will go on to do so. */
// @inline
function staysClear(was: v128, is: v128): v128 {
  const lost = f32x4.pmax(f32x4.splat(0), sub(was, is));
  return v128.and(f32x4.ge(was, sureLimit), f32x4.ge(sub(is, mul(f32x4.splat(BEYOND), lost)), nearLimit));
}

/** What is further apart than the nearest so far need not be measured: all of it is no row, and no bound is lower. */
function narrow(): void {
  const limit = (smallest(least) + f32x4.extract_lane(way, 0)) * MORE;
  far2 = f32x4.splat(limit * limit);
}

/** Lanes whose boxes are nearer to one box than the limit. */
// @inline
function nearBoxes(low: usize, high: usize, lx: v128, ly: v128, lz: v128, hx: v128, hy: v128, hz: v128): v128 {
  const zero = f32x4.splat(0);
  const dx = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(low), hx), sub(lx, v128.load(high))));
  const dy = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(low, 16), hy), sub(ly, v128.load(high, 16))));
  const dz = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(low, 32), hz), sub(lz, v128.load(high, 32))));
  return f32x4.lt(dot3(dx, dx, dy, dy, dz, dz), far2);
}

// @inline
function lanes(count: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
}
// @inline
function x0(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 0, 0, 0, 0);
}
// @inline
function y0(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 1, 1, 1, 1);
}
// @inline
function z0(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 2, 2, 2, 2);
}

/** Own vertices of leaf A against the triangles of leaf B, of number b. */
function vertices(A: usize, B: usize, G: usize, b: i32): void {
  const count = load<i32>(A, LEAF_VERTICES);
  const triangles = load<i32>(B, LEAF_TRIANGLES);
  const valid = lanes(triangles);
  if (!triangles) return;
  for (let i = 0; i < count; i++) {
    const p = load<u32>(A + ((<usize>i) << 2), LEAF_VERTEX);
    const at = safe(p);
    const px = x0(at);
    const py = y0(at);
    const pz = z0(at);
    let hit = v128.and(valid, nearBoxes(G + GATHERED_LOW, G + GATHERED_HIGH, px, py, pz, px, py, pz));
    if (!v128.any_true(hit)) continue;
    if (itself) {
      hit = v128.andnot(hit, haveCorner(B, p));
      if (!v128.any_true(hit)) continue;
    }
    againstTriangles(hit, p, px, py, pz, B, G, b, i);
  }
}

/** Triangles of a leaf of which a particle is a corner. */
// @inline
function haveCorner(leaf: usize, particle: u32): v128 {
  const same = i32x4.splat(<i32>particle);
  const first = i32x4.eq(v128.load(leaf, LEAF_TRIANGLE), same);
  const second = i32x4.eq(v128.load(leaf, LEAF_TRIANGLE + 16), same);
  return v128.or(first, v128.or(second, i32x4.eq(v128.load(leaf, LEAF_TRIANGLE + 32), same)));
}

/** Vertex i of a leaf, particle p, against those triangles of leaf B, of number b, that are in `hit`. */
// @inline
function againstTriangles(hit: v128, p: u32, px: v128, py: v128, pz: v128, B: usize, G: usize, b: i32, i: i32): void {
  const cx = row(G, 6);
  const cy = row(G, 7);
  const cz = row(G, 8);
  const ux = sub(row(G, 0), cx);
  const uy = sub(row(G, 1), cy);
  const uz = sub(row(G, 2), cz);
  const vx = sub(row(G, 3), cx);
  const vy = sub(row(G, 4), cy);
  const vz = sub(row(G, 5), cz);
  const qx = sub(px, cx);
  const qy = sub(py, cy);
  const qz = sub(pz, cz);
  const sides = findNearest(ux, uy, uz, vx, vy, vz, qx, qy, qz);
  const ex = nearestX;
  const ey = nearestY;
  const ez = nearestZ;
  const size = f32x4.sqrt(dot3(ex, ex, ey, ey, ez, ez));
  const top = f32x4.pmax(f32x4.splat(0), f32x4.pmax(dot3(ex, ux, ey, uy, ez, uz), dot3(ex, vx, ey, vy, ez, vz)));
  const apart = f32x4.div(sub(dot3(ex, qx, ey, qy, ez, qz), top), size);
  // what is no number is a row: float64 will see
  let out = f32x4.ge(apart, rowLimit);
  if (silent) {
    keepLeast(hit, out, apart, sides);
    return;
  }
  let is = sub(apart, way);
  candidates += popcnt(v128.bitmask<i32>(v128.andnot(hit, out)));
  if (sparse && v128.any_true(v128.andnot(hit, out))) {
    const then = f32x4.div(trianglesNow(hit, p, gatheredNow(b) + GATHERED_NOW, ex, ey, ez), size);
    is = v128.bitselect(is, then, out);
    out = v128.or(out, staysClear(apart, then));
  }
  keepNearest(v128.and(hit, out), is, sides, ex, ey, ez);
  for (let bits = v128.bitmask<i32>(v128.andnot(hit, out)); bits; bits &= bits - 1) {
    const k = ctz(bits);
    const lane = B + LEAF_TRIANGLE + ((<usize>k) << 2);
    const name = (swapped ? SWAPPED_NAME : 0) + (i << 2) + k;
    foundRow(p, load<u32>(lane), load<u32>(lane, 16), load<u32>(lane, 32), name);
  }
}

/**
 * From the closest points of four triangles to a point q, all from the triangles' corner c, with u and v to the others:
 * in nearestX, nearestY, nearestZ.
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
  // the nearest of three sides' points, or the foot inside
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

/** How far apart e, times its length, holds a vertex and triangles at x, of which N has the corners. */
// @inline
function trianglesNow(hit: v128, vertex: u32, N: usize, ex: v128, ey: v128, ez: v128): v128 {
  const now = v128.load(<usize>vertex);
  const wx = row(N, 6);
  const wy = row(N, 7);
  const wz = row(N, 8);
  const foot = dot3(ex, sub(x0(now), wx), ey, sub(y0(now), wy), ez, sub(z0(now), wz));
  const ix = sub(row(N, 0), wx);
  const iy = sub(row(N, 1), wy);
  const iz = sub(row(N, 2), wz);
  const jx = sub(row(N, 3), wx);
  const jy = sub(row(N, 4), wy);
  const jz = sub(row(N, 5), wz);
  size2 = f32x4.pmax(size2, v128.and(hit, add(dot3(ix, ix, iy, iy, iz, iz), dot3(jx, jx, jy, jy, jz, jz))));
  return sub(foot, f32x4.pmax(f32x4.splat(0), f32x4.pmax(dot3(ex, ix, ey, iy, ez, iz), dot3(ex, jx, ey, jy, ez, jz))));
}

/** Where nothing becomes a row: the least distance; of what is no number below 0. */
// @inline
function keepLeast(hit: v128, out: v128, apart: v128, sides: v128): void {
  least = v128.bitselect(f32x4.pmin(apart, least), least, v128.and(hit, out));
  size2 = f32x4.pmax(size2, v128.and(hit, sides));
  least = v128.bitselect(least, f32x4.splat(-1), v128.or(out, v128.not(hit)));
}

/** The least distance of what is no row, and its direction. @param is distances at x; sides squares of their sizes */
// @inline
function keepNearest(far: v128, is: v128, sides: v128, ex: v128, ey: v128, ez: v128): void {
  const nearer = v128.and(far, f32x4.lt(is, least));
  alongX = v128.bitselect(swapped ? f32x4.neg(ex) : ex, alongX, nearer);
  alongY = v128.bitselect(swapped ? f32x4.neg(ey) : ey, alongY, nearer);
  alongZ = v128.bitselect(swapped ? f32x4.neg(ez) : ez, alongZ, nearer);
  least = v128.bitselect(is, least, nearer);
  size2 = f32x4.pmax(size2, v128.and(far, sides));
  if (v128.any_true(nearer)) narrow();
}

/** Own edges of leaf A against own edges of leaf B, of number b; of one leaf each pair once. */
function edges(A: usize, F: usize, B: usize, G: usize, b: i32): void {
  const count = load<i32>(A, LEAF_EDGES);
  const boxLow = v128.load(G, GATHERED_BOX_LOW);
  const boxHigh = v128.load(G, GATHERED_BOX_HIGH);
  const blx = x0(boxLow);
  const bly = y0(boxLow);
  const blz = z0(boxLow);
  const bhx = x0(boxHigh);
  const bhy = y0(boxHigh);
  const bhz = z0(boxHigh);
  for (let g = 0; g < count; g += 4) {
    const P = F + GATHERED_EDGES + <usize>(g >> 2) * GATHERED_EDGE_BYTES;
    const near = v128.and(lanes(count - g), nearBoxes(P + 96, P + 144, blx, bly, blz, bhx, bhy, bhz));
    for (let ask = v128.bitmask<i32>(near); ask; ask &= ask - 1) {
      const i = ctz(ask);
      const name = A + LEAF_EDGE + ((<usize>(g + i)) << 3);
      againstEdges(P + ((<usize>i) << 2), load<u32>(name), load<u32>(name, 4), A === B, g, i, B, G, b);
    }
  }
}

/** Edge g + i of a leaf, from particle a0 to a1 and gathered at `from`, against own edges of leaf B, of number b. */
// @inline
function againstEdges(from: usize, a0: u32, a1: u32, same: bool, g: i32, i: i32, B: usize, G: usize, b: i32): void {
  const count = load<i32>(B, LEAF_EDGES);
  const ax = v128.load32_splat(from);
  const ay = v128.load32_splat(from, 16);
  const az = v128.load32_splat(from, 32);
  const fx = sub(v128.load32_splat(from, 48), ax);
  const fy = sub(v128.load32_splat(from, 64), ay);
  const fz = sub(v128.load32_splat(from, 80), az);
  const lx = v128.load32_splat(from, 96);
  const ly = v128.load32_splat(from, 112);
  const lz = v128.load32_splat(from, 128);
  const hx = v128.load32_splat(from, 144);
  const hy = v128.load32_splat(from, 160);
  const hz = v128.load32_splat(from, 176);
  for (let h = same ? g : 0; h < count; h += 4) {
    const T = G + GATHERED_EDGES + <usize>(h >> 2) * GATHERED_EDGE_BYTES;
    let hit = v128.and(lanes(count - h), nearBoxes(T + 96, T + 144, lx, ly, lz, hx, hy, hz));
    if (same && h === g) hit = v128.and(hit, i32x4.gt_s(i32x4(0, 1, 2, 3), i32x4.splat(i)));
    if (!v128.any_true(hit)) continue;
    const names = B + LEAF_EDGE + ((<usize>h) << 3);
    if (itself) {
      hit = v128.andnot(hit, haveEnd(names, a0, a1));
      if (!v128.any_true(hit)) continue;
    }
    const out = partEdges(hit, a0, a1, ax, ay, az, fx, fy, fz, T, h, b);
    for (let bits = v128.bitmask<i32>(v128.andnot(hit, out)); bits; bits &= bits - 1) {
      const k = ctz(bits);
      const other = names + ((<usize>k) << 3);
      foundRow(a0, a1, load<u32>(other), load<u32>(other, 4), EDGE_NAME + (g + i) * LEAF_MOST + h + k);
    }
  }
}

/** Which of four edges end where another does. */
// @inline
function haveEnd(names: usize, a0: u32, a1: u32): v128 {
  const m = v128.load(names);
  const n = v128.load(names, 16);
  const e0 = v128.shuffle<i32>(m, n, 0, 2, 4, 6);
  const e1 = v128.shuffle<i32>(m, n, 1, 3, 5, 7);
  const p = i32x4.splat(<i32>a0);
  const q = i32x4.splat(<i32>a1);
  return v128.or(v128.or(i32x4.eq(e0, p), i32x4.eq(e0, q)), v128.or(i32x4.eq(e1, p), i32x4.eq(e1, q)));
}

/**
 * The edge a + s f, from particle a0 to a1, against those at T, from number h on of leaf number b, that are in `hit`.
 * @returns lanes that are no rows
 */
// @inline
function partEdges(
  hit: v128,
  a0: u32,
  a1: u32,
  ax: v128,
  ay: v128,
  az: v128,
  fx: v128,
  fy: v128,
  fz: v128,
  T: usize,
  h: i32,
  b: i32,
): v128 {
  const bx = row(T, 0);
  const by = row(T, 1);
  const bz = row(T, 2);
  const gx = sub(row(T, 3), bx);
  const gy = sub(row(T, 4), by);
  const gz = sub(row(T, 5), bz);
  const rx = sub(ax, bx);
  const ry = sub(ay, by);
  const rz = sub(az, bz);
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
  const apart = f32x4.div(sub(f32x4.pmin(pa, pb), f32x4.pmax(f32x4.splat(0), pd)), size);
  const out = f32x4.ge(apart, rowLimit);
  if (silent) {
    keepLeast(hit, out, apart, add(ff, gg));
    return v128.not(f32x4.splat(0));
  }
  candidates += popcnt(v128.bitmask<i32>(v128.andnot(hit, out)));
  let is = sub(apart, way);
  let clear = out;
  if (sparse && v128.any_true(v128.andnot(hit, out))) {
    const N = gatheredNow(b) + GATHERED_NOW_EDGES + <usize>(h >> 2) * GATHERED_NOW_EDGE_BYTES;
    const then = f32x4.div(edgesNow(hit, a0, a1, N, ex, ey, ez), size);
    is = v128.bitselect(is, then, out);
    clear = v128.or(out, staysClear(apart, then));
  }
  keepNearest(v128.and(hit, clear), is, add(ff, gg), ex, ey, ez);
  return clear;
}

/** How far apart e, times its length, holds an edge and others at x, of which N has the ends. */
// @inline
function edgesNow(hit: v128, a0: u32, a1: u32, N: usize, ex: v128, ey: v128, ez: v128): v128 {
  const zero = f32x4.splat(0);
  const m = v128.load(<usize>a0);
  const n = v128.load(<usize>a1);
  const wx = row(N, 0);
  const wy = row(N, 1);
  const wz = row(N, 2);
  const ox = x0(m);
  const oy = y0(m);
  const oz = z0(m);
  const ix = sub(x0(n), ox);
  const iy = sub(y0(n), oy);
  const iz = sub(z0(n), oz);
  const jx = sub(row(N, 3), wx);
  const jy = sub(row(N, 4), wy);
  const jz = sub(row(N, 5), wz);
  size2 = f32x4.pmax(size2, v128.and(hit, add(dot3(ix, ix, iy, iy, iz, iz), dot3(jx, jx, jy, jy, jz, jz))));
  const qa = dot3(ex, sub(ox, wx), ey, sub(oy, wy), ez, sub(oz, wz));
  const low = add(qa, f32x4.pmin(zero, dot3(ex, ix, ey, iy, ez, iz)));
  return sub(low, f32x4.pmax(zero, dot3(ex, jx, ey, jy, ez, jz)));
}

/**
 * Leaves a and b at S: what comes within `rows` becomes a row.
 * @param rows m; look up to which distance anything is measured, m; same whether both are of one surface
 * @returns a distance that nothing but rows comes within at S, m
 */
export function measureLeaves(a: i32, b: i32, rows: f32, look: f32, same: bool): f32 {
  sparse = false;
  return measureAll(a, b, rows, 0, look, same);
}

/**
 * Leaves a and b from S to x: what comes near on the way becomes a row.
 * @param clear distance at x beyond which nothing need be a row, m; sure the same at S; step how far the leaves may
 *   move against each other; look up to which distance at x anything is measured; same whether both are of one surface
 * @returns a distance that nothing but rows comes within at x, m
 */
export function measureOnWay(a: i32, b: i32, clear: f32, sure: f32, step: f32, look: f32, same: bool): f32 {
  sparse = true;
  nearLimit = f32x4.splat(clear);
  sureLimit = f32x4.splat(sure);
  return measureAll(a, b, clear + step, step, look, same);
}

function measureAll(a: i32, b: i32, rows: f32, step: f32, look: f32, same: bool): f32 {
  toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X);
  const leaves = <usize>load<u32>(front(), FRONT_LEAVES);
  const A = leaves + <usize>a * LEAF_BYTES;
  const B = leaves + <usize>b * LEAF_BYTES;
  const F = gathered(a);
  const G = gathered(b);
  rowLimit = f32x4.splat(rows);
  way = f32x4.splat(step);
  candidates = 0;
  far2 = f32x4.splat((look + step) * (look + step));
  least = f32x4.splat(look);
  size2 = f32x4.splat(0);
  itself = same;
  alongX = alongY = alongZ = f32x4.splat(0);
  vertices(A, B, G, b);
  if (a !== b) {
    swapped = true;
    vertices(B, A, F, a);
    swapped = false;
  }
  edges(A, F, B, G, b);
  return smallest(least) - ROUNDING * (look + step + Mathf.sqrt(largest(size2)));
}

/** The direction in which the two leaves that were measured last are nearest, if they came within the look at all. */
export function keepNormal(close: usize): void {
  const nearest = f32x4.eq(least, f32x4.splat(smallest(least)));
  const n = ctz(v128.bitmask<i32>(nearest));
  const x = lane(alongX, n);
  const y = lane(alongY, n);
  const z = lane(alongZ, n);
  const size = Mathf.sqrt(x * x + y * y + z * z);
  if (size > 0) v128.store(close, f32x4(x / size, y / size, z / size, 0), CLOSE_NORMAL);
}

// @inline
function lane(a: v128, n: i32): f32 {
  return n === 0
    ? f32x4.extract_lane(a, 0)
    : n === 1
      ? f32x4.extract_lane(a, 1)
      : n === 2
        ? f32x4.extract_lane(a, 2)
        : f32x4.extract_lane(a, 3);
}

/** How far leaves a and b of one surface are apart at rest, up to `look`, m; below 0: there is no saying. */
export function measureRest(a: i32, b: i32, look: f32): f32 {
  const leaves = <usize>load<u32>(front(), FRONT_LEAVES);
  const A = leaves + <usize>a * LEAF_BYTES;
  const B = leaves + <usize>b * LEAF_BYTES;
  const F = <usize>load<u32>(front(), FRONT_SCRATCH) + scratch;
  const G = a === b ? F : F + GATHERED_BYTES;
  toSafe = <usize>load<u32>(front(), FRONT_REST) - <usize>load<u32>(HEADER, H_X);
  gather(A, F);
  if (a !== b) gather(B, G);
  // nothing becomes a row but what is no number, and that is no answer
  rowLimit = f32x4.splat(-Infinity);
  far2 = f32x4.splat(look * look);
  least = f32x4.splat(look);
  size2 = f32x4.splat(0);
  itself = true;
  silent = true;
  vertices(A, B, G, b);
  if (a !== b) vertices(B, A, F, a);
  edges(A, F, B, G, b);
  silent = false;
  return smallest(least) - ROUNDING * (look + Mathf.sqrt(largest(size2)));
}
