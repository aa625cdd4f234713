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

/** Stores lanes (x, y, z, w) as four particles at the four addresses held at `at`. */
// @inline
export function scatter(at: usize, x: v128, y: v128, z: v128, w: v128): void {
  const xyLow = low(x, y);
  const zwLow = low(z, w);
  const xyHigh = high(x, y);
  const zwHigh = high(z, w);
  v128.store(<usize>load<u32>(at, 0), firstHalves(xyLow, zwLow));
  v128.store(<usize>load<u32>(at, 4), secondHalves(xyLow, zwLow));
  v128.store(<usize>load<u32>(at, 8), firstHalves(xyHigh, zwHigh));
  v128.store(<usize>load<u32>(at, 12), secondHalves(xyHigh, zwHigh));
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

/** Offsets from X to the low words and to the rounding (integrate/particles.ts); 0 if the room has none. */
export let toLow: usize = 0;
let toRounding: usize = 0;

/** Call before a phase: finds the arrays for rounding errors of positions. */
export function keepRounding(): void {
  const low = <usize>load<u32>(L.HEADER, L.H_LOW);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  toLow = low ? low - X : 0;
  toRounding = <usize>load<u32>(L.HEADER, L.H_ROUNDING) - X;
}

/**
 * Moves four particles (x, y, z, w), at the four addresses stored at `at`, by s (gx, gy, gz).
 * @param keeps compile-time constant: whether rounding errors are stored; a runtime branch would cost every solver a
 * twelfth
 */
// @inline
export function shift(
  at: usize,
  s: v128,
  gx: v128,
  gy: v128,
  gz: v128,
  x: v128,
  y: v128,
  z: v128,
  w: v128,
  keeps: bool,
): void {
  const nx = madd(s, gx, x);
  const ny = madd(s, gy, y);
  const nz = madd(s, gz, z);
  scatter(at, nx, ny, nz, w);
  if (keeps) keepLost(at, sub(mul(s, gx), sub(nx, x)), sub(mul(s, gy), sub(ny, y)), sub(mul(s, gz), sub(nz, z)));
}

/** Stores the part of a shift that rounding lost. It is exact if |x| exceeds the shift. */
function keepLost(at: usize, x: v128, y: v128, z: v128): void {
  const none = f32x4.splat(0);
  const xyLow = low(x, y);
  const zLow = low(z, none);
  const xyHigh = high(x, y);
  const zHigh = high(z, none);
  keep(<usize>load<u32>(at, 0), firstHalves(xyLow, zLow));
  keep(<usize>load<u32>(at, 4), secondHalves(xyLow, zLow));
  keep(<usize>load<u32>(at, 8), firstHalves(xyHigh, zHigh));
  keep(<usize>load<u32>(at, 12), secondHalves(xyHigh, zHigh));
}

/**
 * Adds it to the low word, and carries half steps of float32 or more over to x. Lane 3 of both words is 0, so w stays.
 */
// @inline
function keep(particle: usize, lost: v128): void {
  const before = v128.load(particle + toLow);
  const x = v128.load(particle);
  const way = add(before, lost);
  const there = add(x, way);
  const left = sub(way, sub(there, x));
  v128.store(particle, there);
  v128.store(particle + toLow, left);
  v128.store(particle + toRounding, add(v128.load(particle + toRounding), sub(left, before)));
}

/** Moves one particle by (x, y, z, 0), and keeps the part that rounding lost if the room has low words. */
// @inline
export function moveWithRounding(particle: usize, by: v128): void {
  if (toLow) keep(particle, by);
  else v128.store(particle, add(v128.load(particle), by));
}
