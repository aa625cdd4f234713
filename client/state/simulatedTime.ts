/**
 * Converts ticks into simulated time, which excludes paused ticks. The positions of colliders on paths depend on
 * simulated time only. The picture is a little behind the newest message, so the last KEPT changes are kept.
 */
import type { Tuning } from "../../shared/members/tuningLimits.ts";

interface Change {
  /** First tick of the change. */
  tick: number;
  /** Paused ticks before it. */
  pausedTicks: number;
  stands: boolean;
}

const KEPT = 8;

export class SimulatedTime {
  private changes: Change[] = [];

  note(tick: number, { timeScale, pausedTicks }: Pick<Tuning, "timeScale" | "pausedTicks">): void {
    // Drop later changes: an undo may have taken the room back.
    this.changes = [
      ...this.changes.filter((change) => change.tick < tick),
      { tick, pausedTicks, stands: timeScale === 0 },
    ];
    if (this.changes.length > KEPT) this.changes.shift();
  }

  /** @param tick of a frame (its state after that tick), may be fractional. @returns ticks of simulated time */
  at(tick: number): number {
    const change = this.changes.findLast((c) => c.tick <= tick + 1) ?? this.changes[0];
    if (!change) return tick;
    return tick - change.pausedTicks - (change.stands ? Math.max(0, tick - (change.tick - 1)) : 0);
  }
}
