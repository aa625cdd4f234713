/**
 * Does a tick of a scene fit into its time on this machine? Judged by the first ticks of its rooms: once they have
 * begun, and again when most of what falls has come down. It is said once for each version of the scene's file.
 */
import type { FastifyBaseLogger } from "fastify";
import type { RecentTimes } from "./recentTimes.ts";

/** Ticks of a room after which it is judged: 2 s and 10 s at 60 Hz. */
const JUDGED_AT: readonly number[] = [120, 600];

export interface OverBudget {
  /** Half of a room's first ticks took longer, s. */
  medianSeconds: number;
  /** Between two ticks, s. */
  budgetSeconds: number;
}

export class SceneBudget {
  readonly #scene: string;
  readonly #budgetSeconds: number;
  readonly #log: Pick<FastifyBaseLogger, "warn">;
  #exceeded: OverBudget | null = null;
  #said = false;

  /** @param tickHz ticks per second that the scene wants */
  constructor(scene: string, tickHz: number, log: Pick<FastifyBaseLogger, "warn">) {
    this.#scene = scene;
    this.#budgetSeconds = 1 / tickHz;
    this.#log = log;
  }

  /** As the room that was judged last had it; null: its ticks fit, or no room has been judged. */
  get exceeded(): OverBudget | null {
    return this.#exceeded;
  }

  /** After each tick of a room. @param times of its ticks; they hold all that are judged */
  ticked(times: RecentTimes): void {
    if (!JUDGED_AT.includes(times.added)) return;
    const { median } = times.summary();
    const budgetSeconds = this.#budgetSeconds;
    this.#exceeded = median > budgetSeconds ? { medianSeconds: median, budgetSeconds } : null;
    if (this.#exceeded === null || this.#said) return;
    this.#said = true;
    this.#log.warn(
      { scene: this.#scene, medianMs: 1000 * median, budgetMs: 1000 * budgetSeconds },
      "a tick of this scene needs more than its time on this machine: its rooms run in slow motion",
    );
  }
}
