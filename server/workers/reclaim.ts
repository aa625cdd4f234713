/**
 * Gives the memory of rooms that are over back to the system. A room's memory is shared between threads, and the engine
 * counts shared memory for no thread's garbage: 300 rooms of 20 MB (1.5 MB of it touched) that were opened and closed
 * again left 440 MB behind, for as long as one cared to wait. So this asks for a collection, on every thread, when
 * rooms have ended that had enough and the process has grown since the last one, or nothing has ended for a while, or
 * the first of them a minute ago.
 *
 * A collection takes 10 to 40 ms of each thread, the main one the longest, and all rooms' frames wait for that. It is
 * asked for at most every LEAST_SECONDS, of one thread after another, and only for what rooms can have left: whoever
 * had the process grow by other means (scenes, files) and let one film end had one every five seconds.
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
/** Rooms that have ended had written so much when they were opened. */
const LEAST_BYTES = 64 * 2 ** 20;
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
  /** Asks all threads that step rooms to collect, too. Resolves when they have; never rejects. */
  collectThreads: () => Promise<void>;
}

export class Reclaimer {
  readonly #options: ReclaimerOptions;
  readonly #timer: NodeJS.Timeout;
  /** Since the last collection, or so shortly before it that threads may have held them still (simWorker.ts). */
  #ended = false;
  #endedBytes = 0;
  /** When the first of them ended, or when there was a collection, whichever is later. */
  #leftSinceMs = 0;
  #lastEndMs = 0;
  #lastMs = performance.now();
  /** A collection is under way. */
  #collecting = false;
  /** Resident bytes after the last collection. */
  #baseline = process.memoryUsage.rss();

  constructor(options: ReclaimerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS);
    this.#timer.unref();
  }

  /** A room is over. @param bytes that it had written at least */
  ended(bytes: number): void {
    this.#endedBytes += bytes;
    this.#lastEndMs = performance.now();
    if (!this.#ended) this.#leftSinceMs = this.#lastEndMs;
    this.#ended = true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(nowMs: number): void {
    if (this.#collecting || !this.#ended || nowMs - this.#lastMs < 1000 * LEAST_SECONDS) return;
    const grown = process.memoryUsage.rss() - this.#baseline;
    const waited = nowMs - this.#leftSinceMs > 1000 * MOST_SECONDS;
    const quiet = nowMs - this.#lastEndMs > 1000 * QUIET_SECONDS;
    const worthIt = this.#endedBytes >= LEAST_BYTES && grown >= Math.max(GROWTH_BYTES, GROWTH_SHARE * this.#baseline);
    if (!quiet && !waited && !worthIt) return;
    this.#ended = !quiet;
    this.#endedBytes = 0;
    this.#leftSinceMs = this.#lastMs = nowMs;
    void this.#collect();
  }

  async #collect(): Promise<void> {
    this.#collecting = true;
    await this.#options.collectThreads();
    collectGarbage();
    this.#collecting = false;
    // What is left is in use.
    this.#baseline = process.memoryUsage.rss();
  }
}
