/**
 * Three-vectors and 3x3 matrices as plain arrays, for the float64 twins: written for readability, not for speed.
 * Products and sums of matrices are unrolled nevertheless: they take most of the parity tests' time.
 */

export type Vector = readonly [number, number, number];
/** Three rows. */
export type Matrix = readonly [Vector, Vector, Vector];

export const ZERO: Vector = [0, 0, 0];
export const IDENTITY: Matrix = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (s: number, a: Vector): Vector => [s * a[0], s * a[1], s * a[2]];
export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a: Vector): number => Math.sqrt(dot(a, a));
export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
/** sum_i s_i a_i */
export const combine = (s: readonly number[], a: readonly Vector[]): Vector =>
  a.reduce((sum, ai, i) => add(sum, scale(s[i]!, ai)), ZERO);

/** The matrix whose columns are a, b, c. */
export const columns = (a: Vector, b: Vector, c: Vector): Matrix => [
  [a[0], b[0], c[0]],
  [a[1], b[1], c[1]],
  [a[2], b[2], c[2]],
];
export const column = (A: Matrix, k: 0 | 1 | 2): Vector => [A[0][k], A[1][k], A[2][k]];
export const transpose = (A: Matrix): Matrix => columns(A[0], A[1], A[2]);
export const apply = (A: Matrix, x: Vector): Vector => [dot(A[0], x), dot(A[1], x), dot(A[2], x)];
/** x^T B */
const applyLeft = (x: Vector, B: Matrix): Vector => [
  x[0] * B[0][0] + x[1] * B[1][0] + x[2] * B[2][0],
  x[0] * B[0][1] + x[1] * B[1][1] + x[2] * B[2][1],
  x[0] * B[0][2] + x[1] * B[1][2] + x[2] * B[2][2],
];
export const multiply = (A: Matrix, B: Matrix): Matrix => [applyLeft(A[0], B), applyLeft(A[1], B), applyLeft(A[2], B)];
const weighed = (s: number, a: Vector, t: number, b: Vector): Vector => [
  s * a[0] + t * b[0],
  s * a[1] + t * b[1],
  s * a[2] + t * b[2],
];
/** s A + t B */
export const linear = (s: number, A: Matrix, t: number, B: Matrix): Matrix => [
  weighed(s, A[0], t, B[0]),
  weighed(s, A[1], t, B[1]),
  weighed(s, A[2], t, B[2]),
];
export const trace = (A: Matrix): number => A[0][0] + A[1][1] + A[2][2];
export const determinant = (A: Matrix): number => dot(A[0], cross(A[1], A[2]));
/** A : B = sum_ij A_ij B_ij */
export const inner = (A: Matrix, B: Matrix): number => dot(A[0], B[0]) + dot(A[1], B[1]) + dot(A[2], B[2]);
export const diagonal = (d: Vector): Matrix => [
  [d[0], 0, 0],
  [0, d[1], 0],
  [0, 0, d[2]],
];

/**
 * Solves A y = b by Gaussian elimination with row pivoting.
 * @param A n rows of n, unchanged
 * @param b n, unchanged
 * @throws Error if a pivot is zero
 */
export function solveLinear(A: readonly (readonly number[])[], b: readonly number[]): number[] {
  const n = b.length;
  const rows = A.map((row, i) => [...row, b[i]!]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i]![k]!) > Math.abs(rows[pivot]![k]!)) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot]!, rows[k]!];
    if (rows[k]![k] === 0) throw new Error(`linear system of ${n} unknowns: pivot ${k} is 0`);
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i]![k]! / rows[k]![k]!;
      for (let j = k; j <= n; j++) rows[i]![j]! -= factor * rows[k]![j]!;
    }
  }
  const y = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let sum = rows[i]![n]!;
    for (let j = i + 1; j < n; j++) sum -= rows[i]![j]! * y[j]!;
    y[i] = sum / rows[i]![i]!;
  }
  return y;
}

export function inverse(A: Matrix): Matrix {
  const c = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])] as const;
  return linear(0, A, 1 / determinant(A), columns(c[0], c[1], c[2]));
}
