/** 3x3 matrices f64x9 in memory, row by row. Sums are in the order of the columns. */

/** to = A B. @param to different from both */
export function multiply(A: usize, B: usize, to: usize): void {
  for (let row: usize = 0; row < 72; row += 24) {
    const x = load<f64>(A + row);
    const y = load<f64>(A + row, 8);
    const z = load<f64>(A + row, 16);
    for (let b = B, at = to + row; b < B + 24; b += 8, at += 8)
      store<f64>(at, x * load<f64>(b) + y * load<f64>(b, 24) + z * load<f64>(b, 48));
  }
}

/** to = A B^T. @param to different from both */
export function multiplyTransposed(A: usize, B: usize, to: usize): void {
  for (let row: usize = 0; row < 72; row += 24) {
    const x = load<f64>(A + row);
    const y = load<f64>(A + row, 8);
    const z = load<f64>(A + row, 16);
    for (let b = B, at = to + row; b < B + 72; b += 24, at += 8)
      store<f64>(at, x * load<f64>(b) + y * load<f64>(b, 8) + z * load<f64>(b, 16));
  }
}

/** Returns a b - c d, of the numbers at these offsets. */
// @inline
export function cofactor(A: usize, a: usize, b: usize, c: usize, d: usize): f64 {
  return load<f64>(A + a) * load<f64>(A + b) - load<f64>(A + c) * load<f64>(A + d);
}

/** to = det(A) A^-T. @param to different from A */
export function cofactors(A: usize, to: usize): void {
  store<f64>(to, cofactor(A, 32, 64, 40, 56));
  store<f64>(to, cofactor(A, 40, 48, 24, 64), 8);
  store<f64>(to, cofactor(A, 24, 56, 32, 48), 16);
  store<f64>(to, cofactor(A, 16, 56, 8, 64), 24);
  store<f64>(to, cofactor(A, 0, 64, 16, 48), 32);
  store<f64>(to, cofactor(A, 8, 48, 0, 56), 40);
  store<f64>(to, cofactor(A, 8, 40, 16, 32), 48);
  store<f64>(to, cofactor(A, 16, 24, 0, 40), 56);
  store<f64>(to, cofactor(A, 0, 32, 8, 24), 64);
}

export function determinant(A: usize): f64 {
  return (
    load<f64>(A) * cofactor(A, 32, 64, 40, 56) +
    load<f64>(A, 8) * cofactor(A, 40, 48, 24, 64) +
    load<f64>(A, 16) * cofactor(A, 24, 56, 32, 48)
  );
}

/** E = (S^T S - 1)/2, Green's strain. */
export function greenStrain(S: usize, E: usize): void {
  for (let i: usize = 0; i < 24; i += 8) {
    for (let j: usize = 0; j < 24; j += 8) {
      const a = S + i;
      const b = S + j;
      const dot =
        load<f64>(a) * load<f64>(b) + load<f64>(a, 24) * load<f64>(b, 24) + load<f64>(a, 48) * load<f64>(b, 48);
      store<f64>(E + 3 * i + j, 0.5 * (i === j ? dot - 1 : dot));
    }
  }
}

/** Frobenius norm of a symmetric matrix. */
export function symmetricNorm(E: usize): f64 {
  const a = load<f64>(E);
  const b = load<f64>(E, 32);
  const c = load<f64>(E, 64);
  const d = load<f64>(E, 8);
  const e = load<f64>(E, 16);
  const f = load<f64>(E, 40);
  return sqrt(a * a + b * b + c * c + 2 * (d * d + e * e + f * f));
}
