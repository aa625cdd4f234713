/**
 * Twin of kernel/assembly/implicit/solids.ts `positivePart`, which does two at a time. Removes the negative eigenvalues
 * of a symmetric 3x3 matrix, using the one eigenvalue whose sign differs from the other two.
 */

/** Newton's steps: the first guess is wrong by at most 15 %, and each step doubles the digits. */
const STEPS = 4;

/**
 * By Cayley and Hamilton, S+ = l P(l) or S - l P(l) with P(l) = (S - a)(S - b)/((l - a)(l - b)) and a, b the other two
 * eigenvalues. l = m -+ p (1 + d), m the mean of all three, 6 p^2 = |S - m|^2, and d in 0 .. 1 solves d^3 + 3 d^2 = 2
 * (1 -+ r), r = det (S - m)/(2 p^3).
 * @param S 00 11 22 12 02 01
 */
export function positivePart(S: readonly number[]): number[] {
  const [s0, s1, s2, s3, s4, s5] = S as [number, number, number, number, number, number];
  const trace = s0 + s1 + s2;
  const minors = s0 * s1 - s5 * s5 + (s1 * s2 - s3 * s3) + (s0 * s2 - s4 * s4);
  const det = s0 * (s1 * s2 - s3 * s3) - s5 * (s5 * s2 - s3 * s4) + s4 * (s5 * s3 - s1 * s4);
  if (trace >= 0 && minors >= 0 && det >= 0) return [...S];
  if (trace <= 0 && minors >= 0 && det <= 0) return [0, 0, 0, 0, 0, 0];
  const sign = det < 0 ? -1 : 1;
  const m = trace / 3;
  const [a, b, c] = [s0 - m, s1 - m, s2 - m];
  const p2 = (a * a + b * b + c * c + 2 * (s3 * s3 + s4 * s4 + s5 * s5)) / 6;
  const p = Math.sqrt(p2);
  const r = (a * (b * c - s3 * s3) - s5 * (s5 * c - s3 * s4) + s4 * (s5 * s3 - b * s4)) / (2 * p2 * p);
  const e = 2 * (1 + sign * r);
  // the other two are as far from zero as this one, or only they are not zero
  if (!(e > 0)) return sign < 0 ? [...S] : [0, 0, 0, 0, 0, 0];
  let d = Math.sqrt(e / 3);
  for (let step = 0; step < STEPS; step++) d -= ((d + 3) * d * d - e) / (3 * d * (d + 2));
  const l = m + sign * p * (1 + d);
  const sum = trace - l;
  const product = minors - l * sum;
  const scale = l / (3 * p2 * d * (d + 2));
  const part = [
    scale * (s0 * s0 + s4 * s4 + s5 * s5 - sum * s0 + product),
    scale * (s1 * s1 + s3 * s3 + s5 * s5 - sum * s1 + product),
    scale * (s2 * s2 + s3 * s3 + s4 * s4 - sum * s2 + product),
    scale * (s5 * s4 + s1 * s3 + s3 * s2 - sum * s3),
    scale * (s0 * s4 + s5 * s3 + s4 * s2 - sum * s4),
    scale * (s0 * s5 + s5 * s1 + s4 * s3 - sum * s5),
  ];
  return sign > 0 ? part : S.map((value, k) => value - part[k]!);
}
