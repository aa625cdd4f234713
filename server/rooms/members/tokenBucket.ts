/** A token bucket: `perSecond` sustained, `burst` at once. The caller passes the time. */
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

  /** Takes `tokens` tokens; false if there are not enough. */
  take(nowMs: number, tokens = 1): boolean {
    this.#tokens = Math.min(this.burst, this.#tokens + ((nowMs - this.#lastMs) * this.perSecond) / 1000);
    this.#lastMs = nowMs;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }
}
