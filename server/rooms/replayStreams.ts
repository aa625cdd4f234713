/** The replays that are being made: few at once, one for an address, each only as long as somebody takes it in. */
import { Readable } from "node:stream";
import { CodedError } from "../../shared/errors.ts";
import type { RoomPool } from "../workers/pool.ts";
import { replay, type ReplayPlan } from "./replayStream.ts";

/** They share one thread. */
const REPLAYS_AT_ONCE = 4;
/** Bytes that may wait for the one who asked before the next tick is stepped. */
const BUFFERED_BYTES = 256 * 1024;
/** A replay that nobody takes in ends after this long, ms. */
const MOST_STALLED_MS = 30_000;

export class ReplayStreams {
  readonly #pool: RoomPool;
  readonly #stalledMs: number;
  readonly #bufferedBytes: number;
  /** By address. */
  readonly #made = new Map<string, AbortController>();

  /** @param pool of `WorkerPools.forReplays`. @param limits for tests */
  constructor(pool: RoomPool, { stalledMs = MOST_STALLED_MS, bufferedBytes = BUFFERED_BYTES } = {}) {
    this.#pool = pool;
    this.#stalledMs = stalledMs;
    this.#bufferedBytes = bufferedBytes;
  }

  /** Replays that are being made. */
  get size(): number {
    return this.#made.size;
  }

  /**
   * @param address who asks, as limits count them (auth/addresses.ts)
   * @param plan asked once the replay may be made
   * @returns the replay's bytes; destroying it ends the replay
   * @throws CodedError REPLAY_LIMIT
   */
  open(address: string, plan: () => ReplayPlan): Readable {
    if (this.#made.has(address))
      throw new CodedError("REPLAY_LIMIT", { field: "replays", value: 1, limit: "1 at a time for an address" });
    if (this.#made.size >= REPLAYS_AT_ONCE)
      throw new CodedError("REPLAY_LIMIT", {
        field: "replays",
        value: this.#made.size,
        limit: `${REPLAYS_AT_ONCE} at a time in all`,
      });
    const ended = new AbortController();
    const bytes = replay(plan(), this.#pool, ended.signal);
    this.#made.set(address, ended);
    const end = (): void => {
      ended.abort();
      if (this.#made.get(address) === ended) this.#made.delete(address);
    };
    const stalledMs = this.#stalledMs;
    const watched = async function* (): AsyncGenerator<Buffer, void, void> {
      try {
        for await (const part of bytes) {
          const stalled = setTimeout(() => stream.destroy(), stalledMs);
          try {
            yield part;
          } finally {
            clearTimeout(stalled);
          }
        }
      } finally {
        end();
      }
    };
    const stream = Readable.from(watched(), { objectMode: false, highWaterMark: this.#bufferedBytes });
    // before its first tick, or in the middle of one
    stream.once("close", end);
    return stream;
  }
}
