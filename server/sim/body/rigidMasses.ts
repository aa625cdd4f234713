/**
 * Masses of a rigid body. Masses lumped at corners have its mass and center, but too large an inertia: 1.5 times that
 * of a box of 2 cells a side. A rigid body has a share s of them, and points inside with the rest, so that
 *   sum m = M,  sum m q = 0,  sum m q q^T = S,  S the integral of density q q^T over the volume, q from the center.
 * Of a tetrahedron with corners v, S = M/20 (sum v v^T + (sum v)(sum v)^T): Eberly, Polyhedral mass properties (2002).
 * With S w = lambda D w, D = sum m q q^T of the lumped masses, s is the least lambda (1/5 to 1, as S lies between D/5
 * and D). Each greater one gives two points at c +- (lambda - s)^(1/2) w. If all are equal, the center alone has the
 * rest.
 * So particles are the one definition of a rigid body's inertia: of contacts, momentum, energy, wind and hands.
 */
import { eigenvectors } from "../constraints/eigenvectors.ts";

/** Differences of lambda below this are rounding. */
const SAME = 1e-9;

/**
 * @param X float64[3N] m
 * @param tets uint32[4n]
 * @param lumped float64[N] kg, a quarter of each tetrahedron's mass per corner
 * @returns float64[3(N + n)] and float64[N + n], with n more points
 */
export function rigidMasses(
  X: Float64Array,
  tets: Uint32Array,
  lumped: Float64Array,
  density: number,
): { own: Float64Array; mass: Float64Array } {
  const total = lumped.reduce((sum, m) => sum + m, 0);
  const center = [0, 1, 2].map(
    (r) => lumped.reduce((sum, m, i) => sum + m * (X[3 * i + r]! - X[r]!), 0) / total + X[r]!,
  );
  const q = X.map((x, k) => x - center[k % 3]!);
  const { values: spread, axes } = eigenvectors(secondMoment(q, lumped));
  // columns of B: B B^T = D; so B^-1 S B^-T has the eigenvalues lambda
  const B = axes.map((a, k) => a * Math.sqrt(spread[k % 3]!));
  const inverse = axes.map((a, k) => a / Math.sqrt(spread[k % 3]!));
  const { values, axes: turned } = eigenvectors(conjugate(inverse, volumeMoment(q, tets, density)));
  const s = Math.min(...values);
  const wide = [0, 1, 2].filter((k) => values[k]! > s + SAME);
  const rest = (1 - s) * total;
  const share = rest / Math.max(1, 2 * wide.length);
  const points = wide.flatMap((k) => {
    const w = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, j) => sum + B[3 * r + j]! * turned[3 * j + k]!, 0));
    const way = Math.sqrt((values[k]! - s) / (2 * share));
    return [-way, way].map((d) => center.map((c, r) => c + d * w[r]!));
  });
  if (points.length === 0) points.push(center);
  return {
    own: Float64Array.from([...X, ...points.flat()]),
    mass: Float64Array.from([...lumped.map((m) => s * m), ...points.map(() => share)]),
  };
}

/** sum m q q^T */
function secondMoment(q: Float64Array, mass: Float64Array): number[] {
  const sum = new Array<number>(9).fill(0);
  mass.forEach((m, i) => {
    for (let k = 0; k < 9; k++) sum[k]! += m * q[3 * i + Math.floor(k / 3)]! * q[3 * i + (k % 3)]!;
  });
  return sum;
}

/** The integral of density q q^T. */
function volumeMoment(q: Float64Array, tets: Uint32Array, density: number): number[] {
  const sum = new Array<number>(9).fill(0);
  for (let e = 0; e < tets.length; e += 4) {
    const v = [0, 1, 2, 3].map((c) => q.subarray(3 * tets[e + c]!, 3 * tets[e + c]! + 3));
    const all = [0, 1, 2].map((r) => v.reduce((total, corner) => total + corner[r]!, 0));
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((r) => v[k]![r]! - v[3]![r]!)) as [
      number[],
      number[],
      number[],
    ];
    const six =
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
    for (let k = 0; k < 9; k++) {
      const [i, j] = [Math.floor(k / 3), k % 3];
      sum[k]! += ((density * six) / 120) * v.reduce((total, x) => total + x[i]! * x[j]!, all[i]! * all[j]!);
    }
  }
  return sum;
}

/** B^T S B */
function conjugate(B: readonly number[], S: readonly number[]): number[] {
  const entry = (i: number, j: number): number => {
    let sum = 0;
    for (let a = 0; a < 3; a++) for (let b = 0; b < 3; b++) sum += B[3 * a + i]! * S[3 * a + b]! * B[3 * b + j]!;
    return sum;
  };
  return Array.from({ length: 9 }, (_, k) =>
    entry(Math.min(Math.floor(k / 3), k % 3), Math.max(Math.floor(k / 3), k % 3)),
  );
}
