/**
 * Gives the memory of rooms that are over back to the system. A room's memory is shared between threads, and the engine
 * counts shared memory for no thread's garbage: 300 rooms of 20 MB (1.5 MB of it touched) that were opened and closed
 * again left 440 MB behind, for as long as one cared to wait. So this asks for a collection, on every thread, when
 * rooms have ended and the process has grown since the last one, or nothing has ended for a while, or the first of them
 * a minute ago.
 *
 * A collection takes 10 to 40 ms of each thread. It is asked for at most every LEAST_SECONDS, and only after rooms have
 * ended.
 *
 * What threads keep for young objects is none of this: it grows to what the busiest moment asked for and stays, up to
 * 128 MB a thread, hence --max-semi-space-size=16 where the server is started (package.json, Dockerfile; 32 MB a
 * thread, and no slower).
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The process may grow by this much, and by this share, before rooms that have ended are collected. */
const GROWTH_BYTES = 128 * 2 ** 20;
const GROWTH_SHARE = 0.25;
const LEAST_SECONDS = 5;
/**
 * When no room has ended for so long, what is left is collected, too, s: a thread that collects lets go of rooms that
 * it has not stepped for FORGOTTEN_MS (simWorker.ts).
 */
const QUIET_SECONDS = 10;
/** Rooms that come and go all day leave something behind for a minute, not for good, s. */
const MOST_SECONDS = 60;
const LOOK_MS = 1000;

/** This thread's collector. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

export interface ReclaimerOptions {
  /** Asks all threads that step rooms to collect, too. */
  collectThreads: () => void;
}

export class Reclaimer {
  readonly #options: ReclaimerOptions;
  readonly #timer: NodeJS.Timeout;
  /** Since the last collection, or so shortly before it that threads may have held them still (simWorker.ts). */
  #ended = false;
  /** When the first of them ended, or when there was a collection, whichever is later. */
  #leftSinceMs = 0;
  #lastEndMs = 0;
  #lastMs = performance.now();
  /** A collection has just been asked for. */
  #collected = false;
  /** Resident bytes after the last collection. */
  #baseline = process.memoryUsage.rss();

  constructor(options: ReclaimerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS);
    this.#timer.unref();
  }

  /** A room is over. */
  ended(): void {
    this.#lastEndMs = performance.now();
    if (!this.#ended) this.#leftSinceMs = this.#lastEndMs;
    this.#ended = true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(nowMs: number): void {
    if (this.#collected) {
      // Threads have had their turn by now. What is left is in use.
      this.#collected = false;
      this.#baseline = process.memoryUsage.rss();
    }
    if (!this.#ended || nowMs - this.#lastMs < 1000 * LEAST_SECONDS) return;
    const grown = process.memoryUsage.rss() - this.#baseline;
    const waited = nowMs - this.#leftSinceMs > 1000 * MOST_SECONDS;
    const quiet = nowMs - this.#lastEndMs > 1000 * QUIET_SECONDS;
    if (!quiet && !waited && grown < Math.max(GROWTH_BYTES, GROWTH_SHARE * this.#baseline)) return;
    this.#ended = !quiet;
    this.#leftSinceMs = this.#lastMs = nowMs;
    this.#collected = true;
    this.#options.collectThreads();
    collectGarbage();
  }
}
