/**
 * The frame coder in readable form: the reference for the compiled one (kernel.ts), which matches it bit for bit, and
 * the fallback for machines without WebAssembly SIMD. About twenty times slower.
 */
import {
  COORDINATE_LIMIT,
  ESCAPE,
  HEADER_BYTES,
  RESIDUAL_LIMIT,
  STATE_BYTES,
  SnapshotError,
  TABLE_BITS,
  beyondLimit,
} from "./format.ts";
import type { SnapshotModel } from "./model.ts";
import { Predictor } from "./predict.ts";
import { SymbolReader, codeSymbols } from "./rans.ts";
import { FLAG_CONTEXT, SYMBOLS } from "./tables.ts";

/**
 * Every symbol and raw value of a frame in coding order (rans.ts documents their numbers).
 * @throws SnapshotError for a coordinate beyond the limit
 */
function symbolsOfFrame(model: SnapshotModel, previous: Int32Array | null, current: Int32Array): number[] {
  const beyond = current.findIndex((x) => x > COORDINATE_LIMIT || x < -COORDINATE_LIMIT);
  if (beyond >= 0) throw beyondLimit(current, beyond);
  const symbols: number[] = [];
  const predictor = new Predictor(model, previous === null);
  const before = previous ?? new Int32Array(current.length);
  let flag = 0;
  for (let body = 0; body + 1 < model.starts.length; body++) {
    const [first, end] = [model.starts[body]!, model.starts[body + 1]!];
    const changed = current.subarray(3 * first, 3 * end).some((x, i) => x !== before[3 * first + i]) ? 1 : 0;
    symbols.push(FLAG_CONTEXT * SYMBOLS + (changed === flag ? 0 : 1));
    flag = changed;
    if (changed === 1) putBody(predictor, before, current, first, end, symbols);
  }
  return symbols;
}

function putBody(
  predictor: Predictor,
  before: Int32Array,
  current: Int32Array,
  first: number,
  end: number,
  symbols: number[],
): void {
  for (let i = first; i < end; i++) {
    const v = 3 * predictor.model.order[i]!;
    predictor.enter(i, first, [before[v]!, before[v + 1]!, before[v + 2]!]);
    for (let c = 0; c < 3; c++) {
      const y = current[v + c]! - before[v + c]!;
      predictor.expect(c);
      putResidual(y - predictor.base, predictor.context, predictor.shift, symbols);
      predictor.settle(i, c, y);
    }
    predictor.leave(i);
  }
}

const raw = (bits: number, value: number): number => (bits << TABLE_BITS) | value;

function putResidual(residual: number, context: number, shift: number, symbols: number[]): void {
  const high = residual >> shift;
  if (high >= -RESIDUAL_LIMIT && high <= RESIDUAL_LIMIT) {
    symbols.push(context * SYMBOLS + high + RESIDUAL_LIMIT);
  } else {
    symbols.push(context * SYMBOLS + ESCAPE);
    const size = Math.abs(high);
    const bits = 32 - Math.clz32(size);
    symbols.push(raw(6, 2 * bits + (high < 0 ? 1 : 0)));
    for (let done = 0; done < bits - 1; done += TABLE_BITS) {
      const part = Math.min(TABLE_BITS, bits - 1 - done);
      symbols.push(raw(part, (size >>> done) & ((1 << part) - 1)));
    }
  }
  if (shift > 0) symbols.push(raw(shift, residual & ((1 << shift) - 1)));
}

/** Returns the frame with an empty header. */
export function encodeFrame(model: SnapshotModel, previous: Int32Array | null, current: Int32Array): Uint8Array {
  const { state, words } = codeSymbols(symbolsOfFrame(model, previous, current));
  const out = new Uint8Array(HEADER_BYTES + STATE_BYTES + 2 * words.length);
  const view = new DataView(out.buffer);
  view.setUint32(HEADER_BYTES, state, true);
  words.forEach((word, k) => view.setUint16(HEADER_BYTES + STATE_BYTES + 2 * k, word, true));
  return out;
}

/** @throws SnapshotError if the bytes are not a valid frame */
export function decodeFrame(
  model: SnapshotModel,
  previous: Int32Array | null,
  bytes: Uint8Array,
  out: Int32Array,
): void {
  const reader = new SymbolReader(bytes, HEADER_BYTES);
  const predictor = new Predictor(model, previous === null);
  let flag = 0;
  for (let body = 0; body + 1 < model.starts.length; body++) {
    const [first, end] = [model.starts[body]!, model.starts[body + 1]!];
    flag ^= reader.symbol(FLAG_CONTEXT);
    if (flag === 1) readBody(predictor, previous, reader, out, first, end);
    else if (previous === null) out.fill(0, 3 * first, 3 * end);
    else out.set(previous.subarray(3 * first, 3 * end), 3 * first);
  }
  reader.end();
}

function readBody(
  predictor: Predictor,
  previous: Int32Array | null,
  reader: SymbolReader,
  out: Int32Array,
  first: number,
  end: number,
): void {
  for (let i = first; i < end; i++) {
    const v = 3 * predictor.model.order[i]!;
    const before: [number, number, number] =
      previous === null ? [0, 0, 0] : [previous[v]!, previous[v + 1]!, previous[v + 2]!];
    predictor.enter(i, first, before);
    for (let c = 0; c < 3; c++) {
      predictor.expect(c);
      const residual = readResidual(reader, predictor.context, predictor.shift);
      const y = (predictor.base + residual) | 0;
      const now = (before[c]! + y) | 0;
      if (now > COORDINATE_LIMIT || now < -COORDINATE_LIMIT)
        throw new SnapshotError(`coordinate ${v + c} decodes to ${now}, must be within +-${COORDINATE_LIMIT}`);
      out[v + c] = now;
      predictor.settle(i, c, y);
    }
    predictor.leave(i);
  }
}

function readResidual(reader: SymbolReader, context: number, shift: number): number {
  const symbol = reader.symbol(context);
  let high = symbol - RESIDUAL_LIMIT;
  if (symbol === ESCAPE) {
    const head = reader.raw(6);
    const bits = head >> 1;
    if (bits < 5) throw new SnapshotError(`an escaped residual has ${bits} bits, must have at least 5`);
    let size = 1 << (bits - 1);
    for (let done = 0; done < bits - 1; done += TABLE_BITS)
      size |= reader.raw(Math.min(TABLE_BITS, bits - 1 - done)) << done;
    high = (head & 1) === 0 ? size : -size;
  }
  return shift > 0 ? (high << shift) | reader.raw(shift) : high;
}
