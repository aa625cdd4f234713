/**
 * Slots for long downloads (replays, recordings): few at once, fewer for each address. A slow reader yields its slot to
 * the next request. A reader below LEAST_BYTES_PER_SECOND is disconnected, so that it cannot keep a slot by reading a
 * byte now and then.
 */
import { Readable } from "node:stream";
import { CodedError, type HttpErrorCode } from "../../../shared/errorCodes.ts";

/** Bytes that are buffered for the reader before the next part is made. */
const BUFFERED_BYTES = 256 * 1024;
/** A download whose reader takes no bytes ends after this time, ms. */
const MOST_STALLED_MS = 30_000;
/** Least average speed of a reader, bytes/s; a phone with poor reception is faster. */
const LEAST_BYTES_PER_SECOND = 16 * 1024;
/** A download may be ended for another request after it has waited for its reader this long, ms. */
const YIELDS_AFTER_MS = 5_000;

export interface SlotOptions {
  /** Name of the counted field in the refusal. */
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
  /** Total time that parts have waited for the reader, ms, and the start of the current wait; null: none waits. */
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

  /** Number of running downloads. */
  get size(): number {
    return this.#taken.size;
  }

  /**
   * @param address the visitor's address, as limits count it (auth/addresses.ts)
   * @param make called once a slot is free; must end before its next part when the signal aborts
   * @returns the bytes; destroying the stream frees the slot
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
    // The stream may close before its first part or in the middle of one.
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

  /** Ends the download that has waited longest for its reader, if it exceeds `yieldsAfterMs`. */
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
