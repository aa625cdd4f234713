/**
 * The playhead: the moment of the server's time line that is drawn now. It follows the arriving frames at a distance
 * (the buffer delay) that adapts to the measured jitter: two to three send intervals on an ordinary connection.
 *
 * The playhead is steered by its rate (near 1) and never set. Time dilation of the server or a drifting clock therefore
 * shows as slightly slower motion and not as stutter. Jitter is the mean deviation of RFC 3550, section 6.4.1. Tried
 * and rejected: offset = fastest arrival of the last seconds; under time dilation it lags by its whole window.
 */

export interface PlayoutOptions {
  /** Interval between frames, ms. */
  intervalMs: number;
}

/** Steering gain, 1/s: an error of 10 ms changes the rate by 2 %, which viewers do not notice. */
const GAIN = 2;
/** Bounds of the rate. */
const MIN_RATE = 0.5;
const MAX_RATE = 1.3;
/** ms; a larger error means that a rest ended or that the connection was resumed: jump instead of catching up. */
const JUMP_MS = 400;
/** Weight of a new arrival in the smoothed lead; about a third of a second at 30 Hz. */
const LEAD_WEIGHT = 0.1;
/** Bounds of the delay in send intervals. Eight (270 ms at 30 Hz) cover several lost packets. */
const MIN_INTERVALS = 2;
const MAX_INTERVALS = 8;
const SOON_INTERVALS = 1.25;

export class Playout {
  private readonly intervalMs: number;
  private playheadMs = Number.NaN;
  private newestMs = Number.NEGATIVE_INFINITY;
  private lastAdvanceMs = 0;
  private lastArrivalMs = Number.NaN;
  private leadMs = Number.NaN;
  private jitter = 0;
  private rate = 1;
  /** Number of times that the playhead reached the newest frame and had to wait, while frames were expected. */
  starvations = 0;
  private starving = false;

  constructor(options: PlayoutOptions) {
    this.intervalMs = options.intervalMs;
  }

  /** Mean deviation of the time between arrivals, ms. */
  get jitterMs(): number {
    return this.jitter;
  }

  /**
   * Wanted distance between the arrival of a frame and its display, ms: 1.75 intervals plus three mean deviations, at
   * least two intervals.
   */
  get delayMs(): number {
    const wanted = 1.75 * this.intervalMs + 3 * this.jitter;
    return Math.min(MAX_INTERVALS * this.intervalMs, Math.max(MIN_INTERVALS * this.intervalMs, wanted));
  }

  /**
   * Distance at which motion after a rest begins, ms. It is shorter than `delayMs`, so that a pull on a resting body
   * shows at once. The next frame arrives in time unless it is late by a quarter of an interval plus three mean
   * deviations. Steering then restores the wanted distance within a second, at 0.95 of the speed.
   */
  private get soonMs(): number {
    return Math.min(this.delayMs, SOON_INTERVALS * this.intervalMs + 3 * this.jitter);
  }

  /**
   * Records the arrival of a frame.
   * @param frameMs its moment on the server's time line, ms (tick / tickHz)
   * @param nowMs local monotonic clock, ms
   * @param stillFromMs nothing moved from this moment of the server's time line until the frame before; NaN: something
   *   moved. If the playhead is past it, a forward jump is invisible, and new motion shows at once
   * @returns true if the playhead jumped over motion: the caller must cross-fade
   */
  arrived(frameMs: number, nowMs: number, stillFromMs: number): boolean {
    if (frameMs <= this.newestMs) this.restart();
    const step = frameMs - this.newestMs;
    // A gap of many intervals is a sleeping room and says nothing about the connection.
    if (Number.isFinite(this.lastArrivalMs) && step < 6 * this.intervalMs) {
      const deviation = Math.abs(nowMs - this.lastArrivalMs - step);
      this.jitter += (Math.min(deviation, JUMP_MS) - this.jitter) / 16;
    }
    this.lastArrivalMs = nowMs;
    this.newestMs = frameMs;
    this.advance(nowMs);
    const lead = frameMs - this.playheadMs;
    // A single still frame between moving ones, ahead of the playhead, is not a rest that is being shown.
    const restEnds = this.playheadMs >= stillFromMs && lead > this.soonMs;
    const tooFar = Math.abs(lead - this.delayMs) >= JUMP_MS + this.delayMs;
    if (restEnds || tooFar || Number.isNaN(lead)) {
      this.leadMs = restEnds ? this.soonMs : this.delayMs;
      this.playheadMs = frameMs - this.leadMs;
    } else {
      this.leadMs += (lead - this.leadMs) * LEAD_WEIGHT;
    }
    const error = (this.leadMs - this.delayMs) / 1000;
    this.rate = Math.min(MAX_RATE, Math.max(MIN_RATE, 1 + GAIN * error));
    this.starving = false;
    return tooFar && !restEnds;
  }

  /**
   * Moves the playhead to the local moment `nowMs` and returns it, ms on the server's time line; NaN before the first
   * frame. It stops at the newest frame.
   */
  advance(nowMs: number): number {
    const elapsed = Math.max(0, nowMs - this.lastAdvanceMs);
    this.lastAdvanceMs = nowMs;
    if (Number.isNaN(this.playheadMs)) return this.playheadMs;
    this.playheadMs += elapsed * this.rate;
    if (this.playheadMs >= this.newestMs) {
      this.playheadMs = this.newestMs;
      if (!this.starving) {
        this.starving = true;
        this.starvations++;
      }
    }
    return this.playheadMs;
  }

  /** Forgets the time line (new room, resumed connection), but keeps the measured jitter. */
  restart(): void {
    this.playheadMs = Number.NaN;
    this.newestMs = Number.NEGATIVE_INFINITY;
    this.lastArrivalMs = Number.NaN;
    this.leadMs = Number.NaN;
    this.rate = 1;
  }
}
