/**
 * Measures two leaves of the bvtt front (bvttFront.ts) at the safe positions S. A pair of primitives becomes a row
 * (rows.ts) if it may come within a limit by x, along the direction in which it is nearest. For all other pairs
 * the least remaining distance is returned. Boxes select the pairs to measure; separateLeaves.ts measures them.
 * If memory for rows is short, a pair that one direction separates at S and at x gets no row: the direction separates
 * it on the whole straight path. The returned distance is then one at x. Ten times fewer rows remain where bodies pass
 * each other, but both fronts of a substep measure the leaves. That costs more than the rows do: used for all leaf
 * pairs of more than 16 rows, worst ticks grow from 100 to 116 ms (hundred bodies) and from 41 to 52 ms (a flag pulled
 * through itself).
 * Tried, no faster: Gilbert's directions between hulls of leaves before measuring; rows for pairs that come near within
 * two or four substeps (hundred bodies 121 ms).
 */
import * as L from "../../layout/layout";
import { dot3, largest, smallest, sub, xs, ys, zs } from "../../math/lanes";
import { EDGE_NAME, LEAF_MOST, SWAPPED_NAME } from "./pairResults";
import {
  alongX,
  alongY,
  alongZ,
  enqueue,
  least,
  lookAtRest,
  lookOnWay,
  moves,
  openPairs,
  separateEdges,
  separateVertices,
  size2,
} from "./separateLeaves";

// squared distance of boxes beyond which nothing is measured
let far2: v128 = i32x4(0, 0, 0, 0);
let itself = false;
let toSafe: usize = 0;
/** Offset of this thread's scratch. */
let scratch: usize = 0;

/** Rounding of a projection, relative to the primitives' size. */
export const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21
/** Factor that covers the rounding of a box distance. */
const MORE: f32 = 1.00001;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function safe(particle: u32): v128 {
  return v128.load(<usize>particle + toSafe);
}

/** @param n number of a part of the front that only this thread works on */
export function useScratch(n: i32): void {
  scratch = <usize>(n % L.SHARED_PARTS) * L.FRONT_SCRATCH_BYTES;
}

/**
 * Returns boxes of a leaf's primitives at S, in lanes. Two threads may gather one leaf at once: they write the same
 * numbers.
 */
function gathered(n: i32): usize {
  const at = <usize>load<u32>(front(), L.FRONT_GATHERED) + <usize>n * L.GATHERED_BYTES;
  const stamp = load<i32>(front(), L.FRONT_STAMP);
  if (atomic.load<i32>(at, L.GATHERED_STAMP) === stamp) return at;
  gather(<usize>load<u32>(front(), L.FRONT_LEAVES) + <usize>n * L.LEAF_BYTES, at);
  atomic.store<i32>(at, stamp, L.GATHERED_STAMP);
  return at;
}

