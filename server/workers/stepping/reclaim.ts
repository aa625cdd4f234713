/**
 * Returns the memory of ended rooms to the system. A room's memory is shared between threads, and the engine does not
 * count shared memory as garbage of any thread. So 300 rooms of 20 MB (1.5 MB of it touched) left 440 MB behind for
 * good after they were opened and closed. Therefore this asks every thread for a garbage collection in three cases:
 * ended rooms had enough memory and the process has grown since the last collection; no room has ended for
 * QUIET_SECONDS; or the first of them ended MOST_SECONDS ago.
 *
 * A collection takes 10 to 40 ms of each thread, longest on the main thread, and delays all rooms' frames. It is
 * requested at most every LEAST_SECONDS, on one thread after another, and only for memory that rooms can have left.
 * Without the last condition a process that grew by other means (scenes, files) collected every five seconds after a
 * single replay.
 *
 * The engine's space for young objects is separate: it grows to the peak and stays, up to 128 MB a thread. Hence
 * --max-semi-space-size=16 where the server is started (package.json, Dockerfile): 32 MB a thread, and no slower.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Growth of the process, in bytes and as a share, that triggers a collection for ended rooms. */
const GROWTH_BYTES = 128 * 2 ** 20;
const GROWTH_SHARE = 0.25;
/** Least memory that the ended rooms had written when they were opened, bytes. */
const LEAST_BYTES = 64 * 2 ** 20;
const LEAST_SECONDS = 5;
/**
 * A collection is also requested after this time without an ended room, s: a thread that collects forgets rooms that it
 * has not stepped for FORGOTTEN_MS (simWorker.ts).
 */
const QUIET_SECONDS = 10;
/** Longest time until the memory of an ended room is collected while other rooms come and go, s. */
const MOST_SECONDS = 60;
const LOOK_MS = 1000;

/** Collects the garbage of this thread. */
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
  /** A room has ended since the last collection, or so shortly before it that threads may still have held it. */
  #ended = false;
  #endedBytes = 0;
  /** Time at which the first of them ended, or of the last collection, whichever is later. */
  #leftSinceMs = 0;
  #lastEndMs = 0;
  #lastMs = performance.now();
  /** A collection is running. */
  #collecting = false;
  /** Resident bytes after the last collection. */
  #baseline = process.memoryUsage.rss();

  constructor(options: ReclaimerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS);
    this.#timer.unref();
  }

  /** Reports an ended room. @param bytes least memory that it had written */
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
    // The remaining memory is in use.
    this.#baseline = process.memoryUsage.rss();
  }
}
