/**
 * Checks that the store accepts writes, by a small write every TRY_MS. A process without rooms would write nothing, and
 * with a full disk reads still succeed. A hanging write counts from its start.
 */
import type { Store } from "./store.ts";

/** Interval between two writes, ms. */
const TRY_MS = 1500;
/** The store counts as away after this time without a successful write, s. */
export const STORE_AWAY_SECONDS = 2;

export class StoreHealth {
  readonly #store: Pick<Store, "ping">;
  /** Start of the first write since the last success; null: the last write succeeded, and none is running. */
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

  /** Time since the store stopped accepting writes, s; 0: healthy. */
  get awaySeconds(): number {
    const seconds = this.#sinceMs === null ? 0 : (performance.now() - this.#sinceMs) / 1000;
    return seconds < STORE_AWAY_SECONDS ? 0 : seconds;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Tries one write. Never rejects. */
  async #try(): Promise<void> {
    this.#sinceMs ??= performance.now();
    try {
      await this.#store.ping();
      this.#sinceMs = null;
    } catch {
      // The caller of a real write reports its error.
    }
  }
}