/** Stores boxes of a leaf's primitives at the positions that `safe` returns. */
function gather(leaf: usize, at: usize): void {
  const first = leaf + L.LEAF_TRIANGLE;
  const b0 = load<u32>(first);
  const b1 = load<u32>(first, 4);
  const b2 = load<u32>(first, 8);
  const b3 = load<u32>(first, 12);
  let l0 = safe(b0);
  let l1 = safe(b1);
  let l2 = safe(b2);
  let l3 = safe(b3);
  let h0 = l0;
  let h1 = l1;
  let h2 = l2;
  let h3 = l3;
  for (let from = first + 16; from < first + 48; from += 16) {
    const p = safe(load<u32>(from));
    const q = safe(load<u32>(from, 4));
    const r = safe(load<u32>(from, 8));
    const s = safe(load<u32>(from, 12));
    l0 = f32x4.pmin(l0, p);
    l1 = f32x4.pmin(l1, q);
    l2 = f32x4.pmin(l2, r);
    l3 = f32x4.pmin(l3, s);
    h0 = f32x4.pmax(h0, p);
    h1 = f32x4.pmax(h1, q);
    h2 = f32x4.pmax(h2, r);
    h3 = f32x4.pmax(h3, s);
  }
  storeBoxes(at, l0, l1, l2, l3, h0, h1, h2, h3);
  const edges = load<i32>(leaf, L.LEAF_EDGES);
  for (let g = 0; g < edges; g += 4) {
    const from = leaf + L.LEAF_EDGE + ((<usize>g) << 3);
    const p = safe(load<u32>(from));
    const q = safe(load<u32>(from, 8));
    const r = safe(load<u32>(from, 16));
    const s = safe(load<u32>(from, 24));
    const i = safe(load<u32>(from, 4));
    const j = safe(load<u32>(from, 12));
    const k = safe(load<u32>(from, 20));
    const l = safe(load<u32>(from, 28));
    storeBoxes(
      at + L.GATHERED_EDGES + <usize>(g >> 2) * L.GATHERED_EDGE_BYTES,
      f32x4.pmin(p, i),
      f32x4.pmin(q, j),
      f32x4.pmin(r, k),
      f32x4.pmin(s, l),
      f32x4.pmax(p, i),
      f32x4.pmax(q, j),
      f32x4.pmax(r, k),
      f32x4.pmax(s, l),
    );
  }
}

/** Stores four boxes in lanes: x, y and z of the low corners, then of the high ones. */
// @inline
function storeBoxes(to: usize, l0: v128, l1: v128, l2: v128, l3: v128, h0: v128, h1: v128, h2: v128, h3: v128): void {
  v128.store(to, xs(l0, l1, l2, l3));
  v128.store(to, ys(l0, l1, l2, l3), 16);
  v128.store(to, zs(l0, l1, l2, l3), 32);
  v128.store(to, xs(h0, h1, h2, h3), 48);
  v128.store(to, ys(h0, h1, h2, h3), 64);
  v128.store(to, zs(h0, h1, h2, h3), 80);
}

/** Returns which of four boxes are nearer to one box than the limit. */
// @inline
function nearBoxes(boxes: usize, lx: v128, ly: v128, lz: v128, hx: v128, hy: v128, hz: v128): v128 {
  const zero = f32x4.splat(0);
  const dx = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(boxes), hx), sub(lx, v128.load(boxes, 48))));
  const dy = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(boxes, 16), hy), sub(ly, v128.load(boxes, 64))));
  const dz = f32x4.pmax(zero, f32x4.pmax(sub(v128.load(boxes, 32), hz), sub(lz, v128.load(boxes, 80))));
  return f32x4.lt(dot3(dx, dx, dy, dy, dz, dz), far2);
}

/** Mask of the first `count` bits, four at most. */
// @inline
function firstBits(count: i32): i32 {
  return (1 << min<i32>(count, 4)) - 1;
}

/** Queues vertices that leaf A owns with the near triangles of leaf B. @param name of the first such row */
function queueVertices(A: usize, B: usize, G: usize, name: i32): void {
  const count = load<i32>(A, L.LEAF_VERTICES);
  const valid = firstBits(load<i32>(B, L.LEAF_TRIANGLES));
  let all: u64 = 0;
  for (let i = 0; i < count; i++) {
    const p = load<u32>(A + ((<usize>i) << 2), L.LEAF_VERTEX);
    const at = safe(p);
    const px = v128.shuffle<f32>(at, at, 0, 0, 0, 0);
    const py = v128.shuffle<f32>(at, at, 1, 1, 1, 1);
    const pz = v128.shuffle<f32>(at, at, 2, 2, 2, 2);
    let hit = nearBoxes(G, px, py, pz, px, py, pz);
    if (itself) hit = v128.andnot(hit, haveCorner(B, p));
    all |= (<u64>(v128.bitmask<i32>(hit) & valid)) << ((<u64>i) << 2);
  }
  for (; all; all &= all - 1) {
    const n = <i32>ctz<u64>(all);
    const vertex = A + ((<usize>(n >> 2)) << 2);
    enqueue(<usize>load<u32>(vertex, L.LEAF_VERTEX), B + L.LEAF_TRIANGLE + ((<usize>(n & 3)) << 2), name + n);
  }
}

