/** State of single particles in contact: MARK bits, u16 for each, in rooms with contact. */
import * as L from "../layout/layout";

// @inline
export function numberOf(particle: usize): i32 {
  return <i32>((particle - <usize>load<u32>(L.HEADER, L.H_X)) >> 4);
}

// @inline
export function hasMarks(): bool {
  return load<u32>(L.HEADER, L.H_MARKS) !== 0;
}

// @inline
function markAt(number: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_MARKS) + ((<usize>number) << 1);
}

/** Requires `hasMarks`, like the functions below. */
// @inline
export function marksOf(number: i32): i32 {
  return load<u16>(markAt(number));
}

// @inline
export function mark(number: i32, bits: i32): void {
  const at = markAt(number);
  store<u16>(at, <u16>(load<u16>(at) | bits));
}

// @inline
export function unmark(number: i32, bits: i32): void {
  const at = markAt(number);
  store<u16>(at, <u16>(load<u16>(at) & ~bits));
}
