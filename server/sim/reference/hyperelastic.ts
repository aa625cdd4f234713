/**
 * Twin of kernel/assembly/constraints/hyperelastic.ts and hyperelasticInversion.ts: Neo-Hookean and stable Neo-Hookean
 * tetrahedra.
 *
 *   F = D_s D_m^-1 = sum_j x_j b_j^T = U diag(sigma) V^T
 *   Neo-Hookean   Psi = mu/2 sum_i f(sigma_i) + lambda/2 t^2,  f = sigma^2 - 1 - 2 log sigma,  t = sum_i log sigma_i
 *                 (Bender et al. 2014, eq 8)
 *   stable        Psi = mu/2 (sum_i sigma_i^2 - 3) + lambda'/2 ((j - gamma)^2 - (1 - gamma)^2),
 *                 j = sigma_0 sigma_1 sigma_2      (Macklin & Mueller 2021)
 * Below the stretch s0 (`clamp`) f, log and j are continued by their tangents in sigma_i. While a body is `tangled`,
 * all of it has the continued Saint Venant-Kirchhoff energy of the same moduli (tetrahedron.ts, `strainOf`).
 *
 * Nine multipliers, x_j = xTilde_j + w_j L b_j; the fixed point L = -h^2 V P(F) is implicit Euler. One step of it, in
 * the frame of F's rotation R:
 *   dL = R X,  sym X + skew X/theta + beta (X K + K X^T) + a N (N : X K) = -R^T (L + h^2 V P),
 *   K = sum_j w_j b_j b_j^T,  N = R^T cof F
 */
import type { HyperElements } from "../constraints/elements.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import { strainOf, TURNING_STRETCH } from "./tetrahedron.ts";
import {
  add,
  apply,
  columns,
  determinant,
  diagonal,
  inner,
  linear,
  multiply,
  scale,
  solveLinear,
  subtract,
  trace,
  transpose,
  inverse,
  type Matrix,
  type Vector,
} from "./vector.ts";

const RELAXATION = 0.75;
const FLOOR = 0.25;
const SMALL = 1e-6;
const POLAR_STEPS = 3;
const NEAR = 3.007;

export interface HyperStress {
  /** Psi, Pa; 0 at rest */
  energy: number;
  /**
   * F, cof F, J and log J as used in P = mu F + p cof F: the true values for a regular element, substitutes for a
   * continued one.
   */
  F: Matrix;
  cofactors: Matrix;
  J: number;
  logJ: number;
  /** U V^T */
  rotation: Matrix;
  /** mu F + p cof F, Pa */
  P: Matrix;
  /** Pa */
  p: number;
}

/** Energy density and first Piola-Kirchhoff stress of a deformation gradient. */
export function hyperelasticStress(
  F: Matrix,
  { kind, mu, lambda, clamp, tangled }: Pick<HyperElements, "kind" | "mu" | "lambda" | "clamp" | "tangled">,
): HyperStress {
  const { U, sigma, V } = svd(F);
  if (tangled) {
    const { q, t, M1, M2 } = strainOf(F);
    const rotation = multiply(U, transpose(V));
    return {
      energy: mu * q + (lambda / 2) * t * t,
      F,
      cofactors: M2,
      J: 1,
      logJ: t,
      rotation,
      P: linear(2 * mu, M1, lambda * t, M2),
      p: lambda * t,
    };
  }
  const c = sigma.map((s) => Math.max(s, clamp)) as unknown as Vector;
  const inFrame = (d: readonly number[]): Matrix =>
    multiply(U, multiply(diagonal(d as unknown as Vector), transpose(V)));
  const beyond = sigma.reduce((sum, s, i) => sum + (s - c[i]!) / c[i]!, 0);
  const product = c[0] * c[1] * c[2];
  const cofactors = c.map((ci) => product / ci);
  const rotation = multiply(U, transpose(V));
  if (kind === "neo-hookean") {
    const f = sigma.reduce(
      (sum, s, i) => sum + c[i]! ** 2 - 1 - 2 * Math.log(c[i]!) + 2 * (c[i]! - 1 / c[i]!) * (s - c[i]!),
      0,
    );
    const t = Math.log(product) + beyond;
    const p = (lambda * t - mu) / product;
    const clamped = inFrame(c);
    const N = inFrame(cofactors);
    return {
      energy: (mu / 2) * f + (lambda / 2) * t * t,
      F: clamped,
      cofactors: N,
      J: product,
      logJ: t,
      rotation,
      P: linear(mu, clamped, p, N),
      p,
    };
  }
  const j = product * (1 + beyond);
  const N = inFrame(cofactors.map((d, i) => (sigma[i]! >= clamp ? d * (1 + beyond) : d)));
  // lambda' (j - gamma) = lambda' (j - 1) - mu, and (j - gamma)^2 - (1 - gamma)^2 likewise
  const p = lambda * (j - 1) - mu;
  const squares = sigma.reduce((sum, s) => sum + s * s - 1, 0);
  return {
    energy: (mu / 2) * squares + (lambda / 2) * (j - 1) ** 2 - mu * (j - 1),
    F,
    cofactors: N,
    J: j,
    logJ: NaN,
    rotation,
    P: linear(mu, F, p, N),
    p,
  };
}

