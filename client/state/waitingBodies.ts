/** Which bodies wait, and since when: messages run ahead of the picture, which shows a moment ago. */

/** Changes kept; the picture is a second behind at most. */
const CAPACITY = 64;

export class WaitingBodies {
  /** In tick order: from `tick` on these bodies wait. */
  private changes: { tick: number; bodies: ReadonlySet<number> }[] = [];

  /** What the server said last. */
  get now(): ReadonlySet<number> {
    return this.changes.at(-1)?.bodies ?? new Set();
  }

  /** @returns bodies that came, and that went, by this message */
  note(tick: number, bodies: readonly number[]): { came: number[]; went: number[] } {
    const before = this.now;
    const next = new Set(bodies);
    // a room that was restored may count from an earlier tick; the last word on a tick counts
    this.changes = this.changes.filter((change) => change.tick < tick).slice(-CAPACITY);
    this.changes.push({ tick, bodies: next });
    return { came: [...before].filter((body) => !next.has(body)), went: [...next].filter((body) => !before.has(body)) };
  }

  /**
   * Did the body wait at any moment from one frame to another? Then the picture between them does not show it: it would
   * sweep to where it came in.
   */
  waits(body: number, fromTick: number, toTick: number): boolean {
    return this.changes.some(
      ({ tick, bodies }, n) => bodies.has(body) && tick <= toTick && (this.changes[n + 1]?.tick ?? Infinity) > fromTick,
    );
  }
}
