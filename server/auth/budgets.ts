/**
 * Budget of main-thread time per address, shared by requests and socket messages. Requests cost the amount in
 * routes/rules.ts; every message costs the same.
 *
 * Example: thirty phones of a class behind one address load the page, the scenes and a room at once (27 ms each, 830 ms
 * in total). Then each sends 120 messages a second (72 ms/s in total). With 200 ms/s and a burst of ten seconds,
 * neither they nor twice as many reach the limit. A single address can take at most a fifth of the main thread.
 */
import { Attempts } from "./addresses.ts";

/** Main-thread time of one socket message, ms: read, check, enqueue. */
export const MESSAGE_COST = 0.02;
/**
 * Additional cost of requesting a room that does not exist, ms: it needs a query to the store, and invented names are
 * never cached.
 */
export const MISSING_COST = 5;
/** Burst, in seconds of the budget. */
const BURST_SECONDS = 10;
/**
 * Limit of answered requests and connections per address: burst and rate, for each ms/s of its budget, but at least
 * LEAST_AT_ONCE and LEAST_PER_SECOND. Thirty phones make 750 requests when they arrive.
 */
const ANSWERED_AT_ONCE = 10;
const ANSWERED_PER_SECOND = 1;
const LEAST_AT_ONCE = 2000;
const LEAST_PER_SECOND = 200;

export class Budgets {
  /** Main-thread time that an address may use per second, ms. */
  readonly perSecond: number;
  readonly #left: Attempts;
  readonly #answered: Attempts;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
    this.#left = new Attempts(BURST_SECONDS * perSecond, 60 * perSecond);
    this.#answered = new Attempts(
      Math.max(LEAST_AT_ONCE, ANSWERED_AT_ONCE * perSecond),
      60 * Math.max(LEAST_PER_SECOND, ANSWERED_PER_SECOND * perSecond),
    );
  }

  /** Counts any request or connection. @returns false: close it without an answer */
  count(address: string, nowMs = performance.now()): boolean {
    return this.#answered.take(address, nowMs);
  }

  /**
   * Charges a cost to an address.
   * @param address as limits count them (addresses.ts)
   * @param cost ms
   * @returns false if too little is left
   */
  spend(address: string, cost: number, nowMs = performance.now()): boolean {
    return cost === 0 || this.#left.take(address, nowMs, cost);
  }
}
