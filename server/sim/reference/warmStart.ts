/**
 * The float64 twin of kernel/assembly/warmStart/warmStart.ts: remembered stress of tetrahedra and its effect on
 * particles in one substep.
 */
import type { OrthotropicTetElements, PlasticTetElements, TetElements } from "../constraints/tetrahedra.ts";
import type { Particles } from "./particles.ts";
import { generalMaterial } from "./orthotropic.ts";
import { deformationGradient, isotropicMaterial } from "./tetrahedron.ts";

/** Rows and columns of the six strains: xx yy zz yz xz xy. */
const PLACE = [
  [0, 5, 4],
  [5, 1, 3],
  [4, 3, 2],
] as const;

export interface Settlement {
  /** float64[6n] remembered multipliers L0 */
  remembered: Float64Array;
  /** float64[3N] sum_i w_i F [L0] b_i, m */
  support: Float64Array;
  /**
   * sums over the body: |C + aT S L|^2, |aT S L|^2, |aT S (L - L0)|^2, weighted by 1/S_00 (k V if isotropic), half for
   * shears
   */
  mismatch: number;
  strain: number;
  change: number;
}

/**
 * @param last float64[6n] multipliers at the end of the last substep
 * @param remembered float64[6n] of the previous tick
 * @param gain share of the difference that is taken over
 * @param keep share that is kept afterwards
 * @param h s
 */
export function warmStartTetrahedra(
  p: Particles,
  e: TetElements | OrthotropicTetElements | PlasticTetElements,
  last: Float64Array,
  remembered: Float64Array,
  gain: number,
  keep: number,
  h: number,
): Settlement {
  const n = e.volume.length;
  const next = new Float64Array(6 * n);
  const support = new Float64Array(p.x.length);
  let mismatch = 0;
  let strain = 0;
  let change = 0;
  for (let i = 0; i < n; i++) {
    const F = deformationGradient(p.x, e, i);
    const { compliance: S, rest } = e.kind === "tet" ? isotropicMaterial(e, i) : generalMaterial(e, i);
    const L = last.subarray(6 * i, 6 * i + 6);
    const L0 = remembered.subarray(6 * i, 6 * i + 6);
    // aT S m, the strain that multipliers m represent
    const strainOf = (m: readonly number[]): number[] =>
      S.map((row) => row.reduce((sum, s, column) => sum + s * m[column]!, 0) / (h * h));
    const square = (s: readonly number[]): number =>
      (1 / S[0]![0]!) * s.reduce((sum, v, row) => sum + (row < 3 ? 1 : 0.5) * v * v, 0);
    const T = [0, 1, 2].map((a) =>
      [0, 1, 2].map((b) => F[0]![a]! * F[0]![b]! + F[1]![a]! * F[1]![b]! + F[2]![a]! * F[2]![b]!),
    );
    const C = [
      0.5 * (T[0]![0]! - 1),
      0.5 * (T[1]![1]! - 1),
      0.5 * (T[2]![2]! - 1),
      T[1]![2]!,
      T[0]![2]!,
      T[0]![1]!,
    ].map((c, row) => c - rest[row]!);
    const stressed = strainOf([...L]);
    mismatch += square(C.map((c, row) => c + stressed[row]!));
    strain += square(stressed);
    change += square(strainOf([...L].map((l, row) => l - L0[row]!)));
    const known = L.some((l) => l !== 0);
    for (let row = 0; row < 6; row++) next[6 * i + row] = known ? keep * (L0[row]! + gain * (L[row]! - L0[row]!)) : 0;
    const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
    const rows = [0, 1, 2].map((c) => [B[3 * c]!, B[3 * c + 1]!, B[3 * c + 2]!]);
    rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
    rows.forEach((b, corner) => {
      const particle = e.particles[4 * i + corner]!;
      const Lb = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, s) => sum + next[6 * i + PLACE[r]![s]!]! * b[s]!, 0));
      for (let r = 0; r < 3; r++)
        support[3 * particle + r]! += p.w[particle]! * (F[r]![0]! * Lb[0]! + F[r]![1]! * Lb[1]! + F[r]![2]! * Lb[2]!);
    });
  }
  return { remembered: next, support, mismatch, strain, change };
}
