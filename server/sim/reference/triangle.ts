/**
 * Twin of kernel/assembly/constraints/triangle.ts: Saint Venant-Kirchhoff cloth triangles, isotropic or orthotropic
 * (Bender et al. 2014, section 4.3).
 *
 *   F = (x0-x2, x1-x2) D_m^-1 (3x2, columns f0 weft, f1 warp)
 *   C = (eps_weft, eps_warp, gamma) = ((f0.f0 - 1)/2, (f1.f1 - 1)/2, f0.f1)
 *   E = 1/2 C^T S^-1 C,  S = material compliance / (area thickness)               plane stress
 * XPBD with the compliance matrix S and three multipliers: (W + S/h^2) dL = -C - S/h^2 L, which act through the current
 * F (tetrahedron.ts):
 *   dx_j = w_j (F [dL] + theta (F [L] - applied)) b_j,  theta = 1/(1 + |L| tr K),  K = sum_j w_j b_j b_j^T
 */
import type { TriangleElements } from "../constraints/elements.ts";
import { ownShare, visitsOf } from "../constraints/overRelaxation.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, combine, dot, scale, solveLinear, subtract, ZERO, type Vector } from "./vector.ts";

type Triple<T> = [T, T, T];

const cornersOf = (e: TriangleElements, i: number): Triple<number> => [
  e.particles[3 * i]!,
  e.particles[3 * i + 1]!,
  e.particles[3 * i + 2]!,
];

/** b_j = (b_j0, b_j1) with F = sum_j x_j b_j^T: rows of D_m^-1, and minus their sum. */
export function shapeOf(e: TriangleElements, i: number): Triple<[number, number]> {
  const [a, b, c, d] = e.dmInverse.subarray(4 * i, 4 * i + 4) as unknown as [number, number, number, number];
  return [
    [a, b],
    [c, d],
    [-a - c, -b - d],
  ];
}

/** Columns f0 and f1 of F. */
export function fabricGradient(x: Float64Array, e: TriangleElements, i: number): [Vector, Vector] {
  const [x0, x1, x2] = cornersOf(e, i).map((p) => vectorAt(x, p)) as Triple<Vector>;
  const b = shapeOf(e, i);
  const edges = [subtract(x0, x2), subtract(x1, x2)];
  return [combine([b[0][0], b[1][0]], edges), combine([b[0][1], b[1][1]], edges)];
}

/** Green's strain of the sheet: weft, warp, gamma. */
export function strains(f0: Vector, f1: Vector): Triple<number> {
  return [(dot(f0, f0) - 1) / 2, (dot(f1, f1) - 1) / 2, dot(f0, f1)];
}

/** S of element i, 1/J. */
function complianceOf(e: TriangleElements, i: number): Triple<Triple<number>> {
  const { s00, s01, s11, s22 } = e.compliance;
  const V = e.volume[i]!;
  return [
    [s00 / V, s01 / V, 0],
    [s01 / V, s11 / V, 0],
    [0, 0, s22 / V],
  ];
}

/** The largest modulus of element i times its volume, J. */
export function triangleStiffness({ compliance, volume }: TriangleElements, i: number): number {
  const { s00, s01, s11, s22 } = compliance;
  return Math.max(Math.max(s00, s11) / (s00 * s11 - s01 * s01), 1 / s22) * volume[i]!;
}

/** Elastic energy of element i, J. */
export function triangleEnergy(x: Float64Array, e: TriangleElements, i: number): number {
  const C = strains(...fabricGradient(x, e, i));
  const stress = solveLinear(complianceOf(e, i), C);
  return 0.5 * dot(C, stress as Triple<number>);
}

/** S^-1 strain: the stress of element i times its volume, J. */
export function sheetStress(e: TriangleElements, i: number, strain: Triple<number>): Triple<number> {
  return solveLinear(complianceOf(e, i), strain) as Triple<number>;
}

