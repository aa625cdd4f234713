/** Measures how far bodies have moved and how fast they move (sim/rest/findResting.ts). */
import * as L from "../layout/layout";

/**
 * Returns the sum of squared distances between particles and their anchors, three f32 each, m^2, or a part of it that
 * is above `most`.
 * @param first number of the first of `count` particles; anchor address of its anchor
 */
export function distancesFromAnchor(first: i32, count: i32, anchor: usize, most: f64): f64 {
  let sum: f64 = 0;
  for (let i = 0, x = placesOf(first), a = anchor; i < count && !(sum > most); i++, x += 16, a += 12) {
    const dx = <f64>load<f32>(x) - <f64>load<f32>(a);
    const dy = <f64>load<f32>(x, 4) - <f64>load<f32>(a, 4);
    const dz = <f64>load<f32>(x, 8) - <f64>load<f32>(a, 8);
    sum += dx * dx + dy * dy + dz * dz;
  }
  return sum;
}

/** Puts anchors where the particles are. */
export function setAnchor(first: i32, count: i32, anchor: usize): void {
  for (let i = 0, x = placesOf(first), a = anchor; i < count; i++, x += 16, a += 12) {
    store<u64>(a, load<u64>(x));
    store<f32>(a, load<f32>(x, 8), 8);
  }
}

/** Returns 1 if more than `few` of `count` particles have a squared speed above `most`, else 0. */
export function moreMove(first: i32, count: i32, most: f64, few: f64): i32 {
  let left = few;
  let v = <usize>load<u32>(L.HEADER, L.H_V) + ((<usize>first) << 4);
  for (let i = 0; i < count; i++, v += 16) {
    const x = <f64>load<f32>(v);
    const y = <f64>load<f32>(v, 4);
    const z = <f64>load<f32>(v, 8);
    if (x * x + y * y + z * z > most && --left < 0) return 1;
  }
  return 0;
}

// @inline
function placesOf(first: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>first) << 4);
}