function inverseRest(e: HyperElements, i: number): Matrix {
  const m = e.dmInverse.subarray(9 * i, 9 * i + 9);
  return [
    [m[0]!, m[1]!, m[2]!],
    [m[3]!, m[4]!, m[5]!],
    [m[6]!, m[7]!, m[8]!],
  ];
}

const cornersOf = (e: HyperElements, i: number): number[] => [...e.particles.subarray(4 * i, 4 * i + 4)];

/** F = D_s D_m^-1, D_s = (x0-x3, x1-x3, x2-x3) */
export function hyperelasticGradientOfDeformation(x: Float64Array, e: HyperElements, i: number): Matrix {
  const [x0, x1, x2, x3] = cornersOf(e, i).map((p) => vectorAt(x, p)) as [Vector, Vector, Vector, Vector];
  return multiply(columns(subtract(x0, x3), subtract(x1, x3), subtract(x2, x3)), inverseRest(e, i));
}

/** b_0 .. b_3: gradients of the corners' shape functions. */
function shapeOf(e: HyperElements, i: number): Vector[] {
  const [b0, b1, b2] = inverseRest(e, i);
  return [b0, b1, b2, scale(-1, add(b0, add(b1, b2)))];
}

/** Elastic energy of element i, J. */
export function hyperelasticEnergy(x: Float64Array, e: HyperElements, i: number): number {
  return e.volume[i]! * hyperelasticStress(hyperelasticGradientOfDeformation(x, e, i), e).energy;
}

/** dE/dx_j of the four corners, N. */
export function hyperelasticGradient(x: Float64Array, e: HyperElements, i: number): Vector[] {
  const { P } = hyperelasticStress(hyperelasticGradientOfDeformation(x, e, i), e);
  return shapeOf(e, i).map((b) => scale(e.volume[i]!, apply(P, b)));
}

/** Volume of element i as deformed, m^3; negative if inverted. */
export const hyperelasticVolume = (x: Float64Array, e: HyperElements, i: number): number =>
  e.volume[i]! * determinant(hyperelasticGradientOfDeformation(x, e, i));

const matrixOf = (m: ArrayLike<number>): Matrix => [
  [m[0]!, m[1]!, m[2]!],
  [m[3]!, m[4]!, m[5]!],
  [m[6]!, m[7]!, m[8]!],
];
const UNITS = Array.from({ length: 9 }, (_, k) => matrixOf(Array.from({ length: 9 }, (_, m) => (m === k ? 1 : 0))));
const SYMMETRIC = [
  [0, 0],
  [4, 4],
  [8, 8],
  [5, 7],
  [2, 6],
  [1, 3],
].map(([a, b]) => linear(0.5, UNITS[a!]!, 0.5, UNITS[b!]!));

/**
 * Whether the kernel uses an element's F unchanged: every singular value is above the clamp, by the bound J/|cof F| of
 * the smallest, and F is near a rotation.
 */
function regular(F: Matrix, clamp: number): boolean {
  const J = determinant(F);
  const N = scaleMatrix(J, transpose(inverse(F)));
  if (!(J > 0)) return false;
  const R = newtonRotation(F);
  return inner(R, R) < NEAR && J * J > clamp * clamp * inner(N, N);
}

