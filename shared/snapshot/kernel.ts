/**
 * The compiled frame coder (assembly/) and its memory: one instance per model and thread, because order, neighbors and
 * tables stay in its memory from frame to frame.
 *
 * Memory map, bytes; each block starts at a multiple of 16:
 *     16        constants that assembly/map.ts fills
 *     4096      coding            16 per context and symbol: start, frequency (u16), reciprocal, its shift (u32)
 *               search            2 per context and symbol: start
 *               starts            int32[bodies+1]
 *               records           48 per rank: addresses of neighbors and gates, counts, offset of the particle in a
 *                                 frame
 *               particles         48 per rank: values of decoded particles; one additional entry stays 0
 *               previous, current int32[3*total] and 16 bytes that a load of the last particle reaches
 *               symbols           int32: one per flag, SYMBOLS_PER_PARTICLE
 *               bytes             the coded frame
 */
import { HEADER_BYTES, STATE_BYTES, SnapshotError, TABLE_BITS, beyondLimit } from "./format.ts";
import { MAX_GATES, MAX_NEIGHBORS, type SnapshotModel } from "./model.ts";
import { FREQUENCY, START } from "./tables.ts";
import { WASM_BASE64 } from "./wasm.ts";

interface Exports {
  setMap(bodies: number, starts: number, records: number, particles: number, previous: number, current: number): void;
  setBuffers(coding: number, search: number, symbols: number, bytes: number, capacity: number): void;
  encode(keyframe: number): number;
  decode(keyframe: number, length: number): number;
  checksum(particles: number): number;
  beyondLimit(particles: number): number;
  faultAt: { value: number };
}

const FAULTS = [
  "",
  "a coordinate is beyond the limit",
  "an escaped residual is too short",
  "the bytes do not end with the last particle",
];

/** A component has a symbol, a head, three parts of an escaped residual and its low bits. */
const SYMBOLS_PER_PARTICLE = 18;
const RECORD_INTS = 12;
const PARTICLE_BYTES = 48;
const PAGE = 65536;

/** Undefined without WebAssembly SIMD, or if a page's policy forbids it: then the twin is used. */
export const compiled: WebAssembly.Module | undefined = await WebAssembly.compile(
  Uint8Array.from(atob(WASM_BASE64), (c) => c.charCodeAt(0)),
).catch(() => undefined);

/**
 * floor(x / f) = x * reciprocal >> shift for every x below 2^31 (Alverson 1991): the error of the reciprocal stays
 * below 2^(shift - 31).
 */
function reciprocal(frequency: number): [reciprocal: number, shift: number] {
  const log = 32 - Math.clz32(frequency - 1);
  return [Math.ceil(2 ** (31 + log) / frequency), 31 + log];
}

export class Kernel {
  private readonly model: SnapshotModel;
  private readonly exports: Exports;
  private readonly bytes: Uint8Array;
  private readonly bytesAt: number;
  private readonly previous: Int32Array;
  private readonly current: Int32Array;

