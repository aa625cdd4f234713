/**
 * Natural logarithm of four positive float32 numbers, with + - * / and integer operations only: the same bits on every
 * machine, which the host's Math.log does not guarantee.
 *
 *   x = 2^e m with sqrt(1/2) <= m < sqrt 2,  u = (m - 1)/(m + 1),  |u| < 0.1716
 *   ln m = 2 (u + u^3/3 + u^5/5 + u^7/7 + u^9/9)      atanh's series; the remainder is below 2 u^11/11 = 7e-10
 *   ln x = e ln 2 + ln m                              ln 2 in two parts; e times the first is exact
 * m - 1 is exact, so ln 1 = 0 and the relative error does not grow near 1. Error: 2.5 units in the last place at most
 * over all normal numbers (tests/parity/logarithm.test.ts). Results for zero, negative, subnormal numbers and NaN are
 * undefined.
 */
import { add, sub, mul, madd } from "./lanes";

/** Bits of sqrt(1/2): numbers from here up to sqrt 2 have e = 0. */
const SQRT_HALF: i32 = 0x3f3504f3;
/** ln 2 rounded to 15 bits, and its remainder. */
const LN2_HIGH: f32 = 0.693145751953125;
const LN2_LOW: f32 = 0.00000142860682030941723212;

// @inline
export function logarithm(x: v128): v128 {
  const e = i32x4.shr_s(i32x4.sub(x, i32x4.splat(SQRT_HALF)), 23);
  const m = i32x4.sub(x, i32x4.shl(e, 23));
  const one = f32x4.splat(1);
  const power = f32x4.convert_i32x4_s(e);
  const difference = sub(m, one);
  const u = f32x4.div(difference, add(m, one));
  const u2 = mul(u, u);
  // ln m = 2u + 2u (u^2/3 + ...), and 2u = (m - 1) - u (m - 1): the large part exact
  const series = mul(
    u2,
    madd(
      madd(madd(f32x4.splat(0.2222222), u2, f32x4.splat(0.2857143)), u2, f32x4.splat(0.4)),
      u2,
      f32x4.splat(0.6666667),
    ),
  );
  const small = madd(u, sub(series, difference), mul(power, f32x4.splat(LN2_LOW)));
  return madd(power, f32x4.splat(LN2_HIGH), add(difference, small));
}

/** Replaces `count` blocks of four numbers at `address` by their logarithms: for tests. */
export function logarithms(address: usize, count: i32): void {
  for (let n = 0; n < count; n++, address += 16) v128.store(address, logarithm(v128.load(address)));
}