const scaleMatrix = (s: number, A: Matrix): Matrix => linear(s, A, 0, A);

/** Rotation of F, with as many iterations as the kernel (Higham 1986). */
function newtonRotation(F: Matrix): Matrix {
  let R = F;
  for (let k = 0; k < POLAR_STEPS; k++) R = linear(0.5, R, 0.5, transpose(inverse(R)));
  return R;
}

/** Count of numbers that an element keeps between iterations: nine multipliers, row by row. */
export const HYPERELASTIC_MEMORY = 9;

/**
 * One step of element i.
 * @param memory float64[9n], inout; all zero in the first iteration of a substep
 * @returns the 6x6 system of the strains, which the kernel eliminates; tests derive their tolerances from it
 */
export function solveHyperelastic(
  particles: Particles,
  e: HyperElements,
  i: number,
  memory: Float64Array,
  h: number,
): number[][] {
  const corners = cornersOf(e, i);
  const b = shapeOf(e, i);
  const w = corners.map((c) => particles.w[c]!);
  const hhV = h * h * e.volume[i]!;
  const L = memory.subarray(9 * i, 9 * i + 9);
  const Fnow = hyperelasticGradientOfDeformation(particles.x, e, i);
  const { F, cofactors, J, logJ, P, p, rotation } = hyperelasticStress(Fnow, e);
  const K = matrixOf(
    [0, 1, 2].flatMap((r) => [0, 1, 2].map((c) => w.reduce((sum, wj, j) => sum + wj * b[j]![r]! * b[j]![c]!, 0))),
  );
  const least = svd(Fnow).sigma[2];
  if (e.tangled ? least < TURNING_STRETCH : least <= 0) e.folded = true;
  // stiffness: beta of all but the volume, a of the volume
  const FF = inner(F, F);
  const NN = inner(cofactors, cofactors);
  let curvature: number;
  let a: number;
  if (e.kind === "neo-hookean") {
    curvature = -p * J * Math.max(1, NN / J ** 2 - 2);
    a = (e.lambda * Math.max(1, Math.abs(logJ))) / J ** 2;
  } else {
    curvature = -p * Math.sqrt(Math.max(1, FF - 2));
    a = Math.max(2 * e.lambda - (e.lambda + e.mu) / Math.max(J, SMALL), e.lambda * (1 - 3 / Math.max(3, NN)));
  }
  if (e.tangled) {
    curvature = 3 * e.mu * NN + Math.max(0, p);
    if (e.kind === "stable-neo-hookean")
      a = Math.max(2 * e.lambda - (e.lambda + e.mu) / Math.max(1 + logJ, SMALL), e.lambda);
  }
  const beta = (RELAXATION / 2) * hhV * (e.mu + Math.max(curvature, FLOOR * e.mu));
  const R = !e.tangled && regular(Fnow, e.clamp) ? newtonRotation(Fnow) : rotation;
  const N = multiply(transpose(R), cofactors);
  const size = Math.sqrt(L.reduce((sum, l) => sum + l * l, 0));
  const theta = 1 / (1 + size * trace(K));
  const strain = (X: Matrix): Matrix =>
    linear(1, linear(0.5, X, 0.5, transpose(X)), beta, linear(1, multiply(X, K), 1, multiply(K, transpose(X))));
  const system = (X: Matrix): Matrix =>
    linear(1, linear(1, strain(X), 0.5 / theta, linear(1, X, -1, transpose(X))), hhV * a * inner(N, multiply(X, K)), N);
  const Y = multiply(transpose(R), linear(-1, matrixOf(L), -hhV, P));
  const columnsOfSystem = UNITS.map((unit) => system(unit).flat());
  const X = solveLinear(
    Y.flat().map((_, I) => columnsOfSystem.map((c) => c[I]!)),
    Y.flat(),
  );
  const dL = multiply(R, matrixOf(X));
  dL.flat().forEach((d, I) => (L[I]! += d));
  corners.forEach((c, j) => addAt(particles.x, c, scale(w[j]!, apply(dL, b[j]!))));
  return SYMMETRIC.map((A) => SYMMETRIC.map((B) => inner(A, strain(B))));
}
