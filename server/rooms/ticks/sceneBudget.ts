/**
 * Checks whether the ticks of a scene fit into their time on this machine. It checks each room twice: soon after its
 * start, and again when most falling bodies have landed. It warns once for each version of the scene's file.
 */
import type { FastifyBaseLogger } from "fastify";
import type { RecentTimes } from "./recentTimes.ts";

/** Numbers of ticks after which a room is checked: 2 s and 10 s at 60 Hz. */
const JUDGED_AT: readonly number[] = [120, 600];

export interface OverBudget {
  /** Median of a room's first step times, s. */
  medianSeconds: number;
  /** Tick period, s. */
  budgetSeconds: number;
}

export class SceneBudget {
  readonly #scene: string;
  readonly #budgetSeconds: number;
  readonly #log: Pick<FastifyBaseLogger, "warn">;
  #exceeded: OverBudget | null = null;
  #said = false;

  /** @param tickHz the scene's ticks per second */
  constructor(scene: string, tickHz: number, log: Pick<FastifyBaseLogger, "warn">) {
    this.#scene = scene;
    this.#budgetSeconds = 1 / tickHz;
    this.#log = log;
  }

  /** Result of the last check; null: the ticks fit, or no room was checked yet. */
  get exceeded(): OverBudget | null {
    return this.#exceeded;
  }

  /** Called after each tick of a room. @param times the room's step times, including all that a check uses */
  ticked(times: RecentTimes): void {
    if (!JUDGED_AT.includes(times.added)) return;
    const { median } = times.summary();
    const budgetSeconds = this.#budgetSeconds;
    this.#exceeded = median > budgetSeconds ? { medianSeconds: median, budgetSeconds } : null;
    if (this.#exceeded === null || this.#said) return;
    this.#said = true;
    this.#log.warn(
      { scene: this.#scene, medianMs: 1000 * median, budgetMs: 1000 * budgetSeconds },
      "a tick of this scene takes longer than its period on this machine: its rooms run in slow motion",
    );
  }
}
