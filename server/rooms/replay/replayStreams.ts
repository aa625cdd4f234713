/** The running replays: few at once, one for each address, and each ends if its reader stalls (slots.ts). */
import type { Readable } from "node:stream";
import type { RoomPool } from "../../workers/pool.ts";
import { replay, type ReplayPlan } from "./replayStream.ts";
import { Slots } from "./slots.ts";

/** Replays share one thread. */
const REPLAYS_AT_ONCE = 4;

export class ReplayStreams {
  readonly #pool: RoomPool;
  readonly #slots: Slots;

  /** @param pool from `WorkerPools.forReplays`. @param limits replaced by tests */
  constructor(pool: RoomPool, limits: { stalledMs?: number; bufferedBytes?: number; yieldsAfterMs?: number } = {}) {
    this.#pool = pool;
    this.#slots = new Slots({
      field: "replays",
      code: "REPLAY_LIMIT",
      atOnce: REPLAYS_AT_ONCE,
      perAddress: 1,
      ...limits,
    });
  }

  /** Number of running replays. */
  get size(): number {
    return this.#slots.size;
  }

  /**
   * @param address the visitor's address, as limits count it (auth/addresses.ts)
   * @param plan called once the replay may run
   * @returns the replay's bytes; destroying the stream ends the replay
   * @throws CodedError REPLAY_LIMIT
   */
  open(address: string, plan: () => ReplayPlan): Readable {
    return this.#slots.open(address, (signal) => replay(plan(), this.#pool, signal));
  }
}
