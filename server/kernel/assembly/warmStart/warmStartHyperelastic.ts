/**
 * Remembered stress of Neo-Hookean tetrahedra (warmStart.ts): nine multipliers L0, whose support is w L0 b. Per body,
 * sums the mismatch between the stress P of the deformation and the multipliers, over h^2 V mu. Elements near collapse
 * are left out of the sums: P is continued there.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws } from "../math/lanes";
import * as L from "../layout/layout";
import { logarithm } from "../math/logarithm";
import { addTo, ofBody, support } from "./support";

/** Least volume, relative to rest, of an element that counts. */
const LEAST: f32 = 0.1;

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; kept their
 * remembered stress; inverseH2 1/h^2, 1/s^2; settled 1 if the blocks have the last substep's multipliers
 */
export function warmStartNeoHookean(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
): void {
  settle(block, own, count, kept, inverseH2, settled, false);
}
/** Like warmStartNeoHookean. */
export function warmStartStableNeoHookean(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
): void {
  settle(block, own, count, kept, inverseH2, settled, true);
}

/**
 * One entry of P and of the remembered L. Adds the squares to the sums at `at` (mismatch, stress, change), as four
 * lanes.
 */
// @inline
function entry(
  at: usize,
  row: usize,
  f: v128,
  c: v128,
  p: v128,
  own: usize,
  kept: usize,
  scale: v128,
  gain: v128,
  keep: v128,
): void {
  const l = v128.load(own + row);
  const k = v128.load(kept + row);
  const d = sub(l, k);
  const stress = mul(scale, l);
  const off = add(madd(p, c, f), stress);
  const change = mul(scale, d);
  v128.store(at, madd(off, off, v128.load(at)));
  v128.store(at, madd(stress, stress, v128.load(at, 16)), 16);
  v128.store(at, madd(change, change, v128.load(at, 32)), 32);
  v128.store(kept + row, mul(keep, madd(gain, d, k)));
}

