/**
 * Virtual time: events in the order of their times, and of their making where those are equal. Between two events every
 * promise that can go on does so, as between two events of Node's own loop; so whatever waits for a clock, a line or a
 * disk can be interrupted, and what only waits for a promise of its own cannot, for nobody outside could tell.
 */

/** Whose code runs in an event: it may be dead by then, or stopped. */
export interface Runner {
  /** Counts its lives: what a life that has ended wanted to do is not done. */
  life: number;
  /** Stopped (SIGSTOP): its events wait. */
  stopped: boolean;
}

/** An event to come; what setTimeout gives. */
export class Timer {
  readonly run: () => void;
  readonly runner: Runner | null;
  readonly life: number;
  atMs: number;
  order = 0;
  cancelled = false;

  constructor(atMs: number, runner: Runner | null, run: () => void) {
    this.atMs = atMs;
    this.runner = runner;
    this.life = runner?.life ?? 0;
    this.run = run;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

/** Events that are taken out of one turn of Node's loop; each has a turn of promises of its own. */
const BATCH = 64;

export class Timeline {
  nowMs = 0;
  /** Events so far. */
  events = 0;
  readonly #heap: Timer[] = [];
  readonly #frozen = new Map<Runner, Timer[]>();
  #orders = 0;

  /** @param delayMs from now; never at once */
  after(delayMs: number, runner: Runner | null, run: () => void): Timer {
    const timer = new Timer(this.nowMs + Math.max(0.001, delayMs), runner, run);
    this.#push(timer);
    return timer;
  }

  /** What waited for a runner that was stopped happens now, in its order. */
  thaw(runner: Runner): void {
    runner.stopped = false;
    const frozen = this.#frozen.get(runner) ?? [];
    this.#frozen.delete(runner);
    for (const timer of frozen) {
      timer.atMs = this.nowMs;
      this.#push(timer);
    }
  }

  /**
   * Runs until `done` says so after an event, or nothing is left.
   * @throws what an event throws
   */
  run(done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let ended = false;
      const end = (settle: () => void): void => {
        ended = true;
        settle();
      };
      let inBatch = 0;
      const one = (): void => {
        inBatch -= 1;
        if (ended) return;
        try {
          if (done() || !this.#next()) return end(resolve);
        } catch (error) {
          return end(() => reject(error));
        }
        if (inBatch === 0) batch();
      };
      const batch = (): void => {
        inBatch = BATCH;
        for (let i = 0; i < BATCH; i++) setImmediate(one);
      };
      batch();
    });
  }

  /** @returns false when there is none */
  #next(): boolean {
    for (let timer = this.#pop(); timer !== undefined; timer = this.#pop()) {
      if (timer.cancelled) continue;
      const { runner } = timer;
      if (runner !== null && runner.life !== timer.life) continue;
      if (timer.atMs > this.nowMs) this.nowMs = timer.atMs;
      if (runner?.stopped) {
        const frozen = this.#frozen.get(runner) ?? [];
        frozen.push(timer);
        this.#frozen.set(runner, frozen);
        continue;
      }
      this.events += 1;
      timer.run();
      return true;
    }
    return false;
  }

  #push(timer: Timer): void {
    timer.order = this.#orders++;
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!before(timer, heap[above]!)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = timer;
  }

  #pop(): Timer | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below += 1;
      if (!before(heap[below]!, last)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

const before = (a: Timer, b: Timer): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
