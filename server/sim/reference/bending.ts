/**
 * Twin of kernel/assembly/constraints/bending.ts: E = (|K x| - rest)^2 / (2 alpha) of stencils of four particles
 * (Bender et al. 2014, section 4.3).
 */
import type { BendElements } from "../constraints/elements.ts";
import { ownShare, visitsOf } from "../constraints/overRelaxation.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, combine, norm, scale, subtract, type Vector } from "./vector.ts";

const cornersOf = (e: BendElements, i: number): number[] => [...e.particles.subarray(4 * i, 4 * i + 4)];

/** K x. Since sum_j K_j = 0, x0 is subtracted first: this keeps digits far from the origin. */
export function curvatureVector(x: Float64Array, e: BendElements, i: number): Vector {
  const corners = cornersOf(e, i);
  const x0 = vectorAt(x, corners[0]!);
  return combine(
    [...e.K.subarray(4 * i + 1, 4 * i + 4)],
    corners.slice(1).map((c) => subtract(vectorAt(x, c), x0)),
  );
}

/** Part of K x beyond its rest length, along K x. */
function beyondRest(Kx: Vector, rest: number): Vector {
  const length = norm(Kx);
  return length > 0 ? scale(1 - rest / length, Kx) : Kx; // exactly flat: no direction to bend back to
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
 * @param C value to remove, m
 */
export function solveStencil(p: Particles, e: BendElements, i: number, L: Float64Array, h: number, C: Vector): void {
  const corners = cornersOf(e, i);
  const w = corners.map((c) => p.w[c]!);
  const alphaTilde = e.alpha[i]! / (h * h);
  // guard
  if (w.every((wj) => wj === 0)) return;
  // gradient
  const K = [...e.K.subarray(4 * i, 4 * i + 4)];
  const W = w.reduce((sum, wj, j) => sum + wj * K[j]! * K[j]!, 0);
  // lambda
  const lambda = vectorAt(L, i);
  const own = ownShare(W / e.alpha[i]!, visitsOf(p, h));
  const dL = scale(-1 / (own * W + alphaTilde), add(C, scale(alphaTilde, lambda)));
  addAt(L, i, dL);
  // apply
  corners.forEach((c, j) => addAt(p.x, c, scale(w[j]! * K[j]!, dL)));
}

export const solveBending = (p: Particles, e: BendElements, i: number, L: Float64Array, h: number): void =>
  solveStencil(p, e, i, L, h, beyondRest(curvatureVector(p.x, e, i), e.rest[i]!));
