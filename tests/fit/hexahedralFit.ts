/**
 * Repeats the fit of Rodero Gomez, section 4.2: for every nu, the k_e k_f k_d k_v >= 0 whose K_PBD is nearest to K_FEM
 * in the Frobenius norm, and polynomials through these values.
 *
 * With dt^2 = |M|/|K_FEM| (eq 4.5; |M| = m, |K| Frobenius, as in the thesis's program) the problem is min |sum_j k_j
 * J_j - K_FEM/|K_FEM||. It is linear in k, so trying every subset of zero coefficients solves it exactly. The thesis
 * used a descent that starts at 0.5.
 *
 * The thesis's numbers need two choices that its text does not state. D of eq 2.6 is used with engineering shears in B,
 * so that its shear modulus E/(1 + nu) is twice the right one. The volume constraint acts in both triangulations of the
 * cube's surface. With these, all coefficients and table 4.1 agree to the printed digits.
 */
import { solveLinear } from "../../server/sim/reference/vector.ts";
import { lameCoefficients } from "../../server/sim/scene/materialConstants.ts";
import { elasticity, finiteElement, frobenius, unitMatrices, type Matrix24 } from "./hexahedralStiffness.ts";

export type Four = [number, number, number, number];

/** thesis: D of eq 2.6. right: with the shear modulus k/(2(1 + nu)). */
export type Shear = "thesis" | "right";

/** K_FEM of a cube with side 2 and k = 1 Pa. */
export function referenceMatrix(nu: number, shear: Shear): Matrix24 {
  const { mu, lambda } = lameCoefficients({ youngsModulus: 1, poissonsRatio: nu });
  return finiteElement(elasticity(lambda, mu, shear === "thesis" ? 2 * mu : mu), 2);
}

const UNITS = unitMatrices();
const inner = (A: Matrix24, B: Matrix24): number => A.reduce((sum, v, i) => sum + v * B[i]!, 0);
const GRAM = UNITS.map((A) => UNITS.map((B) => inner(A, B)));

/** |K_PBD(k) - K_FEM|/|K_FEM| (eq 4.8). */
export function relativeError(k: readonly number[], K: Matrix24): number {
  const norm = frobenius(K);
  return frobenius(K.map((v, i) => k.reduce((sum, kj, j) => sum + kj * UNITS[j]![i]!, 0) - v / norm));
}

/** Returns the best k for K_FEM and its relative error. */
export function fitCoefficients(K: Matrix24): { k: Four; error: number } {
  const norm = frobenius(K);
  const target = UNITS.map((A) => inner(A, K) / norm);
  let best: { k: Four; error: number } = { k: [0, 0, 0, 0], error: 1 };
  for (let set = 1; set < 16; set++) {
    const members = [0, 1, 2, 3].filter((j) => set & (1 << j));
    const k: Four = [0, 0, 0, 0];
    solveLinear(
      members.map((i) => members.map((j) => GRAM[i]![j]!)),
      members.map((i) => target[i]!),
    ).forEach((value, n) => (k[members[n]!] = value));
    if (k.some((value) => value < 0)) continue;
    const error = relativeError(k, K);
    if (error < best.error) best = { k, error };
  }
  return best;
}

/** Coefficients of the least-squares polynomial of the given degree, constant first. */
export function fitPolynomial(x: readonly number[], y: readonly number[], degree: number): number[] {
  // in t = x - mean, where the normal equations lose no digits; expanded afterwards
  const mean = x.reduce((a, b) => a + b) / x.length;
  const powers = x.map((v) => Array.from({ length: degree + 1 }, (_, d) => (v - mean) ** d));
  const A = powers[0]!.map((_, i) => powers[0]!.map((_, j) => powers.reduce((sum, p) => sum + p[i]! * p[j]!, 0)));
  const shifted = solveLinear(
    A,
    powers[0]!.map((_, i) => powers.reduce((sum, p, n) => sum + p[i]! * y[n]!, 0)),
  );
  let result: number[] = [];
  for (const c of shifted.reverse())
    result = [c, ...result].map((v, d, all) => (d === 0 ? c : v) - mean * (all[d + 1] ?? 0));
  return result;
}

export const evaluate = (polynomial: readonly number[], x: number): number =>
  polynomial.reduceRight((sum, c) => sum * x + c, 0);

export const NAMES = ["k_e", "k_f", "k_d", "k_v"] as const;

/** A polynomial of section 4.2 as printed (constant first), with its row of table 4.1. */
export interface Published {
  name: (typeof NAMES)[number];
  low: boolean;
  coefficients: number[];
  meanSquare: number;
}

export const PUBLISHED: readonly Published[] = [
  { name: "k_e", low: true, coefficients: [0.0511, 0.0343, 0.0698], meanSquare: 2.146e-9 },
  { name: "k_f", low: true, coefficients: [0.1572, 0.0614, -0.0302], meanSquare: 8.9209e-8 },
  { name: "k_d", low: true, coefficients: [0.1147, 0.0527], meanSquare: 1.1271e-7 },
  { name: "k_v", low: true, coefficients: [0], meanSquare: 3.3103e-6 },
  { name: "k_e", low: false, coefficients: [-0.0084, 0.4656, -0.7204], meanSquare: 1.1827e-7 },
  { name: "k_f", low: false, coefficients: [-0.0044, 1.2909, -2.3822], meanSquare: 9.4752e-7 },
  { name: "k_d", low: false, coefficients: [0.2636, -0.2818, -0.5795], meanSquare: 2.6893e-5 },
  { name: "k_v", low: false, coefficients: [2.1615, -21.4563, 63.1461, -50.627], meanSquare: 1.2526e-5 },
];

/** nu of the thesis's samples: 0 to 0.29 and 0.29 to 0.49 by 0.01. */
export const samples = (low: boolean): number[] =>
  Array.from({ length: low ? 30 : 21 }, (_, i) => (low ? i : 29 + i) / 100);

/**
 * Refits the polynomial with the published degree. As in the thesis, k_v below 0.29 is set to 0.
 * @returns coefficients, constant first, and the mean square of the residuals
 */
export function refit(p: Published): { coefficients: number[]; meanSquare: number } {
  const nu = samples(p.low);
  const index = NAMES.indexOf(p.name);
  const k = nu.map((v) => fitCoefficients(referenceMatrix(v, "thesis")).k[index]!);
  const coefficients = p.coefficients.length === 1 ? p.coefficients : fitPolynomial(nu, k, p.coefficients.length - 1);
  return {
    coefficients,
    meanSquare: nu.reduce((sum, v, i) => sum + (evaluate(coefficients, v) - k[i]!) ** 2, 0) / nu.length,
  };
}
