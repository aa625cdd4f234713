/**
 * Sends the list of a room's members after changes, at a limited rate: a thousand joins do not send a thousand lists.
 */

/** Least time between two member lists, ms. */
const MEMBERS_MS = 50;

export class MemberList {
  readonly #send: () => void;
  #lastMs = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(send: () => void) {
    this.#send = send;
  }

  changed(): void {
    if (this.#timer || this.#stopped) return;
    const waitMs = this.#lastMs + MEMBERS_MS - performance.now();
    if (waitMs <= 0) this.#sendNow();
    else this.#timer = setTimeout(() => this.#sendNow(), waitMs);
  }

  #sendNow(): void {
    this.#timer = null;
    this.#lastMs = performance.now();
    this.#send();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }
}
