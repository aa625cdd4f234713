/**
 * Rotation of a deformation gradient: the orthogonal factor R of F = R S (Mueller and Gross 2004, section 4), by
 * Newton's iteration R' = (R + R^-T)/2 from R = F (Higham 1986), which needs only + - * /. A flat or inverted F uses
 * the rotation of its singular value decomposition, which is never a reflection (Irving et al. 2004).
 */
import { svd } from "../../reference/svd.ts";
import { multiply, transpose } from "../../reference/vector.ts";

/** Below this determinant the iteration is slow, or ends at a reflection. */
const LEAST = 0.01;
const MOST_ITERATIONS = 30;
/** Quadratic convergence: after a change of this size the next is rounding. */
const CONVERGED = 1e-9;

/**
 * @param F float64[9], row by row
 * @param R float64 out, from `at` on
 */
export function rotationOf(F: Float64Array, R: Float64Array, at: number): void {
  let a = F[0]!;
  let b = F[1]!;
  let c = F[2]!;
  let d = F[3]!;
  let e = F[4]!;
  let f = F[5]!;
  let g = F[6]!;
  let h = F[7]!;
  let i = F[8]!;
  let least = LEAST;
  for (let n = 0; n < MOST_ITERATIONS; n++) {
    // cofactors over the determinant: R^-T
    const A = e * i - f * h;
    const B = f * g - d * i;
    const C = d * h - e * g;
    const D = c * h - b * i;
    const E = a * i - c * g;
    const G = b * g - a * h;
    const H = b * f - c * e;
    const I = c * d - a * f;
    const J = a * e - b * d;
    const determinant = a * A + b * B + c * C;
    if (!(determinant > least)) break;
    least = 0;
    const s = 0.5 / determinant;
    // change in this iteration, in three sums
    const left = Math.abs(s * A - 0.5 * a) + Math.abs(s * E - 0.5 * e) + Math.abs(s * J - 0.5 * i);
    const beside = Math.abs(s * B - 0.5 * b) + Math.abs(s * G - 0.5 * f) + Math.abs(s * H - 0.5 * g);
    const other = Math.abs(s * C - 0.5 * c) + Math.abs(s * D - 0.5 * d) + Math.abs(s * I - 0.5 * h);
    a = 0.5 * a + s * A;
    b = 0.5 * b + s * B;
    c = 0.5 * c + s * C;
    d = 0.5 * d + s * D;
    e = 0.5 * e + s * E;
    f = 0.5 * f + s * G;
    g = 0.5 * g + s * H;
    h = 0.5 * h + s * I;
    i = 0.5 * i + s * J;
    if (left + beside + other > CONVERGED) continue;
    R[at] = a;
    R[at + 1] = b;
    R[at + 2] = c;
    R[at + 3] = d;
    R[at + 4] = e;
    R[at + 5] = f;
    R[at + 6] = g;
    R[at + 7] = h;
    R[at + 8] = i;
    return;
  }
  const { U, V } = svd([
    [F[0]!, F[1]!, F[2]!],
    [F[3]!, F[4]!, F[5]!],
    [F[6]!, F[7]!, F[8]!],
  ]);
  R.set(multiply(U, transpose(V)).flat(), at);
}
