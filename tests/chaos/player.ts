/**
 * A member who never gives up: it grabs the body, and after a lost connection comes back with the same session, through
 * any server that answers.
 */
import { Bot } from "../../load-tests/bot.ts";
import { nowMs } from "./fleet.ts";

/** Backoff as in the browser: from twice FIRST_WAIT_MS, doubled each time, up to MOST_WAIT_MS; times 0.7 to 1.3. */
const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 2000;
const PULL_MS = 100;

export class Player {
  readonly room: string;
  readonly #urls: () => string[];
  #bot: Bot | null = null;
  #token: string | undefined;
  #ended = false;
  /** Time of the last frame with a newer tick, and number of returns. */
  lastFrameMs = 0;
  returns = 0;
  readonly done: Promise<void>;

  /** @param urls of the servers that exist now */
  constructor(room: string, urls: () => string[]) {
    this.room = room;
    this.#urls = urls;
    this.done = this.#live();
  }

  get bot(): Bot | null {
    return this.#bot;
  }

  /** Tests whether the player is in the room and has received a frame after `sinceMs`. */
  sees(sinceMs: number): boolean {
    return this.#bot !== null && this.#bot.closed === null && this.lastFrameMs > sinceMs;
  }

  drop(): void {
    this.#bot?.drop();
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#bot?.drop();
    await this.done;
  }

  async #live(): Promise<void> {
    for (let failures = 0; !this.#ended; ) {
      try {
        const urls = this.#urls();
        this.#bot = await Bot.join(urls[Math.floor(Math.random() * urls.length)], this.room, {
          timeoutMs: 4000,
          ...(this.#token !== undefined && { resume: this.#token }),
        });
        this.#token = this.#bot.welcome.token;
        failures = 0;
        await this.#play(this.#bot);
      } catch {
        failures += 1;
      }
      this.#bot?.drop();
      if (this.#ended) return;
      this.returns += 1;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures) * (0.7 + 0.6 * Math.random())),
      );
    }
  }

  async #play(bot: Bot): Promise<void> {
    const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
    let frames = 0;
    for (let step = 0; bot.closed === null && !this.#ended; step++) {
      const [x, y, z] = [Math.sin(step / 3), Math.cos(step / 5), Math.sin(step / 7)].map((value) => 0.3 * value) as [
        number,
        number,
        number,
      ];
      if (step % 20 === 0) bot.grab(1, point, [x, y, z]);
      else if (step % 20 === 19) bot.release(1);
      else bot.move(1, [x, y, z]);
      bot.ping();
      await new Promise((resolve) => setTimeout(resolve, PULL_MS));
      const seen = bot.counts.keyframes + bot.counts.deltas;
      if (seen > frames) this.lastFrameMs = nowMs();
      // As in the browser: a connection without data for 10 s is dead.
      if (nowMs() - this.lastFrameMs > 10_000 && step > 50) return;
      frames = seen;
    }
  }
}