// @inline
function settle(block: usize, own: usize, count: i32, kept: usize, inverseH2: f32, settled: i32, stable: bool): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const toSupport = <usize>load<u32>(L.HEADER, L.H_SUPPORT) - <usize>load<u32>(L.HEADER, L.H_X);
  const aT = f32x4.splat(inverseH2);
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  const least = f32x4.splat(LEAST);
  const at = L.HEADER + L.H_WARM_START_SUMS;
  for (let n = 0; n < count; n++, block += L.HYPER_BYTES, own += L.HYPER_KEPT_BYTES, kept += L.WARM_START_BYTES) {
    let a = v128.load(<usize>load<u32>(block, 0));
    let b = v128.load(<usize>load<u32>(block, 4));
    let c = v128.load(<usize>load<u32>(block, 8));
    let d = v128.load(<usize>load<u32>(block, 12));
    const x0 = xs(a, b, c, d);
    const y0 = ys(a, b, c, d);
    const z0 = zs(a, b, c, d);
    const w0 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 16));
    b = v128.load(<usize>load<u32>(block, 20));
    c = v128.load(<usize>load<u32>(block, 24));
    d = v128.load(<usize>load<u32>(block, 28));
    const x1 = xs(a, b, c, d);
    const y1 = ys(a, b, c, d);
    const z1 = zs(a, b, c, d);
    const w1 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 32));
    b = v128.load(<usize>load<u32>(block, 36));
    c = v128.load(<usize>load<u32>(block, 40));
    d = v128.load(<usize>load<u32>(block, 44));
    const x2 = xs(a, b, c, d);
    const y2 = ys(a, b, c, d);
    const z2 = zs(a, b, c, d);
    const w2 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 48));
    b = v128.load(<usize>load<u32>(block, 52));
    c = v128.load(<usize>load<u32>(block, 56));
    d = v128.load(<usize>load<u32>(block, 60));
    const x3 = xs(a, b, c, d);
    const y3 = ys(a, b, c, d);
    const z3 = zs(a, b, c, d);
    const w3 = ws(a, b, c, d);
    const m00 = v128.load(block, L.TET_DM);
    const m01 = v128.load(block, L.TET_DM + 16);
    const m02 = v128.load(block, L.TET_DM + 32);
    const m10 = v128.load(block, L.TET_DM + 48);
    const m11 = v128.load(block, L.TET_DM + 64);
    const m12 = v128.load(block, L.TET_DM + 80);
    const m20 = v128.load(block, L.TET_DM + 96);
    const m21 = v128.load(block, L.TET_DM + 112);
    const m22 = v128.load(block, L.TET_DM + 128);
    // mismatch between the element's stress and its multipliers
    if (settled) {
      const ax = sub(x0, x3);
      const ay = sub(y0, y3);
      const az = sub(z0, z3);
      const bx = sub(x1, x3);
      const by = sub(y1, y3);
      const bz = sub(z1, z3);
      const cx = sub(x2, x3);
      const cy = sub(y2, y3);
      const cz = sub(z2, z3);
      const f00 = dot3(ax, m00, bx, m10, cx, m20);
      const f01 = dot3(ax, m01, bx, m11, cx, m21);
      const f02 = dot3(ax, m02, bx, m12, cx, m22);
      const f10 = dot3(ay, m00, by, m10, cy, m20);
      const f11 = dot3(ay, m01, by, m11, cy, m21);
      const f12 = dot3(ay, m02, by, m12, cy, m22);
      const f20 = dot3(az, m00, bz, m10, cz, m20);
      const f21 = dot3(az, m01, bz, m11, cz, m21);
      const f22 = dot3(az, m02, bz, m12, cz, m22);
      const c00 = sub(mul(f11, f22), mul(f12, f21));
      const c01 = sub(mul(f12, f20), mul(f10, f22));
      const c02 = sub(mul(f10, f21), mul(f11, f20));
      const c10 = sub(mul(f02, f21), mul(f01, f22));
      const c11 = sub(mul(f00, f22), mul(f02, f20));
      const c12 = sub(mul(f01, f20), mul(f00, f21));
      const c20 = sub(mul(f01, f12), mul(f02, f11));
      const c21 = sub(mul(f02, f10), mul(f00, f12));
      const c22 = sub(mul(f00, f11), mul(f01, f10));
      const J = dot3(f00, c00, f01, c01, f02, c02);
      const counts = f32x4.gt(J, least);
      const volume = f32x4.max(J, least);
      // a padded lane has no stiffness, and its body's gain is 0
      const mu = v128.load(block, L.HYPER_MU);
      const stiff = f32x4.gt(mu, zero);
      const ratio = v128.and(stiff, f32x4.div(v128.load(block, L.HYPER_LAMBDA), mu));
      const scale = v128.and(stiff, f32x4.div(aT, mu));
      // P/mu = F + p cof F
      const p = stable ? sub(mul(ratio, sub(J, one)), one) : f32x4.div(sub(mul(ratio, logarithm(volume)), one), volume);
      const gain = ofBody(rows, kept + L.WARM_START_BODY, L.BODY_GAIN);
      const keep = ofBody(rows, kept + L.WARM_START_BODY, L.BODY_KEEP);
      const weight = v128.and(v128.and(stiff, counts), mu);
      v128.store(at, zero);
      v128.store(at, zero, 16);
      v128.store(at, zero, 32);
      entry(at, 0, f00, c00, p, own, kept, scale, gain, keep);
      entry(at, 16, f01, c01, p, own, kept, scale, gain, keep);
      entry(at, 32, f02, c02, p, own, kept, scale, gain, keep);
      entry(at, 48, f10, c10, p, own, kept, scale, gain, keep);
      entry(at, 64, f11, c11, p, own, kept, scale, gain, keep);
      entry(at, 80, f12, c12, p, own, kept, scale, gain, keep);
      entry(at, 96, f20, c20, p, own, kept, scale, gain, keep);
      entry(at, 112, f21, c21, p, own, kept, scale, gain, keep);
      entry(at, 128, f22, c22, p, own, kept, scale, gain, keep);
      addTo(rows, kept + L.WARM_START_BODY, L.BODY_WEIGHT, weight);
      addTo(rows, kept + L.WARM_START_BODY, L.BODY_MISMATCH, mul(weight, v128.load(at)));
      addTo(rows, kept + L.WARM_START_BODY, L.BODY_STRAIN, mul(weight, v128.load(at, 16)));
      addTo(rows, kept + L.WARM_START_BODY, L.BODY_CHANGE, mul(weight, v128.load(at, 32)));
    }
    const p00 = v128.load(kept);
    const p01 = v128.load(kept, 16);
    const p02 = v128.load(kept, 32);
    const p10 = v128.load(kept, 48);
    const p11 = v128.load(kept, 64);
    const p12 = v128.load(kept, 80);
    const p20 = v128.load(kept, 96);
    const p21 = v128.load(kept, 112);
    const p22 = v128.load(kept, 128);
    const h0x = dot3(p00, m00, p01, m01, p02, m02);
    const h0y = dot3(p10, m00, p11, m01, p12, m02);
    const h0z = dot3(p20, m00, p21, m01, p22, m02);
    const h1x = dot3(p00, m10, p01, m11, p02, m12);
    const h1y = dot3(p10, m10, p11, m11, p12, m12);
    const h1z = dot3(p20, m10, p21, m11, p22, m12);
    const h2x = dot3(p00, m20, p01, m21, p02, m22);
    const h2y = dot3(p10, m20, p11, m21, p12, m22);
    const h2z = dot3(p20, m20, p21, m21, p22, m22);
    support(block, toSupport, mul(w0, h0x), mul(w0, h0y), mul(w0, h0z));
    support(block + 16, toSupport, mul(w1, h1x), mul(w1, h1y), mul(w1, h1z));
    support(block + 32, toSupport, mul(w2, h2x), mul(w2, h2y), mul(w2, h2z));
    const minus = f32x4.neg(w3);
    support(
      block + 48,
      toSupport,
      mul(minus, add(h0x, add(h1x, h2x))),
      mul(minus, add(h0y, add(h1y, h2y))),
      mul(minus, add(h0z, add(h1z, h2z))),
    );
  }
}
