/** Displacements of moving colliders from their paths, by tick: messages run ahead of the picture. */
import type { MoverRow } from "../../shared/protocol/fromServer.ts";

const NONE: readonly MoverRow[] = [];
/** Number of changes that a page keeps; its picture is a second behind at most. */
const CAPACITY = 256;

export class MoverYields {
  readonly #capacity: number;
  #changes: { tick: number; movers: readonly MoverRow[] }[] = [];

  /** @param capacity number of changes kept; a replay keeps all */
  constructor(capacity = CAPACITY) {
    this.#capacity = capacity;
  }

  note(tick: number, movers: readonly MoverRow[]): void {
    // A restored room may count from an earlier tick; the last message about a tick counts.
    if ((this.#changes.at(-1)?.tick ?? -1) >= tick) this.#changes = this.#changes.filter((one) => one.tick < tick);
    this.#changes.push({ tick, movers });
    if (this.#changes.length > this.#capacity) this.#changes.shift();
  }

  /** @param tick fractions are between two ticks @returns displacements of the movers that are off their paths */
  at(tick: number): readonly MoverRow[] {
    const next = this.#changes.findLastIndex((change) => change.tick <= tick) + 1;
    const from = this.#changes[next - 1]?.movers ?? NONE;
    const to = this.#changes[next];
    const share = to === undefined ? 0 : Math.max(0, 1 - (to.tick - tick));
    if (share === 0) return from;
    const movers = new Set([...from, ...to!.movers].map(([mover]) => mover));
    return [...movers].map((mover): MoverRow => {
      const a = from.find(([one]) => one === mover) ?? [mover, 0, 0, 0];
      const b = to!.movers.find(([one]) => one === mover) ?? [mover, 0, 0, 0];
      const between = (k: 1 | 2 | 3): number => a[k] + share * (b[k] - a[k]);
      return [mover, between(1), between(2), between(3)];
    });
  }
}
