/**
 * A particle's position in float64: x plus its low word (integrate/particles.ts). For serial code over whole bodies.
 */
import * as L from "../layout/layout";

/** Returns the offset from X to the low words. */
// @inline
export function lowFrom(): usize {
  return <usize>load<u32>(L.HEADER, L.H_LOW) - <usize>load<u32>(L.HEADER, L.H_X);
}

/** Returns the offset from X to the low words at the start of the substep. */
// @inline
export function lowPrevFrom(): usize {
  return <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - <usize>load<u32>(L.HEADER, L.H_X);
}

/** Returns a coordinate's low word, m. @param at address of the coordinate in X */
// @inline
export function word(at: usize, toLow: usize): f64 {
  return load<f32>(at + toLow);
}

/** Returns the part of a coordinate's displacement in this substep that x - xPrev lacks, m. */
// @inline
export function rounding(at: usize, toLow: usize, toLowPrev: usize): f64 {
  return <f64>load<f32>(at + toLow) - <f64>load<f32>(at + toLowPrev);
}

/** Returns a coordinate, m. */
// @inline
export function place(at: usize, toLow: usize): f64 {
  return <f64>load<f32>(at) + <f64>load<f32>(at + toLow);
}

/** Sets a coordinate; the low word stores the part that float32 cannot. */
// @inline
export function put(at: usize, place: f64, toLow: usize): void {
  const x = <f32>place;
  store<f32>(at, x);
  store<f32>(at + toLow, <f32>(place - <f64>x));
}