/** Returns the triangles of a leaf that have this particle as a corner. */
// @inline
function haveCorner(leaf: usize, particle: u32): v128 {
  const same = i32x4.splat(<i32>particle);
  const first = i32x4.eq(v128.load(leaf, L.LEAF_TRIANGLE), same);
  const second = i32x4.eq(v128.load(leaf, L.LEAF_TRIANGLE + 16), same);
  return v128.or(first, v128.or(second, i32x4.eq(v128.load(leaf, L.LEAF_TRIANGLE + 32), same)));
}

/** Queues edges that leaf A owns with near edges that leaf B owns; within one leaf each pair once. */
function queueEdges(A: usize, F: usize, B: usize, G: usize): void {
  const count = load<i32>(A, L.LEAF_EDGES);
  // four edges of A at a time, twelve bits for each
  for (let g = 0; g < count; g += 4) {
    const P = F + L.GATHERED_EDGES + <usize>(g >> 2) * L.GATHERED_EDGE_BYTES;
    let all: u64 = 0;
    for (let i = 0; i < 4 && g + i < count; i++)
      all |= (<u64>nearEdges(A, P + ((<usize>i) << 2), g + i, B, G)) << (<u64>(i * LEAF_MOST));
    for (; all; all &= all - 1) {
      const n = <i32>ctz<u64>(all) + g * LEAF_MOST;
      const i = n / LEAF_MOST;
      const first = A + L.LEAF_EDGE + ((<usize>i) << 3);
      enqueue(first, B + L.LEAF_EDGE + ((<usize>(n - i * LEAF_MOST)) << 3), EDGE_NAME + n);
    }
  }
}

/** Returns bits of leaf B's edges near edge i of leaf A, whose box begins at P. */
// @inline
function nearEdges(A: usize, P: usize, i: i32, B: usize, G: usize): i32 {
  const count = load<i32>(B, L.LEAF_EDGES);
  const lx = v128.load32_splat(P);
  const ly = v128.load32_splat(P, 16);
  const lz = v128.load32_splat(P, 32);
  const hx = v128.load32_splat(P, 48);
  const hy = v128.load32_splat(P, 64);
  const hz = v128.load32_splat(P, 80);
  let bits = 0;
  for (let h = 0; h < count; h += 4) {
    let hit = nearBoxes(G + L.GATHERED_EDGES + <usize>(h >> 2) * L.GATHERED_EDGE_BYTES, lx, ly, lz, hx, hy, hz);
    if (itself)
      hit = v128.andnot(hit, haveEnd(B + L.LEAF_EDGE + ((<usize>h) << 3), A + L.LEAF_EDGE + ((<usize>i) << 3)));
    bits |= (v128.bitmask<i32>(hit) & firstBits(count - h)) << h;
  }
  return A === B ? bits & (-2 << i) : bits;
}

/** Returns which of four edges share an end with another edge. */
// @inline
function haveEnd(edges: usize, edge: usize): v128 {
  const m = v128.load(edges);
  const n = v128.load(edges, 16);
  const e0 = v128.shuffle<i32>(m, n, 0, 2, 4, 6);
  const e1 = v128.shuffle<i32>(m, n, 1, 3, 5, 7);
  const p = v128.load32_splat(edge);
  const q = v128.load32_splat(edge, 4);
  return v128.or(v128.or(i32x4.eq(e0, p), i32x4.eq(e0, q)), v128.or(i32x4.eq(e1, p), i32x4.eq(e1, q)));
}

