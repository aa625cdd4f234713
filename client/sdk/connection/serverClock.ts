/**
 * Round-trip time and the server's current tick, from ping and pong. The tick estimate uses the sample with the
 * shortest round trip of the last SAMPLES pings (Cristian 1989): a short trip leaves little room for asymmetry.
 */

interface Sample {
  rttMs: number;
  /** Server tick time minus local time at the middle of the trip, ms. */
  offsetMs: number;
}

/** Number of samples kept; with one ping a second the estimate follows a drift within ten seconds. */
const SAMPLES = 10;

export class Clock {
  private readonly samples: Sample[] = [];
  private smoothed = Number.NaN;
  private readonly tickMs: number;

  /** @param tickHz server ticks per second */
  constructor(tickHz: number) {
    this.tickMs = 1000 / tickHz;
  }

  /**
   * @param sentMs local clock when the ping left, ms
   * @param serverTick tick that the pong names
   * @param nowMs local clock now, ms
   */
  pong(sentMs: number, serverTick: number, nowMs: number): void {
    const rttMs = nowMs - sentMs;
    // Ignore echoes with a time from the future, or from an earlier load of this page.
    if (!(rttMs >= 0 && rttMs < 60_000)) return;
    this.samples.push({ rttMs, offsetMs: serverTick * this.tickMs - (sentMs + rttMs / 2) });
    if (this.samples.length > SAMPLES) this.samples.shift();
    this.smoothed = Number.isNaN(this.smoothed) ? rttMs : this.smoothed + (rttMs - this.smoothed) / 4;
  }

  /** Smoothed round trip, ms; NaN before the first pong. */
  get rttMs(): number {
    return this.smoothed;
  }

  /** The server's tick now (fractional); NaN before the first pong. */
  serverTick(nowMs: number): number {
    let best: Sample | undefined;
    for (const sample of this.samples) if (!best || sample.rttMs < best.rttMs) best = sample;
    return best ? (nowMs + best.offsetMs) / this.tickMs : Number.NaN;
  }
}
