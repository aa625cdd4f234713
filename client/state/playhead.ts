/** Where a replay is, and how fast it goes on. Told the time, never asks for it. */

export const SPEEDS = [0.25, 0.5, 1, 2] as const;

/** A page that nobody looked at goes on where it was, ms. */
const MOST_STEP_MS = 250;

export class Playhead {
  /** Ticks, fractions between frames; NaN before the replay has come. */
  tick = Number.NaN;
  playing = true;
  speed = 1;
  private readonly tickHz: number;
  private lastMs = Number.NaN;

  constructor(tickHz: number) {
    this.tickHz = tickHz;
  }

  /**
   * Goes on to now.
   * @param first the earliest tick that can be shown, last the latest that has come so far; NaN: none
   * @param until where the replay ends: what has come may end earlier, and is waited for there
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

  /** Stays between the ends; beyond what has come it waits there for it. */
  seek(tick: number, first: number, until: number): void {
    this.tick = Math.min(Math.max(tick, first), until);
  }

  /** At the end it begins again. */
  toggle(first: number, until: number): void {
    this.playing = !this.playing;
    if (this.playing && this.tick >= until) this.tick = first;
  }
}
