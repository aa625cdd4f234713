/** Measures the time between two frames of a member. */
import type { Bot } from "./bot.ts";

/** A frame that is later than this is recorded without waiting for it, ms. */
const LATE_MS = 1000;

export class FrameWatch {
  readonly bot: Bot;
  #gaps: number[] = [];
  #lastMs = performance.now();

  constructor(bot: Bot) {
    this.bot = bot;
    let seen = bot.tick;
    bot.socket.on("message", () => {
      if (bot.tick === seen) return;
      seen = bot.tick;
      this.#note();
    });
  }

  /** @returns times between frames since the last call, ms */
  take(): number[] {
    if (performance.now() - this.#lastMs > LATE_MS) this.#note();
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  #note(): void {
    const nowMs = performance.now();
    this.#gaps.push(nowMs - this.#lastMs);
    this.#lastMs = nowMs;
  }
}
