/**
 * Reports contacts that begin, by comparing the touching pairs of successive ticks. Resting bodies lose touch for
 * single ticks, so a contact begins again only after a pause.
 */
import { Limits } from "../../../shared/protocol/protocol.ts";
import { TokenBucket } from "../members/tokenBucket.ts";

/** A contact begins again after its pair has not touched for this time, s. */
const PAUSE_SECONDS = 0.25;

export class ContactEvents {
  readonly #tickHz: number;
  /** Last tick at which each pair touched, by its bodies. */
  readonly #touched = new Map<string, number>();
  readonly #budget: TokenBucket;
  /** Tick of the last call; -1: touching pairs are unknown, so contacts seen next do not count as begun. */
  #tick = -1;

  constructor(tickHz: number) {
    this.#tickHz = tickHz;
    this.#budget = new TokenBucket(Limits.contactsPerSecond, Limits.contactsPerSecond, 0);
  }

  /** Forgets all pairs: after a reset, a long gap between ticks, or a step back in time they say nothing. */
  forget(): void {
    this.#touched.clear();
    this.#tick = -1;
  }

  /**
   * @param pairs bodies a, b of each touching pair, flattened
   * @returns the pairs whose contact has begun, up to the rate limit
   */
  begun(tick: number, pairs: readonly number[]): [number, number][] {
    const pauseTicks = PAUSE_SECONDS * this.#tickHz;
    // No member has listened for a while, or the room went back.
    if (tick < this.#tick || tick - this.#tick > pauseTicks) this.forget();
    const known = this.#tick >= 0;
    this.#tick = tick;
    const begun: [number, number][] = [];
    for (let i = 0; i < pairs.length; i += 2) {
      const pair: [number, number] = [pairs[i]!, pairs[i + 1]!];
      const last = this.#touched.get(pair.join());
      this.#touched.set(pair.join(), tick);
      if (!known || (last !== undefined && tick - last <= pauseTicks)) continue;
      if (this.#budget.take((1000 * tick) / this.#tickHz)) begun.push(pair);
    }
    for (const [key, last] of this.#touched) if (tick - last > pauseTicks) this.#touched.delete(key);
    return begun;
  }
}
