/** 3 x 3 matrices, row by row, in arrays of many; an index gives the start of each. Only + - * /. */
export const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1] as const;

/** C = A B; C may be A, or B. */
export function multiply(A: Float64Array, a: number, B: Float64Array, b: number, C: Float64Array, c: number): void {
  const [xx, xy, xz] = [B[b]!, B[b + 1]!, B[b + 2]!];
  const [yx, yy, yz] = [B[b + 3]!, B[b + 4]!, B[b + 5]!];
  const [zx, zy, zz] = [B[b + 6]!, B[b + 7]!, B[b + 8]!];
  for (let r = 0; r < 9; r += 3) {
    const [x, y, z] = [A[a + r]!, A[a + r + 1]!, A[a + r + 2]!];
    C[c + r] = x * xx + y * yx + z * zx;
    C[c + r + 1] = x * xy + y * yy + z * zy;
    C[c + r + 2] = x * xz + y * yz + z * zz;
  }
}

/** C = scale A B^T, with A at the start of its array. */
export function multiplyTransposed(
  A: Float64Array,
  B: Float64Array,
  b: number,
  scale: number,
  C: Float64Array,
  c: number,
): void {
  for (let r = 0; r < 3; r++)
    for (let s = 0; s < 3; s++)
      C[c + 3 * r + s] =
        scale * (A[3 * r]! * B[b + 3 * s]! + A[3 * r + 1]! * B[b + 3 * s + 1]! + A[3 * r + 2]! * B[b + 3 * s + 2]!);
}

/** Symmetric part e of F^T G. If G is F, it is Green's strain (F^T F - 1)/2; else its change by a change G of F. */
export function green(F: Float64Array, f: number, G: Float64Array, g: number, e: Float64Array): void {
  const same = F === G && f === g ? 0.5 : 0;
  const by = same || 1;
  const of = (r: number, s: number): number =>
    0.5 *
    by *
    (F[f + r]! * G[g + s]! +
      F[f + 3 + r]! * G[g + 3 + s]! +
      F[f + 6 + r]! * G[g + 6 + s]! +
      F[f + s]! * G[g + r]! +
      F[f + 3 + s]! * G[g + 3 + r]! +
      F[f + 6 + s]! * G[g + 6 + r]!);
  e[0] = of(0, 0) - same;
  e[4] = of(1, 1) - same;
  e[8] = of(2, 2) - same;
  e[1] = e[3] = of(0, 1);
  e[2] = e[6] = of(0, 2);
  e[5] = e[7] = of(1, 2);
}

/**
 * Cofactors of A: its determinant's derivative. Divided by the determinant they are the inverse, transposed.
 * @param C float64[9], out
 * @returns det A
 */
export function cofactorsOf(A: Float64Array, at: number, C: Float64Array): number {
  const [a, b, c] = [A[at]!, A[at + 1]!, A[at + 2]!];
  const [d, e, f] = [A[at + 3]!, A[at + 4]!, A[at + 5]!];
  const [g, h, i] = [A[at + 6]!, A[at + 7]!, A[at + 8]!];
  C[0] = e * i - f * h;
  C[1] = f * g - d * i;
  C[2] = d * h - e * g;
  C[3] = c * h - b * i;
  C[4] = a * i - c * g;
  C[5] = b * g - a * h;
  C[6] = b * f - c * e;
  C[7] = c * d - a * f;
  C[8] = a * e - b * d;
  return a * C[0]! + b * C[1]! + c * C[2]!;
}

/** Cube root of a number between 1/4 and 4, by Newton's iteration: the bits of Math.cbrt differ between machines. */
export function cubeRoot(a: number): number {
  let x = (2 + a) / 3;
  for (let n = 0; n < 6; n++) x = (2 * x + a / (x * x)) / 3;
  return x;
}