/**
 * Measures leaves a and b at S. Pairs that may come within `clear` become rows.
 * @param clear m; low, high how far the first may move against the second, by axis, m; reach in any direction, m; look
 * greatest distance that is measured, m; same whether both are of one surface
 * @returns lower bound of the distance of all other pairs while the leaves move no further, m
 */
export function measureLeaves(
  a: i32,
  b: i32,
  clear: f32,
  low: v128,
  high: v128,
  reach: f32,
  look: f32,
  same: bool,
): f32 {
  openPairs(ownScratch(), clear, look);
  moves(low, high);
  return measureGathered(a, b, reach, look, same);
}

/**
 * Measures leaves a and b from S to x. Pairs that come near on the way become rows.
 * @param clear distance at x beyond which a pair needs no row, m; sure the same at S; step how far the leaves may move
 * against each other; look greatest distance at x that is measured; same whether both are of one surface
 * @returns lower bound of the distance of all other pairs at x, m
 */
export function measureOnWay(a: i32, b: i32, clear: f32, sure: f32, step: f32, look: f32, same: bool): f32 {
  openPairs(ownScratch(), clear + step, look);
  lookOnWay(clear, sure, step);
  return measureGathered(a, b, step, look, same);
}

// @inline
function ownScratch(): usize {
  return <usize>load<u32>(front(), L.FRONT_SCRATCH) + scratch;
}

function measureGathered(a: i32, b: i32, reach: f32, look: f32, same: bool): f32 {
  toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  itself = same;
  return measureAll(a, b, gathered(a), gathered(b), reach, look);
}

/** @param F, G gathered boxes of leaves a and b; reach how far the leaves may move against each other, m */
function measureAll(a: i32, b: i32, F: usize, G: usize, reach: f32, look: f32): f32 {
  const leaves = <usize>load<u32>(front(), L.FRONT_LEAVES);
  const A = leaves + <usize>a * L.LEAF_BYTES;
  const B = leaves + <usize>b * L.LEAF_BYTES;
  far2 = f32x4.splat((look + reach) * (look + reach));
  queueVertices(A, B, G, 0);
  if (a !== b) queueVertices(B, A, F, SWAPPED_NAME);
  separateVertices();
  // pairs further apart than the nearest so far need no measurement: they are no rows and do not lower the bound
  const limit = (smallest(least) + reach) * MORE;
  far2 = f32x4.splat(limit * limit);
  queueEdges(A, F, B, G);
  separateEdges();
  return smallest(least) - ROUNDING * (look + reach + Mathf.sqrt(largest(size2)));
}

/** Stores the direction in which the last measured leaves are nearest, if they came within the look. */
export function keepNormal(close: usize): void {
  const nearest = f32x4.eq(least, f32x4.splat(smallest(least)));
  const n = ctz(v128.bitmask<i32>(nearest));
  const x = lane(alongX, n);
  const y = lane(alongY, n);
  const z = lane(alongZ, n);
  const size = Mathf.sqrt(x * x + y * y + z * z);
  if (size > 0) v128.store(close, f32x4(x / size, y / size, z / size, 0), L.LEAF_PAIR_NORMAL);
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

/** Returns the rest distance of leaves a and b of one surface, up to `look`, m; below 0: unknown. */
export function measureRest(a: i32, b: i32, look: f32): f32 {
  const leaves = <usize>load<u32>(front(), L.FRONT_LEAVES);
  const F = ownScratch();
  const G = a === b ? F : F + L.GATHERED_BYTES;
  toSafe = <usize>load<u32>(front(), L.FRONT_REST) - <usize>load<u32>(L.HEADER, L.H_X);
  gather(leaves + <usize>a * L.LEAF_BYTES, F);
  if (a !== b) gather(leaves + <usize>b * L.LEAF_BYTES, G);
  // no distance is below -Infinity, so only NaN becomes a row; the rest distance is then unknown
  openPairs(ownScratch(), -Infinity, look);
  lookAtRest(toSafe);
  itself = true;
  return measureAll(a, b, F, G, 0, look);
}
