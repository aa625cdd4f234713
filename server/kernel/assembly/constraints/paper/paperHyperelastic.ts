/**
 * Energy and stress of Neo-Hookean and stable Neo-Hookean tetrahedra over mu V, for the paper's form
 * (paperTetrahedron.ts; the models of hyperelastic.ts, with r = lambda/mu there):
 *   Neo-Hookean  E = tr eps - log J + r/2 log^2 J,           P = F + (r log J - 1)/J cof F       (Bender et al. 2014,
 *                eq 8)
 *   stable       E = tr eps - (J - 1) + r/2 (J - 1)^2,       P = F + (r (J - 1) - 1) cof F       (Macklin & Mueller
 *                2021, 0 at rest)
 * Near rest E is of second order in the strain and its terms are of first order: below a strain of 1e-3 their
 * difference would be rounding. But
 *   J^2 = det(I + 2 eps) = 1 + 2 tr eps + 4 I2 + 8 I3,  I2, I3 the invariants of eps, so with u = J - 1
 *   tr eps - (J - 1) = -2 I2 - 4 I3 + u^2/2,   tr eps - log J = -2 I2 - 4 I3 + u^2/2 + (u - log(1 + u))
 * have terms of second order only. u - log(1 + u) = u s - 2 s^3 (1/3 + s^2/5 + ...), s = u/(2 + u). Far from rest the
 * first form is more accurate.
 */
import { add, sub, mul, madd, dot3 } from "../../math/lanes";
import * as L from "../../layout/layout";
import { continueLanes } from "../hyperelasticInversion";
import { logarithm } from "../../math/logarithm";

// @inline
function squares(a0: v128, a1: v128, a2: v128, a3: v128, a4: v128, a5: v128, a6: v128, a7: v128, a8: v128): v128 {
  return add(dot3(a0, a0, a1, a1, a2, a2), add(dot3(a3, a3, a4, a4, a5, a5), dot3(a6, a6, a7, a7, a8, a8)));
}

/** Returns u - log(1 + u). The series is accurate to 1e-8 for |s| <= 1/3, which is J from 1/2 to 2. */
// @inline
function beyondLogarithm(u: v128, logJ: v128): v128 {
  const s = f32x4.div(u, add(f32x4.splat(2), u));
  const s2 = mul(s, s);
  let series = madd(f32x4.splat(0.06666667), s2, f32x4.splat(0.07692308));
  series = madd(series, s2, f32x4.splat(0.09090909));
  series = madd(series, s2, f32x4.splat(0.11111111));
  series = madd(series, s2, f32x4.splat(0.14285715));
  series = madd(series, s2, f32x4.splat(0.2));
  series = madd(series, s2, f32x4.splat(0.33333334));
  const near = sub(mul(u, s), mul(mul(f32x4.splat(2), mul(s, s2)), series));
  return v128.bitselect(near, sub(u, logJ), f32x4.le(f32x4.abs(s), f32x4.splat(0.33333334)));
}

