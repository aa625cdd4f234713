/**
 * Neo-Hookean and stable Neo-Hookean tetrahedra, four elements at a time: the deformation gradient's nine entries as
 * one compliant block.
 *
 *   F = D_s D_m^-1 = sum_i x_i b_i^T,  J = det F,  P = dPsi/dF = mu F + p cof F            dE/dx_i = V P b_i
 *   Neo-Hookean (Bender et al. 2014, eq 8)   Psi = mu/2 (I1 - log I3 - 3) + lambda/8 log^2 I3
 *       p = (lambda log J - mu)/J
 *   stable (Smith et al. 2018; Macklin & Mueller 2021)   Psi = mu/2 (I1 - 3) + lambda'/2 (J - gamma)^2
 *       p = lambda' (J - gamma)
 * lambda' = lambda + mu and gamma = 1 + mu/lambda': at rest P = 0 and the tangent is that of Hooke's law with mu,
 * lambda.
 *
 * Nine multipliers L, -h^2 V P once converged, act through b_i alone: x_i = xTilde_i + w_i L b_i, dF = dL K, K = sum_i
 * w_i b_i b_i^T. The fixed point L = -h^2 V P(F) is implicit Euler, whatever the path. One iteration is a Newton step
 * with a simpler stiffness in place of h^2 V d^2Psi/dF^2. With the rotation R of F and R^T dL = X = S + A, symmetric
 * and antisymmetric, N = R^T cof F, Y = -R^T (L + h^2 V P):
 *   S + beta (S K + K S) + a N (N : X K) = sym Y - beta (A K - K A)        strain: beta bounds the deviatoric tangent
 *   (mu at rest), a the volumetric
 *   A = theta skew Y,  theta = 1/(1 + |L| tr K)                            rotation: the only stiffness is that of the
 *   stress, which turns along
 * S has six equations. Normal components couple with shears only, so three are eliminated by division and a symmetric
 * 3x3 is left. The term with a has rank one (Sherman & Morrison 1950): S = S1 - y S2, S1 for the right-hand side, S2
 * for N, y = a N:(S1 + A)K/(1 + a N:S2 K). beta is multiplied by RELAXATION. Wrong stiffnesses cost iterations, never
 * the answer. In the first iteration L = 0, so A = 0: no torque. Y is a difference of stresses that vanishes exactly at
 * rest (1 - 1 = 0), and nothing is divided by F, so flat elements need no special case.
 *
 * Measured, remaining error of a settled clamped beam at 240 substeps a second x 5 iterations, of its largest
 * displacement. This, with remembered stress (warmStartHyperelastic.ts), stable, 1600 tetrahedra of 10 MPa: 0.18 % at
 * nu = 0.3, 0.15 % at 0.49. Others as float64 prototypes without remembered stress: the two scalar constraints of
 * Macklin & Mueller 2021 41 %, vertex block descent 8.1 % (stable, 1479 tetrahedra, 10 MPa). Prototypes on one beam
 * (Neo-Hookean, nu = 0.3, without remembered stress): these nine multipliers 16.5 %, six that act through F 27 %, the
 * one scalar sqrt(2E) 44 %; nine without the frame of R 9.6 %. An element and iteration takes 28 ns, for Saint
 * Venant-Kirchhoff 18.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, between, toLow } from "../math/lanes";
import { moveCorners } from "./corners";
import * as L from "../layout/layout";
import { continueLanes } from "./hyperelasticInversion";
import { logarithm } from "../math/logarithm";

/** Factor of beta's bound: above 1/2 no mode of an element overshoots by more than itself. */
const RELAXATION: f32 = 0.75;
/** Lower bound of p's part in beta, over mu: in a dilated element that part vanishes and changes sign. */
const FLOOR: f32 = 0.25;
/**
 * Newton steps towards R. Single stretches of 0.38 and 2.6 keep an error of 3e-3, ordinary ones that of rounding. With
 * two steps, one iteration pushed back 18 % too hard at 0.38; each step costs 2 ns.
 */
