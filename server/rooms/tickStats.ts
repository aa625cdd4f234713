/** One room's last second in numbers: what the `stats` message shows. */
import type { StepResult } from "../workers/messages.ts";
import { timeDilation } from "./clock.ts";
import { RecentTimes } from "./recentTimes.ts";
import type { RoomStats } from "../../shared/protocol.ts";

/** Ticks whose times are kept: ten seconds at 60 Hz. */
const RECENT_TICKS = 600;

export class TickStats {
  /** Of whole ticks in their worker. */
  readonly recent = new RecentTimes(RECENT_TICKS);
  #ticks = 0;
  #skipped = 0;
  #wholeSeconds = 0;
  #worstLatenessMs = 0;
  readonly #stageSeconds = new Map<string, number>();
  /** Of the last whole second. */
  dilation = 1;

  begun(latenessMs: number, skipped: number): void {
    this.#skipped += skipped;
    this.#worstLatenessMs = Math.max(this.#worstLatenessMs, latenessMs);
  }

  stepped(result: StepResult): void {
    this.#ticks += 1;
    this.#wholeSeconds += result.wholeSeconds;
    this.recent.add(result.wholeSeconds);
    for (const [stage, seconds] of Object.entries(result.seconds)) {
      this.#stageSeconds.set(stage, (this.#stageSeconds.get(stage) ?? 0) + seconds);
    }
  }

  /** Closes the window and starts the next. */
  take(clients: number, bytesOut: number, windowSeconds: number): RoomStats {
    const ticks = Math.max(1, this.#ticks);
    const stages: Record<string, number> = {};
    for (const [stage, seconds] of this.#stageSeconds) stages[stage] = (1000 * seconds) / ticks;
    this.dilation = timeDilation(this.#ticks, this.#skipped);
    const stats: RoomStats = {
      stepMs: (1000 * this.#wholeSeconds) / ticks,
      stages,
      tickLatenessMs: this.#worstLatenessMs,
      clients,
      kbpsOut: (bytesOut * 8) / 1000 / windowSeconds,
      timeDilation: this.dilation,
    };
    this.#ticks = 0;
    this.#skipped = 0;
    this.#wholeSeconds = 0;
    this.#worstLatenessMs = 0;
    this.#stageSeconds.clear();
    return stats;
  }
}
