/** Symmetric eigenvalue problems of a few rows by cyclic Jacobi rotations (Golub & Van Loan, section 8.5), float64. */

/**
 * Jacobi rotations until no off-diagonal entry exceeds 1e-15 of the matrix's norm.
 * @param A float64[n*n] symmetric, inout: diagonal afterwards
 * @param V float64[n*n] out: eigenvectors as columns
 */
export function diagonalize(A: Float64Array, V: Float64Array, n: number): void {
  V.fill(0);
  for (let i = 0; i < n; i++) V[n * i + i] = 1;
  let size = 0;
  for (const a of A) size = Math.max(size, Math.abs(a));
  for (let sweep = 0; sweep < 30; sweep++) {
    let most = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        const apq = A[n * p + q]!;
        most = Math.max(most, Math.abs(apq));
        if (Math.abs(apq) <= 1e-15 * size) continue;
        const theta = (A[n * q + q]! - A[n * p + p]!) / (2 * apq);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const kp = A[n * k + p]!;
          const kq = A[n * k + q]!;
          A[n * k + p] = c * kp - s * kq;
          A[n * k + q] = s * kp + c * kq;
        }
        for (let k = 0; k < n; k++) {
          const pk = A[n * p + k]!;
          const qk = A[n * q + k]!;
          const vp = V[n * k + p]!;
          const vq = V[n * k + q]!;
          A[n * p + k] = c * pk - s * qk;
          A[n * q + k] = s * pk + c * qk;
          V[n * k + p] = c * vp - s * vq;
          V[n * k + q] = s * vp + c * vq;
        }
      }
    if (most <= 1e-15 * size) return;
  }
}

/** The nearest matrix without negative eigenvalues. @param A float64[n*n] symmetric, inout */
export function projectSemiDefinite(A: Float64Array, n: number): void {
  const D = Float64Array.from(A);
  const V = new Float64Array(n * n);
  diagonalize(D, V, n);
  for (let k = 0; k < n; k++) {
    const value = D[n * k + k]!;
    if (value >= 0) continue;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) A[n * i + j]! -= value * V[n * i + k]! * V[n * j + k]!;
  }
}
