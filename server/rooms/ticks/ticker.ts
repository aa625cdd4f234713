/**
 * Runs a room's ticks in real time by the policy of `tickClock.ts`. A tick is sent to its thread only after the last
 * one has returned, so a late room never has two steps in flight. A tick is sent `LEAD_MS` before it is due, and the
 * thread waits for its time, so a busy main thread does not delay ticks. Later inputs wait for the next tick.
 */
import { Phases } from "./phase.ts";
import { type DueTick, SPREAD, TickClock } from "./tickClock.ts";

/** The main thread may be busy for this long without delaying a tick, ms. Kept short, because inputs wait for it. */
const LEAD_MS = 5;

/** A tick that is due. */
export interface DueRun {
  /** Due time on performance.now(). */
  dueMs: number;
  /** Called with the time at which the tick began; returns its lateness. */
  began: (startMs: number) => DueTick;
}

export class Ticker {
  readonly #tickHz: number;
  readonly #clock: TickClock;
  readonly #run: (due: DueRun) => Promise<void>;
  readonly #phases: Phases;
  #phase = 0;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #running = false;
  #wanted = false;

  /**
   * @param tickHz ticks per second
   * @param run runs one tick; must not reject. A tick that does not call `began` runs again
   * @param phases of all rooms of the process
   */
  constructor(tickHz: number, run: (due: DueRun) => Promise<void>, phases = new Phases()) {
    this.#tickHz = tickHz;
    this.#clock = new TickClock(tickHz, performance.now());
    this.#run = run;
    this.#phases = phases;
  }

  /** Sets the tick rate, as a multiple of the room's own ticks per second. */
  setRate(rate: number): void {
    const periodMs = 1000 / (this.#tickHz * rate);
    if (periodMs === this.#clock.periodMs) return;
    this.#clock.setPeriod(periodMs, performance.now());
    if (this.#timer === null) return;
    this.#stopTimer();
    this.#schedule();
  }

  /** Starts, or continues after a pause; the pause does not count as lateness. */
  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#phase = this.#phases.take();
    // A tick from before the pause may still be running; it schedules the next one.
    if (this.#running) return;
    this.#clock.resume(performance.now(), SPREAD * this.#phase);
    this.#schedule();
  }

  /** Stops after the current tick. */
  pause(): void {
    if (this.#wanted) this.#phases.free(this.#phase);
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
    // Even an overdue tick first lets pending input and output through.
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
