/**
 * Lower bound of the distance of two leaves of one surface, from their shape alone. It does not depend on rotation.
 * Neighbors in a flying cloth move against each other all the time by turning, but their distances change little.
 *
 * The squared distance of sum_i a_i p_i and sum_j b_j q_j, with weights of sum 1 each, is
 *   D^2 = C - O,  C = sum a_i b_j |p_i - q_j|^2,  O = sum_{i<k} a_i a_k |p_i - p_k|^2 + the same of b and q.
 * Let every squared distance across be at least m times its rest value, and every one within a leaf at most s times.
 * Then  D^2 >= m C_rest - s O_rest = m D_rest^2 - (s - m) O_rest,  and O_rest <= e^2 / 2 for two edges and e^2 / 3 for
 * a vertex and a triangle, e the longest side. All terms are invariant to rotation. D_rest is measured once.
 */
import * as L from "../../layout/layout";
import { dot3, largest, smallest, sub, xs, ys, zs } from "../../math/lanes";
import { measureRest } from "./measureLeaves";

/** Rest distances are measured up to LOOK times the longest side. */
const LOOK: f32 = 3;
/** Relative rounding of the compared squares. */
const ROUNDING: f32 = 1e-5;

let least: v128 = i32x4(0, 0, 0, 0);
let most: v128 = i32x4(0, 0, 0, 0);
/** NaN if any distance is NaN. */
let sum: v128 = i32x4(0, 0, 0, 0);

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function leafAt(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_LEAVES) + <usize>n * L.LEAF_BYTES;
}

/** Stores coordinates of a leaf's particles in lanes: groups of x, y and z. `by`: offset from their positions at x. */
function gatherParticles(leaf: usize, by: usize, to: usize): void {
  const count = load<i32>(leaf);
  for (let k = 0; k < count; k += 4) {
    const from = leaf + L.LEAF_PARTICLE + ((<usize>k) << 2);
    const p = v128.load(<usize>load<u32>(from) + by);
    const q = v128.load(<usize>load<u32>(from, 4) + by);
    const r = v128.load(<usize>load<u32>(from, 8) + by);
    const s = v128.load(<usize>load<u32>(from, 12) + by);
    v128.store(to, xs(p, q, r, s));
    v128.store(to, ys(p, q, r, s), 16);
    v128.store(to, zs(p, q, r, s), 32);
    to += 48;
  }
}

/** Finds the ratios of squared distances, at S to at rest, between all particles of two leaves. */
function compare(A: usize, countA: i32, B: usize, countB: i32): void {
  for (let i = 0; i < countA; i++) {
    const a = A + <usize>(i >> 2) * 48 + ((<usize>(i & 3)) << 2);
    const px = v128.load32_splat(a);
    const py = v128.load32_splat(a, 16);
    const pz = v128.load32_splat(a, 32);
    const ox = v128.load32_splat(a, L.PATCH_REST);
    const oy = v128.load32_splat(a, L.PATCH_REST + 16);
    const oz = v128.load32_splat(a, L.PATCH_REST + 32);
    // within one leaf, each pair once
    const from = A === B ? i & ~3 : 0;
    for (let j = from, b = B + <usize>(from >> 2) * 48; j < countB; j += 4, b += 48) {
      const dx = sub(v128.load(b), px);
      const dy = sub(v128.load(b, 16), py);
      const dz = sub(v128.load(b, 32), pz);
      const ex = sub(v128.load(b, L.PATCH_REST), ox);
      const ey = sub(v128.load(b, L.PATCH_REST + 16), oy);
      const ez = sub(v128.load(b, L.PATCH_REST + 32), oz);
      const now = dot3(dx, dx, dy, dy, dz, dz);
      // a particle with itself gives NaN, which pmin and pmax ignore
      const ratio = f32x4.div(now, dot3(ex, ex, ey, ey, ez, ez));
      least = f32x4.pmin(least, ratio);
      most = f32x4.pmax(most, ratio);
      sum = f32x4.add(sum, now);
    }
  }
}

function begin(): void {
  least = f32x4.splat(Infinity);
  most = f32x4.splat(0);
  sum = f32x4.splat(0);
}

// @inline
function finite(): bool {
  const zero = f32x4.splat(0);
  return v128.all_true<i32>(f32x4.eq(f32x4.mul(sum, zero), zero));
}

/** Returns the PATCH row of a leaf, with its particles at S. */
function patchOf(n: i32): usize {
  const at = <usize>load<u32>(front(), L.FRONT_SHAPES) + <usize>n * L.PATCH_BYTES;
  const stamp = load<i32>(front(), L.FRONT_STAMP);
  if (atomic.load<i32>(at, L.PATCH_STAMP) === stamp) return at;
  gatherParticles(leafAt(n), <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X), at);
  atomic.store<i32>(at, stamp, L.PATCH_STAMP);
  return at;
}

