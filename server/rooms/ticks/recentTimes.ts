/** The most recent durations of a task, for a current mean and percentiles. */

export interface TimeSummary {
  /** Mean, s; 0 without any durations. */
  mean: number;
  /** Nearest rank, as for `p99`, s. Close to the task's CPU time, even on a busy machine. */
  p10: number;
  /** Nearest rank, as for `p99`, s. */
  median: number;
  /** Nearest rank: the smallest value that at least 99 % of the durations do not exceed, s. */
  p99: number;
}

export class RecentTimes {
  readonly #seconds: Float64Array;
  #added = 0;

  /** @param capacity number of newest durations that are kept */
  constructor(capacity: number) {
    this.#seconds = new Float64Array(capacity);
  }

  /** Number of durations added since the start; the newest of them are kept. */
  get added(): number {
    return this.#added;
  }

  add(seconds: number): void {
    this.#seconds[this.#added % this.#seconds.length] = seconds;
    this.#added += 1;
  }

  summary(): TimeSummary {
    const kept = this.#seconds.slice(0, Math.min(this.#added, this.#seconds.length)).sort();
    if (kept.length === 0) return { mean: 0, p10: 0, median: 0, p99: 0 };
    const rank = (share: number): number => kept[Math.ceil(share * kept.length) - 1]!;
    return {
      mean: kept.reduce((sum, value) => sum + value, 0) / kept.length,
      p10: rank(0.1),
      median: rank(0.5),
      p99: rank(0.99),
    };
  }
}
