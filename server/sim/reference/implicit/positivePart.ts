/**
 * Twin of kernel/assembly/implicit/solids.ts `positivePart`: a symmetric 3x3 matrix without its negative eigenvalues,
 * by Jacobi's rotations.
 */

/** Rotations at most: five sweeps; two to three are enough for float64. */
const TURNS = 15;
/** Off the diagonal, relative to the largest entry: what is below counts as zero. */
const NOTHING = 1e-12;

type Triple = [number, number, number];

/**
 * Each turn makes the place between the first two axes zero (Golub & Van Loan, section 8.5), and then the axes change
 * places in a ring.
 * @param S 00 11 22 12 02 01
 */
export function positivePart(S: readonly number[]): number[] {
  const [s0, s1, s2, s3, s4, s5] = S as [number, number, number, number, number, number];
  if (
    s0 > 0 &&
    s0 * s1 - s5 * s5 > 0 &&
    s0 * (s1 * s2 - s3 * s3) - s5 * (s5 * s2 - s3 * s4) + s4 * (s5 * s3 - s1 * s4) > 0
  )
    return [...S];
  let [a, b, c, ab, bc, ca] = [s0, s1, s2, s5, s3, s4];
  let x: Triple = [1, 0, 0];
  let y: Triple = [0, 1, 0];
  let z: Triple = [0, 0, 1];
  const nothing = NOTHING * Math.max(...S.map(Math.abs));
  for (
    let turn = 0;
    turn < TURNS && (Math.abs(ab) > nothing || Math.abs(bc) > nothing || Math.abs(ca) > nothing);
    turn++
  ) {
    if (Math.abs(ab) > nothing) {
      const theta = (b - a) / (2 * ab);
      const root = 1 / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const t = theta < 0 ? -root : root;
      const cos = 1 / Math.sqrt(t * t + 1);
      const sin = t * cos;
      [a, b, ab] = [a - t * ab, b + t * ab, 0];
      [ca, bc] = [cos * ca - sin * bc, sin * ca + cos * bc];
      [x, y] = [x.map((p, k) => cos * p - sin * y[k]!) as Triple, y.map((q, k) => sin * x[k]! + cos * q) as Triple];
    }
    [a, b, c, ab, bc, ca, x, y, z] = [b, c, a, bc, ca, ab, y, z, x];
  }
  [a, b, c] = [Math.max(a, 0), Math.max(b, 0), Math.max(c, 0)];
  const entry = (i: number, j: number): number => a * x[i]! * x[j]! + b * y[i]! * y[j]! + c * z[i]! * z[j]!;
  return [entry(0, 0), entry(1, 1), entry(2, 2), entry(1, 2), entry(0, 2), entry(0, 1)];
}
