/**
 * What one address may take of the main thread, by whatever it does: requests cost what routes/rules.ts says, messages
 * of sockets the same each. One budget for both.
 *
 * Thirty telephones of a class behind one address load the page, the scenes and a room at once (27 ms each, 830 in all)
 * and then send 120 messages a second each (72 ms/s in all): with 200 ms/s and ten seconds of it at once they never
 * meet the limit, twice as many neither. One address alone takes a fifth of the main thread at most.
 */
import { Attempts } from "./addresses.ts";

/** ms of the main thread for one message of a socket: reading, checking, queueing. */
export const MESSAGE_COST = 0.02;
/**
 * ms that asking for a room costs on top where there is none: the store was asked in vain, and each name that is made
 * up is asked for anew.
 */
export const MISSING_COST = 5;
/** So many seconds' worth may be spent at once. */
const BURST_SECONDS = 10;
/**
 * Requests and connections of an address that are answered at all, at once and per second, for each ms/s of its budget;
 * no fewer than these. Thirty telephones ask for 750 things as they come.
 */
const ANSWERED_AT_ONCE = 10;
const ANSWERED_PER_SECOND = 1;
const LEAST_AT_ONCE = 2000;
const LEAST_PER_SECOND = 200;

export class Budgets {
  /** ms of the main thread that an address may take in a second. */
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

  /** A request or a connection, whatever it is. @returns false: it is not worth a refusal any more */
  count(address: string, nowMs = performance.now()): boolean {
    return this.#answered.take(address, nowMs);
  }

  /**
   * @param address as limits count them (addresses.ts)
   * @param cost ms
   * @returns false: there is not as much left
   */
  spend(address: string, cost: number, nowMs = performance.now()): boolean {
    return cost === 0 || this.#left.take(address, nowMs, cost);
  }
}
