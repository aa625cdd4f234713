/**
 * Checks after the tick: whether a body is still in the world, and the state hash, which tells whether two runs are the
 * same.
 */
import * as L from "../layout/layout";

/** 1 if every particle is finite and within `radius` of the origin. A NaN fails the comparison. */
export function bodyIsSound(first: i32, count: i32, radius: f32, ox: f32, oy: f32, oz: f32): i32 {
  let x = <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>first) << 4);
  let v = <usize>load<u32>(L.HEADER, L.H_V) + ((<usize>first) << 4);
  const limit = radius * radius;
  for (let i = 0; i < count; i++, x += 16, v += 16) {
    const a = load<f32>(x) + ox;
    const b = load<f32>(x, 4) + oy;
    const c = load<f32>(x, 8) + oz;
    const d = load<f32>(v);
    const e = load<f32>(v, 4);
    const f = load<f32>(v, 8);
    if (!(a * a + b * b + c * c <= limit) || !(d * d + e * e + f * f < Infinity)) return 0;
  }
  return 1;
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
    const v = v128.load(at);
    const vv = f32x4.mul(v, v);
    const xy = f32x4.add(vv, v128.shuffle<f32>(vv, vv, 1, 0, 3, 2));
    most = f32x4.pmax(most, f32x4.add(xy, v128.shuffle<f32>(vv, vv, 2, 2, 0, 0)));
  }
  return f32x4.extract_lane(most, 0);
}
