/** A token bucket: `perSecond` sustained, `burst` at once. Told the time, never asks for it. */
export class TokenBucket {
  readonly perSecond: number;
  readonly burst: number;
  #tokens: number;
  #lastMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.#tokens = burst;
    this.#lastMs = nowMs;
  }

  /** Takes one token; false when there is none. */
  take(nowMs: number): boolean {
    this.#tokens = Math.min(this.burst, this.#tokens + ((nowMs - this.#lastMs) * this.perSecond) / 1000);
    this.#lastMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
