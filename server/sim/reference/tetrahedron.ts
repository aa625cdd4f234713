/**
 * Twin of kernel/assembly/constraints/tetrahedron.ts and inversion.ts: Saint Venant-Kirchhoff tetrahedra, six Green
 * strains as one compliant block.
 *
 *   F = D_s D_m^-1 = sum_j x_j b_j^T                                              Bender et al. 2014, eqs 4, 5, 9
 *   C = (eps_xx, eps_yy, eps_zz, gamma_yz, gamma_xz, gamma_xy) of eps = (F^T F - I)/2, gamma = 2 eps
 *   E = 1/2 C^T S^-1 C = V (mu |eps|^2 + lambda/2 (tr eps)^2)
 * XPBD with the compliance matrix S (Macklin et al. 2016):
 *   (W + S/h^2) dL = -C - S/h^2 L
 * and multipliers that act through the current F, so that the fixed point is implicit Euler, x_j = xTilde_j + w_j F(x)
 * [L] b_j:
 *   dx_j = w_j (F [dL] + theta (F [L] - applied)) b_j,  theta = 1/(1 + |L| tr K),  K = sum_j w_j b_j b_j^T
 * [L] is the symmetric matrix of the six multipliers: -h^2 V times the second Piola-Kirchhoff stress.
 *
 * If a singular value of F is below 1/sqrt 3, the strain measures are continued (section 4.2 and figure 2; Irving et
 * al. 2004). The element is then solved as one scalar constraint C = sqrt(2E), which also compensates the corrections
 * applied so far in the substep.
 */
import type { TetElements, TetShapes } from "../constraints/elements.ts";
import { ownShare, visitsOf } from "../constraints/overRelaxation.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import {
  add,
  apply,
  column,
  columns,
  determinant,
  diagonal,
  dot,
  IDENTITY,
  inner,
  inverse,
  linear,
  multiply,
  norm,
  scale,
  solveLinear,
  subtract,
  trace,
  transpose,
  type Matrix,
  type Vector,
} from "./vector.ts";

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
  const { U, sigma, V } = svd(F);
  const s0 = TURNING_STRETCH;
  if (sigma[2] >= s0) {
    const eps = linear(0.5, multiply(transpose(F), F), -0.5, IDENTITY);
    return { q: inner(eps, eps), t: trace(eps), M1: multiply(F, eps), M2: F };
  }
  let q = 0;
  let t = 0;
  const halfDq: number[] = [];
  const dt: number[] = [];
  for (const s of sigma) {
    const clamped = Math.max(s, s0);
    const e = (clamped * clamped - 1) / 2;
    const beyond = Math.min(s - s0, 0);
    q += e * e + 2 * e * clamped * beyond; // the tangent of e^2 at s0, continued
    t += e + clamped * beyond; // the tangent of e at s0, continued
    halfDq.push(e * clamped);
    dt.push(clamped);
  }
  const inFrame = (d: readonly number[]): Matrix =>
    multiply(U, multiply(diagonal(d as unknown as Vector), transpose(V)));
  return { q, t, M1: inFrame(halfDq), M2: inFrame(dt) };
}

/** The four particles of element i. */
function cornersOf(e: TetShapes, i: number): [number, number, number, number] {
  return [e.particles[4 * i]!, e.particles[4 * i + 1]!, e.particles[4 * i + 2]!, e.particles[4 * i + 3]!];
}

/** Nine entries row by row. */
const matrixOf = (m: Float64Array): Matrix => [
  [m[0]!, m[1]!, m[2]!],
  [m[3]!, m[4]!, m[5]!],
  [m[6]!, m[7]!, m[8]!],
];

function inverseRest(e: TetShapes, i: number): Matrix {
  return matrixOf(e.dmInverse.subarray(9 * i, 9 * i + 9));
}

/** F = D_s D_m^-1, D_s = (x0-x3, x1-x3, x2-x3) */
export function deformationGradient(x: Float64Array, e: TetShapes, i: number): Matrix {
  const [x0, x1, x2, x3] = cornersOf(e, i).map((p) => vectorAt(x, p)) as [Vector, Vector, Vector, Vector];
  return multiply(columns(subtract(x0, x3), subtract(x1, x3), subtract(x2, x3)), inverseRest(e, i));
}

