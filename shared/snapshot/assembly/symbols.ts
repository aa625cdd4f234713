/** The encoder's symbols in coding order, and their conversion to bytes; ../rans.ts is the readable form. */
import { ESCAPE, FIRST_SHIFTED_BIN, RESIDUAL_LIMIT, STATE_FLOOR, SYMBOLS, TABLE_BITS } from "./constants";
import { bytes, capacity, coding, symbols } from "./map";

const TOTAL: u32 = 1 << TABLE_BITS;

/** Address of the next symbol. */
export let symbolsEnd: usize = 0;

export function setSymbolsEnd(at: usize): void {
  symbolsEnd = at;
}

export function putSymbol(what: i32): void {
  store<u32>(symbolsEnd, what);
  symbolsEnd += 4;
}

/** Appends a residual, with escape or raw low bits if needed. */
export function putComponent(symbol: i32, bin: i32, phase: i32): void {
  const residual = symbol - RESIDUAL_LIMIT;
  const shifted = bin >= FIRST_SHIFTED_BIN;
  const shift = shifted ? (bin - FIRST_SHIFTED_BIN + 2) >> 1 : 0;
  const context = shifted ? 8 * FIRST_SHIFTED_BIN + (bin & 1) : 8 * bin + phase;
  const high = residual >> shift;
  if (<u32>(high + RESIDUAL_LIMIT) <= <u32>(2 * RESIDUAL_LIMIT)) {
    putSymbol(context * SYMBOLS + high + RESIDUAL_LIMIT);
  } else {
    putSymbol(context * SYMBOLS + ESCAPE);
    const size = abs<i32>(high);
    const bits = 32 - clz<i32>(size);
    putSymbol((6 << TABLE_BITS) | (2 * bits + i32(high < 0)));
    for (let done = 0; done < bits - 1; done += TABLE_BITS) {
      const part = min<i32>(TABLE_BITS, bits - 1 - done);
      putSymbol((part << TABLE_BITS) | ((size >>> done) & ((1 << part) - 1)));
    }
  }
  if (shift > 0) putSymbol((shift << TABLE_BITS) | (residual & ((1 << shift) - 1)));
}

/** Writes state and words so that they end at the end of the buffer. Returns their start. */
export function write(): usize {
  let at = bytes + capacity;
  let state: u32 = STATE_FLOOR;
  for (let from = symbolsEnd; from > symbols; ) {
    from -= 4;
    const what = load<u32>(from);
    if (what < TOTAL) {
      const entry = coding + 16 * <usize>what;
      const interval = load<u32>(entry);
      const frequency = interval >>> 16;
      if (state >= frequency << 17) {
        at -= 2;
        store<u16>(at, <u16>state);
        state >>>= 16;
      }
      // floor(state / frequency) for states below 2^31
      const quotient = <u32>((<u64>state * <u64>load<u32>(entry, 4)) >>> <u64>load<u32>(entry, 8));
      state += (interval & 0xffff) + quotient * (TOTAL - frequency);
    } else {
      const scale = TABLE_BITS - <i32>(what >>> TABLE_BITS);
      if (state >= (<u32>1) << (scale + 17)) {
        at -= 2;
        store<u16>(at, <u16>state);
        state >>>= 16;
      }
      state = ((state >>> scale) << TABLE_BITS) + ((what & (TOTAL - 1)) << scale) + (state & ((1 << scale) - 1));
    }
  }
  at -= 4;
  store<u32>(at, state);
  return at;
}
