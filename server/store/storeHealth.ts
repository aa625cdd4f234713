/**
 * Does the store take what it is given? A process without rooms writes nothing by itself, and one whose disk is full
 * may still read, so a write is tried now and then. What hangs counts from when it was asked.
 */
import type { Store } from "./store.ts";

/** Between two tries, ms. */
const TRY_MS = 1500;
/** After this it is no hiccup any more, s. */
export const STORE_AWAY_SECONDS = 2;

export class StoreHealth {
  readonly #store: Pick<Store, "ping">;
  /** Since when no try has gone well; null: the last one has, and none is under way. */
  #sinceMs: number | null = null;
  readonly #timer: NodeJS.Timeout;

  constructor(store: Pick<Store, "ping">) {
    this.#store = store;
    let asks = false;
    this.#timer = setInterval(() => {
      if (asks) return;
      asks = true;
      void this.#try().then(() => (asks = false));
    }, TRY_MS);
    this.#timer.unref();
  }

  /** s since it took something; 0 while all is well. */
  get awaySeconds(): number {
    const seconds = this.#sinceMs === null ? 0 : (performance.now() - this.#sinceMs) / 1000;
    return seconds < STORE_AWAY_SECONDS ? 0 : seconds;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Never rejects. */
  async #try(): Promise<void> {
    this.#sinceMs ??= performance.now();
    try {
      await this.#store.ping();
      this.#sinceMs = null;
    } catch {
      // Whoever wanted to write has said it.
    }
  }
}
