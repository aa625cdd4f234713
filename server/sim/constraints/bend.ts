/**
 * Isometric bending over an interior edge (Bender et al. 2014, section 4.3 and figure 3; Bergou et al. 2006;
 * kernel/assembly/constraints/bending.ts).
 *
 *          x2
 *         /  \          C = sum_j K_j x_j (a vector),  E = |C|^2 / (2 alpha)
 *     x0 ------ x1      curved at rest: E = (|C| - rest)^2 / (2 alpha), the constraint keeps C's direction
 *         \  /           K and alpha: sheetBending.ts
 *          x3
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { bendingEnergy, bendingGradient, solveBending } from "../reference/bending.ts";
import { bendElements } from "./bending.ts";
import { NONE, rowsOf, type Constraint } from "./constraint.ts";
import type { BendElements } from "./elements.ts";
import { ownShare, type Visits } from "./overRelaxation.ts";
import { sheetBending } from "./sheetBending.ts";

function writeBend(
  f32: Float32Array,
  at: number,
  e: BendElements,
  i: number,
  w: (corner: number) => number,
  visits?: Visits,
): void {
  // in the order in which four lanes of float32 add up
  let W = 0;
  for (let k = 3; k >= 0; k--)
    W = Math.fround(W + Math.fround(w(k) * Math.fround(Math.fround(e.K[4 * i + k]!) * Math.fround(e.K[4 * i + k]!))));
  f32[at + L.BEND_W / 4] = ownShare(W / e.alpha[i]!, visits) * W;
  for (let k = 0; k < 4; k++) f32[at + L.BEND_K / 4 + 4 * k] = e.K[4 * i + k]!;
  f32[at + L.BEND_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.BEND_REST / 4] = e.rest[i]!;
}

export const bend: Constraint<BendElements> = {
  corners: 4,
  // in the paper's form rigidity cancels, so it keeps the paper's stencils
  ofSheet: ({ material: { bendingStiffness }, X, triangles, form }) =>
    bendingStiffness ? [(form === "paper" ? bendElements : sheetBending)(X, triangles, bendingStiffness)] : [],
  bytes: L.BEND_BYTES,
  phase: L.KIND_BEND,
  stage: L.STAGE_BENDING,
  paperPhase: L.KIND_PAPER_BEND,
  remembers: { rows: L.BEND_KEPT_BYTES / 16, apart: true },
  write: writeBend,
  pad: (f32, at) => void (f32[at + L.BEND_ALPHA / 4] = 1),
  twin: { memory: 3, solve: solveBending, energy: bendingEnergy, gradient: bendingGradient },
  energy: bendingEnergy,
  remade: ({ read, scene, now }) => ({
    kind: "bend",
    particles: NONE,
    K: rowsOf(read, L.BEND_K, 4),
    alpha: Float64Array.of((read(L.BEND_ALPHA) * scene.bendingStiffness!) / now.bendingStiffness!),
    rest: Float64Array.of(read(L.BEND_REST)),
  }),
  tuned: (e, { scene }, now) => ({
    ...e,
    alpha: e.alpha.map((a) => (a * scene.bendingStiffness!) / now.bendingStiffness!),
  }),
};
