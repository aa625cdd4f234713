/**
 * The coplanarity cubic of ccd.ts with three times the digits, for pairs that are nearly coplanar all the time, so that
 * float64 does not determine its sign.
 *
 * Every difference is a + a' exactly (Knuth's sum), every product p + e exactly (Dekker's product). So a monomial a b c
 * of the determinant is a few terms of the order 1, u and u^2, u = 2^-53, times |a b c|. They are added up in three
 * sums (Ogita, Rump and Oishi 2005, SumK with K = 3): rounding errors of the first sum go to the second exactly, those
 * of the second to the third.
 *
 * Error, with T the sum of |a b c| over all monomials, at most 18: only the third sum is rounded. The first sum rounds
 * by at most u T an addition, so the second gets 18 such and at most 5 u |a b c| a monomial: it never exceeds 2^5 u T
 * and rounds by 2^5 u^2 T an addition, 6 a monomial. So the third, with another 3 u^2 |a b c| a monomial, never exceeds
 * 2^12 u^2 T, and its 8 additions a monomial round by less than 2^8 2^12 u^3 T; products in it and the dropped a' b' c'
 * are a few u^3 |a b c|. Taken as 2^24 u^3 T. The last two additions and the factor 1/3 add 3 u |b_i|, which `setCubic`
 * gets too. Two lanes, t0 and t1, as in ccd.ts.
 * Tried: two sums (2^7 u^2 T); queries with motions of 10^-16 across their common plane kept 7 of 113 false alarms.
 */
import { at, swap } from "./ccdLanes";
import { setCubic } from "./ccdRoots";

/** 2^27 + 1. */
const SPLIT: f64 = 134217729.0;
/** 2^24 u^3 = 2^-135. */
const ERROR: f64 = 2.2958874039497803e-41;
/** 14 u: 10 for blossoms (ccdRoots.ts), 3 for the last roundings, and a reserve. */
const EVALUATION: f64 = 14.0 / 9007199254740992.0;
/** As in ccd.ts. */
const UNDERFLOW: f64 = 1.3e-259;

/** (a + b) - s, where s = fl(a + b). */
// @inline
function sumError(a: v128, b: v128, s: v128): v128 {
  const t = f64x2.sub(s, a);
  return f64x2.add(f64x2.sub(a, f64x2.sub(s, t)), f64x2.sub(b, t));
}

// @inline
function highHalf(a: v128): v128 {
  const c = f64x2.mul(a, f64x2.splat(SPLIT));
  return f64x2.sub(c, f64x2.sub(c, a));
}

/** a b - p, where p = fl(a b). */
// @inline
function productError(a: v128, b: v128, p: v128): v128 {
  const ah = highHalf(a);
  const al = f64x2.sub(a, ah);
  const bh = highHalf(b);
  const bl = f64x2.sub(b, bh);
  return f64x2.add(
    f64x2.add(f64x2.add(f64x2.sub(f64x2.mul(ah, bh), p), f64x2.mul(ah, bl)), f64x2.mul(al, bh)),
    f64x2.mul(al, bl),
  );
}

/** (a - b) - fl(a - b). */
// @inline
function rest(a: v128, b: v128): v128 {
  return sumError(a, f64x2.neg(b), f64x2.sub(a, b));
}

/** The three sums, and the sum of the monomials' magnitudes. */
let first: v128 = f64x2.splat(0);
let second: v128 = f64x2.splat(0);
let third: v128 = f64x2.splat(0);
let terms: v128 = f64x2.splat(0);

function begin(): void {
  first = f64x2.splat(0);
  second = f64x2.splat(0);
  third = f64x2.splat(0);
  terms = f64x2.splat(0);
}

/** Adds to the second sum, x of the order u. */
// @inline
function addSecond(x: v128): void {
  const s = f64x2.add(second, x);
  third = f64x2.add(third, sumError(second, x, s));
  second = s;
}

/** Adds (a + al)(b + bl)(c + cl). */
function addMonomial(a: v128, al: v128, b: v128, bl: v128, c: v128, cl: v128): void {
  const p = f64x2.mul(a, b);
  const e = productError(a, b, p);
  const f = f64x2.mul(p, c);
  const r = f64x2.mul(e, c);
  terms = f64x2.add(terms, f64x2.abs(f));
  const s = f64x2.add(first, f);
  addSecond(sumError(first, f, s));
  first = s;
  addSecond(productError(p, c, f));
  addSecond(r);
  third = f64x2.add(third, productError(e, c, r));
  if (!v128.any_true(v128.or(v128.or(al, bl), cl))) return;
  const pa = f64x2.mul(al, b);
  const ea = productError(al, b, pa);
  const fa = f64x2.mul(pa, c);
  const pb = f64x2.mul(a, bl);
  const eb = productError(a, bl, pb);
  const fb = f64x2.mul(pb, c);
  const fc = f64x2.mul(p, cl);
  addSecond(fa);
  addSecond(fb);
  addSecond(fc);
  const errors = f64x2.add(f64x2.add(productError(pa, c, fa), productError(pb, c, fb)), productError(p, cl, fc));
  const small = f64x2.add(
    f64x2.mul(f64x2.add(f64x2.add(ea, eb), f64x2.mul(al, bl)), c),
    f64x2.mul(f64x2.add(f64x2.add(pa, pb), e), cl),
  );
  third = f64x2.add(third, f64x2.add(errors, small));
}

