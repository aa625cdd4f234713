/**
 * The replays that are being made: few at once, one for an address, each only as long as somebody takes it in
 * (slots.ts).
 */
import type { Readable } from "node:stream";
import type { RoomPool } from "../workers/pool.ts";
import { replay, type ReplayPlan } from "./replayStream.ts";
import { Slots } from "./slots.ts";

/** They share one thread. */
const REPLAYS_AT_ONCE = 4;

export class ReplayStreams {
  readonly #pool: RoomPool;
  readonly #slots: Slots;

  /** @param pool of `WorkerPools.forReplays`. @param limits for tests */
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

  /** Replays that are being made. */
  get size(): number {
    return this.#slots.size;
  }

  /**
   * @param address who asks, as limits count them (auth/addresses.ts)
   * @param plan asked once the replay may be made
   * @returns the replay's bytes; destroying it ends the replay
   * @throws CodedError REPLAY_LIMIT
   */
  open(address: string, plan: () => ReplayPlan): Readable {
    return this.#slots.open(address, (signal) => replay(plan(), this.#pool, signal));
  }
}
