/** Which spawnable bodies are out of the room, by tick: messages run ahead of the picture, which shows a moment ago. */

/** Number of changes kept; the picture is a second behind at most. */
const CAPACITY = 64;

export class WaitingBodies {
  /** In tick order: from `tick` on these bodies are out of the room. */
  private changes: { tick: number; bodies: ReadonlySet<number> }[] = [];

  /** The newest state. */
  get now(): ReadonlySet<number> {
    return this.changes.at(-1)?.bodies ?? new Set();
  }

  /** @returns the bodies that this message puts in, and those that it takes out */
  note(tick: number, bodies: readonly number[]): { came: number[]; went: number[] } {
    const before = this.now;
    const next = new Set(bodies);
    // A restored room may count from an earlier tick; the last message about a tick counts.
    this.changes = this.changes.filter((change) => change.tick < tick).slice(-CAPACITY);
    this.changes.push({ tick, bodies: next });
    return { came: [...before].filter((body) => !next.has(body)), went: [...next].filter((body) => !before.has(body)) };
  }

  /**
   * True if the body was out of the room at any moment between two frames. The picture between them must not show it:
   * interpolation would sweep it to the place where it was put in.
   */
  waits(body: number, fromTick: number, toTick: number): boolean {
    return this.changes.some(
      ({ tick, bodies }, n) => bodies.has(body) && tick <= toTick && (this.changes[n + 1]?.tick ?? Infinity) > fromTick,
    );
  }
}