/** b_0 .. b_3: gradients of the corners' shape functions, rows of D_m^-1 and minus their sum. */
export function shapeOf(e: TetShapes, i: number): [Vector, Vector, Vector, Vector] {
  const [b0, b1, b2] = inverseRest(e, i);
  return [b0, b1, b2, scale(-1, add(b0, add(b1, b2)))];
}

/** Elastic energy of element i, J. */
export function tetrahedronEnergy(x: Float64Array, e: TetElements, i: number): number {
  const { q, t } = strainOf(deformationGradient(x, e, i));
  return e.volume[i]! * (e.mu * q + 0.5 * e.lambda * t * t);
}

/** dE/dx_j of the four corners, N. */
export function tetrahedronGradient(x: Float64Array, e: TetElements, i: number): [Vector, Vector, Vector, Vector] {
  const { t, M1, M2 } = strainOf(deformationGradient(x, e, i));
  const V = e.volume[i]!;
  const P = linear(2 * e.mu * V, M1, e.lambda * V * t, M2); // dE/dF; dE/dx_j = P b_j (eq 6)
  return shapeOf(e, i).map((b) => apply(P, b)) as [Vector, Vector, Vector, Vector];
}

/** Volume of element i as deformed, m^3; negative if inverted. */
export function tetrahedronVolume(x: Float64Array, e: TetShapes, i: number): number {
  return determinant(deformationGradient(x, e, i)) * e.volume[i]!;
}

/** Entries of eps for the six strains. */
export const ENTRIES = [
  [0, 0],
  [1, 1],
  [2, 2],
  [1, 2],
  [0, 2],
  [0, 1],
] as const;

/** [L]: gamma strains and their multipliers represent both off-diagonal entries. */
export const symmetric = (L: ArrayLike<number>): Matrix => [
  [L[0]!, L[5]!, L[4]!],
  [L[5]!, L[1]!, L[3]!],
  [L[4]!, L[3]!, L[2]!],
];

/** S of element i, 1/J: inverse of V times the isotropic elasticity tensor. */
function complianceOf(e: TetElements, i: number): number[][] {
  const { mu, lambda } = e;
  const V = e.volume[i]!;
  const k = (mu * (3 * lambda + 2 * mu)) / (lambda + mu);
  const nu = lambda / (2 * (lambda + mu));
  return ENTRIES.map((_, I) =>
    ENTRIES.map((_, J) => (I < 3 && J < 3 ? (I === J ? 1 : -nu) / (k * V) : I === J ? 1 / (mu * V) : 0)),
  );
}

/** Count of numbers that an element keeps between iterations: six multipliers, then `applied` row by row. */
export const TETRAHEDRON_MEMORY = 15;

/**
 * One XPBD step of element i.
 * @param memory float64[15n], inout; all zero in the first iteration of a substep
 * @returns the solved matrix; tests derive their tolerances from it
 */
export function solveTetrahedron(p: Particles, e: TetElements, i: number, memory: Float64Array, h: number): number[][] {
  return solveStrains(p, e, i, memory, h, {
    ...isotropicMaterial(e, i),
    continued: (applied) => [
      [solveContinued(p, e, i, h, tetrahedronGradient(p.x, e, i), tetrahedronEnergy(p.x, e, i), applied)],
    ],
  });
}

/** Material of an isotropic, elastic element for the block solve. */
export function isotropicMaterial(e: TetElements, i: number): Omit<StrainMaterial, "continued"> {
  return { compliance: complianceOf(e, i), rest: [0, 0, 0, 0, 0, 0], modulus: e.lambda + 2 * e.mu, general: false };
}

/** Material of an element for the block solve. */
export interface StrainMaterial {
  /** S of the element, 1/J */
  compliance: number[][];
  /** The strain without stress: the plastic strain. */
  rest: readonly number[];
  /** The largest one, Pa. */
  modulus: number;
  /** Whether the kernel keeps K itself, which is multiplied by theta of overRelaxation.ts. */
  general: boolean;
  /**
   * Solves the element in place of the block if a singular value is below TURNING_STRETCH.
   * @param applied float64[9] corrections so far, inout
   * @returns like solveStrains
   */
  continued: (applied: Float64Array) => number[][];
}

