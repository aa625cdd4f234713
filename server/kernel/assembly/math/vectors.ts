/** Vectors of float64 numbers, three for each particle. Sums are serial, so that they have the same bits with lanes. */

/** a + s b -> to. @param bytes length of each */
export function combine(to: usize, a: usize, s: f64, b: usize, bytes: usize): void {
  const scale = f64x2.splat(s);
  const pairs = bytes & ~15;
  for (let at: usize = 0; at < pairs; at += 16)
    v128.store(to + at, f64x2.add(v128.load(a + at), f64x2.mul(scale, v128.load(b + at))));
  if (pairs < bytes) store<f64>(to + pairs, load<f64>(a + pairs) + s * load<f64>(b + pairs));
}

/** Returns a . b of one particle. */
// @inline
export function dotAt(a: usize, b: usize): f64 {
  const xy = f64x2.mul(v128.load(a), v128.load(b));
  return f64x2.extract_lane(xy, 0) + f64x2.extract_lane(xy, 1) + load<f64>(a, 16) * load<f64>(b, 16);
}

/** Returns a . b. @param bytes length of each */
export function dot(a: usize, b: usize, bytes: usize): f64 {
  let sum: f64 = 0;
  for (let at: usize = 0; at < bytes; at += 24) sum += dotAt(a + at, b + at);
  return sum;
}

/** Returns |a - b|^2 of one particle. */
// @inline
export function squaredDistanceAt(a: usize, b: usize): f64 {
  const xy = f64x2.sub(v128.load(a), v128.load(b));
  const z = load<f64>(a, 16) - load<f64>(b, 16);
  const squares = f64x2.mul(xy, xy);
  return f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1) + z * z;
}

/** Rounds a particle's numbers to f32; the last lane is 0. */
// @inline
export function roundedAt(a: usize): v128 {
  return f32x4.replace_lane(f32x4.demote_f64x2_zero(v128.load(a)), 2, <f32>load<f64>(a, 16));
}
