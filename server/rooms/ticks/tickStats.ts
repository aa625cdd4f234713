/** One room's last second in numbers, for the `stats` message. */
import type { StepResult } from "../../workers/messages.ts";
import { RecentTimes } from "./recentTimes.ts";
import type { SceneBudget } from "./sceneBudget.ts";
import type { RoomStats } from "../../../shared/protocol/fromServer.ts";

/** Number of ticks whose times are kept: ten seconds at 60 Hz. */
const RECENT_TICKS = 600;
/** Shortest time over which ticks can be counted, s. */
const LEAST_SECONDS = 0.25;

export class TickStats {
  /** Durations of whole ticks in their worker. */
  readonly recent = new RecentTimes(RECENT_TICKS);
  readonly #tickHz: number;
  /** Wanted tick rate over the scene's tick rate. */
  #rate = 1;
  readonly #budget: SceneBudget | undefined;
  #ticks = 0;
  /** Number of ticks that completed a tick of simulated time. */
  #finished = 0;
  /** Start of the current window, ms; null while the room is paused. */
  #sinceMs: number | null = null;
  /** Totals of the previous window. */
  #before = { finished: 0, seconds: 0, wholeSeconds: 0 };
  #wholeSeconds = 0;
  #worstLatenessMs = 0;
  #stageSeconds: Record<string, number> = {};
  /** Total step time and number of ticks of each body with its own method, s. */
  readonly #methods = new Map<number, { seconds: number; ticks: number }>();

  /** Errors of the last tick. */
  #errors: StepResult["errors"] = [];

  /** @param tickHz the room's ticks per second. @param budget the scene's budget, called after each tick */
  constructor(tickHz: number, budget?: SceneBudget) {
    this.#tickHz = tickHz;
    this.#budget = budget;
  }

  /** Changes the tick rate and restarts the window, because its counts belong to the old rate. */
  setRate(rate: number, nowMs: number): void {
    if (rate === this.#rate) return;
    this.#rate = rate;
    if (this.#sinceMs === null) return;
    this.runs(false, nowMs);
    this.runs(true, nowMs);
  }

  /** The room starts or is paused: restarts the window, so that paused time is not counted. */
  runs(runs: boolean, nowMs: number): void {
    if (runs === (this.#sinceMs !== null)) return;
    this.#sinceMs = runs ? nowMs : null;
    this.#ticks = 0;
    this.#finished = 0;
    this.#wholeSeconds = 0;
    this.#before = { finished: 0, seconds: 0, wholeSeconds: 0 };
  }

  /**
   * Simulated time over wall time in the last one or two seconds, relative to the owners' time scale. 1 means on time;
   * a paused room also returns 1.
   */
  dilation(nowMs: number): number {
    const seconds = this.#before.seconds + this.#seconds(nowMs);
    if (seconds < LEAST_SECONDS) return 1;
    // Add the running tick, which is not late yet.
    return Math.min(1, (this.#before.finished + this.#finished + 1) / (seconds * this.#rate * this.#tickHz));
  }

  /** Time in ticks over wall time in the last one or two seconds; 0: the room is paused. */
  share(nowMs: number): number {
    const seconds = this.#before.seconds + this.#seconds(nowMs);
    return seconds < LEAST_SECONDS ? 0 : (this.#before.wholeSeconds + this.#wholeSeconds) / seconds;
  }

  begun(latenessMs: number): void {
    this.#worstLatenessMs = Math.max(this.#worstLatenessMs, latenessMs);
  }

  stepped(result: StepResult): void {
    this.#ticks += 1;
    if (!result.unfinished) this.#finished += 1;
    this.#wholeSeconds += result.wholeSeconds;
    this.recent.add(result.wholeSeconds);
    this.#budget?.ticked(this.recent);
    for (const stage of Object.keys(result.seconds) as (keyof StepResult["seconds"])[])
      this.#stageSeconds[stage] = (this.#stageSeconds[stage] ?? 0) + result.seconds[stage];
    this.#errors = result.errors;
    for (const { body, stepSeconds } of result.methods) {
      const { seconds, ticks } = this.#methods.get(body) ?? { seconds: 0, ticks: 0 };
      this.#methods.set(body, { seconds: seconds + stepSeconds, ticks: ticks + 1 });
    }
  }

  /** Returns the window's statistics and starts the next window. */
  take(clients: number, bytesOut: number, nowMs: number): RoomStats {
    const ticks = Math.max(1, this.#ticks);
    const stages: Record<string, number> = {};
    for (const [stage, seconds] of Object.entries(this.#stageSeconds)) stages[stage] = (1000 * seconds) / ticks;
    const windowSeconds = this.#seconds(nowMs);
    const stats: RoomStats = {
      stepMs: (1000 * this.#wholeSeconds) / ticks,
      stages,
      tickLatenessMs: this.#worstLatenessMs,
      clients,
      kbpsOut: (bytesOut * 8) / 1000 / Math.max(windowSeconds, 1e-3),
      timeDilation: this.dilation(nowMs),
      methods: [...this.#methods].map(([body, of]) => [body, (1000 * of.seconds) / of.ticks]),
      errors: this.#errors.map(({ body, error }) => [body, error]),
    };
    this.#before = { finished: this.#finished, seconds: windowSeconds, wholeSeconds: this.#wholeSeconds };
    this.#sinceMs = nowMs;
    this.#ticks = 0;
    this.#finished = 0;
    this.#wholeSeconds = 0;
    this.#worstLatenessMs = 0;
    this.#stageSeconds = {};
    this.#methods.clear();
    return stats;
  }

  #seconds(nowMs: number): number {
    return this.#sinceMs === null ? 0 : (nowMs - this.#sinceMs) / 1000;
  }
}
