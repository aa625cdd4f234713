/**
 * Contact that begins: from which bodies touch at one tick and the next. Bodies that lie on each other lose touch
 * for a tick now and then, so contact begins anew only after a pause.
 */
import { Limits } from "../../shared/protocol/protocol.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** Who has not touched for so long, s, begins anew. */
const PAUSE_SECONDS = 0.25;

export class ContactEvents {
  readonly #tickHz: number;
  /** The tick at which a pair touched last, by its bodies. */
  readonly #touched = new Map<string, number>();
  readonly #budget: TokenBucket;
  /** -1: nobody knows who touches; what is seen next has not just begun. */
  #tick = -1;

  constructor(tickHz: number) {
    this.#tickHz = tickHz;
    this.#budget = new TokenBucket(Limits.contactsPerSecond, Limits.contactsPerSecond, 0);
  }

  /** Bodies were put elsewhere. */
  forget(): void {
    this.#touched.clear();
    this.#tick = -1;
  }

  /**
   * @param pairs pairs a, b of bodies that touch at this tick, one after the other
   * @returns those whose contact has begun, as many as the limit lets through
   */
  begun(tick: number, pairs: readonly number[]): [number, number][] {
    const pauseTicks = PAUSE_SECONDS * this.#tickHz;
    // Nobody has looked meanwhile, or the room went back.
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
