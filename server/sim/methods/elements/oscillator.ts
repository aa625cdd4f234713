/**
 * Exact step of q'' + c q' + lambda q = g for a constant g, by the exponential of its matrix: a Taylor series over a
 * 2^-k-th of the step, squared k times (Higham 2005, without the Pade quotient). Only + - * /: sines and cosines of
 * different libraries differ in bits.
 */

/** Largest part of the step for the series, in 1/w, and its number of terms: 0.25^17/17! is below rounding. */
const PART = 0.25;
const TERMS = 16;

/**
 * @param lambda 1/s^2, >= 0
 * @param c 1/s, >= 0
 * @param h s
 * @returns a b c d e f: q' = a q + b s + c g, s' = d q + e s + f g, s = dq/dt
 */
export function propagator(lambda: number, c: number, h: number): number[] {
  // in units of 1/w for time, all entries have similar sizes: (q, s/w, g/w^2)
  const w = Math.max(Math.sqrt(lambda), c, 1 / h);
  let squarings = 0;
  let t = w * h;
  while (t > PART) {
    t /= 2;
    squarings++;
  }
  const A = [0, 1, 0, -lambda / (w * w), -c / w, 1, 0, 0, 0];
  let E = exponential(A, t);
  for (let k = 0; k < squarings; k++) E = product(E, E);
  return [E[0]!, E[1]! / w, E[2]! / (w * w), E[3]! * w, E[4]!, E[5]! / w];
}

/** 1 + t A + (t A)^2/2 + ..., by Horner's rule. */
function exponential(A: readonly number[], t: number): number[] {
  let E = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  for (let k = TERMS; k > 0; k--)
    E = product(
      A.map((a) => (a * t) / k),
      E,
    ).map((value, i) => value + (i % 4 === 0 ? 1 : 0));
  return E;
}

/** Product of 3x3 matrices, row by row. */
function product(A: readonly number[], B: readonly number[]): number[] {
  return A.map((_, n) => {
    const row = 3 * Math.floor(n / 3);
    const column = n % 3;
    return A[row]! * B[column]! + A[row + 1]! * B[3 + column]! + A[row + 2]! * B[6 + column]!;
  });
}
