/**
 * Total potential energy of a mesh of linear tetrahedra with its gradient and Hessian, float64.
 *   Pi(x) = sum_e V_e Psi(F_e) - sum_i f_i . x_i,   F_e = I + sum_j u_j b_j^T,
 *   dPi/dx_j = V P b_j - f_j,   d2Pi/dx_j dx_k = V b_j . dP/dF . b_k
 * The f are dead loads, including the weight of each particle. Shape functions and masses are computed here; no code of
 * the simulation is used.
 */
import { projectSemiDefinite, diagonalize } from "./eigen.ts";
import { determinant3, type Density } from "./materials.ts";
import type { BlockMatrix } from "./sparse.ts";

export interface SolidMesh {
  /** float64[3N] m */
  rest: Float64Array;
  /** uint32[4n] */
  tets: Uint32Array;
  /** float64[n] m^3 */
  volume: Float64Array;
  /** float64[12n] gradients b_0 .. b_3 of the corners' shape functions, 1/m */
  shape: Float64Array;
}

/** Both orientations of the corners are allowed. @throws Error naming the first tetrahedron without volume */
export function solidMesh(rest: Float64Array, tets: Uint32Array): SolidMesh {
  const n = tets.length / 4;
  const volume = new Float64Array(n);
  const shape = new Float64Array(12 * n);
  for (let e = 0; e < n; e++) {
    const p = [0, 1, 2, 3].map((c) => [0, 1, 2].map((r) => rest[3 * tets[4 * e + c]! + r]!)) as number[][];
    const [u, v, w] = [1, 2, 3].map((c) => p[c]!.map((s, r) => s - p[0]![r]!)) as [number[], number[], number[]];
    const cross = (a: number[], b: number[]): number[] => [
      a[1]! * b[2]! - a[2]! * b[1]!,
      a[2]! * b[0]! - a[0]! * b[2]!,
      a[0]! * b[1]! - a[1]! * b[0]!,
    ];
    const six = cross(v, w).reduce((s, c, r) => s + c * u[r]!, 0);
    if (six === 0) throw new Error(`tetrahedron ${e}: volume 0, limit: above 0`);
    volume[e] = Math.abs(six) / 6;
    // gradient of a barycentric coordinate: normal of the opposite face over six times the volume, whose sign covers
    // both orientations
    [cross(v, w), cross(w, u), cross(u, v)].forEach((g, c) =>
      g.forEach((s, r) => {
        shape[12 * e + 3 * (c + 1) + r] = s / six;
        shape[12 * e + r]! -= s / six;
      }),
    );
  }
  return { rest, tets, volume, shape };
}

/**
 * float64[3N] N: weights of the particles, a quarter of each tetrahedron at each of its corners.
 * @param density kg/m^3; gravity m/s^2
 */
export function weights(mesh: SolidMesh, density: number, gravity: readonly number[]): Float64Array {
  const f = new Float64Array(mesh.rest.length);
  mesh.tets.forEach((p, i) => gravity.forEach((g, r) => (f[3 * p + r]! += (density * mesh.volume[i >> 2]! * g) / 4)));
  return f;
}

/**
 * F = I + sum_j (x_j - rest_j) b_j^T of tetrahedron e. Displacements keep more digits than positions. @param out
 * float64[9]
 */
function gradientOf({ rest, tets, shape }: SolidMesh, x: Float64Array, e: number, out: Float64Array): void {
  for (let i = 0; i < 9; i++) out[i] = i % 4 === 0 ? 1 : 0;
  for (let c = 0; c < 4; c++) {
    const p = 3 * tets[4 * e + c]!;
    const b = 12 * e + 3 * c;
    for (let i = 0; i < 3; i++)
      for (let a = 0; a < 3; a++) out[3 * i + a]! += (x[p + i]! - rest[p + i]!) * shape[b + a]!;
  }
}

/**
 * Bound for the rounding error of x and F in the force on a particle, N: 20 tetrahedra, each wrong by a unit in the
 * last place. @param modulus Pa
 */
export function roundingOf(mesh: SolidMesh, modulus: number, x: Float64Array): number {
  let most = 0;
  for (let e = 0; e < mesh.volume.length; e++)
    for (let c = 0; c < 4; c++) {
      const b = 12 * e + 3 * c;
      const p = 3 * mesh.tets[4 * e + c]!;
      const size = Math.hypot(mesh.shape[b]!, mesh.shape[b + 1]!, mesh.shape[b + 2]!);
      most = Math.max(most, mesh.volume[e]! * size * (1 + Math.hypot(x[p]!, x[p + 1]!, x[p + 2]!) * size));
    }
  return 20 * 2 ** -52 * modulus * most;
}

