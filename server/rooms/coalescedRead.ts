/**
 * Shares an expensive answer among concurrent callers. A caller that asks while an answer is being made gets the next
 * one, together with all such callers. So no answer is older than its request, and making answers takes at most SHARE
 * of the time, however many callers there are.
 */

/** Share of the time that may go into making answers; the rest is left for other work. */
const SHARE = 0.1;
/** Longest pause between two answers, ms. */
const MOST_PAUSE_MS = 500;

export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | null = null;
  #notBeforeMs = -Infinity;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** @throws any error of `read` */
  get(): Promise<T> {
    return (this.#next ??= this.#after(this.#running));
  }

  async #after(before: Promise<unknown>): Promise<T> {
    await before;
    const pauseMs = this.#notBeforeMs - performance.now();
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startMs = performance.now();
    const answer = this.#read();
    this.#next = null;
    const end = (): void => {
      const endMs = performance.now();
      this.#notBeforeMs = endMs + Math.min(MOST_PAUSE_MS, (endMs - startMs) * (1 / SHARE - 1));
    };
    this.#running = answer.then(end, end);
    return answer;
  }
}
