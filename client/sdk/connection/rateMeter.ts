/** Bytes and messages per second over a sliding window of whole buckets, for the statistics overlay. */

/** The window is eight buckets of 250 ms. */
const BUCKETS = 8;
const BUCKET_MS = 250;

export class RateMeter {
  private readonly bytes = new Float64Array(BUCKETS);
  private readonly messages = new Float64Array(BUCKETS);
  private bucket = 0;

  add(byteCount: number, nowMs: number): void {
    this.roll(nowMs);
    this.bytes[this.bucket % BUCKETS]! += byteCount;
    this.messages[this.bucket % BUCKETS]! += 1;
  }

  /** kbit/s */
  kbps(nowMs: number): number {
    this.roll(nowMs);
    return (sum(this.bytes) * 8) / (BUCKETS * BUCKET_MS);
  }

  messagesPerSecond(nowMs: number): number {
    this.roll(nowMs);
    return (sum(this.messages) * 1000) / (BUCKETS * BUCKET_MS);
  }

  private roll(nowMs: number): void {
    const target = Math.floor(nowMs / BUCKET_MS);
    // After a long silence all buckets are stale: clear each of them once.
    if (target - this.bucket >= BUCKETS) this.bucket = target - BUCKETS;
    while (this.bucket < target) {
      this.bucket++;
      this.bytes[this.bucket % BUCKETS] = 0;
      this.messages[this.bucket % BUCKETS] = 0;
    }
  }
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
