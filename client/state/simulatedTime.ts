/**
 * Ticks in which time went on: where colliders on a path are depends on them alone, and a room's owners may let it
 * stand still. What is drawn is a little behind what was heard last, so the few changes before it are kept.
 */
import type { Tuning } from "../../shared/protocol/protocol.ts";

interface Change {
  /** From this tick on. */
  tick: number;
  /** Ticks before it in which time stood. */
  stood: number;
  stands: boolean;
}

const KEPT = 8;

export class SimulatedTime {
  private changes: Change[] = [];

  note(tick: number, { timeScale, stood }: Pick<Tuning, "timeScale" | "stood">): void {
    // the room may have gone back
    this.changes = [...this.changes.filter((change) => change.tick < tick), { tick, stood, stands: timeScale === 0 }];
    if (this.changes.length > KEPT) this.changes.shift();
  }

  /**
   * @param tick as of a frame, which shows what that tick left; may be between two. @returns ticks of simulated time
   */
  at(tick: number): number {
    const change = this.changes.findLast((c) => c.tick <= tick + 1) ?? this.changes[0];
    if (!change) return tick;
    return tick - change.stood - (change.stands ? Math.max(0, tick - (change.tick - 1)) : 0);
  }
}
