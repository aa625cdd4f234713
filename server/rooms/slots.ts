/**
 * Answers that take long to make and to send (replays, recordings): few at once, fewer for one address, each only as
 * long as somebody takes it in. Who reads slowly gives its place to who asks next; who reads too slowly is given up, so
 * that nobody keeps a place by reading a byte now and then.
 */
import { Readable } from "node:stream";
import { CodedError, type HttpErrorCode } from "../../shared/errors.ts";

/** Bytes that may wait for the one who asked before the next part is made. */
const BUFFERED_BYTES = 256 * 1024;
/** An answer that nobody takes in at all ends after this long, ms. */
const MOST_STALLED_MS = 30_000;
/** Slower on the whole it may not be taken in, bytes/s; a telephone far from its mast does better. */
const LEAST_BYTES_PER_SECOND = 16 * 1024;
/** So long it has waited for its reader, ms, before it makes room for somebody else. */
const YIELDS_AFTER_MS = 5_000;

export interface SlotOptions {
  /** What is counted, for the refusal. */
  field: string;
  code: HttpErrorCode;
  atOnce: number;
  perAddress: number;
  stalledMs?: number;
  bufferedBytes?: number;
  yieldsAfterMs?: number;
}

interface Slot {
  address: string;
  stream: Readable;
  ended: AbortController;
  /** How long parts have waited for the reader, ms, and since when one does; null: none waits. */
  waitedMs: number;
  waitsSinceMs: number | null;
  bytes: number;
}

export class Slots {
  readonly #options: Required<SlotOptions>;
  readonly #taken = new Set<Slot>();

  constructor(options: SlotOptions) {
    this.#options = {
      stalledMs: MOST_STALLED_MS,
      bufferedBytes: BUFFERED_BYTES,
      yieldsAfterMs: YIELDS_AFTER_MS,
      ...options,
    };
  }

  /** Answers that are being sent. */
  get size(): number {
    return this.#taken.size;
  }

  /**
   * @param address who asks, as limits count them (auth/addresses.ts)
   * @param make asked once there is a place; ends before its next part when the signal says so
   * @returns the bytes; destroying it frees the place
   * @throws CodedError with the code of the options
   */
  open(address: string, make: (signal: AbortSignal) => AsyncIterable<Uint8Array>): Readable {
    const { field, code, atOnce, perAddress, bufferedBytes } = this.#options;
    const own = [...this.#taken].filter((slot) => slot.address === address).length;
    if (own >= perAddress)
      throw new CodedError(code, { field, value: own, limit: `${perAddress} at a time for an address` });
    if (this.#taken.size >= atOnce && !this.#yieldOne())
      throw new CodedError(code, { field, value: this.#taken.size, limit: `${atOnce} at a time in all` });
    const ended = new AbortController();
    const slot: Slot = { address, ended, stream: null!, waitedMs: 0, waitsSinceMs: null, bytes: 0 };
    const parts = make(ended.signal);
    slot.stream = Readable.from(this.#watched(slot, parts), { objectMode: false, highWaterMark: bufferedBytes });
    this.#taken.add(slot);
    // before its first part, or in the middle of one
    slot.stream.once("close", () => this.#end(slot));
    return slot.stream;
  }

  async *#watched(slot: Slot, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    const { stalledMs } = this.#options;
    try {
      for await (const part of parts) {
        const sinceMs = performance.now();
        slot.waitsSinceMs = sinceMs;
        const leftMs = stalledMs + (1000 * slot.bytes) / LEAST_BYTES_PER_SECOND - slot.waitedMs;
        const stalled = setTimeout(() => slot.stream.destroy(), Math.min(stalledMs, leftMs));
        try {
          yield part;
        } finally {
          clearTimeout(stalled);
          slot.waitedMs += performance.now() - sinceMs;
          slot.waitsSinceMs = null;
          slot.bytes += part.byteLength;
        }
      }
    } finally {
      this.#end(slot);
    }
  }

  #end(slot: Slot): void {
    slot.ended.abort();
    this.#taken.delete(slot);
  }

  /** Ends the one that has waited longest for its reader, if that is long. */
  #yieldOne(): boolean {
    const nowMs = performance.now();
    const waited = ({ waitedMs, waitsSinceMs }: Slot): number =>
      waitedMs + (waitsSinceMs === null ? 0 : nowMs - waitsSinceMs);
    const slowest = [...this.#taken].sort((a, b) => waited(b) - waited(a))[0];
    if (!slowest || slowest.waitsSinceMs === null || waited(slowest) < this.#options.yieldsAfterMs) return false;
    this.#end(slowest);
    slowest.stream.destroy();
    return true;
  }
}
