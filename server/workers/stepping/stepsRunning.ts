/**
 * Counts the threads that work for rooms right now, in memory that all threads see. Work that can wait (building of
 * objects) pauses while rooms need all cores. Priorities alone do not achieve this: for up to 100 ms Linux leaves two
 * stepping threads on one core while a building thread has another, even with SCHED_IDLE.
 * Measured beside three rooms that need 1.1 of two cores, while objects of 110,000 triangles were built all the time:
 * 5.5 % more late ticks, 3.3 % with SCHED_IDLE, 1.5 % with this (an object then takes 2.9 s instead of 1.8). Leaving a
 * core free for the next step (4.3 %, 3.9 s), or one thread for each room (3.7 %), was not better.
 */
import { availableParallelism } from "node:os";

/** Words: a counter of ended work, and a bit for each thread, 1 while it works. */
const ENDED = 0;
const RUNNING = 1;
/** Bits of a word. Threads beyond these share a bit; other work then waits slightly less. */
const BITS = 32;
/**
 * Work that can wait runs for at least LEAST_RUN_MS and then waits for at most MOST_WAIT_MS: it gets a twentieth of a
 * core if rooms always need all cores.
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

  /** Call it for a lost thread, too. */
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
  /** Number of threads that can run at once. */
  cores?: number;
  /** Longest wait, ms. */
  mostWaitMs?: number;
}

/** @returns a function for a thread's yield points (shared/yieldPoint.ts): it waits while steps need all cores */
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
