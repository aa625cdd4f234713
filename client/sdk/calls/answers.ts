/** Promises for requests that the server answers: with `done`, or with a notice that names the reason. */
import { PliantError } from "../errors.ts";
import type { RoomEvents } from "../events.ts";

/** Time after which an unanswered request fails, ms. */
const ANSWER_MS = 30_000;

interface Pending {
  resolve: () => void;
  reject: (error: PliantError) => void;
  timer: ReturnType<typeof setTimeout>;
}

export class Answers {
  readonly #pending = new Map<number, Pending>();
  #begun = 0;

  /** @returns the number to send with the request, and its answer */
  begin(): { request: number; answer: Promise<void> } {
    this.#begun = (this.#begun + 1) % 2 ** 31;
    const request = this.#begun;
    const answer = new Promise<void>((resolve, reject) => {
      const expired = (): void => this.#take(request)?.reject(new PliantError("NO_ANSWER", { limit: ANSWER_MS }));
      this.#pending.set(request, { resolve, reject, timer: setTimeout(expired, ANSWER_MS) });
    });
    // A caller may ignore the answer and listen to `notice`: its rejection must not count as unhandled.
    answer.catch(() => {});
    return { request, answer };
  }

  done(request: number): void {
    this.#take(request)?.resolve();
  }

  refused({ code, text, details }: RoomEvents["notice"]): void {
    const { request, field, value, limit } = (details ?? {}) as Record<string, unknown>;
    if (typeof request !== "number") return;
    const error = new PliantError(code, { value, limit, ...(typeof field === "string" && { field }) }, text);
    this.#take(request)?.reject(error);
  }

  /** The line is lost: it is unknown whether the pending requests took effect. */
  lost(error: PliantError): void {
    for (const request of [...this.#pending.keys()]) this.#take(request)?.reject(error);
  }

  #take(request: number): Pending | undefined {
    const pending = this.#pending.get(request);
    this.#pending.delete(request);
    clearTimeout(pending?.timer);
    return pending;
  }
}
