/**
 * An answer that is dear to make and that many may ask for at once. Whoever asks while it is being made gets the next
 * one, all of them the same: nobody gets an answer that is older than the question, and it takes no more than a share
 * of the time, however many ask.
 */

/** Of the time, for making answers; what is left is for whoever they are about. */
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

  /** @throws what `read` throws */
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