/** The block solve of any Saint Venant-Kirchhoff material. */
export function solveStrains(
  p: Particles,
  e: TetShapes,
  i: number,
  memory: Float64Array,
  h: number,
  material: StrainMaterial,
): number[][] {
  const corners = cornersOf(e, i);
  const w = corners.map((c) => p.w[c]!);
  const b = shapeOf(e, i);
  const mine = memory.subarray(TETRAHEDRON_MEMORY * i, TETRAHEDRON_MEMORY * (i + 1));
  const alphaTilde = material.compliance.map((row) => row.map((s) => s / (h * h)));
  // guard
  if (w.every((wj) => wj === 0)) return alphaTilde;
  const trK = w.reduce((sum, wj, j) => sum + wj * dot(b[j]!, b[j]!), 0);
  const own = ownShare(material.modulus * e.volume[i]! * trK, visitsOf(p, h));
  const F = deformationGradient(p.x, e, i);
  if (svd(F).sigma[2] < TURNING_STRETCH) {
    mine.fill(0, 0, 6);
    return material.continued(mine.subarray(6));
  }
  // gradient: grad_j C_ac = f_a b_jc + f_c b_ja, halved on the diagonal
  const f = [column(F, 0), column(F, 1), column(F, 2)] as const;
  const gradC = ENTRIES.map(([a, c]) =>
    b.map((bj) => (a === c ? scale(bj[a], f[a]) : add(scale(bj[c], f[a]), scale(bj[a], f[c])))),
  );
  const matrix = gradC.map((gI, I) =>
    gradC.map((gJ, J) => own * w.reduce((sum, wj, j) => sum + wj * dot(gI[j]!, gJ[j]!), 0) + alphaTilde[I]![J]!),
  );
  // C
  const C = ENTRIES.map(([a, c], I) => (a === c ? (dot(f[a], f[a]) - 1) / 2 : dot(f[a], f[c])) - material.rest[I]!);
  // lambda
  const L = [...mine.subarray(0, 6)];
  const dL = solveLinear(
    matrix,
    C.map((CI, I) => -CI - alphaTilde[I]!.reduce((sum, s, J) => sum + s * L[J]!, 0)),
  );
  // apply
  const applied = matrixOf(mine.subarray(6));
  const sizeL = Math.sqrt(inner(symmetric(L), symmetric(L)));
  const owed = linear(1, multiply(F, symmetric(L)), -1, applied);
  const G = linear(1, multiply(F, symmetric(dL)), 1 / (1 + sizeL * (material.general ? own : 1) * trK), owed);
  corners.forEach((c, j) => addAt(p.x, c, scale(w[j]!, apply(G, b[j]!))));
  dL.forEach((d, I) => (mine[I]! += d));
  G.flat().forEach((g, k) => (mine[6 + k]! += g));
  return matrix;
}

/**
 * A flat, strongly compressed or inverted element: C = sqrt(2E) of the continued energy. With P of grad_j E = P b_j and
 * the corrections applied so far, A,
 *   dA = -r (h^2 P + A),  r = 2E/h^2 / (sum_j w_j |grad_j E|^2 + 2E/h^2),  dx_j = w_j dA b_j
 * @param applied float64[9] A row by row, inout
 * @returns the denominator
 */
export function solveContinued(
  p: Particles,
  e: TetShapes,
  i: number,
  h: number,
  gradE: readonly Vector[],
  energy: number,
  applied: Float64Array,
): number {
  const corners = cornersOf(e, i);
  const b = shapeOf(e, i);
  const inertia = (2 * energy) / (h * h);
  const denominator = corners.reduce((sum, c, j) => sum + p.w[c]! * norm(gradE[j]!) ** 2, 0) + inertia;
  const r = denominator > 0 ? inertia / denominator : 0;
  const A = matrixOf(applied);
  corners.forEach((c, j) => addAt(p.x, c, scale(-p.w[c]! * r, add(scale(h * h, gradE[j]!), apply(A, b[j]!)))));
  // b_0, b_1, b_2 are the rows of D_m^-1
  const P = multiply(columns(gradE[0]!, gradE[1]!, gradE[2]!), transpose(inverse(inverseRest(e, i))));
  linear(-r * h * h, P, -r, A)
    .flat()
    .forEach((d, k) => (applied[k]! += d));
  return denominator;
}
