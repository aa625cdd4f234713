/**
 * Runs a room's ticks in real time by the policy of `clock.ts`: one at a time, the next one scheduled only when the
 * last has come back, so a room never has two steps in flight however late it is.
 */
import { type DueTick, TickClock } from "./clock.ts";

export class Ticker {
  readonly #clock: TickClock;
  readonly #run: (due: DueTick) => Promise<void>;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #running = false;
  #wanted = false;

  /**
   * @param tickHz ticks per second
   * @param run one tick; must not reject
   */
  constructor(tickHz: number, run: (due: DueTick) => Promise<void>) {
    this.#clock = new TickClock(tickHz, performance.now());
    this.#run = run;
  }

  /** Starts, or goes on after a pause; the pause does not count as lateness. */
  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    // A tick of before the pause may still be under way; it schedules the next one itself.
    if (this.#running) return;
    this.#clock.resume(performance.now());
    this.#schedule();
  }

  /** No further tick begins. */
  pause(): void {
    this.#wanted = false;
    if (this.#timer === null) return;
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = null;
  }

  #schedule(): void {
    const delayMs = Math.floor(this.#clock.nextDueMs() - performance.now());
    // Timers count whole milliseconds. Rounding down starts a tick up to 1 ms early or late, around its time instead of
    // behind it. An overdue tick still lets waiting input and output through first.
    this.#timer = delayMs > 0 ? setTimeout(() => void this.#tick(), delayMs) : setImmediate(() => void this.#tick());
  }

  async #tick(): Promise<void> {
    this.#timer = null;
    this.#running = true;
    await this.#run(this.#clock.begin(performance.now()));
    this.#running = false;
    if (this.#wanted) this.#schedule();
  }
}
