/**
 * Runs a room's ticks in real time by the policy of `clock.ts`: one at a time, the next one handed over only when the
 * last has come back, so a room never has two steps in flight however late it is. A tick is handed over `LEAD_MS`
 * before it is due and the thread waits for its time: whatever the main thread does then, it does not stand between two
 * ticks. What comes in after that is for the next tick.
 */
import { type DueTick, TickClock } from "./clock.ts";

/** A main thread that is away for less than this delays no tick. As short as that allows: inputs wait for it. */
const LEAD_MS = 5;

/** A tick that is to be run. */
export interface DueRun {
  /** On performance.now(). */
  dueMs: number;
  /** To be told when it began; says how late that was. */
  began: (startMs: number) => DueTick;
}

export class Ticker {
  readonly #tickHz: number;
  readonly #clock: TickClock;
  readonly #run: (due: DueRun) => Promise<void>;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #running = false;
  #wanted = false;

  /**
   * @param tickHz ticks per second
   * @param run one tick; must not reject. One that does not say that it began is run again
   */
  constructor(tickHz: number, run: (due: DueRun) => Promise<void>) {
    this.#tickHz = tickHz;
    this.#clock = new TickClock(tickHz, performance.now());
    this.#run = run;
  }

  /** Ticks come `rate` times as often as the room's own ticks a second from now on. */
  setRate(rate: number): void {
    const periodMs = 1000 / (this.#tickHz * rate);
    if (periodMs === this.#clock.periodMs) return;
    this.#clock.setPeriod(periodMs, performance.now());
    if (this.#timer === null) return;
    this.#stopTimer();
    this.#schedule();
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

  /** No further tick is handed over. */
  pause(): void {
    this.#wanted = false;
    this.#stopTimer();
  }

  #stopTimer(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = null;
  }

  #schedule(): void {
    // Timers count whole milliseconds.
    const delayMs = Math.floor(this.#clock.nextDueMs() - LEAD_MS - performance.now());
    // An overdue tick still lets waiting input and output through first.
    this.#timer = delayMs > 0 ? setTimeout(() => void this.#tick(), delayMs) : setImmediate(() => void this.#tick());
  }

  async #tick(): Promise<void> {
    this.#timer = null;
    this.#running = true;
    await this.#run({ dueMs: this.#clock.nextDueMs(), began: (startMs) => this.#clock.begin(startMs) });
    this.#running = false;
    if (this.#wanted) this.#schedule();
  }
}