const POLAR_STEPS: i32 = 3;
/**
 * Largest |R|^2 that counts as a rotation (which has 3): single stretches from 0.38 to 2.6. Other lanes take R from the
 * singular value decomposition.
 */
const NEAR: f32 = 3.007;
/** Least J by which the stable model's volumetric stiffness is divided; below it the other bound holds. */
const SMALL: f32 = 1e-6;

/**
 * @param block address of the first of `count` blocks of four elements
 * @param own address of the values that the first of them keeps between iterations
 * @param pass PASS_FIRST and PASS_LAST, added
 * @param inverseH2 1/h^2, 1/s^2
 * @param scratch this thread's SCRATCH_BYTES
 * @param memory remembered stress of the first block, if this substep starts from it (warmStart.ts); else 0
 */
export function solveNeoHookean(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
): void {
  solve(block, own, count, pass, inverseH2, scratch, memory, false);
}
/** Like solveNeoHookean. */
export function solveStableNeoHookean(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
): void {
  solve(block, own, count, pass, inverseH2, scratch, memory, true);
}

// @inline
function solve(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
  stable: bool,
): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const two = f32x4.splat(2);
  const three = f32x4.splat(3);
  const zero = f32x4.splat(0);
  const floor = f32x4.splat(FLOOR);
  const relaxation = f32x4.splat(RELAXATION);
  const h2 = f32x4.splat(1 / inverseH2);
  const first = memory ? 0 : pass & L.PASS_FIRST;
  const last = pass & L.PASS_LAST;
  for (let n = 0; n < count; n++, block += L.HYPER_BYTES, own += L.HYPER_KEPT_BYTES) {
    const from = memory ? memory + <usize>n * L.WARM_START_BYTES : own; // multipliers so far
    // edges from corner 3
    const base0 = <usize>load<u32>(block, 48);
    const base1 = <usize>load<u32>(block, 52);
    const base2 = <usize>load<u32>(block, 56);
    const base3 = <usize>load<u32>(block, 60);
    let a = between(base0, <usize>load<u32>(block, 0), low);
    let b = between(base1, <usize>load<u32>(block, 4), low);
    let c = between(base2, <usize>load<u32>(block, 8), low);
    let d = between(base3, <usize>load<u32>(block, 12), low);
    const ax = xs(a, b, c, d);
    const ay = ys(a, b, c, d);
    const az = zs(a, b, c, d);
    a = between(base0, <usize>load<u32>(block, 16), low);
    b = between(base1, <usize>load<u32>(block, 20), low);
    c = between(base2, <usize>load<u32>(block, 24), low);
    d = between(base3, <usize>load<u32>(block, 28), low);
    const bx = xs(a, b, c, d);
    const by = ys(a, b, c, d);
    const bz = zs(a, b, c, d);
    a = between(base0, <usize>load<u32>(block, 32), low);
    b = between(base1, <usize>load<u32>(block, 36), low);
    c = between(base2, <usize>load<u32>(block, 40), low);
    d = between(base3, <usize>load<u32>(block, 44), low);
    const cx = xs(a, b, c, d);
    const cy = ys(a, b, c, d);
    const cz = zs(a, b, c, d);

    // F = D_s D_m^-1
    const m00 = v128.load(block, L.TET_DM);
    const m01 = v128.load(block, L.TET_DM + 16);
    const m02 = v128.load(block, L.TET_DM + 32);
    const m10 = v128.load(block, L.TET_DM + 48);
    const m11 = v128.load(block, L.TET_DM + 64);
    const m12 = v128.load(block, L.TET_DM + 80);
    const m20 = v128.load(block, L.TET_DM + 96);
    const m21 = v128.load(block, L.TET_DM + 112);
    const m22 = v128.load(block, L.TET_DM + 128);
    let f00 = dot3(ax, m00, bx, m10, cx, m20);
    let f01 = dot3(ax, m01, bx, m11, cx, m21);
    let f02 = dot3(ax, m02, bx, m12, cx, m22);
    let f10 = dot3(ay, m00, by, m10, cy, m20);
    let f11 = dot3(ay, m01, by, m11, cy, m21);
    let f12 = dot3(ay, m02, by, m12, cy, m22);
    let f20 = dot3(az, m00, bz, m10, cz, m20);
    let f21 = dot3(az, m01, bz, m11, cz, m21);
    let f22 = dot3(az, m02, bz, m12, cz, m22);
    // cof F = J F^-T
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
    let cc = squares(c00, c01, c02, c10, c11, c12, c20, c21, c22);
    let beyond = zero;
    const clamp = v128.load(block, L.HYPER_CLAMP);
    const tangled = invertedLanes(block);
    // R, by Newton's iteration R := (R + R^-T)/2 (Higham 1986)
    let R00 = f00;
    let R01 = f01;
    let R02 = f02;
    let R10 = f10;
    let R11 = f11;
    let R12 = f12;
    let R20 = f20;
    let R21 = f21;
    let R22 = f22;
    let t = f32x4.div(half, J);
    R00 = madd(c00, t, mul(half, R00));
    R01 = madd(c01, t, mul(half, R01));
    R02 = madd(c02, t, mul(half, R02));
    R10 = madd(c10, t, mul(half, R10));
    R11 = madd(c11, t, mul(half, R11));
    R12 = madd(c12, t, mul(half, R12));
    R20 = madd(c20, t, mul(half, R20));
    R21 = madd(c21, t, mul(half, R21));
    R22 = madd(c22, t, mul(half, R22));
    for (let k = 1; k < POLAR_STEPS; k++) {
      const u00 = sub(mul(R11, R22), mul(R12, R21));
      const u01 = sub(mul(R12, R20), mul(R10, R22));
      const u02 = sub(mul(R10, R21), mul(R11, R20));
      const u10 = sub(mul(R02, R21), mul(R01, R22));
      const u11 = sub(mul(R00, R22), mul(R02, R20));
      const u12 = sub(mul(R01, R20), mul(R00, R21));
      const u20 = sub(mul(R01, R12), mul(R02, R11));
      const u21 = sub(mul(R02, R10), mul(R00, R12));
      const u22 = sub(mul(R00, R11), mul(R01, R10));
      t = f32x4.div(half, dot3(R00, u00, R01, u01, R02, u02));
      R00 = madd(u00, t, mul(half, R00));
      R01 = madd(u01, t, mul(half, R01));
      R02 = madd(u02, t, mul(half, R02));
      R10 = madd(u10, t, mul(half, R10));
      R11 = madd(u11, t, mul(half, R11));
      R12 = madd(u12, t, mul(half, R12));
      R20 = madd(u20, t, mul(half, R20));
      R21 = madd(u21, t, mul(half, R21));
      R22 = madd(u22, t, mul(half, R22));
    }
    // all lanes regular? sigma_2 >= J/|cof F|, and R is close to a rotation (its singular values come from above)
    const near = f32x4.lt(squares(R00, R01, R02, R10, R11, R12, R20, R21, R22), f32x4.splat(NEAR));
    const sound = v128.andnot(
      v128.and(v128.and(near, f32x4.gt(J, zero)), f32x4.gt(mul(J, J), mul(mul(clamp, clamp), cc))),
      tangled,
    );
    if (!i32x4.all_true(sound)) {
      v128.store(scratch, f00, 0);
      v128.store(scratch, f01, 16);
      v128.store(scratch, f02, 32);
      v128.store(scratch, f10, 48);
      v128.store(scratch, f11, 64);
      v128.store(scratch, f12, 80);
      v128.store(scratch, f20, 96);
      v128.store(scratch, f21, 112);
      v128.store(scratch, f22, 128);
      const folded = v128.andnot(continueLanes(scratch, clamp, tangled, stable), sound);
      if (v128.any_true(folded)) noteInverted(block, i32x4.bitmask(folded));
      // regular lanes keep their bits, independent of the other lanes in the block
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
      beyond = v128.andnot(v128.load(scratch, L.SCRATCH_U + 16), sound);
      cc = squares(c00, c01, c02, c10, c11, c12, c20, c21, c22);
      const turned = scratch + L.SCRATCH_V;
      R00 = v128.bitselect(R00, v128.load(turned, 0), sound);
      R01 = v128.bitselect(R01, v128.load(turned, 16), sound);
      R02 = v128.bitselect(R02, v128.load(turned, 32), sound);
      R10 = v128.bitselect(R10, v128.load(turned, 48), sound);
      R11 = v128.bitselect(R11, v128.load(turned, 64), sound);
      R12 = v128.bitselect(R12, v128.load(turned, 80), sound);
      R20 = v128.bitselect(R20, v128.load(turned, 96), sound);
      R21 = v128.bitselect(R21, v128.load(turned, 112), sound);
      R22 = v128.bitselect(R22, v128.load(turned, 128), sound);
    }

    // h^2 V times mu, beta, a, and p in two parts: P = mu F - still cof F + pressure cof F
    const mu = mul(h2, v128.load(block, L.HYPER_MU));
    const lambda = mul(h2, v128.load(block, L.HYPER_LAMBDA));
    let still: v128;
    let pressure: v128;
    let beta: v128;
    let volumetric: v128;
    if (stable) {
      still = mu;
      pressure = mul(lambda, sub(J, one));
      const stretch = f32x4.sqrt(f32x4.max(one, sub(squares(f00, f01, f02, f10, f11, f12, f20, f21, f22), two)));
      beta = mul(sub(still, pressure), stretch);
      const tangent = sub(add(lambda, lambda), f32x4.div(add(lambda, mu), f32x4.max(J, f32x4.splat(SMALL))));
      volumetric = f32x4.max(tangent, mul(lambda, sub(one, f32x4.div(three, f32x4.max(three, cc)))));
    } else {
      const inverseJ = f32x4.div(one, J);
      const inverseJ2 = mul(inverseJ, inverseJ);
      const logJ = add(logarithm(J), beyond);
      const work = mul(lambda, logJ);
      still = mul(mu, inverseJ);
      pressure = mul(work, inverseJ);
      beta = mul(sub(mu, work), f32x4.max(one, sub(mul(cc, inverseJ2), two)));
      volumetric = mul(mul(lambda, f32x4.max(one, f32x4.abs(logJ))), inverseJ2);
    }
    // tangled elements have another energy (hyperelasticInversion.ts), stiffer under stretch: mu (3 c^2 - 1) + lambda
    // t, |cof F| in place of |c|
    if (v128.any_true(tangled)) {
      beta = v128.bitselect(madd(mul(three, mu), cc, f32x4.max(pressure, zero)), beta, tangled);
      volumetric = v128.bitselect(f32x4.max(volumetric, lambda), volumetric, tangled);
    }
    beta = mul(relaxation, mul(half, add(mu, f32x4.max(beta, mul(floor, mu)))));

    // h^2 V P without the pressure, which near nu = 1/2 would leave no digits for the rest
    const p00 = sub(mul(mu, f00), mul(still, c00));
    const p01 = sub(mul(mu, f01), mul(still, c01));
    const p02 = sub(mul(mu, f02), mul(still, c02));
    const p10 = sub(mul(mu, f10), mul(still, c10));
    const p11 = sub(mul(mu, f11), mul(still, c11));
    const p12 = sub(mul(mu, f12), mul(still, c12));
    const p20 = sub(mul(mu, f20), mul(still, c20));
    const p21 = sub(mul(mu, f21), mul(still, c21));
    const p22 = sub(mul(mu, f22), mul(still, c22));
    // Y = R^T P and N = R^T cof F are symmetric for any accuracy of R: F, cof F and every iterate have the same
    // singular vectors. y is -sym Y; -skew Y is computed from L alone below, because rounding of P would rotate stiff
    // elements
    let y00 = dot3(R00, p00, R10, p10, R20, p20);
    let y11 = dot3(R01, p01, R11, p11, R21, p21);
    let y22 = dot3(R02, p02, R12, p12, R22, p22);
    let y12 = dot3(R01, p02, R11, p12, R21, p22);
    let y02 = dot3(R00, p02, R10, p12, R20, p22);
    let y01 = dot3(R00, p01, R10, p11, R20, p21);
    const n00 = dot3(R00, c00, R10, c10, R20, c20);
    const n11 = dot3(R01, c01, R11, c11, R21, c21);
    const n22 = dot3(R02, c02, R12, c12, R22, c22);
    const n12 = dot3(R01, c02, R11, c12, R21, c22);
    const n02 = dot3(R00, c02, R10, c12, R20, c22);
    const n01 = dot3(R00, c01, R10, c11, R20, c21);

    // S + beta (S K + K S) = B: the normal components in terms of the shears 12 02 01, and the 3x3 system H of those
    const k00 = v128.load(block, L.TET_K);
    const k11 = v128.load(block, L.TET_K + 16);
    const k22 = v128.load(block, L.TET_K + 32);
    const k12 = v128.load(block, L.TET_K + 48);
    const k02 = v128.load(block, L.TET_K + 64);
    const k01 = v128.load(block, L.TET_K + 80);
    const e00 = mul(beta, k00);
    const e11 = mul(beta, k11);
    const e22 = mul(beta, k22);
    const e12 = mul(beta, k12);
    const e02 = mul(beta, k02);
    const e01 = mul(beta, k01);
    const q0 = f32x4.div(one, madd(two, e00, one));
    const q1 = f32x4.div(one, madd(two, e11, one));
    const q2 = f32x4.div(one, madd(two, e22, one));
    const h00 = sub(add(one, add(e11, e22)), mul(mul(two, mul(e12, e12)), add(q1, q2)));
    const h01 = sub(e01, mul(mul(two, q2), mul(e12, e02)));
    const h11 = sub(add(one, add(e00, e22)), mul(mul(two, mul(e02, e02)), add(q0, q2)));
    const h02 = sub(e02, mul(mul(two, q1), mul(e12, e01)));
    const h22 = sub(add(one, add(e00, e11)), mul(mul(two, mul(e01, e01)), add(q0, q1)));
    const h12 = sub(e12, mul(mul(two, q0), mul(e02, e01)));
    let g00 = sub(mul(h11, h22), mul(h12, h12));
    let g01 = sub(mul(h02, h12), mul(h01, h22));
    let g02 = sub(mul(h01, h12), mul(h02, h11));
    let g11 = sub(mul(h00, h22), mul(h02, h02));
    let g12 = sub(mul(h01, h02), mul(h00, h12));
    let g22 = sub(mul(h00, h11), mul(h01, h01));
    const inverse = f32x4.div(one, dot3(h00, g00, h01, g01, h02, g02));
    g00 = mul(g00, inverse);
    g01 = mul(g01, inverse);
    g02 = mul(g02, inverse);
    g11 = mul(g11, inverse);
    g12 = mul(g12, inverse);
    g22 = mul(g22, inverse);

    // S2, for N
    let b0 = mul(q0, n00);
    let b1 = mul(q1, n11);
    let b2 = mul(q2, n22);
    let b3 = sub(n12, mul(e12, add(b1, b2)));
    let b4 = sub(n02, mul(e02, add(b0, b2)));
    let b5 = sub(n01, mul(e01, add(b0, b1)));
    const u12 = dot3(g00, b3, g01, b4, g02, b5);
    const u02 = dot3(g01, b3, g11, b4, g12, b5);
    const u01 = dot3(g02, b3, g12, b4, g22, b5);
    const u00 = sub(b0, mul(mul(two, q0), madd(e01, u01, mul(e02, u02))));
    const u11 = sub(b1, mul(mul(two, q1), madd(e01, u01, mul(e12, u12))));
    const u22 = sub(b2, mul(mul(two, q2), madd(e02, u02, mul(e12, u12))));
    // -S1, for the right-hand side, and -A = (a12, a02, a01)
    let a12 = zero;
    let a02 = zero;
    let a01 = zero;
    let l00 = zero;
    let l01 = zero;
    let l02 = zero;
    let l10 = zero;
    let l11 = zero;
    let l12 = zero;
    let l20 = zero;
    let l21 = zero;
    let l22 = zero;
    if (!first) {
      l00 = v128.load(from);
      l01 = v128.load(from, 16);
      l02 = v128.load(from, 32);
      l10 = v128.load(from, 48);
      l11 = v128.load(from, 64);
      l12 = v128.load(from, 80);
      l20 = v128.load(from, 96);
      l21 = v128.load(from, 112);
      l22 = v128.load(from, 128);
      // |L| tr K, from numbers near 1: the square of L alone underflows float32 for bodies of micrometers
      const trK = add(k00, add(k11, k22));
      const gain = f32x4.sqrt(
        squares(
          mul(trK, l00),
          mul(trK, l01),
          mul(trK, l02),
          mul(trK, l10),
          mul(trK, l11),
          mul(trK, l12),
          mul(trK, l20),
          mul(trK, l21),
          mul(trK, l22),
        ),
      );
      const theta = f32x4.div(half, add(gain, one));
      const o12 = dot3(R01, l02, R11, l12, R21, l22);
      const o21 = dot3(R02, l01, R12, l11, R22, l21);
      const o02 = dot3(R00, l02, R10, l12, R20, l22);
      const o20 = dot3(R02, l00, R12, l10, R22, l20);
      const o01 = dot3(R00, l01, R10, l11, R20, l21);
      const o10 = dot3(R01, l00, R11, l10, R21, l20);
      a12 = mul(theta, sub(o12, o21));
      a02 = mul(theta, sub(o02, o20));
      a01 = mul(theta, sub(o01, o10));
      // sym R^T L and beta (A K - K A)
      y00 = add(y00, sub(dot3(R00, l00, R10, l10, R20, l20), mul(two, madd(a01, e01, mul(a02, e02)))));
      y11 = add(y11, sub(dot3(R01, l01, R11, l11, R21, l21), mul(two, sub(mul(a12, e12), mul(a01, e01)))));
      y22 = add(y22, madd(two, madd(a02, e02, mul(a12, e12)), dot3(R02, l02, R12, l12, R22, l22)));
      y12 = add(y12, sub(mul(half, add(o12, o21)), sub(mul(a12, sub(e22, e11)), madd(a01, e02, mul(a02, e01)))));
      y02 = add(y02, sub(mul(half, add(o02, o20)), add(mul(a02, sub(e22, e00)), sub(mul(a01, e12), mul(a12, e01)))));
      y01 = add(y01, sub(mul(half, add(o01, o10)), add(mul(a01, sub(e11, e00)), madd(a02, e12, mul(a12, e02)))));
    }
    b0 = mul(q0, y00);
    b1 = mul(q1, y11);
    b2 = mul(q2, y22);
    b3 = sub(y12, mul(e12, add(b1, b2)));
    b4 = sub(y02, mul(e02, add(b0, b2)));
    b5 = sub(y01, mul(e01, add(b0, b1)));
    let s12 = dot3(g00, b3, g01, b4, g02, b5);
    let s02 = dot3(g01, b3, g11, b4, g12, b5);
    let s01 = dot3(g02, b3, g12, b4, g22, b5);
    let s00 = sub(b0, mul(mul(two, q0), madd(e01, s01, mul(e02, s02))));
    let s11 = sub(b1, mul(mul(two, q1), madd(e01, s01, mul(e12, s12))));
    let s22 = sub(b2, mul(mul(two, q2), madd(e02, s02, mul(e12, s12))));

    // y: Z = N K, then N : X K = Z : X
    const z00 = dot3(n00, k00, n01, k01, n02, k02);
    const z11 = dot3(n01, k01, n11, k11, n12, k12);
    const z22 = dot3(n02, k02, n12, k12, n22, k22);
    const z12 = dot3(n01, k02, n11, k12, n12, k22);
    const z21 = dot3(n02, k01, n12, k11, n22, k12);
    const z02 = dot3(n00, k02, n01, k12, n02, k22);
    const z20 = dot3(n02, k00, n12, k01, n22, k02);
    const z01 = dot3(n00, k01, n01, k11, n02, k12);
    const z10 = dot3(n01, k00, n11, k01, n12, k02);
    let along = add(
      dot3(z00, s00, z11, s11, z22, s22),
      dot3(add(z12, z21), s12, add(z02, z20), s02, add(z01, z10), s01),
    );
    if (!first) along = add(along, dot3(sub(z12, z21), a12, sub(z02, z20), a02, sub(z01, z10), a01));
    const stiff = add(
      dot3(z00, u00, z11, u11, z22, u22),
      dot3(add(z12, z21), u12, add(z02, z20), u02, add(z01, z10), u01),
    );
    // with the pressure: y = (a N : X K - pressure)/(1 + a N : S2 K), signs as above
    const y = f32x4.div(sub(mul(volumetric, along), pressure), madd(volumetric, stiff, one));
    s00 = sub(mul(y, u00), s00);
    s11 = sub(mul(y, u11), s11);
    s22 = sub(mul(y, u22), s22);
    s12 = sub(mul(y, u12), s12);
    s02 = sub(mul(y, u02), s02);
    s01 = sub(mul(y, u01), s01);
    // dL = R (S + A)
    const t01 = sub(s01, a01);
    const t10 = add(s01, a01);
    const t02 = sub(s02, a02);
    const t20 = add(s02, a02);
    const t12 = sub(s12, a12);
    const t21 = add(s12, a12);
    const d00 = dot3(R00, s00, R01, t10, R02, t20);
    const d01 = dot3(R00, t01, R01, s11, R02, t21);
    const d02 = dot3(R00, t02, R01, t12, R02, s22);
    const d10 = dot3(R10, s00, R11, t10, R12, t20);
    const d11 = dot3(R10, t01, R11, s11, R12, t21);
    const d12 = dot3(R10, t02, R11, t12, R12, s22);
    const d20 = dot3(R20, s00, R21, t10, R22, t20);
    const d21 = dot3(R20, t01, R21, s11, R22, t21);
    const d22 = dot3(R20, t02, R21, t12, R22, s22);
    if (!last) {
      v128.store(own, add(l00, d00));
      v128.store(own, add(l01, d01), 16);
      v128.store(own, add(l02, d02), 32);
      v128.store(own, add(l10, d10), 48);
      v128.store(own, add(l11, d11), 64);
      v128.store(own, add(l12, d12), 80);
      v128.store(own, add(l20, d20), 96);
      v128.store(own, add(l21, d21), 112);
      v128.store(own, add(l22, d22), 128);
    }

    moveCorners(block, low, d00, d01, d02, d10, d11, d12, d20, d21, d22, false);
  }
}