/** Returns one coordinate of b - a; `swaps` exchanges its ends. */
// @inline
function difference(q: usize, scale: v128, a: usize, b: usize, swaps: bool): v128 {
  const high = f64x2.sub(at(q, b, scale), at(q, a, scale));
  return swaps ? swap(high) : high;
}

/** Returns the rounding error of that difference. */
// @inline
function differenceLow(q: usize, scale: v128, a: usize, b: usize, swaps: bool): v128 {
  const low = rest(at(q, b, scale), at(q, a, scale));
  return swaps ? swap(low) : low;
}

/**
 * Adds det(A, B, C), all with their low parts.
 * @param a0 .. c1 as in `refineCubic`; swapsA, swapsB, swapsC: exchange the ends of A, B, C
 */
function addDeterminant(
  q: usize,
  scale: v128,
  a0: usize,
  a1: usize,
  swapsA: bool,
  b0: usize,
  b1: usize,
  swapsB: bool,
  c0: usize,
  c1: usize,
  swapsC: bool,
): void {
  const ax = difference(q, scale, a0, a1, swapsA);
  const ay = difference(q, scale, a0 + 8, a1 + 8, swapsA);
  const az = difference(q, scale, a0 + 16, a1 + 16, swapsA);
  const alx = differenceLow(q, scale, a0, a1, swapsA);
  const aly = differenceLow(q, scale, a0 + 8, a1 + 8, swapsA);
  const alz = differenceLow(q, scale, a0 + 16, a1 + 16, swapsA);
  const bx = difference(q, scale, b0, b1, swapsB);
  const by = difference(q, scale, b0 + 8, b1 + 8, swapsB);
  const bz = difference(q, scale, b0 + 16, b1 + 16, swapsB);
  const blx = differenceLow(q, scale, b0, b1, swapsB);
  const bly = differenceLow(q, scale, b0 + 8, b1 + 8, swapsB);
  const blz = differenceLow(q, scale, b0 + 16, b1 + 16, swapsB);
  const cx = difference(q, scale, c0, c1, swapsC);
  const cy = difference(q, scale, c0 + 8, c1 + 8, swapsC);
  const cz = difference(q, scale, c0 + 16, c1 + 16, swapsC);
  const clx = differenceLow(q, scale, c0, c1, swapsC);
  const cly = differenceLow(q, scale, c0 + 8, c1 + 8, swapsC);
  const clz = differenceLow(q, scale, c0 + 16, c1 + 16, swapsC);
  addMonomial(ay, aly, bz, blz, cx, clx);
  addMonomial(f64x2.neg(az), f64x2.neg(alz), by, bly, cx, clx);
  addMonomial(az, alz, bx, blx, cy, cly);
  addMonomial(f64x2.neg(ax), f64x2.neg(alx), bz, blz, cy, cly);
  addMonomial(ax, alx, by, bly, cz, clz);
  addMonomial(f64x2.neg(ay), f64x2.neg(aly), bx, blx, cz, clz);
}

// @inline
function total(): v128 {
  const s = f64x2.add(first, second);
  return f64x2.add(s, f64x2.add(sumError(first, second, s), third));
}

// @inline
function larger(x: v128): f64 {
  return max(f64x2.extract_lane(x, 0), f64x2.extract_lane(x, 1));
}

/**
 * Sets the cubic of ccdRoots.ts again, with more digits.
 * @param q, scaling as in ccd.ts
 * @param a0, a1, b0, b1, c0, c1 byte offsets of points at t0: A = a1 - a0, B = b1 - b0, C = c1 - c0
 */
export function refineCubic(
  q: usize,
  scaling: f64,
  a0: usize,
  a1: usize,
  b0: usize,
  b1: usize,
  c0: usize,
  c1: usize,
): void {
  const scale = f64x2.splat(scaling);
  // b0 = det(A0, B0, C0), 3 b1 = det(A0, B0, C1) + det(A0, B1, C0) + det(A1, B0, C0), and b3, b2 with 0 and 1
  // exchanged.
  begin();
  addDeterminant(q, scale, a0, a1, false, b0, b1, false, c0, c1, false);
  const outer = total();
  const outerTerms = terms;
  begin();
  addDeterminant(q, scale, a0, a1, false, b0, b1, false, c0, c1, true);
  addDeterminant(q, scale, a0, a1, false, b0, b1, true, c0, c1, false);
  addDeterminant(q, scale, a0, a1, true, b0, b1, false, c0, c1, false);
  const inner = f64x2.mul(total(), f64x2.splat(0.3333333333333333));
  const largest = larger(f64x2.pmax(f64x2.abs(outer), f64x2.abs(inner)));
  setCubic(
    f64x2.extract_lane(outer, 0),
    f64x2.extract_lane(inner, 0),
    f64x2.extract_lane(inner, 1),
    f64x2.extract_lane(outer, 1),
    ERROR * larger(f64x2.pmax(outerTerms, terms)) + EVALUATION * largest + UNDERFLOW,
  );
}
