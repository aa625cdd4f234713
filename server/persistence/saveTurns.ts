/**
 * Lets the rooms of a process save one after another. Forty rooms that began together saved in the same ticks: 35 ms of
 * work at once, which made 3 % of their ticks late.
 */

/**
 * Most of the threads' time that goes into saves while rooms wait for their turns: a little more than a room may use
 * (checkpointPolicy.ts), so that all have their turns. More would be missing for ticks on a thread that is nearly full.
 */
const MOST_SHARE = 1 / 40;
/** Longest turn, ms: behind a very large state, others would wait until they are overdue, and save at once. */
const LONGEST_MS = 500;

export class SaveTurns {
  readonly #threads: number;
  #freeMs = -Infinity;
  /** Duration of the last save; before the first, about that of a light room. */
  #seconds = 0.001;

  /** @param threads number of threads that step rooms */
  constructor(threads: number) {
    this.#threads = threads;
  }

  get isFree(): boolean {
    return performance.now() >= this.#freeMs;
  }

  take(): void {
    const turnMs = (1000 * this.#seconds) / (MOST_SHARE * this.#threads);
    this.#freeMs = performance.now() + Math.min(turnMs, LONGEST_MS);
  }

  took(seconds: number): void {
    this.#seconds = seconds;
  }
}
