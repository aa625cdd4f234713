/**
 * A member who never gives up: pulls at the body, and when the line is lost comes back with the same session, to
 * whichever server answers.
 */
import { Bot } from "../../load-tests/bot.ts";
import { nowMs } from "./fleet.ts";

/** As the browser does: half a second and more, twice as long each time, up to this; times 0.7 to 1.3. */
const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 2000;
const PULL_MS = 100;

export class Player {
  readonly room: string;
  readonly #urls: () => string[];
  #bot: Bot | null = null;
  #token: string | undefined;
  #ended = false;
  /** When the last frame came that was newer than the one before, and how often it had to come back. */
  lastFrameMs = 0;
  returns = 0;
  readonly done: Promise<void>;

  /** @param urls of the servers that are there now */
  constructor(room: string, urls: () => string[]) {
    this.room = room;
    this.#urls = urls;
    this.done = this.#live();
  }

  get bot(): Bot | null {
    return this.#bot;
  }

  /** Is it in, with a frame since then? */
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
      // As the browser: a line that says nothing for 10 s is dead.
      if (nowMs() - this.lastFrameMs > 10_000 && step > 50) return;
      frames = seen;
    }
  }
}
