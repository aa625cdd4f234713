/**
 * Exact real roots in [0, 1]. A root is either a dyadic number, or the only root of a square-free polynomial between
 * two dyadic numbers. Roots are isolated by Sturm's theorem (1829). The sign of another polynomial at a root comes from
 * interval arithmetic on shrinking intervals. If that does not terminate, the sign may be 0, and the common divisor of
 * the two polynomials decides.
 */
import { commonDivisor, derivative, divide, primitive, signAt, signBetween, type Polynomial } from "./polynomial.ts";

/**
 * A root in [low, high] / 2^k. If low = high, it is this number. Otherwise p is square-free, has no root at either end,
 * and exactly one between them.
 */
export interface Root {
  p: Polynomial;
  low: bigint;
  high: bigint;
  k: number;
}

export const at = (value: bigint): Root => ({ p: [], low: value, high: value, k: 0 });

const square = (p: Polynomial): Polynomial => {
  const common = commonDivisor(p, derivative(p));
  return common.length > 1 ? primitive(divide(p, common).quotient) : primitive(p);
};

function chain(p: Polynomial): Polynomial[] {
  const chain = [p, primitive(derivative(p))];
  for (;;) {
    const { remainder } = divide(chain[chain.length - 2]!, chain[chain.length - 1]!);
    if (remainder.length === 0) return chain;
    chain.push(primitive(remainder.map((c) => -c)));
  }
}

function changes(chain: readonly Polynomial[], n: bigint, k: number): number {
  let count = 0;
  let last = 0;
  for (const p of chain) {
    const sign = signAt(p, n, k);
    if (sign === 0) continue;
    if (last !== 0 && sign !== last) count++;
    last = sign;
  }
  return count;
}

/** All distinct roots in [0, 1], in no order. @param polynomial not zero */
export function rootsBetween0And1(polynomial: Polynomial): Root[] {
  if (polynomial.length < 2 || signBetween(polynomial, 0n, 1n, 0) !== 0) return [];
  const p = square(polynomial);
  const sturm = chain(p);
  const roots: Root[] = [];
  for (const end of [0n, 1n]) if (signAt(p, end, 0) === 0) roots.push(at(end));
  // searches the open interval (low, high) / 2^k
  const search = (low: bigint, high: bigint, k: number, before: number, after: number): void => {
    const first = signAt(p, low, k);
    const last = signAt(p, high, k);
    const inside = before - after - (last === 0 ? 1 : 0);
    if (inside <= 0) return;
    if (inside === 1 && first !== 0 && last !== 0) return void roots.push({ p, low, high, k });
    const middle = low + high;
    const count = changes(sturm, middle, k + 1);
    if (signAt(p, middle, k + 1) === 0) roots.push({ p, low: middle, high: middle, k: k + 1 });
    search(2n * low, middle, k + 1, before, count);
    search(middle, 2n * high, k + 1, count, after);
  };
  search(0n, 1n, 0, changes(sturm, 0n, 0), changes(sturm, 1n, 0));
  return roots;
}

/** Halves the interval that contains the root. */
function refine(root: Root): void {
  if (root.low === root.high) return;
  const middle = root.low + root.high;
  const k = root.k + 1;
  const sign = signAt(root.p, middle, k);
  const [low, high] = [2n * root.low, 2n * root.high];
  root.k = k;
  if (sign === 0) root.low = root.high = middle;
  else if (sign === signAt(root.p, low, k)) [root.low, root.high] = [middle, high];
  else [root.low, root.high] = [low, middle];
}

/**
 * Steps of interval arithmetic before the common divisor is computed: nonzero signs are nearly always found within
 * them.
 */
const GUESSES = 8;

/** Sign of q at the root. */
export function signAtRoot(q: Polynomial, root: Root): -1 | 0 | 1 {
  if (q.length === 0) return 0;
  for (let step = 0; ; step++) {
    if (root.low === root.high) return signAt(q, root.low, root.k);
    const sign = signBetween(q, root.low, root.high, root.k);
    if (sign !== 0) return sign;
    if (step === GUESSES) {
      // p has one simple root here. If it is also a root of the divisor, the divisor changes its sign between the ends.
      const common = commonDivisor(root.p, q);
      if (common.length > 1 && signAt(common, root.low, root.k) !== signAt(common, root.high, root.k)) return 0;
    }
    refine(root);
  }
}

/** Bits of precision of a root's time, more than the 53 of float64. */
const TIME_BITS = 64;

/** The root as a number, within 2^-53. Narrows the root's interval. */
export function timeOf(root: Root): number {
  while (root.low !== root.high && root.k < TIME_BITS) refine(root);
  return Number((root.low << BigInt(TIME_BITS)) >> BigInt(root.k)) / 2 ** TIME_BITS;
}
