/**
 * Checks after the tick: whether a body is still in the world, and the state hash, which tells whether two runs are the
 * same.
 */
import * as L from "../layout/layout";

/**
 * Copies a body's positions and velocities to `places` and `velocities` if every particle is finite and within `radius`
 * of the origin. A NaN fails the comparison.
 * @returns 1 if they were copied, else 0
 */
export function keepIfSound(
  first: i32,
  count: i32,
  radius: f32,
  ox: f32,
  oy: f32,
  oz: f32,
  places: usize,
  velocities: usize,
): i32 {
  const bytes = (<usize>count) << 4;
  const x = <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>first) << 4);
  const v = <usize>load<u32>(L.HEADER, L.H_V) + ((<usize>first) << 4);
  const limit = f32x4.splat(radius * radius);
  const finite = f32x4.splat(Infinity);
  const origin = f32x4(ox, oy, oz, 0);
  let sound = i32x4.splat(-1);
  for (let at: usize = 0; at < bytes; at += 16) {
    const near = f32x4.le(square(f32x4.add(v128.load(x + at), origin)), limit);
    sound = v128.and(sound, v128.and(near, f32x4.lt(square(v128.load(v + at)), finite)));
  }
  if (!i32x4.extract_lane(sound, 0)) return 0;
  memory.copy(places, x, bytes);
  memory.copy(velocities, v, bytes);
  return 1;
}

/** Returns the square of a vector's length in the first lane; the others have no meaning. */
// @inline
function square(a: v128): v128 {
  const aa = f32x4.mul(a, a);
  return f32x4.add(f32x4.add(aa, v128.shuffle<f32>(aa, aa, 1, 0, 3, 2)), v128.shuffle<f32>(aa, aa, 2, 2, 0, 0));
}

/**
 * FNV-1a over tick number, positions and velocities of `count` particles with their low words, 64 bits a step (lane 3
 * included).
 */
export function stateHash(count: i32): u64 {
  let hash: u64 = 0xcbf29ce484222325;
  hash = (hash ^ load<u32>(L.HEADER, L.H_TICK)) * 0x100000001b3;
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const V = <usize>load<u32>(L.HEADER, L.H_V);
  hash = hashWords(hash, X, <usize>load<u32>(L.HEADER, L.H_LOW), count);
  return hashWords(hash, V, <usize>load<u32>(L.HEADER, L.H_LOW_SPEED), count);
}

// @inline
function hashWords(from: u64, words: usize, low: usize, count: i32): u64 {
  let hash = from;
  for (let i: usize = 0, end = (<usize>count) << 4; i < end; i += 4)
    hash = (hash ^ (((<u64>load<u32>(low + i)) << 32) | <u64>load<u32>(words + i))) * 0x100000001b3;
  return hash;
}

/** Square of the greatest speed of `count` particles from number `first` on, (m/s)^2; NaN is ignored. */
export function greatestSpeed2(first: i32, count: i32): f32 {
  let at = <usize>load<u32>(L.HEADER, L.H_V) + ((<usize>first) << 4);
  let most = f32x4.splat(0);
  for (let n = count; n > 0; n--, at += 16) {
    most = f32x4.pmax(most, square(v128.load(at)));
  }
  return f32x4.extract_lane(most, 0);
}
