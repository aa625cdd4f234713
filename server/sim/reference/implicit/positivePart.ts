/** Twin of kernel/assembly/implicitSolids.ts `positivePart`: a symmetric 3x3 matrix without its negative eigenvalues, by Jacobi rotations. */

/** Sweeps over the three places off the diagonal; two to three are enough for float64. */
const SWEEPS = 5;
/** Off the diagonal, relative to the largest entry: what is below counts as zero. */
const NOTHING = 1e-12;

const at = (i: number, j: number): number => 3 * i + j;

/** Rotates A so that its entry (p, q) is zero, and V with it. */
function rotate(A: number[], V: number[], p: number, q: number, nothing: number): void {
  const apq = A[at(p, q)]!;
  if (!(Math.abs(apq) > nothing)) return;
  const theta = (A[at(q, q)]! - A[at(p, p)]!) / (2 * apq), root = 1 / (Math.abs(theta) + Math.sqrt(theta * theta + 1)), t = theta < 0 ? -root : root;
  const c = 1 / Math.sqrt(t * t + 1), s = t * c;
  for (let k = 0; k < 3; k++) {
    const akp = A[at(k, p)]!, akq = A[at(k, q)]!;
    A[at(k, p)] = c * akp - s * akq;
    A[at(k, q)] = s * akp + c * akq;
  }
  for (let k = 0; k < 3; k++) {
    const apk = A[at(p, k)]!, aqk = A[at(q, k)]!, vkp = V[at(k, p)]!, vkq = V[at(k, q)]!;
    A[at(p, k)] = c * apk - s * aqk;
    A[at(q, k)] = s * apk + c * aqk;
    V[at(k, p)] = c * vkp - s * vkq;
    V[at(k, q)] = s * vkp + c * vkq;
  }
}

/** @param S 00 11 22 12 02 01 */
export function positivePart(S: readonly number[]): number[] {
  const [a, b, c, u, v, w] = S as [number, number, number, number, number, number];
  if (a > 0 && a * b - w * w > 0 && a * (b * c - u * u) - w * (w * c - u * v) + v * (w * u - b * v) > 0) return [...S];
  const A = [a, w, v, w, b, u, v, u, c], V = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const nothing = NOTHING * Math.max(Math.abs(a), Math.abs(b), Math.abs(c), Math.abs(u), Math.abs(v), Math.abs(w));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    rotate(A, V, 0, 1, nothing);
    rotate(A, V, 0, 2, nothing);
    rotate(A, V, 1, 2, nothing);
  }
  const l0 = Math.max(A[0]!, 0), l1 = Math.max(A[4]!, 0), l2 = Math.max(A[8]!, 0);
  const entry = (i: number, j: number): number => l0 * V[at(i, 0)]! * V[at(j, 0)]! + l1 * V[at(i, 1)]! * V[at(j, 1)]! + l2 * V[at(i, 2)]! * V[at(j, 2)]!;
  return [entry(0, 0), entry(1, 1), entry(2, 2), entry(1, 2), entry(0, 2), entry(0, 1)];
}
