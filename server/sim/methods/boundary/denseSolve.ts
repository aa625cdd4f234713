/** Dense linear equations: Gaussian elimination with partial pivoting, the same bits on any machine. */

/**
 * Solves A X = B.
 * @param A float64[n * n], row by row; destroyed
 * @param B float64[n * m], becomes X
 * @returns false if a pivot is 0 or NaN
 */
export function solveDense(A: Float64Array, B: Float64Array, n: number, m: number): boolean {
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[n * i + k]!) > Math.abs(A[n * pivot + k]!)) pivot = i;
    if (!(Math.abs(A[n * pivot + k]!) > 0)) return false;
    if (pivot !== k) {
      swapRows(A, n, k, pivot);
      swapRows(B, m, k, pivot);
    }
    const by = 1 / A[n * k + k]!;
    for (let i = k + 1; i < n; i++) {
      const factor = A[n * i + k]! * by;
      if (factor === 0) continue;
      subtractRow(A, n, i, k, factor, k + 1);
      subtractRow(B, m, i, k, factor, 0);
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let i = k + 1; i < n; i++) if (A[n * k + i] !== 0) subtractRow(B, m, k, i, A[n * k + i]!, 0);
    const by = 1 / A[n * k + k]!;
    for (let j = 0; j < m; j++) B[m * k + j]! *= by;
  }
  return true;
}

function swapRows(A: Float64Array, width: number, a: number, b: number): void {
  const row = A.slice(width * a, width * (a + 1));
  A.copyWithin(width * a, width * b, width * (b + 1));
  A.set(row, width * b);
}

/** Row `to` minus `factor` times row `from`, starting at a column. */
function subtractRow(A: Float64Array, width: number, to: number, from: number, factor: number, column: number): void {
  for (let j = column, i = width * to, k = width * from; j < width; j++) A[i + j]! -= factor * A[k + j]!;
}