function rowOf(block: usize, lane: usize): usize {
  return <usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>load<u32>(block + (lane << 2), L.HYPER_BODY) * L.BODY_BYTES;
}

/** Returns lanes whose body had an inverted element in the substep before. */
// @inline
function invertedLanes(block: usize): v128 {
  return i32x4.ne(
    i32x4(
      load<i32>(rowOf(block, 0), L.BODY_WAS_INVERTED),
      load<i32>(rowOf(block, 1), L.BODY_WAS_INVERTED),
      load<i32>(rowOf(block, 2), L.BODY_WAS_INVERTED),
      load<i32>(rowOf(block, 3), L.BODY_WAS_INVERTED),
    ),
    i32x4.splat(0),
  );
}

/**
 * Marks the bodies of lanes whose `inverted` bit is set. All threads store the same 1, and no thread reads it in this
 * substep.
 */
function noteInverted(block: usize, inverted: i32): void {
  for (let lane: usize = 0; lane < 4; lane++)
    if (inverted & (1 << (<i32>lane))) atomic.store<i32>(rowOf(block, lane), 1, L.BODY_INVERTED);
}

/** Sum of the squares of nine entries. */
// @inline
function squares(a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128, i: v128): v128 {
  return add(dot3(a, a, b, b, c, c), add(dot3(d, d, e, e, f, f), dot3(g, g, h, h, i, i)));
}
