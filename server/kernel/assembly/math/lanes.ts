/**
 * Four-lane helpers: 4x4 transposes between particles (x, y, z, w) and lanes, and multiply-add without fusing (fused
 * results differ between machines; see server/kernel/README.md).
 */

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
function low(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 0, 4, 1, 5);
}
// @inline
function high(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 2, 6, 3, 7);
}
// @inline
function firstHalves(a: v128, b: v128): v128 {
  return v128.shuffle<f32>(a, b, 0, 1, 4, 5);
}
// @inline
function secondHalves(a: v128, b: v128): v128 {
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

/** Least and greatest of four lanes; NaN if any of them is. */
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
