/**
 * Twin of the orthotropic and plastic paths of kernel/assembly/constraints/tetrahedron.ts and inversion.ts: the block
 * solve of tetrahedron.ts with nine compliances and a strain without stress.
 *
 *   E = V/2 (H - H_pl) : C (H - H_pl),  H = V diag(e(sigma)) V^T,  F = U diag(sigma) V^T
 *   e(sigma) = (sigma^2 - 1)/2, below s0 = 1/sqrt 3 its tangent; H is Green's strain if nothing is clamped
 *   dE/dF = U P^ V^T,  P^_ii = e'(sigma_i) S^_ii,  P^_ij = g_ij sigma_i S^_ij,  S^ = V^T (V C (H - H_pl)) V
 *   g_ij = 2 (e_i - e_j)/(sigma_i^2 - sigma_j^2) = (mean slope of e between the two) / ((sigma_i + sigma_j)/2)
 */
import type { OrthotropicTetElements, PlasticTetElements } from "../constraints/elements.ts";
import { orthotropicTensor } from "../scene/materialConstants.ts";
import type { Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import {
  deformationGradient,
  ENTRIES,
  shapeOf,
  solveContinued,
  solveStrains,
  symmetric,
  TURNING_STRETCH,
  type StrainMaterial,
} from "./tetrahedron.ts";
import { apply, diagonal, dot, multiply, transpose, type Matrix, type Vector } from "./vector.ts";

type General = OrthotropicTetElements | PlasticTetElements;

/** e(sigma) */
function strain(sigma: number): number {
  return sigma >= TURNING_STRETCH ? (sigma * sigma - 1) / 2 : -1 / 3 + TURNING_STRETCH * (sigma - TURNING_STRETCH);
}

const slope = (sigma: number): number => Math.max(sigma, TURNING_STRETCH);

/**
 * g_ij. Its denominator is at least s0: for a strongly inverted element the signs of two singular values are arbitrary.
 */
function secant(si: number, sj: number): number {
  const mean =
    Math.abs(si - sj) > 1e-9 * (Math.abs(si) + Math.abs(sj))
      ? (strain(si) - strain(sj)) / (si - sj)
      : slope((si + sj) / 2);
  return (2 * mean) / Math.max(si + sj, TURNING_STRETCH);
}

/** Plastic strain of element i, zero for an elastic material. */
function restOf(e: General, i: number): number[] {
  return e.kind === "tet-plastic" ? [...e.plasticStrain.subarray(6 * i, 6 * i + 6)] : [0, 0, 0, 0, 0, 0];
}

/** H - H_pl as six strains, and the six stresses times V. */
function state(F: Matrix, e: General, i: number): { C: number[]; stress: number[] } {
  const { sigma, V } = svd(F);
  const H = multiply(V, multiply(diagonal(sigma.map(strain) as unknown as Vector), transpose(V)));
  const rest = restOf(e, i);
  const C = ENTRIES.map(([a, c], I) => (a === c ? H[a][a] : 2 * H[a][c]) - rest[I]!);
  return {
    C,
    stress: orthotropicTensor(e.compliance).map((row) => e.volume[i]! * row.reduce((sum, c, J) => sum + c * C[J]!, 0)),
  };
}

/** Elastic energy of element i, J. */
export function orthotropicEnergy(x: Float64Array, e: General, i: number): number {
  const { C, stress } = state(deformationGradient(x, e, i), e, i);
  return 0.5 * C.reduce((sum, c, I) => sum + c * stress[I]!, 0);
}

/** dE/dx_j of the four corners, N. */
export function orthotropicGradient(x: Float64Array, e: General, i: number): Vector[] {
  const F = deformationGradient(x, e, i);
  const { U, sigma, V } = svd(F);
  const S = multiply(transpose(V), multiply(symmetric(state(F, e, i).stress), V));
  const row = (r: 0 | 1 | 2): Vector =>
    [0, 1, 2].map((c) =>
      r === c ? slope(sigma[r]) * S[r][r] : secant(sigma[r], sigma[c as 0 | 1 | 2]) * sigma[r] * S[r][c as 0 | 1 | 2],
    ) as unknown as Vector;
  const P = multiply(U, multiply([row(0), row(1), row(2)], transpose(V)));
  return shapeOf(e, i).map((b) => apply(P, b));
}

/** S of element i, 1/J. */
function complianceOf(e: General, i: number): number[][] {
  const [a, b, c, bc, ac, ab, ...shears] = e.compliance.map((s) => s / e.volume[i]!) as [
    number,
    number,
    number,
    number,
    number,
    number,
    ...number[],
  ];
  const normal = [
    [a, ab, ac],
    [ab, b, bc],
    [ac, bc, c],
  ];
  return ENTRIES.map((_, I) => ENTRIES.map((_, J) => (I < 3 && J < 3 ? normal[I]![J]! : I === J ? shears[I - 3]! : 0)));
}

/** The largest stiffness against one strain, Pa. */
export const largestModulus = ({ compliance }: Pick<General, "compliance">): number =>
  Math.max(...orthotropicTensor(compliance).map((row, I) => row[I]!));

/** Material of element i for the block solve. */
export function generalMaterial(e: General, i: number): Omit<StrainMaterial, "continued"> {
  return { compliance: complianceOf(e, i), rest: restOf(e, i), modulus: largestModulus(e), general: true };
}

/**
 * One XPBD step of element i.
 * @param memory float64[15n], inout; all zero in the first iteration of a substep
 * @returns the solved matrix; for a continued element the compliance, whose inverse gave its stress
 */
export function solveOrthotropic(p: Particles, e: General, i: number, memory: Float64Array, h: number): number[][] {
  const material = generalMaterial(e, i);
  return solveStrains(p, e, i, memory, h, {
    ...material,
    continued: (applied) => {
      solveContinued(p, e, i, h, orthotropicGradient(p.x, e, i), orthotropicEnergy(p.x, e, i), applied);
      return material.compliance;
    },
  });
}

/** |eps|, Frobenius, of six strains with shears as gamma. */
export function strainNorm(s: readonly number[]): number {
  const [a, b, c, d, f, g] = s as [number, number, number, number, number, number];
  return Math.sqrt(dot([a, b, c], [a, b, c]) + dot([d, f, g], [d, f, g]) / 2);
}
