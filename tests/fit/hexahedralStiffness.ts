/**
 * Stiffness matrices of a cube of eight particles, 24 x 24, N/m, in float64: of the finite element and of the
 * constraints.
 *
 *   K_FEM = integral of B^T D B over the cube, trilinear shape functions, 2 x 2 x 2 Gauss points (exact: the integrand
 *           is of degree 2 in each axis)
 *   K_PBD = M/dt^2 d(dp)/du at u = 0 (Rodero Gomez, eq 4.4), where dp is the displacement of one iteration; a
 *           constraint of stiffness k alone gives k grad C grad C^T / sum_j w_j |grad_j C|^2 / dt^2, because its C is 0
 *           at rest
 *
 * Bit 0 of a corner's number c is its x, bit 1 its y, bit 2 its z; row 3 c + r is its axis r.
 */
import { distanceValue, type DistanceElements } from "../../server/sim/constraints/distance.ts";
import { FALLING, RISING, hexahedronValue, type HexahedronElements } from "../../server/sim/constraints/hexahedron.ts";
import { sixVolumes } from "../../server/sim/constraints/polyhedron.ts";

/** 24 x 24 matrix, row by row, 576 numbers. */
export type Matrix24 = Float64Array;

const signs = (c: number): [number, number, number] => [c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1];

/** float64[24] corners of a cube of the given side, centered at the origin. */
export function cubeCorners(side: number): Float64Array {
  return Float64Array.from({ length: 24 }, (_, k) => (side / 2) * signs(Math.floor(k / 3))[k % 3]!);
}

/**
 * D of an isotropic solid for strains (xx yy zz xy yz zx); the last three are engineering shears.
 * @param G shear modulus, Pa
 */
export function elasticity(lambda: number, mu: number, G: number): number[][] {
  return Array.from({ length: 6 }, (_, i) =>
    Array.from({ length: 6 }, (_, j) => (i < 3 && j < 3 ? lambda + (i === j ? 2 * mu : 0) : i === j ? G : 0)),
  );
}

/** K_FEM of a cube of side a, m. */
export function finiteElement(D: readonly (readonly number[])[], a: number): Matrix24 {
  const K = new Float64Array(576);
  const g = 1 / Math.sqrt(3);
  const jacobian = (a / 2) ** 3;
  for (let point = 0; point < 8; point++) {
    const at = signs(point).map((s) => s * g);
    const B = Array.from({ length: 6 }, () => new Float64Array(24));
    for (let c = 0; c < 8; c++) {
      const s = signs(c);
      const f = s.map((sr, r) => 1 + sr * at[r]!) as [number, number, number];
      const [dx, dy, dz] = [s[0] * f[1] * f[2], s[1] * f[0] * f[2], s[2] * f[0] * f[1]].map((v) => v / 8 / (a / 2)) as [
        number,
        number,
        number,
      ];
      B[0]![3 * c] = dx;
      B[1]![3 * c + 1] = dy;
      B[2]![3 * c + 2] = dz;
      B[3]![3 * c] = dy;
      B[3]![3 * c + 1] = dx;
      B[4]![3 * c + 1] = dz;
      B[4]![3 * c + 2] = dy;
      B[5]![3 * c] = dz;
      B[5]![3 * c + 2] = dx;
    }
    const DB = D.map((row) =>
      Float64Array.from({ length: 24 }, (_, j) => row.reduce((sum, d, k) => sum + d * B[k]![j]!, 0)),
    );
    for (let i = 0; i < 24; i++)
      for (let j = 0; j < 24; j++) for (let k = 0; k < 6; k++) K[24 * i + j]! += jacobian * B[k]![i]! * DB[k]![j]!;
  }
  return K;
}

export const frobenius = (A: Float64Array): number => Math.sqrt(A.reduce((sum, v) => sum + v * v, 0));

/** sum += factor g g^T with a vector g of 24 numbers. */
function addOuter(sum: Matrix24, g: readonly number[], factor: number): void {
  for (let i = 0; i < 24; i++) for (let j = 0; j < 24; j++) sum[24 * i + j]! += factor * g[i]! * g[j]!;
}

