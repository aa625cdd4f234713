/**
 * Converts symbols to bytes and back, in readable form (format.ts, sections 3 and 4): rANS (Duda 2009, arXiv 0902.0271;
 * the 32-bit state with 16-bit words is that of Giesen's ryg_rans) with fixed tables. rANS is last in, first out, so
 * the encoder collects all symbols and codes them backwards.
 */
import { SnapshotError, STATE_FLOOR, TABLE_BITS } from "./format.ts";
import { FREQUENCY, START, SYMBOLS } from "./tables.ts";

const TOTAL = 1 << TABLE_BITS;

/**
 * Start and frequency of a symbol: below TOTAL it is context * SYMBOLS + symbol, else bits << TABLE_BITS | raw value.
 */
function interval(symbol: number): [start: number, frequency: number] {
  if (symbol < TOTAL) return [START[symbol]!, FREQUENCY[symbol]!];
  const bits = symbol >>> TABLE_BITS;
  return [(symbol & (TOTAL - 1)) << (TABLE_BITS - bits), 1 << (TABLE_BITS - bits)];
}

/** The final state and the words, in the order in which a decoder reads them. */
export function codeSymbols(symbols: readonly number[]): { state: number; words: number[] } {
  const words: number[] = [];
  let state = STATE_FLOOR;
  for (let k = symbols.length - 1; k >= 0; k--) {
    const [start, frequency] = interval(symbols[k]!);
    if (state >= frequency * 2 ** 17) {
      words.push(state & 0xffff);
      state >>>= 16;
    }
    state = Math.floor(state / frequency) * TOTAL + start + (state % frequency);
  }
  return { state, words: words.reverse() };
}

export class SymbolReader {
  private state: number;
  private readonly bytes: DataView;
  private at: number;

  /** @param at offset of the state's first byte */
  constructor(bytes: Uint8Array, at: number) {
    this.bytes = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.state = this.bytes.getUint32(at, true);
    this.at = at + 4;
  }

  private take(start: number, frequency: number): void {
    this.state = (Math.imul(frequency, this.state >>> TABLE_BITS) + (this.state & (TOTAL - 1)) - start) >>> 0;
    if (this.state >= STATE_FLOOR) return;
    const inside = this.at < this.bytes.byteLength;
    this.state = ((this.state << 16) | (inside ? this.bytes.getUint16(this.at, true) : 0)) >>> 0;
    if (inside) this.at += 2;
  }

  symbol(context: number): number {
    const slot = this.state & (TOTAL - 1);
    let symbol = SYMBOLS - 1;
    while (START[context * SYMBOLS + symbol]! > slot) symbol--;
    this.take(START[context * SYMBOLS + symbol]!, FREQUENCY[context * SYMBOLS + symbol]!);
    return symbol;
  }

  raw(bits: number): number {
    const value = (this.state & (TOTAL - 1)) >>> (TABLE_BITS - bits);
    this.take(value << (TABLE_BITS - bits), 1 << (TABLE_BITS - bits));
    return value;
  }

  /** @throws SnapshotError if the bytes did not end with the last symbol */
  end(): void {
    if (this.state !== STATE_FLOOR || this.at !== this.bytes.byteLength) {
      throw new SnapshotError(
        `frame ends at byte ${this.at} of ${this.bytes.byteLength} in state ${this.state}, must end at the last byte in state ${STATE_FLOOR}`,
      );
    }
  }
}
