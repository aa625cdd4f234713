/** Ways of leaves of the bvtt front (bvttFront.ts): least and greatest displacement of their particles, by axis. */
import * as L from "../../layout/layout";
import { noteDisplacement } from "./stirredLeaves";

/** Relative rounding of a sum of displacements. */
export const WAYS_ROUNDING: f32 = 2.384185791015625e-7; // 2^-22

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}

/** Fits a leaf's way up to x. Several threads may do this at once. @returns whether the leaf is stirred */
// @inline
export function fitWay(number: i32): bool {
  const leaf = <usize>load<u32>(front(), L.FRONT_LEAVES) + <usize>number * L.LEAF_BYTES;
  const way = <usize>load<u32>(front(), L.FRONT_DISPLACEMENTS) + <usize>number * L.DISPLACEMENT_BYTES;
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  let least = f32x4.splat(Infinity);
  let most = f32x4.splat(-Infinity);
  for (let k = load<i32>(leaf), at = leaf + L.LEAF_PARTICLE; k > 0; k--, at += 4) {
    const particle = <usize>load<u32>(at);
    const d = f32x4.sub(v128.load(particle), v128.load(particle + toSafe));
    // pmin and pmax ignore NaN
    least = f32x4.pmin(least, d);
    most = f32x4.pmax(most, d);
  }
  const low = lower(v128.load(way, L.DISPLACEMENT_LOW), least);
  const high = higher(v128.load(way, L.DISPLACEMENT_HIGH), most);
  v128.store(way, low, L.DISPLACEMENT_NOW_LOW);
  v128.store(way, high, L.DISPLACEMENT_NOW_HIGH);
  return noteDisplacement(number, least, most, low, high, load<i32>(front(), L.FRONT_PREDICTS) !== 0);
}

/** Returns a + b, rounded down. */
// @inline
export function lower(a: v128, b: v128): v128 {
  return f32x4.sub(f32x4.add(a, b), f32x4.mul(f32x4.splat(WAYS_ROUNDING), f32x4.add(f32x4.abs(a), f32x4.abs(b))));
}

/** Returns a + b, rounded up. */
// @inline
export function higher(a: v128, b: v128): v128 {
  return f32x4.add(f32x4.add(a, b), f32x4.mul(f32x4.splat(WAYS_ROUNDING), f32x4.add(f32x4.abs(a), f32x4.abs(b))));
}
