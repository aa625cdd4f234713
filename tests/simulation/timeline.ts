/**
 * Virtual time: events in the order of their times, and of their creation if the times are equal. Between two events
 * every promise that can continue does so, as between two events of Node's loop. So a wait for a clock, a connection or
 * a disk can be interrupted. A wait for an internal promise cannot, because nothing outside could observe it.
 */

/** Owner of an event's code: it may be dead or paused when the event is due. */
export interface Runner {
  /** Counts its lives: events of an earlier life are dropped. */
  life: number;
  /** Paused (SIGSTOP): its events wait. */
  stopped: boolean;
}

/** A future event; the result of setTimeout. */
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

/** Events in one turn of Node's loop; each gets its own turn of promises. */
const BATCH = 64;

export class Timeline {
  nowMs = 0;
  /** Number of events so far. */
  events = 0;
  readonly #heap: Timer[] = [];
  readonly #frozen = new Map<Runner, Timer[]>();
  #orders = 0;

  /** @param delayMs from now; at least 0.001 */
  after(delayMs: number, runner: Runner | null, run: () => void): Timer {
    const timer = new Timer(this.nowMs + Math.max(0.001, delayMs), runner, run);
    this.#push(timer);
    return timer;
  }

  /** Runs the events that waited for a paused runner, in their order. */
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
   * Runs until `done` returns true after an event, or no event is left.
   * @throws errors of the events
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

  /** @returns false if there is no event */
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
