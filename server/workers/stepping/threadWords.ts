/**
 * State of a stepping thread, in memory that the main thread reads while the thread is busy:
 *
 *     int32 [0] executing   number of the order that runs now, 0: none. A preempted order does not count
 *     int32 [1] progress    counts orders begun and ended, and preemption points passed
 */
const EXECUTING = 0;
const PROGRESS = 1;

export class ThreadWords {
  readonly words: Int32Array<SharedArrayBuffer>;

  constructor(words = new Int32Array(new SharedArrayBuffer(8))) {
    this.words = words;
  }

  get executing(): number {
    return Atomics.load(this.words, EXECUTING);
  }

  get progress(): number {
    return Atomics.load(this.words, PROGRESS);
  }

  /** @returns the order that was executing before */
  execute(order: number): number {
    this.advance();
    return Atomics.exchange(this.words, EXECUTING, order);
  }

  advance(): void {
    Atomics.add(this.words, PROGRESS, 1);
  }
}
