/**
 * Bits to bytes: an adaptive binary range coder (after LZMA, Igor Pavlov) and the residual's binarization (format.ts, sections 3, 4, 6).
 *
 * The encoder first notes every bit with its probability and turns them into bytes at the end in one tight loop; the decoder has to interleave.
 */
import {
  CONTEXTS,
  CONTEXT_PREFIX,
  CONTEXT_SIGN,
  CONTEXT_UNARY,
  CONTEXT_ZERO,
  COUNT_LIMIT,
  INITIAL_COUNT,
  INITIAL_PROBABILITY,
  PREFIX_LIMIT,
  SnapshotError,
  UNARY_LIMIT,
} from "./format.ts";

const TOP = 2 ** 24;
const HALF = 32768;

/** floor(65536 / (n + 1.5)) */
const RATE = Int32Array.from({ length: COUNT_LIMIT + 1 }, (_, n) => Math.floor(65536 / (n + 1.5)));

const START = Int32Array.from(INITIAL_PROBABILITY, (p) => p * 256);

/** The adaptive probabilities of one frame. */
abstract class Contexts {
  /** Probability of a zero, 16 bit fraction. */
  protected readonly p = new Int32Array(CONTEXTS);
  private readonly n = new Uint8Array(CONTEXTS);

  protected reset(): void {
    this.p.set(START);
    this.n.fill(INITIAL_COUNT);
  }

  protected learn(context: number, bit: number): void {
    const n = this.n[context];
    const p = this.p[context];
    const rate = RATE[n];
    // The products are below 2^32: imul's low 32 bits, read unsigned by >>>, are exact.
    const q = bit === 0 ? p + (Math.imul(65536 - p, rate) >>> 16) : p - (Math.imul(p, rate) >>> 16);
    this.p[context] = q < 32 ? 32 : q > 65504 ? 65504 : q;
    if (n < COUNT_LIMIT) this.n[context] = n + 1;
  }
}

/** Bits of the longest component: zero, sign, unary, prefix with its end, suffix. */
const MAX_COMPONENT_BITS = 2 + UNARY_LIMIT + PREFIX_LIMIT + 1 + PREFIX_LIMIT;

export class BitEncoder extends Contexts {
  /** 2 * probability + bit, in coding order. */
  private noted = new Uint32Array(1 << 14);
  private length = 0;

  begin(): void {
    this.reset();
    this.length = 0;
  }

  bit(context: number, bit: number): void {
    this.noted[this.length++] = 2 * this.p[context] + bit;
    this.learn(context, bit);
  }

  /** Room for another particle. */
  reserve(): void {
    if (this.length + 3 * MAX_COMPONENT_BITS + 1 <= this.noted.length) return;
    const larger = new Uint32Array(2 * this.noted.length);
    larger.set(this.noted);
    this.noted = larger;
  }

  /** Codes `residual` (positive: away from the base on the side where the expectation lies) in the contexts of `slot` = 4 * bin + phase. */
  residual(residual: number, slot: number): void {
    if (residual === 0) {
      this.bit(CONTEXT_ZERO + slot, 0);
      return;
    }
    this.bit(CONTEXT_ZERO + slot, 1);
    const bin = slot >> 2;
    this.bit(CONTEXT_SIGN + (slot & 3) + (bin > 8 ? 4 : 0), residual > 0 ? 0 : 1);
    const rest = Math.abs(residual) - 1;
    const unary = CONTEXT_UNARY + UNARY_LIMIT * bin;
    for (let j = 0; j < UNARY_LIMIT; j++) {
      this.bit(unary + j, rest > j ? 1 : 0);
      if (rest === j) return;
    }
    this.expGolomb(rest - UNARY_LIMIT + 1);
  }

  private expGolomb(value: number): void {
    const c = 31 - Math.clz32(value);
    for (let j = 0; j < c; j++) this.bit(CONTEXT_PREFIX + j, 1);
    this.bit(CONTEXT_PREFIX + c, 0);
    for (let j = c - 1; j >= 0; j--) this.noted[this.length++] = 2 * HALF + ((value >>> j) & 1);
  }

