/**
 * Values that messages change at given ticks. Messages run ahead of the picture, which shows an earlier moment. A value
 * holds from its tick until the next one's.
 */

/** Index of the last entry at or before a tick; -1: none. `entries` ascend. */
export function lastAt(entries: readonly { tick: number }[], tick: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.tick <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class TickHistory<T> {
  readonly #capacity: number;
  #changes: { tick: number; value: T }[] = [];

  /** @param capacity number of changes kept */
  constructor(capacity = Infinity) {
    this.#capacity = capacity;
  }

  note(tick: number, value: T): void {
    // A restored room may count from an earlier tick; the last message about a tick counts.
    this.#changes.length = lastAt(this.#changes, tick - 1) + 1;
    this.#changes.push({ tick, value });
    if (this.#changes.length > this.#capacity) this.#changes.shift();
  }

  /** Value at a tick; undefined before the first change. */
  at(tick: number): T | undefined {
    return this.#changes[lastAt(this.#changes, tick)]?.value;
  }

  /** The first change after a tick. */
  after(tick: number): { tick: number; value: T } | undefined {
    return this.#changes[lastAt(this.#changes, tick) + 1];
  }

  /** All values that hold at some moment between two ticks. */
  between(from: number, to: number): T[] {
    const first = Math.max(0, lastAt(this.#changes, from));
    return this.#changes.slice(first, lastAt(this.#changes, to) + 1).map(({ value }) => value);
  }
}