/** Smallest and largest principal stretch of all tetrahedra. The smallest is negative if a tetrahedron is inverted. */
export function extremeStretches(mesh: SolidMesh, x: Float64Array): { smallest: number; largest: number } {
  const F = new Float64Array(9);
  const C = new Float64Array(9);
  const V = new Float64Array(9);
  let smallest = Infinity;
  let largest = 0;
  for (let e = 0; e < mesh.volume.length; e++) {
    gradientOf(mesh, x, e, F);
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) C[3 * a + b] = F[a]! * F[b]! + F[3 + a]! * F[3 + b]! + F[6 + a]! * F[6 + b]!;
    diagonalize(C, V, 3);
    const stretches = [C[0]!, C[4]!, C[8]!].map((c) => Math.sqrt(Math.max(c, 0)));
    smallest = Math.min(smallest, Math.min(...stretches) * (determinant3(F) > 0 ? 1 : -1));
    largest = Math.max(largest, ...stretches);
  }
  return { smallest, largest };
}

/** Sum of V Psi, J; infinite if a tetrahedron is inverted. */
export function elasticEnergy(mesh: SolidMesh, density: Density, x: Float64Array): number {
  const F = new Float64Array(9);
  let sum = 0;
  for (let e = 0; e < mesh.volume.length; e++) {
    gradientOf(mesh, x, e, F);
    if (!(determinant3(F) > 0)) return Infinity;
    sum += mesh.volume[e]! * density.energy(F);
  }
  return sum;
}

/** Gradient of the elastic energy, dE/dx, N: the negative elastic forces. @returns float64[3N] */
export function elasticGradient(mesh: SolidMesh, density: Density, x: Float64Array): Float64Array {
  const F = new Float64Array(9);
  const P = new Float64Array(9);
  const g = new Float64Array(x.length);
  for (let e = 0; e < mesh.volume.length; e++) {
    gradientOf(mesh, x, e, F);
    density.stress(F, P);
    for (let c = 0; c < 4; c++) {
      const p = 3 * mesh.tets[4 * e + c]!;
      const b = 12 * e + 3 * c;
      for (let i = 0; i < 3; i++)
        g[p + i]! +=
          mesh.volume[e]! *
          (P[3 * i]! * mesh.shape[b]! + P[3 * i + 1]! * mesh.shape[b + 1]! + P[3 * i + 2]! * mesh.shape[b + 2]!);
    }
  }
  return g;
}

/**
 * Second derivatives of the elastic energy over the free particles.
 * @param matrix out; its pattern is that of `mesh.tets`
 * @param project leave out the negative curvature of each element, so that the sum is positive semi-definite
 */
export function elasticHessian(
  mesh: SolidMesh,
  density: Density,
  x: Float64Array,
  matrix: BlockMatrix,
  project: boolean,
): void {
  const F = new Float64Array(9);
  const A = new Float64Array(81);
  const half = new Float64Array(27);
  const { values, blockOf } = matrix;
  const { shape, volume } = mesh;
  values.fill(0);
  for (let e = 0; e < volume.length; e++) {
    gradientOf(mesh, x, e, F);
    density.tangent(F, A);
    if (project) projectSemiDefinite(A, 9);
    for (let k = 0; k < 4; k++) {
      // half = V A b_k: rows P_ia, columns the three coordinates of x_k
      const b = 12 * e + 3 * k;
      for (let p = 0; p < 9; p++)
        for (let r = 0; r < 3; r++)
          half[3 * p + r] =
            volume[e]! *
            (A[9 * p + 3 * r]! * shape[b]! +
              A[9 * p + 3 * r + 1]! * shape[b + 1]! +
              A[9 * p + 3 * r + 2]! * shape[b + 2]!);
      for (let j = 0; j < 4; j++) {
        const block = blockOf[16 * e + 4 * j + k]!;
        if (block < 0) continue;
        const c = 12 * e + 3 * j;
        for (let i = 0; i < 3; i++)
          for (let r = 0; r < 3; r++)
            values[9 * block + 3 * i + r]! +=
              shape[c]! * half[9 * i + r]! +
              shape[c + 1]! * half[9 * i + 3 + r]! +
              shape[c + 2]! * half[9 * i + 6 + r]!;
      }
    }
  }
}