  /** The bytes of everything noted, after `header` zero bytes for the caller to fill. */
  finish(header: number): Uint8Array {
    const { noted, length } = this;
    // A bit costs at most 11 bits (P is clamped at 2^-11) and a little rounding; the flush has 5 bytes.
    const out = new Uint8Array(header + 5 + Math.ceil(length * 1.5));
    let at = header;
    let low = 0;
    let range = 0xffffffff;
    for (let k = 0; k < length; k++) {
      const note = noted[k];
      const bound = Math.imul(range >>> 16, note >>> 1) >>> 0;
      if ((note & 1) === 0) {
        range = bound;
      } else {
        low += bound;
        range -= bound;
        if (low > 0xffffffff) {
          low -= 2 ** 32;
          carry(out, at);
        }
      }
      while (range < TOP) {
        out[at++] = low >>> 24;
        low = (low << 8) >>> 0;
        range = (range << 8) >>> 0;
      }
    }
    // Of all values in [low, low + range) the one that ends in 24 zero bits leaves one byte to send.
    low = Math.ceil(low / TOP) * TOP;
    if (low > 0xffffffff) {
      low -= 2 ** 32;
      carry(out, at);
    }
    out[at++] = low / TOP;
    while (at > header && out[at - 1] === 0) at--;
    return out.slice(0, at);
  }
}

/** Adds one to the number that ends before `at`. It cannot overflow: the code stays below the initial range. */
function carry(out: Uint8Array, at: number): void {
  let i = at - 1;
  while (out[i] === 0xff) out[i--] = 0;
  out[i]++;
}

export class BitDecoder extends Contexts {
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  /** [code, range]; in a typed array so that 32 bit values are never boxed. */
  private readonly s = new Uint32Array(2);

  begin(bytes: Uint8Array, at: number): void {
    this.reset();
    this.bytes = bytes;
    this.at = at;
    this.s[0] = 0;
    for (let k = 0; k < 4; k++) this.s[0] = (this.s[0] << 8) | this.next();
    this.s[1] = 0xffffffff;
  }

  private next(): number {
    const { bytes, at } = this;
    this.at = at + 1;
    return at < bytes.length ? bytes[at] : 0;
  }

  private split(probability: number): number {
    const { s } = this;
    let code = s[0];
    let range = s[1];
    const bound = Math.imul(range >>> 16, probability) >>> 0;
    let bit = 0;
    if (code < bound) {
      range = bound;
    } else {
      code = (code - bound) >>> 0;
      range = (range - bound) >>> 0;
      bit = 1;
    }
    while (range < TOP) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | this.next()) >>> 0;
    }
    s[0] = code;
    s[1] = range;
    return bit;
  }

  bit(context: number): number {
    const bit = this.split(this.p[context]);
    this.learn(context, bit);
    return bit;
  }

  /**
   * What `BitEncoder.residual` coded.
   * @throws SnapshotError for a residual longer than any valid one
   */
  residual(slot: number): number {
    if (this.bit(CONTEXT_ZERO + slot) === 0) return 0;
    const bin = slot >> 2;
    const away = this.bit(CONTEXT_SIGN + (slot & 3) + (bin > 8 ? 4 : 0));
    const unary = CONTEXT_UNARY + UNARY_LIMIT * bin;
    let magnitude = 1;
    let j = 0;
    while (j < UNARY_LIMIT && this.bit(unary + j) === 1) j++;
    magnitude += j;
    if (j === UNARY_LIMIT) magnitude += this.expGolomb();
    return away === 0 ? magnitude : -magnitude;
  }

  private expGolomb(): number {
    let c = 0;
    while (this.bit(CONTEXT_PREFIX + c) === 1) {
      c++;
      if (c > PREFIX_LIMIT) throw new SnapshotError(`residual at byte ${this.at} has a prefix of more than ${PREFIX_LIMIT} bits`);
    }
    let value = 1;
    for (let j = 0; j < c; j++) value = 2 * value + this.split(HALF);
    return value - 1;
  }

  /** @throws SnapshotError if bytes are left over: the encoder sends one byte past those that its last bit settled, the decoder has read four */
  end(): void {
    const end = this.at - 3;
    if (this.bytes.length > end) throw new SnapshotError(`frame has ${this.bytes.length} bytes, its particles end at byte ${end}`);
  }
}
