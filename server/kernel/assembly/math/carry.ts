/** Low words of positions (integrate/particles.ts), carried over to x. */
import * as L from "../layout/layout";

/** Sets a particle to x + low, normalized. The fourth lane of `low` is 0. */
// @inline
export function carryOver(particle: usize, toLow: usize, x: v128, low: v128): void {
  const there = f32x4.add(x, low);
  v128.store(particle, there);
  v128.store(particle + toLow, f32x4.sub(low, f32x4.sub(there, x)));
}

/** Carries the low words of particles begin .. end over to x. */
export function carryAll(begin: i32, end: i32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = <usize>load<u32>(L.HEADER, L.H_LOW) - X;
  for (let i = begin, x = X + ((<usize>begin) << 4); i < end; i++, x += 16)
    carryOver(x, toLow, v128.load(x), v128.load(x + toLow));
}
