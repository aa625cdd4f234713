/**
 * Twin of kernel/assembly/tetrahedron.ts and inversion.ts: Saint Venant-Kirchhoff tetrahedra as two compliant constraints.
 *
 *   F = D_s D_m^-1,  eps = (F^T F - I)/2                                          Bender et al. 2014, eqs 4, 5, 9
 *   q = |eps|^2,  t = tr eps
 *   C1 = sqrt(2 mu V q),  C2 = sqrt(lambda V) t,  E = C1^2/2 + C2^2/2 = V (mu q + lambda t^2/2)
 * with q and t continued beyond 58 % compression, singular value by singular value (section 4.2 and figure 2; Irving et al. 2004).
 * XPBD with compliance 1 (Macklin et al. 2016), both multipliers from one linear system.
 */
import type { TetElements } from "../constraints/elements.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import {
  add, column, columns, determinant, diagonal, dot, IDENTITY, inner, linear, multiply, scale, solveLinear, subtract, trace, transpose, type Matrix, type Vector,
} from "./vector.ts";

/**
 * Relative lift of the 2x2 system's diagonal, as float32 holds 1 + 1e-6. Under pure dilation both gradients are parallel, and where the
 * element is so stiff that alphaTilde is lost beside W the system would be singular: the lift decides. Fixed points do not feel it.
 */
const LIFT = Math.fround(1 + 1e-6);

/** Stretch at which the Saint Venant-Kirchhoff stress sigma (sigma^2 - 1)/2 is most negative: 58 % compression. */
export const TURNING_STRETCH = 1 / Math.sqrt(3);

export interface Strain {
  /** |eps|^2, continued */
  q: number;
  /** tr eps, continued */
  t: number;
  /** (1/2) dq/dF */
  M1: Matrix;
  /** dt/dF */
  M2: Matrix;
}

/** The two strain measures of a deformation gradient and their derivatives. */
export function strainOf(F: Matrix): Strain {
  const { U, sigma, V } = svd(F), s0 = TURNING_STRETCH;
  if (sigma[2] >= s0) {
    const eps = linear(0.5, multiply(transpose(F), F), -0.5, IDENTITY);
    return { q: inner(eps, eps), t: trace(eps), M1: multiply(F, eps), M2: F };
  }
  let q = 0, t = 0;
  const halfDq: number[] = [], dt: number[] = [];
  for (const s of sigma) {
    const clamped = Math.max(s, s0), e = (clamped * clamped - 1) / 2, beyond = Math.min(s - s0, 0);
    q += e * e + 2 * e * clamped * beyond; // the tangent of e^2 at s0, continued
    t += e + clamped * beyond; // the tangent of e at s0, continued
    halfDq.push(e * clamped);
    dt.push(clamped);
  }
  const inFrame = (d: readonly number[]): Matrix => multiply(U, multiply(diagonal(d as unknown as Vector), transpose(V)));
  return { q, t, M1: inFrame(halfDq), M2: inFrame(dt) };
}

/** The four particles of element i. */
export function cornersOf(e: TetElements, i: number): [number, number, number, number] {
  return [e.particles[4 * i]!, e.particles[4 * i + 1]!, e.particles[4 * i + 2]!, e.particles[4 * i + 3]!];
}

function inverseRest(e: TetElements, i: number): Matrix {
  const m = e.dmInverse.subarray(9 * i, 9 * i + 9);
  return [[m[0]!, m[1]!, m[2]!], [m[3]!, m[4]!, m[5]!], [m[6]!, m[7]!, m[8]!]];
}

/** F = D_s D_m^-1, D_s = (x0-x3, x1-x3, x2-x3) */
export function deformationGradient(x: Float64Array, e: TetElements, i: number): Matrix {
  const [x0, x1, x2, x3] = cornersOf(e, i).map((p) => vectorAt(x, p)) as [Vector, Vector, Vector, Vector];
  return multiply(columns(subtract(x0, x3), subtract(x1, x3), subtract(x2, x3)), inverseRest(e, i));
}

/** Gradients by x0 .. x3 of a function whose derivative by F is M (eq 6): the columns of M D_m^-T, and minus their sum. */
function byCorner(M: Matrix, e: TetElements, i: number): [Vector, Vector, Vector, Vector] {
  const G = multiply(M, transpose(inverseRest(e, i)));
  const [g0, g1, g2] = [column(G, 0), column(G, 1), column(G, 2)];
  return [g0, g1, g2, scale(-1, add(g0, add(g1, g2)))];
}

/** Elastic energy of element i, J. */
export function tetrahedronEnergy(x: Float64Array, e: TetElements, i: number): number {
  const { q, t } = strainOf(deformationGradient(x, e, i));
  return e.volume[i]! * (e.mu * q + 0.5 * e.lambda * t * t);
}

/** dE/dx_j of the four corners, N. */
export function tetrahedronGradient(x: Float64Array, e: TetElements, i: number): [Vector, Vector, Vector, Vector] {
  const { t, M1, M2 } = strainOf(deformationGradient(x, e, i)), V = e.volume[i]!;
  return byCorner(linear(2 * e.mu * V, M1, e.lambda * V * t, M2), e, i);
}

/** Volume of element i as deformed, m^3; negative if inverted. */
export function tetrahedronVolume(x: Float64Array, e: TetElements, i: number): number {
  return determinant(deformationGradient(x, e, i)) * e.volume[i]!;
}

/**
 * One XPBD step of element i: x_j += w_j (gradC1_j dL1 + gradC2_j dL2).
 * @param L float64[2n] accumulated multipliers, inout
 * @returns the 2x2 matrix that was solved with, which tests derive their tolerances from
 */
export function solveTetrahedron(p: Particles, e: TetElements, i: number, L: Float64Array, h: number): number[][] {
  const corners = cornersOf(e, i), w = corners.map((c) => p.w[c]!), alphaTilde = 1 / (h * h);
  // guard
  if (w.every((wj) => wj === 0)) return [[alphaTilde, 0], [0, alphaTilde]];
  // gradient
  const { q, t, M1, M2 } = strainOf(deformationGradient(p.x, e, i));
  const s1 = Math.sqrt(2 * e.mu * e.volume[i]!), s2 = Math.sqrt(e.lambda * e.volume[i]!), size = Math.sqrt(q);
  const gradC1 = byCorner(linear(size > 0 ? s1 / size : 0, M1, 0, IDENTITY), e, i); // C1 has no gradient where eps = 0, and needs none
  const gradC2 = byCorner(linear(s2, M2, 0, IDENTITY), e, i);
  const product = (a: readonly Vector[], b: readonly Vector[]): number => w.reduce((sum, wj, j) => sum + wj * dot(a[j]!, b[j]!), 0);
  const W12 = product(gradC1, gradC2), matrix = [[LIFT * product(gradC1, gradC1) + alphaTilde, W12], [W12, LIFT * product(gradC2, gradC2) + alphaTilde]];
  // C
  const C1 = s1 * size, C2 = s2 * t;
  // lambda
  const [dL1, dL2] = solveLinear(matrix, [-C1 - alphaTilde * L[2 * i]!, -C2 - alphaTilde * L[2 * i + 1]!]) as [number, number];
  L[2 * i]! += dL1;
  L[2 * i + 1]! += dL2;
  // apply
  corners.forEach((c, j) => addAt(p.x, c, scale(w[j]!, add(scale(dL1, gradC1[j]!), scale(dL2, gradC2[j]!)))));
  return matrix;
}