/**
 * Gradients at rest of the 28 distances and of both volumes, from the solver's own functions. Distances are grouped by
 * the number of axes in which their ends differ: 1 edges, 2 face diagonals, 3 inner diagonals.
 */
function gradients(side: number): { distances: [number[][], number[][], number[][]]; volumes: number[][] } {
  const X = cubeCorners(side);
  const distances: [number[][], number[][], number[][]] = [[], [], []];
  for (let i = 0; i < 8; i++) {
    for (let j = i + 1; j < 8; j++) {
      const e: DistanceElements = {
        kind: "distance",
        particles: Uint32Array.of(i, j),
        rest: Float64Array.of(0),
        direction: new Float64Array(3),
        alpha: Float64Array.of(0),
        stiffness: 1,
        keeps: false,
        unilateral: false,
      };
      const [gi, gj] = distanceValue(X, e, 0).gradient;
      const g = new Array<number>(24).fill(0);
      for (let r = 0; r < 3; r++) [g[3 * i + r], g[3 * j + r]] = [gi![r]!, gj![r]!];
      const axes = i ^ j;
      distances[(axes & 1) + ((axes >> 1) & 1) + (axes >> 2) - 1]!.push(g);
    }
  }
  const e: HexahedronElements = {
    kind: "hexahedron",
    particles: Uint32Array.from({ length: 8 }, (_, c) => c),
    rest: Float64Array.from([RISING, FALLING], (cut) => sixVolumes(X, cut, 0)),
    alpha: Float64Array.of(0),
  };
  return { distances, volumes: ([0, 1] as const).map((cut) => hexahedronValue(X, e, 0, cut).gradient.flat()) };
}

/**
 * dt^2/m K_PBD for k_e = 1, k_f = 1, k_d = 1 and k_v = 1 alone, with equal masses: dimensionless. The volume acts in
 * both triangulations with half of k_v each (kernel/assembly/constraints/hexahedron.ts).
 */
export function unitMatrices(): [Matrix24, Matrix24, Matrix24, Matrix24] {
  const { distances, volumes } = gradients(2);
  const of = (list: readonly number[][], k: number): Matrix24 => {
    const sum = new Float64Array(576);
    for (const g of list) addOuter(sum, g, k / g.reduce((s, v) => s + v * v, 0));
    return sum;
  };
  return [of(distances[0], 1), of(distances[1], 1), of(distances[2], 1), of(volumes, 0.5)];
}

/** Stiffness matrix of a cube of side a with springs (N/m) and a volume compliance (m^3/Pa). */
export function springMatrix(
  springs: { edge: number; face: number; inner: number; volumeCompliance: number },
  a: number,
): Matrix24 {
  const { distances, volumes } = gradients(a);
  const sum = new Float64Array(576);
  [springs.edge, springs.face, springs.inner].forEach((k, kind) =>
    distances[kind]!.forEach((g) => addOuter(sum, g, k)),
  );
  for (const g of volumes) addOuter(sum, g, 1 / springs.volumeCompliance);
  return sum;
}

/**
 * Young's modulus (Pa), Poisson's ratio and shear modulus (Pa) of a lattice of such cubes along its axes, from its
 * energy under uniform strains.
 */
export function latticeModuli(K: Matrix24, a: number): { k: number; nu: number; G: number } {
  const X = cubeCorners(a);
  const affine = (F: (x: number, y: number, z: number) => [number, number, number]): number[] =>
    Array.from({ length: 8 }, (_, c) => F(X[3 * c]!, X[3 * c + 1]!, X[3 * c + 2]!)).flat();
  const energy = (u: number[], v: number[]): number =>
    u.reduce((sum, ui, i) => sum + ui * v.reduce((s, vj, j) => s + K[24 * i + j]! * vj, 0), 0) / a ** 3;
  const x = affine((p) => [p, 0, 0]);
  const y = affine((_, q) => [0, q, 0]);
  const shear = affine((p, q) => [q / 2, p / 2, 0]);
  const C11 = energy(x, x);
  const C12 = energy(x, y);
  return { k: ((C11 - C12) * (C11 + 2 * C12)) / (C11 + C12), nu: C12 / (C11 + C12), G: energy(shear, shear) };
}