  constructor(model: SnapshotModel, module: WebAssembly.Module) {
    this.model = model;
    const { total, starts } = model;
    const bodies = starts.length - 1;
    let top = 4096;
    const block = (size: number): number => {
      const at = top;
      top += Math.ceil(size / 16) * 16;
      return at;
    };
    const coding = block(16 * START.length);
    const search = block(2 * START.length);
    const startsAt = block(4 * starts.length);
    const records = block(4 * RECORD_INTS * total);
    const particles = block(PARTICLE_BYTES * (total + 1));
    const previous = block(12 * total + 16);
    const current = block(12 * total + 16);
    const symbols = SYMBOLS_PER_PARTICLE * total + bodies;
    const symbolsAt = block(4 * symbols);
    // A symbol produces at most one word.
    const capacity = STATE_BYTES + 2 * symbols;
    this.bytesAt = block(capacity + 2);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(top / PAGE) });
    const { buffer } = memory;
    this.exports = new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Exports;
    this.bytes = new Uint8Array(buffer, this.bytesAt, capacity + 2);
    this.previous = new Int32Array(buffer, previous, 3 * total);
    this.current = new Int32Array(buffer, current, 3 * total);
    new Int32Array(buffer, startsAt, starts.length).set(starts);
    writeRecords(model, particles, new Int32Array(buffer, records, RECORD_INTS * total));
    writeTables(new Uint32Array(buffer, coding, 4 * START.length), new Uint16Array(buffer, search, START.length));
    this.exports.setMap(bodies, startsAt, records, particles, previous, current);
    this.exports.setBuffers(coding, search, symbolsAt, this.bytesAt, capacity);
  }

  /**
   * @param header bytes to leave free before the frame
   * @returns header, state and words, owned by the caller
   * @throws SnapshotError for a coordinate beyond the limit
   */
  encode(previous: Int32Array | null, current: Int32Array, header: number): Uint8Array {
    if (previous !== null) this.previous.set(previous);
    this.current.set(current);
    const beyond = this.exports.beyondLimit(this.model.total);
    if (beyond >= 0) throw beyondLimit(current, beyond);
    const from = this.exports.encode(previous === null ? 1 : 0) - this.bytesAt;
    const length = this.bytes.length - 2 - from;
    const out = new Uint8Array(header + length);
    out.set(this.bytes.subarray(from, from + length), header);
    return out;
  }

  /** Checksum of the last coded frame. */
  checksum(): number {
    return this.exports.checksum(this.model.total);
  }

  /** @throws SnapshotError if the bytes (state and words) are not a valid frame */
  decode(previous: Int32Array | null, bytes: Uint8Array, out: Int32Array): void {
    const most = this.bytes.length - 2;
    if (bytes.length > most)
      throw new SnapshotError(
        `frame has ${HEADER_BYTES + bytes.length} bytes, must have at most ${HEADER_BYTES + most}`,
      );
    if (previous !== null) this.previous.set(previous);
    this.bytes.set(bytes);
    this.bytes[bytes.length] = this.bytes[bytes.length + 1] = 0;
    const fault = this.exports.decode(previous === null ? 1 : 0, bytes.length);
    if (fault !== 0) {
      const at = this.exports.faultAt.value;
      throw new SnapshotError(`frame cannot be decoded${at < 0 ? "" : ` at particle ${at}`}: ${FAULTS[fault]}`);
    }
    out.set(this.current);
  }
}

function writeRecords(model: SnapshotModel, particles: number, out: Int32Array): void {
  const { total, order, neighbors, neighborCount, gates, gateCount } = model;
  const address = (rank: number): number => particles + PARTICLE_BYTES * rank;
  for (let i = 0; i < total; i++) {
    const at = RECORD_INTS * i;
    const k = neighborCount[i]!;
    const g = gateCount[i]!;
    for (let n = 0; n < MAX_NEIGHBORS; n++) out[at + n] = address(n < k ? neighbors[MAX_NEIGHBORS * i + n]! : total);
    for (let n = 0; n < 3 * MAX_GATES; n++)
      out[at + MAX_NEIGHBORS + n] = address(n < 3 * g ? gates[3 * MAX_GATES * i + n]! : total);
    out[at + MAX_NEIGHBORS + 3 * MAX_GATES] = k | (g << 16);
    out[at + MAX_NEIGHBORS + 3 * MAX_GATES + 1] = 12 * order[i]!;
  }
}

function writeTables(coding: Uint32Array, search: Uint16Array): void {
  search.set(START);
  for (let n = 0; n < START.length; n++) {
    // A start of 2^TABLE_BITS belongs to a symbol that never occurs.
    coding[4 * n] = (START[n]! & ((1 << TABLE_BITS) - 1)) | (FREQUENCY[n]! << 16);
    if (FREQUENCY[n] !== 0) coding.set(reciprocal(FREQUENCY[n]!), 4 * n + 1);
  }
}

const kernels = new WeakMap<SnapshotModel, Kernel>();

/**
 * The kernel of a model in this thread; undefined if WebAssembly cannot run. Coding is synchronous, so encoder and
 * decoder can share it.
 */
export function kernelOf(model: SnapshotModel): Kernel | undefined {
  if (compiled === undefined) return undefined;
  let kernel = kernels.get(model);
  if (kernel === undefined) {
    kernel = new Kernel(model, compiled);
    kernels.set(model, kernel);
  }
  return kernel;
}