/** Reads F from the scratch rows; writes P (9), E and DONE (no lane). */
// @inline
export function hyperelasticStress(block: usize, scratch: usize, stable: bool): void {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const zero = f32x4.splat(0);
  const two = f32x4.splat(2);
  const four = f32x4.splat(4);
  let f00 = v128.load(scratch, L.SCRATCH_F);
  let f01 = v128.load(scratch, L.SCRATCH_F + 16);
  let f02 = v128.load(scratch, L.SCRATCH_F + 32);
  let f10 = v128.load(scratch, L.SCRATCH_F + 48);
  let f11 = v128.load(scratch, L.SCRATCH_F + 64);
  let f12 = v128.load(scratch, L.SCRATCH_F + 80);
  let f20 = v128.load(scratch, L.SCRATCH_F + 96);
  let f21 = v128.load(scratch, L.SCRATCH_F + 112);
  let f22 = v128.load(scratch, L.SCRATCH_F + 128);
  let c00 = sub(mul(f11, f22), mul(f12, f21));
  let c01 = sub(mul(f12, f20), mul(f10, f22));
  let c02 = sub(mul(f10, f21), mul(f11, f20));
  let c10 = sub(mul(f02, f21), mul(f01, f22));
  let c11 = sub(mul(f00, f22), mul(f02, f20));
  let c12 = sub(mul(f01, f20), mul(f00, f21));
  let c20 = sub(mul(f01, f12), mul(f02, f11));
  let c21 = sub(mul(f02, f10), mul(f00, f12));
  let c22 = sub(mul(f00, f11), mul(f01, f10));
  let J = dot3(f00, c00, f01, c01, f02, c02);
  const clamp = v128.load(block, L.HYPER_CLAMP);
  const cc = squares(c00, c01, c02, c10, c11, c12, c20, c21, c22);
  // the smallest singular value is at least J/|cof F|
  const sound = v128.and(f32x4.gt(J, zero), f32x4.gt(mul(J, J), mul(mul(clamp, clamp), cc)));
  // additional terms of log J and E if singular values are clamped
  let beyond = zero;
  let more = zero;
  if (!i32x4.all_true(sound)) {
    continueLanes(scratch, clamp, zero, stable); // the paper has no separate energy for tangled bodies
    f00 = v128.bitselect(f00, v128.load(scratch, 0), sound);
    f01 = v128.bitselect(f01, v128.load(scratch, 16), sound);
    f02 = v128.bitselect(f02, v128.load(scratch, 32), sound);
    f10 = v128.bitselect(f10, v128.load(scratch, 48), sound);
    f11 = v128.bitselect(f11, v128.load(scratch, 64), sound);
    f12 = v128.bitselect(f12, v128.load(scratch, 80), sound);
    f20 = v128.bitselect(f20, v128.load(scratch, 96), sound);
    f21 = v128.bitselect(f21, v128.load(scratch, 112), sound);
    f22 = v128.bitselect(f22, v128.load(scratch, 128), sound);
    const at = scratch + L.SCRATCH_G;
    c00 = v128.bitselect(c00, v128.load(at, 0), sound);
    c01 = v128.bitselect(c01, v128.load(at, 16), sound);
    c02 = v128.bitselect(c02, v128.load(at, 32), sound);
    c10 = v128.bitselect(c10, v128.load(at, 48), sound);
    c11 = v128.bitselect(c11, v128.load(at, 64), sound);
    c12 = v128.bitselect(c12, v128.load(at, 80), sound);
    c20 = v128.bitselect(c20, v128.load(at, 96), sound);
    c21 = v128.bitselect(c21, v128.load(at, 112), sound);
    c22 = v128.bitselect(c22, v128.load(at, 128), sound);
    J = v128.bitselect(J, v128.load(scratch, L.SCRATCH_U), sound);
    if (!stable) {
      beyond = v128.andnot(v128.load(scratch, L.SCRATCH_U + 16), sound);
      // sum of (c - 1/c)(sigma - c), the tangents of sigma^2/2 - log sigma at c
      for (let i = 0; i < 3; i++) {
        const sigma = v128.load(scratch + (i << 4), L.SCRATCH_SIGMA);
        const c = f32x4.max(sigma, clamp);
        more = madd(sub(c, f32x4.div(one, c)), sub(sigma, c), more);
      }
      more = v128.andnot(more, sound);
    }
  }
  const e00 = mul(half, sub(dot3(f00, f00, f10, f10, f20, f20), one));
  const e11 = mul(half, sub(dot3(f01, f01, f11, f11, f21, f21), one));
  const e22 = mul(half, sub(dot3(f02, f02, f12, f12, f22, f22), one));
  const e01 = mul(half, dot3(f00, f01, f10, f11, f20, f21));
  const e02 = mul(half, dot3(f00, f02, f10, f12, f20, f22));
  const e12 = mul(half, dot3(f01, f02, f11, f12, f21, f22));
  const trace = add(e00, add(e11, e22));
  const u = sub(J, one);
  const i2 = sub(madd(e00, e11, mul(e22, add(e00, e11))), dot3(e01, e01, e02, e02, e12, e12));
  const i3 = madd(
    e00,
    sub(mul(e11, e22), mul(e12, e12)),
    sub(mul(e02, sub(mul(e01, e12), mul(e11, e02))), mul(e01, sub(mul(e01, e22), mul(e12, e02)))),
  );
  const second = sub(mul(half, mul(u, u)), madd(two, i2, mul(four, i3)));
  // tr eps = J - 1 holds if j is the determinant of this F; for a continued lane of the stable model only the first
  // form holds
  const close = v128.and(f32x4.le(f32x4.abs(trace), half), sound);
  // both stiffnesses of a padded lane are 0
  const r = f32x4.div(v128.load(block, L.HYPER_LAMBDA), f32x4.max(v128.load(block, L.HYPER_MU), f32x4.splat(1e-37)));
  let q: v128;
  let energy: v128;
  if (stable) {
    q = sub(mul(r, u), one);
    energy = madd(mul(half, r), mul(u, u), v128.bitselect(second, sub(trace, u), close));
  } else {
    const logJ = logarithm(J);
    const t = add(logJ, beyond);
    q = f32x4.div(sub(mul(r, t), one), J);
    energy = madd(
      mul(half, r),
      mul(t, t),
      add(more, v128.bitselect(add(second, beyondLogarithm(u, logJ)), sub(trace, logJ), close)),
    );
  }
  v128.store(scratch, energy, L.SCRATCH_ENERGY);
  v128.store(scratch, zero, L.SCRATCH_DONE);
  v128.store(scratch, madd(q, c00, f00), L.SCRATCH_P);
  v128.store(scratch, madd(q, c01, f01), L.SCRATCH_P + 16);
  v128.store(scratch, madd(q, c02, f02), L.SCRATCH_P + 32);
  v128.store(scratch, madd(q, c10, f10), L.SCRATCH_P + 48);
  v128.store(scratch, madd(q, c11, f11), L.SCRATCH_P + 64);
  v128.store(scratch, madd(q, c12, f12), L.SCRATCH_P + 80);
  v128.store(scratch, madd(q, c20, f20), L.SCRATCH_P + 96);
  v128.store(scratch, madd(q, c21, f21), L.SCRATCH_P + 112);
  v128.store(scratch, madd(q, c22, f22), L.SCRATCH_P + 128);
}
