/**
 * A particle's place in float64: x and its low word (integrate/particles.ts). For serial code over whole bodies; rooms
 * of tests may have no low words.
 */
import { HEADER, H_X, H_LOW, H_ROUNDING } from "../layout/layout";

/** From X to the low words, or to what rounding took in this substep; 0 where a room has none. */
// @inline
export function lowFrom(): usize {
  const low = <usize>load<u32>(HEADER, H_LOW);
  return low ? low - <usize>load<u32>(HEADER, H_X) : 0;
}

// @inline
export function roundingFrom(): usize {
  const rounding = <usize>load<u32>(HEADER, H_ROUNDING);
  return rounding ? rounding - <usize>load<u32>(HEADER, H_X) : 0;
}

/** A coordinate's word of such an array, m. @param at address of the coordinate in X; to one of the above */
// @inline
export function word(at: usize, to: usize): f64 {
  return to ? <f64>load<f32>(at + to) : 0;
}

/** Puts a coordinate to a place, of which the low word keeps what float32 cannot. */
// @inline
export function put(at: usize, place: f64, toLow: usize): void {
  const x = <f32>place;
  store<f32>(at, x);
  if (toLow) store<f32>(at + toLow, <f32>(place - <f64>x));
}

/** The same, and notes in what rounding took how far that is from what x shows. */
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
