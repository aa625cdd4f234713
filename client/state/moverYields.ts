/** Displacements of moving colliders from their paths, at the moment of a picture. */
import type { MoverRow } from "../../shared/protocol/fromServer.ts";
import { TickHistory } from "./tickHistory.ts";

const NONE: readonly MoverRow[] = [];

export class MoverYields extends TickHistory<readonly MoverRow[]> {
  /** @param tick fractions are between two ticks @returns displacements of the movers that are off their paths */
  override at(tick: number): readonly MoverRow[] {
    const from = super.at(tick) ?? NONE;
    const to = this.after(tick);
    const share = to === undefined ? 0 : Math.max(0, 1 - (to.tick - tick));
    if (share === 0) return from;
    const movers = new Set([...from, ...to!.value].map(([mover]) => mover));
    return [...movers].map((mover): MoverRow => {
      const a = from.find(([one]) => one === mover) ?? [mover, 0, 0, 0];
      const b = to!.value.find(([one]) => one === mover) ?? [mover, 0, 0, 0];
      const between = (k: 1 | 2 | 3): number => a[k] + share * (b[k] - a[k]);
      return [mover, between(1), between(2), between(3)];
    });
  }
}
