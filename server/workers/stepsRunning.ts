/**
 * Which threads do something for rooms right now, in memory that all threads see. Work that can wait does so while they
 * need all cores. Priorities alone do not do that: for up to 100 ms Linux leaves two threads that step on one core
 * while another core has one that builds, whatever its priority (SCHED_IDLE, too). Beside three rooms on two cores, of
 * which they need 1.1, 5.5 % more ticks were late while objects of 110,000 triangles were built all the time, 3.3 %
 * with SCHED_IDLE, and 1.5 % with this, when an object takes 2.9 s instead of 1.8. To leave a core free for the next
 * step (4.3 %, 3.9 s), or rooms one thread each (3.7 %), was no better.
 */
import { availableParallelism } from "node:os";

/** Counts what has ended; a bit for each thread, 1 while it has something to do. */
const ENDED = 0;
const RUNNING = 1;
/** Of a word. Threads beyond these share a bit: then others wait for a little less. */
const BITS = 32;
/**
 * Work that can wait runs so long, ms, and waits for at most so long: a twentieth of a core, if all are needed always.
 */
const LEAST_RUN_MS = 1;
const MOST_WAIT_MS = 20;

export class StepsRunning {
  /** int32[2], shared. */
  readonly words: Int32Array<SharedArrayBuffer>;

  constructor(words = new Int32Array(new SharedArrayBuffer(8))) {
    this.words = words;
  }

  begin(thread: number): void {
    Atomics.or(this.words, RUNNING, 1 << (thread % BITS));
  }

  /** For a thread that is lost, too. */
  end(thread: number): void {
    Atomics.and(this.words, RUNNING, ~(1 << (thread % BITS)));
    Atomics.add(this.words, ENDED, 1);
    Atomics.notify(this.words, ENDED);
  }

  get count(): number {
    let count = 0;
    for (let bits = Atomics.load(this.words, RUNNING); bits !== 0; bits &= bits - 1) count += 1;
    return count;
  }
}

export interface GoFirstOptions {
  /** Threads that can run at once. */
  cores?: number;
  /** ms. */
  mostWaitMs?: number;
}

/**
 * @returns what a thread does at its yield points (shared/yieldPoint.ts): it lets steps go first while they need all
 *   cores
 */
export function lettingStepsGoFirst(
  running: StepsRunning,
  { cores = availableParallelism(), mostWaitMs = MOST_WAIT_MS }: GoFirstOptions = {},
): () => void {
  let sinceMs = performance.now();
  return () => {
    if (running.count < cores) return;
    const fromMs = performance.now();
    if (fromMs - sinceMs < LEAST_RUN_MS) return;
    for (let leftMs = mostWaitMs; leftMs > 0; leftMs = fromMs + mostWaitMs - performance.now()) {
      const ended = Atomics.load(running.words, ENDED);
      if (running.count < cores) break;
      Atomics.wait(running.words, ENDED, ended, leftMs);
    }
    sinceMs = performance.now();
  };
}
