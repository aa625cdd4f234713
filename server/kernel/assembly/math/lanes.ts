/**
 * Four-lane helpers: 4x4 transposes between particles (x, y, z, w) and lanes, and multiply-add without fusing (fused
 * results differ between machines; see server/kernel/README.md).
 */
import * as L from "../layout/layout";

// @inline
export function add(a: v128, b: v128): v128 {
  return f32x4.add(a, b);
}
// @inline
export function sub(a: v128, b: v128): v128 {
  return f32x4.sub(a, b);
}
// @inline
export function mul(a: v128, b: v128): v128 {
  return f32x4.mul(a, b);
}
/** a b + c, rounded twice. */
// @inline
export function madd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}
/** a0 b0 + a1 b1 + a2 b2 */
// @inline
export function dot3(a0: v128, b0: v128, a1: v128, b1: v128, a2: v128, b2: v128): v128 {
  return madd(a0, b0, madd(a1, b1, mul(a2, b2)));
}

/** Returns the dot product of the first three lanes. */
// @inline
export function dotXyz(a: v128, b: v128): f32 {
  const c = f32x4.mul(a, b);
  return f32x4.extract_lane(c, 0) + f32x4.extract_lane(c, 1) + f32x4.extract_lane(c, 2);
}

// @inline
export function low(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 0, 4, 1, 5);
}
// @inline
export function high(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 2, 6, 3, 7);
}
// @inline
export function firstHalves(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 0, 1, 4, 5);
}
// @inline
export function secondHalves(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 2, 3, 6, 7);
}

/** Column of the 4x4 transpose of four particles: all x (y, z, w). */
// @inline
export function xs(a: v128, b: v128, c: v128, d: v128): v128 {
  return firstHalves(low(a, b), low(c, d));
}
// @inline
export function ys(a: v128, b: v128, c: v128, d: v128): v128 {
  return secondHalves(low(a, b), low(c, d));
}
// @inline
export function zs(a: v128, b: v128, c: v128, d: v128): v128 {
  return firstHalves(high(a, b), high(c, d));
}
// @inline
export function ws(a: v128, b: v128, c: v128, d: v128): v128 {
  return secondHalves(high(a, b), high(c, d));
}

/** Least and greatest of four lanes; NaN if any lane is NaN. */
// @inline
export function smallest(a: v128): f32 {
  return min<f32>(
    min<f32>(f32x4.extract_lane(a, 0), f32x4.extract_lane(a, 1)),
    min<f32>(f32x4.extract_lane(a, 2), f32x4.extract_lane(a, 3)),
  );
}
// @inline
export function largest(a: v128): f32 {
  return max<f32>(
    max<f32>(f32x4.extract_lane(a, 0), f32x4.extract_lane(a, 1)),
    max<f32>(f32x4.extract_lane(a, 2), f32x4.extract_lane(a, 3)),
  );
}

/** Offset from X to the low words (integrate/particles.ts). Solvers copy it: a global is loaded at each use. */
export let toLow: usize = 0;

/** Finds `toLow`. */
export function findLowWords(): void {
  toLow = <usize>load<u32>(L.HEADER, L.H_LOW) - <usize>load<u32>(L.HEADER, L.H_X);
}

/**
 * All bits of the first three lanes, and their sign bits. V8 builds a literal with unequal lanes anew at each use, in
 * five instructions. A copy of these before a loop stays in a register. (Tried for literals with equal lanes,
 * which take three instructions, in triangles and tetrahedra: no gain, for want of registers.)
 */
export const placeBits: v128 = unknown(i32x4(-1, -1, -1, 0));
export const placeSigns: v128 = unknown(i32x4(i32.MIN_VALUE, i32.MIN_VALUE, i32.MIN_VALUE, 0));

/** Returns its argument. The call keeps the compiler from treating the result as a literal. */
function unknown(literal: v128): v128 {
  return literal;
}

/** Returns a particle's position, rounded. The fourth lane is w. */
// @inline
export function position(particle: usize, low: usize): v128 {
  return add(v128.load(particle), v128.load(particle + low));
}

/** Returns a particle's position minus another's. The fourth lane has no meaning. */
// @inline
export function between(from: usize, to: usize, low: usize): v128 {
  return add(sub(v128.load(to), v128.load(from)), sub(v128.load(to + low), v128.load(from + low)));
}

/** Moves a particle by w times `by`, whose fourth lane is 0. Only the low word changes; `carry` moves it on to x. */
// @inline
export function push(particle: usize, low: usize, by: v128): void {
  v128.store(particle + low, add(v128.load(particle + low), mul(v128.load32_splat(particle, 12), by)));
}

/** Moves a particle by -w times `by`. */
// @inline
export function pushBack(particle: usize, low: usize, by: v128): void {
  v128.store(particle + low, sub(v128.load(particle + low), mul(v128.load32_splat(particle, 12), by)));
}

/** Moves four particles, at the addresses stored at `at`, by w times a vector per lane. */
// @inline
export function pushFour(at: usize, low: usize, x: v128, y: v128, z: v128): void {
  const none = f32x4.splat(0);
  push(<usize>load<u32>(at, 0), low, xs(x, y, z, none));
  push(<usize>load<u32>(at, 4), low, ys(x, y, z, none));
  push(<usize>load<u32>(at, 8), low, zs(x, y, z, none));
  push(<usize>load<u32>(at, 12), low, ws(x, y, z, none));
}

/** Returns the inverse masses of four particles, at the addresses stored at `at`. */
// @inline
export function inverseMasses(at: usize): v128 {
  return f32x4(
    load<f32>(<usize>load<u32>(at, 0), 12),
    load<f32>(<usize>load<u32>(at, 4), 12),
    load<f32>(<usize>load<u32>(at, 8), 12),
    load<f32>(<usize>load<u32>(at, 12), 12),
  );
}

/** Moves a particle by (x, y, z, 0), whatever its mass. */
// @inline
export function pushBy(particle: usize, low: usize, by: v128): void {
  v128.store(particle + low, add(v128.load(particle + low), by));
}

/**
 * Returns a particle's displacement in this substep. The fourth lane has no meaning.
 * @param toPrev, toLowPrev bytes from X to the positions at its start, and to their low words
 */
// @inline
export function wayOf(particle: usize, toPrev: usize, toLowPrev: usize): v128 {
  return add(
    sub(v128.load(particle), v128.load(particle + toPrev)),
    sub(v128.load(particle + toLow), v128.load(particle + toLowPrev)),
  );
}
