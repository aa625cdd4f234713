/**
 * Bending of prefactored sheets that are flat at rest and can touch nothing, as pairs of particles
 * (kernel/assembly/prefactored/elements.ts). The stencils' forces -K^T K x / alpha are linear, and each row of K^T K
 * adds up to zero. So the force on particle i is the sum over j of -(K^T K / alpha)_ij (x_j - x_i).
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../../kernel/assembly/layout/sizes.ts";
import type { PrefactoredModel } from "../../prefactored/model.ts";
import type { Allocator } from "../memoryMap.ts";

interface Pair {
  /** The other particle, its column, and the force on this particle per distance of it, N/m. */
  other: number;
  column: number;
  stiffness: number;
}

export interface PlannedPairs {
  /** @param row address of the PREFACTORED row, whose addresses are written */
  write: (view: DataView, row: number) => void;
}

/**
 * @param columnOf byte offset of each particle's column in a vector; of fixed particles behind the last one
 * @returns undefined for a body without bending, or with stencils that are not flat at rest
 */
export function planPairs(
  { bends, factor: { order } }: PrefactoredModel,
  columnOf: Uint32Array,
  allocator: Allocator,
): PlannedPairs | undefined {
  if (!bends || bends.rest.some((rest) => rest !== 0)) return undefined;
  const rows = Array.from(order, () => new Map<number, Pair>());
  bends.alpha.forEach((alpha, e) => {
    for (let a = 0; a < 4; a++)
      for (let b = 0; b < 4; b++) {
        const [own, other] = [bends.particles[4 * e + a]!, bends.particles[4 * e + b]!];
        const column = columnOf[other]!;
        if (columnOf[own]! >= column) continue;
        const row = rows[columnOf[own]! / LANES]!;
        const pair = row.get(other) ?? { other, column, stiffness: 0 };
        pair.stiffness -= (bends.K[4 * e + a]! * bends.K[4 * e + b]!) / alpha;
        row.set(other, pair);
      }
  });
  const sorted = rows.map((row) => [...row.values()].sort((a, b) => a.column - b.column || a.other - b.other));
  const counts = allocator.take(4 * sorted.length);
  const pairs = allocator.take(L.PREFACTORED_PAIR_BYTES * sorted.reduce((sum, row) => sum + row.length, 0));
  return {
    write: (view, row) => {
      view.setInt32(row + L.PREFACTORED_PAIRS, pairs, true);
      view.setInt32(row + L.PREFACTORED_PAIR_COUNTS, counts, true);
      sorted.forEach((row, k) => view.setInt32(counts + 4 * k, row.length, true));
      const first = view.getUint32(row + L.PREFACTORED_FIRST, true);
      const residual = view.getUint32(row + L.PREFACTORED_RESIDUAL, true);
      sorted.flat().forEach(({ other, column, stiffness }, n) => {
        const at = pairs + n * L.PREFACTORED_PAIR_BYTES;
        view.setUint32(at + L.PREFACTORED_PAIR_PARTICLE, first + 16 * other, true);
        view.setUint32(at + L.PREFACTORED_PAIR_COLUMN, residual + column, true);
        view.setFloat32(at + L.PREFACTORED_PAIR_STIFFNESS, stiffness, true);
      });
    },
  };
}
