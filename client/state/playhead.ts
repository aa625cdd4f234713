/** Position and speed of a replay. The time is passed in; this class reads no clock. */

export const SPEEDS = [0.25, 0.5, 1, 2] as const;

/** Largest step of one call, ms: a page that was hidden continues where it was. */
const MOST_STEP_MS = 250;

export class Playhead {
  /** Ticks, fractional between frames; NaN before the first frame. */
  tick = Number.NaN;
  playing = true;
  speed = 1;
  private readonly tickHz: number;
  private lastMs = Number.NaN;

  constructor(tickHz: number) {
    this.tickHz = tickHz;
  }

  /**
   * Advances to the current time.
   * @param first, last the ticks that can be shown so far; NaN: none
   * @param until last tick of the replay; playback waits at `last` until more has arrived
   */
  advance(nowMs: number, first: number, last: number, until: number): void {
    const elapsedMs = Number.isNaN(this.lastMs) ? 0 : Math.min(MOST_STEP_MS, nowMs - this.lastMs);
    this.lastMs = nowMs;
    if (Number.isNaN(first)) return;
    if (Number.isNaN(this.tick)) {
      this.tick = first;
      return;
    }
    if (!this.playing) return;
    this.tick = Math.min(this.tick + (elapsedMs * this.tickHz * this.speed) / 1000, Math.max(last, this.tick));
    if (this.tick >= until) this.playing = false;
  }

  /** Moves the playhead, within the replay. Beyond `last` it waits there for frames. */
  seek(tick: number, first: number, until: number): void {
    this.tick = Math.min(Math.max(tick, first), until);
  }

  /** Plays or pauses. At the end it starts again from the beginning. */
  toggle(first: number, until: number): void {
    this.playing = !this.playing;
    if (this.playing && this.tick >= until) this.tick = first;
  }
}
