/**
 * When a room's ticks are due, and what happens when they are late. Pure: it is told the time and never asks for it.
 *
 * Policy: tick n is due at `origin + n * period`, whatever the ticks before it took, so the rate does not drift. When
 * the room is late, at most `catchUpTicks` (2) overdue ticks beside the current one run back to back; time beyond that
 * is dropped and counted as skipped ticks. So a stall costs at most two extra ticks of work, an overloaded room runs
 * slower than the wall instead of falling ever further behind, and an input never waits behind more than three ticks.
 */

export interface DueTick {
  /** How long after it was due this tick began, ms; what was dropped is in it. */
  latenessMs: number;
  /** Ticks' worth of time dropped just now. */
  skipped: number;
}

export class TickClock {
  periodMs: number;
  readonly catchUpTicks: number;
  /** Ticks begun since the start. */
  begun = 0;
  /** Ticks dropped since the start. */
  skipped = 0;
  #originMs: number;

  /**
   * @param tickHz ticks per second
   * @param startMs time of the first tick, ms, of any clock that never goes backwards
   * @param catchUpTicks overdue ticks that are kept
   */
  constructor(tickHz: number, startMs: number, catchUpTicks = 2) {
    this.periodMs = 1000 / tickHz;
    this.catchUpTicks = catchUpTicks;
    this.#originMs = startMs;
  }

  /** When the next tick is due, ms. */
  nextDueMs(): number {
    // One multiplication from the origin: adding up periods would drift by rounding.
    return this.#originMs + (this.begun + this.skipped) * this.periodMs;
  }

  /** Starts the next tick at `nowMs`, dropping what the policy drops. */
  begin(nowMs: number): DueTick {
    const latenessMs = Math.max(0, nowMs - this.nextDueMs());
    const overdue = Math.floor(latenessMs / this.periodMs);
    const skipped = Math.max(0, overdue - this.catchUpTicks);
    this.skipped += skipped;
    this.begun += 1;
    return { latenessMs, skipped };
  }

  /** Ticks come so many times as often from now on; the next one at most a period later. */
  setPeriod(periodMs: number, nowMs: number): void {
    const dueMs = Math.min(this.nextDueMs(), nowMs + periodMs);
    this.periodMs = periodMs;
    this.#originMs = dueMs - (this.begun + this.skipped) * periodMs;
  }

  /** Goes on after a pause: the time in between was nobody's and is not counted as skipped. */
  resume(nowMs: number): void {
    this.#originMs = nowMs - (this.begun + this.skipped) * this.periodMs;
  }
}
