/** Absent bodies by tick: messages run ahead of the picture, which shows an earlier moment. */

/** Number of changes kept; the picture is a second behind at most. */
const CAPACITY = 64;

export class AbsentBodies {
  /** In tick order: from `tick` on these bodies are out of the room. */
  private changes: { tick: number; bodies: ReadonlySet<number> }[] = [];

  note(tick: number, bodies: readonly number[]): void {
    // A restored room may count from an earlier tick; the last message about a tick counts.
    this.changes = this.changes.filter((change) => change.tick < tick).slice(-CAPACITY);
    this.changes.push({ tick, bodies: new Set(bodies) });
  }

  /**
   * True if the body was out of the room at any moment between two frames. The picture between them must not show it:
   * interpolation would sweep it to the place where it was put in.
   */
  isAbsent(body: number, fromTick: number, toTick: number): boolean {
    return this.changes.some(
      ({ tick, bodies }, n) => bodies.has(body) && tick <= toTick && (this.changes[n + 1]?.tick ?? Infinity) > fromTick,
    );
  }
}
