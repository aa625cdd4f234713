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
import { addAt, vectorAt, type Particles } from "../reference/particles.ts";
import { add, combine, norm, scale, subtract, type Vector } from "../reference/vector.ts";
import { bendElements } from "./bending.ts";
import { NONE, rowsOf, type AnyElements, type Constraint } from "./constraint.ts";
import { sheetBending } from "./sheetBending.ts";

/** n bending stencils: hinges, or of rectangles (rectangularBending.ts). */
export interface BendElements extends AnyElements {
  kind: "bend";
  /** uint32[4n]: of a hinge x0 x1 the common edge, x2 x3 the opposite corners */
  particles: Uint32Array;
  /** float64[4n] K, dimensionless */
  K: Float64Array;
  /** float64[n] m/N: (A0 + A1)/B of a hinge, over its weight (bendingWeights.ts) */
  alpha: Float64Array;
  /** float64[n] |K x| at rest, m; 0 for a flat sheet */
  rest: Float64Array;
}

const cornersOf = (e: BendElements, i: number): number[] => [...e.particles.subarray(4 * i, 4 * i + 4)];

/** K x. sum_j K_j = 0, so that x0 may be subtracted first: digits far from the origin. */
function curvatureVector(x: Float64Array, e: BendElements, i: number): Vector {
  const corners = cornersOf(e, i);
  const x0 = vectorAt(x, corners[0]!);
  return combine(
    [...e.K.subarray(4 * i + 1, 4 * i + 4)],
    corners.slice(1).map((c) => subtract(vectorAt(x, c), x0)),
  );
}

/** What is left of K x after its rest length, along K x. */
function beyondRest(Kx: Vector, rest: number): Vector {
  const length = norm(Kx);
  return length > 0 ? scale(1 - rest / length, Kx) : Kx; // straightened exactly: no direction to bend back to
}

/** Energy of stencil i, J. */
export function bendingEnergy(x: Float64Array, e: BendElements, i: number): number {
  const beyond = norm(curvatureVector(x, e, i)) - e.rest[i]!;
  return (beyond * beyond) / (2 * e.alpha[i]!);
}

/** dE/dx_j of the four corners, N. */
export function bendingGradient(x: Float64Array, e: BendElements, i: number): Vector[] {
  const C = beyondRest(curvatureVector(x, e, i), e.rest[i]!);
  return [0, 1, 2, 3].map((j) => scale(e.K[4 * i + j]! / e.alpha[i]!, C));
}

/**
 * One XPBD step of stencil i. gradC_j = K_j I.
 * @param L float64[3n] accumulated multipliers, inout
 */
function solveBendingStencil(p: Particles, e: BendElements, i: number, L: Float64Array, h: number): void {
  const corners = cornersOf(e, i);
  const w = corners.map((c) => p.w[c]!);
  const alphaTilde = e.alpha[i]! / (h * h);
  // guard
  if (w.every((wj) => wj === 0)) return;
  // gradient
  const K = [...e.K.subarray(4 * i, 4 * i + 4)];
  const W = w.reduce((sum, wj, j) => sum + wj * K[j]! * K[j]!, 0);
  // C
  const C = beyondRest(curvatureVector(p.x, e, i), e.rest[i]!);
  // lambda
  const lambda = vectorAt(L, i);
  const dL = scale(-1 / (W + alphaTilde), add(C, scale(alphaTilde, lambda)));
  addAt(L, i, dL);
  // apply
  corners.forEach((c, j) => addAt(p.x, c, scale(w[j]! * K[j]!, dL)));
}

function writeBend(f32: Float32Array, at: number, e: BendElements, i: number, w: (corner: number) => number): void {
  // as four lanes of float32 would sum them up
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
  // in the paper's form rigidity cancels: it keeps the paper's own stencils
  ofSheet: ({ material: { bendingStiffness }, X, triangles, form }) =>
    bendingStiffness ? [(form === "paper" ? bendElements : sheetBending)(X, triangles, bendingStiffness)] : [],
  bytes: L.BEND_BYTES,
  phase: L.KIND_BEND,
  stage: L.STAGE_BENDING,
  paperPhase: L.KIND_PAPER_BEND,
  remembers: { rows: L.BEND_KEPT_BYTES / 16, apart: true },
  write: writeBend,
  pad: (f32, at) => void (f32[at + L.BEND_ALPHA / 4] = 1),
  twin: { memory: 3, solve: solveBendingStencil, energy: bendingEnergy, gradient: bendingGradient },
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