/** gradC_0 .. gradC_2 by each corner. */
function gradients(f0: Vector, f1: Vector, e: TriangleElements, i: number): Triple<Triple<Vector>> {
  const b = shapeOf(e, i);
  const of = (gradient: (bj: [number, number]) => Vector): Triple<Vector> => [
    gradient(b[0]),
    gradient(b[1]),
    gradient(b[2]),
  ];
  return [
    of((bj) => scale(bj[0], f0)),
    of((bj) => scale(bj[1], f1)),
    of((bj) => add(scale(bj[1], f0), scale(bj[0], f1))),
  ];
}

/** dE/dx_j of the three corners, N: sum_I stress_I gradC_I. */
export function triangleGradient(x: Float64Array, e: TriangleElements, i: number): Triple<Vector> {
  const [f0, f1] = fabricGradient(x, e, i);
  const stress = solveLinear(complianceOf(e, i), strains(f0, f1));
  const gradC = gradients(f0, f1, e, i);
  return [0, 1, 2].map((j) =>
    combine(
      stress,
      gradC.map((g) => g[j]!),
    ),
  ) as Triple<Vector>;
}

/** [L] as its two columns: the gamma multiplier is both off-diagonal entries. */
const symmetric = (L: ArrayLike<number>): [[number, number], [number, number]] => [
  [L[0]!, L[2]!],
  [L[2]!, L[1]!],
];

/** Count of numbers that an element keeps between iterations: three multipliers, then the two columns of `applied`. */
export const TRIANGLE_MEMORY = 9;

/**
 * One XPBD step of element i.
 * @param memory float64[9n], inout; all zero in the first iteration of a substep
 * @param rest strain without stress
 * @returns the 3x3 matrix W + S/h^2; tests derive their tolerances from it
 */
export function solveTriangle(
  p: Particles,
  e: TriangleElements,
  i: number,
  memory: Float64Array,
  h: number,
  rest: Vector = ZERO,
): number[][] {
  const corners = cornersOf(e, i);
  const w = corners.map((c) => p.w[c]!);
  const b = shapeOf(e, i);
  const mine = memory.subarray(TRIANGLE_MEMORY * i, TRIANGLE_MEMORY * (i + 1));
  const alphaTilde = complianceOf(e, i).map((row) => row.map((s) => s / (h * h)));
  // guard
  if (w.every((wj) => wj === 0)) return alphaTilde;
  // gradient
  const [f0, f1] = fabricGradient(p.x, e, i);
  const gradC = gradients(f0, f1, e, i);
  const whole = w.reduce((sum, wj, j) => sum + wj * (b[j]![0] ** 2 + b[j]![1] ** 2), 0);
  const own = ownShare(triangleStiffness(e, i) * whole, visitsOf(p, h));
  const trK = own * whole;
  const matrix = gradC.map((gI, I) =>
    gradC.map((gJ, J) => own * w.reduce((sum, wj, j) => sum + wj * dot(gI[j]!, gJ[j]!), 0) + alphaTilde[I]![J]!),
  );
  // C
  const C = subtract(strains(f0, f1), rest);
  // lambda
  const L = [...mine.subarray(0, 3)];
  const dL = solveLinear(
    matrix,
    C.map((CI, I) => -CI - alphaTilde[I]!.reduce((sum, s, J) => sum + s * L[J]!, 0)),
  );
  // apply
  const sizeL = Math.sqrt(L[0]! ** 2 + L[1]! ** 2 + 2 * L[2]! ** 2);
  const theta = 1 / (1 + sizeL * trK);
  const G = ([0, 1] as const).map((k) => {
    const applied: Vector = [mine[3 + 3 * k]!, mine[4 + 3 * k]!, mine[5 + 3 * k]!];
    const owed = subtract(combine(symmetric(L)[k], [f0, f1]), applied);
    return add(combine(symmetric(dL)[k], [f0, f1]), scale(theta, owed));
  });
  corners.forEach((c, j) => addAt(p.x, c, scale(w[j]!, combine(b[j]!, G))));
  dL.forEach((d, I) => (mine[I]! += d));
  G.flat().forEach((g, k) => (mine[3 + k]! += g));
  return matrix;
}
