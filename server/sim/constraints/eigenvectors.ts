/**
 * Principal axes of a symmetric 3x3 matrix by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, section
 * 8.5) in float64. Plain arithmetic and square roots give the same bits on any machine, and powers of two scale
 * exactly.
 */

/** Sweeps after which any 3x3 matrix is diagonal: convergence is quadratic, and five suffice. */
const SWEEPS = 8;

/**
 * @param matrix float64[9] row by row, symmetric
 * @returns values[c] with axes in column c of a proper rotation, row by row; a diagonal matrix keeps its order and
 *   gives the identity
 */
export function eigenvectors(matrix: readonly number[]): { values: [number, number, number]; axes: number[] } {
  const a = [...matrix];
  const v = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let turned = false;
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const off = a[3 * p + q]!;
      const app = a[4 * p]!;
      const aqq = a[4 * q]!;
      // too small to change either value
      if (app + Math.abs(off) === app && aqq + Math.abs(off) === aqq) continue;
      turned = true;
      const theta = (aqq - app) / (2 * off);
      const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const c = 1 / Math.sqrt(t * t + 1);
      const s = t * c;
      const r = 3 - p - q;
      const arp = a[3 * r + p]!;
      const arq = a[3 * r + q]!;
      a[4 * p] = app - t * off;
      a[4 * q] = aqq + t * off;
      a[3 * p + q] = a[3 * q + p] = 0;
      a[3 * r + p] = a[3 * p + r] = c * arp - s * arq;
      a[3 * r + q] = a[3 * q + r] = s * arp + c * arq;
      for (let k = 0; k < 3; k++) {
        const vp = v[3 * k + p]!;
        const vq = v[3 * k + q]!;
        v[3 * k + p] = c * vp - s * vq;
        v[3 * k + q] = s * vp + c * vq;
      }
    }
    if (!turned) break;
  }
  return { values: [a[0]!, a[4]!, a[8]!], axes: v };
}
