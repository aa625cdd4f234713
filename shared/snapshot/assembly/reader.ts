/**
 * The decoder's state, and rare cases outside of its loop. The reader stops at `readEnd`, where two zero bytes follow.
 */
import { ESCAPE, FIRST_SHIFTED_BIN, RESIDUAL_LIMIT, STATE_FLOOR, TABLE_BITS } from "./constants";

export const FAULT_COORDINATE: i32 = 1;
const FAULT_ESCAPE: i32 = 2;
export const FAULT_END: i32 = 3;

export let state: u32 = 0;
export let readAt: usize = 0;
export let readEnd: usize = 0;
export let fault: i32 = 0;

/** Starts a frame whose state and words take `length` bytes from `at` on. */
export function openReader(at: usize, length: usize): void {
  state = load<u32>(at);
  readAt = at + 4;
  readEnd = at + length;
  fault = 0;
}

export function setReader(newState: u32, at: usize): void {
  state = newState;
  readAt = at;
}

export function setFault(what: i32): void {
  fault = what;
}

function refill(): void {
  if (state < STATE_FLOOR) {
    state = (state << 16) | <u32>load<u16>(readAt);
    readAt = min<usize>(readAt + 2, readEnd);
  }
}

/** Reads a value of 1 to TABLE_BITS bits. */
function raw(bits: i32): i32 {
  const scale = TABLE_BITS - bits;
  const slot = <i32>(state & ((1 << TABLE_BITS) - 1));
  state = ((state >>> TABLE_BITS) << scale) + (slot & ((1 << scale) - 1));
  refill();
  return slot >>> scale;
}

/** Reads the rest of an escaped residual, or of one whose low bits are sent raw. */
export function readSlow(symbol: i32, bin: i32): i32 {
  let high = symbol - RESIDUAL_LIMIT;
  if (symbol === ESCAPE) {
    const head = raw(6);
    const bits = head >> 1;
    if (bits < 5) {
      fault = FAULT_ESCAPE;
      return 0;
    }
    let size = 1 << (bits - 1);
    for (let done = 0; done < bits - 1; done += TABLE_BITS) size |= raw(min<i32>(TABLE_BITS, bits - 1 - done)) << done;
    high = (head & 1) === 0 ? size : -size;
  }
  if (bin < FIRST_SHIFTED_BIN) return high;
  const shift = (bin - FIRST_SHIFTED_BIN + 2) >> 1;
  return (high << shift) | raw(shift);
}

/** Reads a body's flag: 0 if equal to the previous body's. */
export function readFlag(frequencyOfSame: u32): i32 {
  const slot = state & ((1 << TABLE_BITS) - 1);
  const differs = slot >= frequencyOfSame;
  const frequency: u32 = differs ? (1 << TABLE_BITS) - frequencyOfSame : frequencyOfSame;
  state = frequency * (state >>> TABLE_BITS) + slot - (differs ? frequencyOfSame : 0);
  refill();
  return i32(differs);
}
