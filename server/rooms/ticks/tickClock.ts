/**
 * Decides when a room's ticks are due and which late ticks are skipped. Pure: the caller passes the time.
 *
 * Policy: tick n is due at `origin + n * period`, however long earlier ticks took, so the rate does not drift. When
 * the room is late, at most `catchUpTicks` (2) overdue ticks beside the current one run back to back. Time beyond that
 * is dropped and counted as skipped ticks. So a stall costs at most two extra ticks of work, an overloaded room runs
 * slower than the wall clock instead of falling further behind, and an input waits for at most three ticks.
 */

/**
 * Ticks of rooms are spread over this many periods, so that a half of the rooms has frames in each (frames are sent
 * every other tick). Forty light rooms that were all due at once kept the last one waiting for 15 ms in every tick, so
 * a pause of 2 ms made it late.
 */
export const SPREAD = 2;

export interface DueTick {
  /** Lateness of this tick's start, ms, including dropped time. */
  latenessMs: number;
  /** Skipped ticks: dropped time, in periods. */
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
   * @param startMs time of the first tick, ms, on a clock that never goes backwards
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

  /** Begins the next tick at `nowMs` and drops overdue ticks by the policy. */
  begin(nowMs: number): DueTick {
    const latenessMs = Math.max(0, nowMs - this.nextDueMs());
    const overdue = Math.floor(latenessMs / this.periodMs);
    const skipped = Math.max(0, overdue - this.catchUpTicks);
    this.skipped += skipped;
    this.begun += 1;
    return { latenessMs, skipped };
  }

  /** Changes the period; the next tick is due at most one new period later. */
  setPeriod(periodMs: number, nowMs: number): void {
    const dueMs = Math.min(this.nextDueMs(), nowMs + periodMs);
    this.periodMs = periodMs;
    this.#originMs = dueMs - (this.begun + this.skipped) * periodMs;
  }

  /**
   * Continues after a pause. Paused ticks do not count as skipped.
   * @param phase tick 0 is (or would have been) due at this many periods after a multiple of SPREAD periods of the
   *   clock; absent: the next tick is due now
   */
  resume(nowMs: number, phase?: number): void {
    const ticks = this.begun + this.skipped;
    const wait = phase === undefined ? 0 : phase + ticks - nowMs / this.periodMs;
    this.#originMs = nowMs + (wait - SPREAD * Math.floor(wait / SPREAD) - ticks) * this.periodMs;
  }
}