/** Returns the PATCH row of a leaf with its ratios of distances (PATCH_LEAST, PATCH_MOST) up to date. */
function shaped(n: i32): usize {
  const at = patchOf(n);
  const leaf = leafAt(n);
  const stamp = load<i32>(at, L.PATCH_STAMP);
  const compared = atomic.load<i32>(at, L.PATCH_COMPARED);
  if (compared === stamp) return at;
  if (!compared)
    gatherParticles(
      leaf,
      <usize>load<u32>(front(), L.FRONT_REST) - <usize>load<u32>(L.HEADER, L.H_X),
      at + L.PATCH_REST,
    );
  begin();
  compare(at, load<i32>(leaf), at, load<i32>(leaf));
  store<f32>(at, finite() ? smallest(least) : 0, L.PATCH_LEAST);
  store<f32>(at, largest(most), L.PATCH_MOST);
  atomic.store<i32>(at, stamp, L.PATCH_COMPARED);
  return at;
}

/**
 * @param row LEAF_PAIR row of two leaves of one surface, or of a leaf with itself
 * @returns lower bound of the distance at S between primitives of the two that share no particle, m; 0: unknown
 */
export function apartByShape(row: usize): f32 {
  const a = load<i32>(row, L.LEAF_PAIR_FIRST);
  const b = load<i32>(row, L.LEAF_PAIR_SECOND);
  const first = leafAt(a);
  const second = leafAt(b);
  const side2 = max<f32>(load<f32>(first, L.LEAF_SIDE2), load<f32>(second, L.LEAF_SIDE2));
  let rest2 = load<f32>(row, L.LEAF_PAIR_REST2);
  if (rest2 < 0) {
    const rest = max<f32>(0, measureRest(a, b, LOOK * Mathf.sqrt(side2)));
    rest2 = rest * rest;
    store<f32>(row, rest2, L.LEAF_PAIR_REST2);
  }
  const A = shaped(a);
  const B = shaped(b);
  let ratio = load<f32>(A, L.PATCH_LEAST);
  if (a !== b) {
    begin();
    compare(A, load<i32>(first), B, load<i32>(second));
    ratio = finite() ? smallest(least) : 0;
  }
  const grown = max<f32>(load<f32>(A, L.PATCH_MOST), load<f32>(B, L.PATCH_MOST));
  const d2 =
    ratio * rest2 - max<f32>(0, grown - ratio) * 0.5 * side2 - ROUNDING * (max<f32>(1, grown) * (rest2 + side2));
  return d2 > 0 ? Mathf.sqrt(d2) : 0;
}

/**
 * @param row LEAF_PAIR row of two different leaves; low, high how far the first may move against the second from S on,
 * m
 * @returns how far apart the row's last separating direction keeps them then, m; not positive: it does not separate
 * them
 */
export function apartAlong(row: usize, low: v128, high: v128): f32 {
  const a = load<i32>(row, L.LEAF_PAIR_FIRST);
  const b = load<i32>(row, L.LEAF_PAIR_SECOND);
  const n = v128.load(row, L.LEAF_PAIR_NORMAL);
  const nx = v128.shuffle<f32>(n, n, 0, 0, 0, 0);
  const ny = v128.shuffle<f32>(n, n, 1, 1, 1, 1);
  const nz = v128.shuffle<f32>(n, n, 2, 2, 2, 2);
  const A = patchOf(a);
  const B = patchOf(b);
  const origin = v128.load(A);
  const ox = v128.shuffle<f32>(origin, origin, 0, 0, 0, 0);
  const oy = v128.load32_splat(A, 16);
  const oz = v128.load32_splat(A, 32);
  let first = f32x4.splat(Infinity);
  let second = f32x4.splat(-Infinity);
  for (let k = load<i32>(leafAt(a)), at = A; k > 0; k -= 4, at += 48)
    first = f32x4.min(
      first,
      dot3(sub(v128.load(at), ox), nx, sub(v128.load(at, 16), oy), ny, sub(v128.load(at, 32), oz), nz),
    );
  for (let k = load<i32>(leafAt(b)), at = B; k > 0; k -= 4, at += 48)
    second = f32x4.max(
      second,
      dot3(sub(v128.load(at), ox), nx, sub(v128.load(at, 16), oy), ny, sub(v128.load(at, 32), oz), nz),
    );
  const l = smallest(first);
  const h = largest(second);
  // pmin ignores NaN
  const lost = f32x4.pmin(f32x4.mul(n, low), f32x4.mul(n, high));
  const gone = f32x4.extract_lane(lost, 0) + f32x4.extract_lane(lost, 1) + f32x4.extract_lane(lost, 2);
  return l - h + gone - ROUNDING * (abs<f32>(l) + abs<f32>(h) + abs<f32>(gone));
}
