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
import { NONE, rowsOf, type AnyElements, type Constraint } from "./constraint.ts";
import { sheetBending } from "./sheetBending.ts";

/** n bending stencils: of hinges, or of rectangles (rectangularBending.ts). */
export interface BendElements extends AnyElements {
  kind: "bend";
  /** uint32[4n]: for a hinge, x0 x1 the common edge, x2 x3 the opposite corners */
  particles: Uint32Array;
  /** float64[4n] K, dimensionless */
  K: Float64Array;
  /** float64[n] m/N: (A0 + A1)/B for a hinge, over its weight (bendingWeights.ts) */
  alpha: Float64Array;
  /** float64[n] |K x| at rest, m; 0 for a flat sheet */
  rest: Float64Array;
}

function writeBend(f32: Float32Array, at: number, e: BendElements, i: number, w: (corner: number) => number): void {
  // in the order in which four lanes of float32 add up
  let W = 0;
  for (let k = 3; k >= 0; k--)
    W = Math.fround(W + Math.fround(w(k) * Math.fround(Math.fround(e.K[4 * i + k]!) * Math.fround(e.K[4 * i + k]!))));
  f32[at + L.BEND_W / 4] = W;
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
