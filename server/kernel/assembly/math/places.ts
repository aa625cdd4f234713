/**
 * A particle's position in float64: x plus its low word (integrate/particles.ts). For serial code over whole bodies.
 * Test rooms may have no low words.
 */
import * as L from "../layout/layout";

/** Offset from X to the low words, or to the rounding of this substep; 0 if the room has none. */
// @inline
export function lowFrom(): usize {
  const low = <usize>load<u32>(L.HEADER, L.H_LOW);
  return low ? low - <usize>load<u32>(L.HEADER, L.H_X) : 0;
}

// @inline
export function roundingFrom(): usize {
  const rounding = <usize>load<u32>(L.HEADER, L.H_ROUNDING);
  return rounding ? rounding - <usize>load<u32>(L.HEADER, L.H_X) : 0;
}

/**
 * Returns a coordinate's low word or rounding, m. @param at address of the coordinate in X; to offset to the array,
 * from lowFrom or roundingFrom
 */
// @inline
export function word(at: usize, to: usize): f64 {
  return to ? <f64>load<f32>(at + to) : 0;
}

/** Sets a coordinate; the low word stores the part that float32 cannot. */
// @inline
export function put(at: usize, place: f64, toLow: usize): void {
  const x = <f32>place;
  store<f32>(at, x);
  if (toLow) store<f32>(at + toLow, <f32>(place - <f64>x));
}

/** The same, and adds the change of the low word to the rounding. */
// @inline
export function moveTo(at: usize, place: f64, toLow: usize, toRounding: usize): void {
  if (!toLow) {
    store<f32>(at, <f32>place);
    return;
  }
  const before = load<f32>(at + toLow);
  put(at, place, toLow);
  store<f32>(at + toRounding, load<f32>(at + toRounding) + (load<f32>(at + toLow) - before));
}
