/**
 * Saint Venant-Kirchhoff tetrahedra, four elements at a time: all six Green strains of an element as one compliant
 * block.
 *
 *            x2
 *           /|\          D_s = (x0-x3, x1-x3, x2-x3),  F = D_s D_m^-1          Bender et al. 2014, eq 9
 *          / | \         C = (eps_xx, eps_yy, eps_zz, gamma_yz, gamma_xz, gamma_xy)
 *        x0--|--x1       of eps = (F^T F - I)/2, gamma = 2 eps
 *          \ | /         E_s = V/2 C^T (elasticity tensor) C                      (eqs 4, 5)
 *            x3          compliance S = (V tensor)^-1
 * Six multipliers: second Piola-Kirchhoff stresses times -h^2 V.
 *   (W + aT S) dL = -C - aT S L,  x_i += w_i F [dL] b_i                        aT = 1/h^2, Macklin et al. 2016 (XPBD)
 * with [dL] the symmetric 3x3 of dL, b_i the gradient of corner i's shape function (rows of D_m^-1; b_3 = -sum).
 * Because grad_i C_ab = F_a b_ib + F_b b_ia, every W follows from two 3x3 tensors: with T = F^T F and K = sum_i w_i b_i
 * b_i^T (constant)
 *   W_ab,cd = T_ac K_bd + T_ad K_bc + T_bc K_ad + T_bd K_ac   (halved for each normal strain among the two)
 * An isotropic element is stored in the principal axes of K (and in its own unit, sim/constraints/tetrahedra.ts), where
 * half of W is 0. The normal strains are eliminated in closed form and three shears by the adjugate: 169 operations and
 * two successive divisions instead of 256 and three. Other materials have axes of their own: all of K, and L D L^T.
 *
 * The multipliers of earlier iterations also act through today's F: F [L] is stored as applied so far, and the
 * difference is added,
 *   dx_i = w_i (F [dL] + theta (F [L] - applied)) b_i,   theta = 1/(1 + |L| tr K)
 * So the fixed point is implicit Euler itself, x = xTilde + sum_i w_i gradC_i(x)^T L, and does not depend on the path.
 * (Without it a bar stretched by 20 % is 5 % off in strain at any number of iterations once h c is half an element, c
 * the speed of sound.) theta is the implicit form of that feedback, whose gain is the geometric stiffness |L| tr K:
 * without it stiff elements blow up.
 *
 * Tried: two scalars sqrt(2 mu V)|eps| and sqrt(lambda V) tr eps with a common F (14.9 ns a constraint; lateral
 * contraction of a stretched bar 1.2 % off at 240 substeps x 20 iterations, this form 0.005 %; error of a sagging beam
 * at 240 x 5 76 % instead of 58 %). Starting every substep from the last multipliers: unstable if iterations reach less
 * than half of a mode's stress; warmStart.ts is stable.
 */
import { moveCorners } from "./corners";
import { add, sub, mul, madd, dot3, xs, ys, zs, between, toLow } from "../math/lanes";
import * as L from "../layout/layout";
import { continueIsotropic, continueOrthotropic, continuePlastic } from "./inversion";

/**
 * Solves isotropic, elastic elements.
 * @param block address of the first of `count` blocks of four elements
 * @param own address of the values that the first of them keeps between iterations
 * @param pass PASS_FIRST and PASS_LAST, added
 * @param inverseH2 1/h^2, 1/s^2
 * @param scratch this thread's SCRATCH_BYTES
 * @param memory remembered stress of the first block, if this substep starts from it (warmStart.ts); else 0
 */
export function solveTetrahedra(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
): void {
  solveStrains(block, own, count, pass, inverseH2, scratch, memory, false, false, false);
}

/**
 * Solves orthotropic elements: nine compliances in the material's axes, in which D_m is given (Bender et al. 2014, eq 4
 * with the orthotropic tensor).
 */
export function solveOrthotropic(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
): void {
  solveStrains(block, own, count, pass, inverseH2, scratch, memory, true, false, false);
}

/**
 * Solves plastic elements, isotropic or orthotropic: C = eps - eps_plastic (section 4.2). plasticity.ts updates the
 * plastic part.
 */
export function solvePlastic(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
): void {
  solveStrains(block, own, count, pass, inverseH2, scratch, memory, true, true, false);
}

/**
 * Solves dashpots: C is the strain minus its value at the start of the substep (dashpots.ts). Crushed elements have no
 * dashpot.
 */
export function solveTetrahedronDashpots(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  solveStrains(block, own, count, pass, inverseH2, 0, 0, true, true, true);
}

/**
 * Solves all four kinds. `general` (nine compliances), `plastic` (a strain without stress) and `dashpot` are
 * compile-time constants. So the plain path does not pay for the others.
 */
// @inline
function solveStrains(
  block: usize,
  own: usize,
  count: i32,
  pass: i32,
  inverseH2: f32,
  scratch: usize,
  memory: usize,
  general: bool,
  plastic: bool,
  dashpot: bool,
): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const two = f32x4.splat(2);
  const zero = f32x4.splat(0);
  const third = f32x4.splat(0.33333334); // (1/sqrt 3)^2, where the StVK stress turns: see inversion.ts
  const aT = f32x4.splat(inverseH2);
  const first = memory ? 0 : pass & L.PASS_FIRST;
  const last = pass & L.PASS_LAST;
  for (
    let n = 0;
    n < count;
    n++, own += L.TET_KEPT_BYTES, block += plastic ? L.TET_PLASTIC_BYTES : general ? L.TET_ORTHO_BYTES : L.TET_BYTES
  ) {
    // multipliers, then the corrections applied so far
    const from = memory ? memory + <usize>n * L.WARM_START_BYTES : own;
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
    const f00 = dot3(ax, m00, bx, m10, cx, m20);
    const f01 = dot3(ax, m01, bx, m11, cx, m21);
    const f02 = dot3(ax, m02, bx, m12, cx, m22);
    const f10 = dot3(ay, m00, by, m10, cy, m20);
    const f11 = dot3(ay, m01, by, m11, cy, m21);
    const f12 = dot3(ay, m02, by, m12, cy, m22);
    const f20 = dot3(az, m00, bz, m10, cz, m20);
    const f21 = dot3(az, m01, bz, m11, cz, m21);
    const f22 = dot3(az, m02, bz, m12, cz, m22);

    // T = F^T F, Green strains, and whether every singular value is above 1/sqrt 3:
    // <=> T - I/3 positive definite (Sylvester) and det F > 0
    const t00 = dot3(f00, f00, f10, f10, f20, f20);
    const t11 = dot3(f01, f01, f11, f11, f21, f21);
    const t22 = dot3(f02, f02, f12, f12, f22, f22);
    const t01 = dot3(f00, f01, f10, f11, f20, f21);
    const t02 = dot3(f00, f02, f10, f12, f20, f22);
    const t12 = dot3(f01, f02, f11, f12, f21, f22);
    const g00 = sub(t00, third);
    const g11 = sub(t11, third);
    const g22 = sub(t22, third);
    const minor2 = sub(mul(g00, g11), mul(t01, t01));
    const detG = add(
      sub(mul(g22, minor2), mul(t12, sub(mul(g00, t12), mul(t02, t01)))),
      mul(t02, sub(mul(t01, t12), mul(t02, g11))),
    );
    const detF = add(
      sub(mul(f00, sub(mul(f11, f22), mul(f12, f21))), mul(f01, sub(mul(f10, f22), mul(f12, f20)))),
      mul(f02, sub(mul(f10, f21), mul(f11, f20))),
    );
    // pmin is one instruction where min is five; the guard handles a NaN that passes it
    const sound = f32x4.gt(f32x4.pmin(f32x4.pmin(g00, minor2), f32x4.pmin(detG, detF)), zero);

    if (!dashpot && !v128.any_true(sound)) {
      // all lanes are continued: skip the solve below
      store9(scratch, f00, f01, f02, f10, f11, f12, f20, f21, f22);
      continueUnsound(scratch, sound, block, own, first ? 0 : from + L.TET_APPLIED, inverseH2, general, plastic);
      const p00 = v128.load(scratch, L.SCRATCH_G);
      const p01 = v128.load(scratch, L.SCRATCH_G + 16);
      const p02 = v128.load(scratch, L.SCRATCH_G + 32);
      const p10 = v128.load(scratch, L.SCRATCH_G + 48);
      const p11 = v128.load(scratch, L.SCRATCH_G + 64);
      const p12 = v128.load(scratch, L.SCRATCH_G + 80);
      const p20 = v128.load(scratch, L.SCRATCH_G + 96);
      const p21 = v128.load(scratch, L.SCRATCH_G + 112);
      const p22 = v128.load(scratch, L.SCRATCH_G + 128);
      moveCorners(block, low, p00, p01, p02, p10, p11, p12, p20, p21, p22, !general);
      continue;
    }

    // right-hand side -C - aT S L
    let r0 = mul(half, sub(one, t00));
    let r1 = mul(half, sub(one, t11));
    let r2 = mul(half, sub(one, t22));
    let r3 = f32x4.neg(t12);
    let r4 = f32x4.neg(t02);
    let r5 = f32x4.neg(t01);
    if (plastic) {
      r0 = add(r0, v128.load(block, L.TET_PLASTIC_STRAIN));
      r1 = add(r1, v128.load(block, L.TET_PLASTIC_STRAIN + 16));
      r2 = add(r2, v128.load(block, L.TET_PLASTIC_STRAIN + 32));
      r3 = add(r3, v128.load(block, L.TET_PLASTIC_STRAIN + 48));
      r4 = add(r4, v128.load(block, L.TET_PLASTIC_STRAIN + 64));
      r5 = add(r5, v128.load(block, L.TET_PLASTIC_STRAIN + 80));
    }
    let l0 = zero;
    let l1 = zero;
    let l2 = zero;
    let l3 = zero;
    let l4 = zero;
    let l5 = zero;
    if (!first) {
      l0 = v128.load(from);
      l1 = v128.load(from, 16);
      l2 = v128.load(from, 32);
      l3 = v128.load(from, 48);
      l4 = v128.load(from, 64);
      l5 = v128.load(from, 80);
    }
    let d0: v128;
    let d1: v128;
    let d2: v128;
    let d3: v128;
    let d4: v128;
    let d5: v128;
    let trace = one;
    if (general) {
      const k00 = v128.load(block, L.TET_K);
      const k11 = v128.load(block, L.TET_K + 16);
      const k22 = v128.load(block, L.TET_K + 32);
      const k12 = v128.load(block, L.TET_K + 48);
      const k02 = v128.load(block, L.TET_K + 64);
      const k01 = v128.load(block, L.TET_K + 80);
      const s00 = mul(aT, v128.load(block, L.TET_ORTHO_S));
      const s11 = mul(aT, v128.load(block, L.TET_ORTHO_S + 16));
      const s22 = mul(aT, v128.load(block, L.TET_ORTHO_S + 32));
      const s12 = mul(aT, v128.load(block, L.TET_S_COUPLING));
      const s02 = mul(aT, v128.load(block, L.TET_S_COUPLING + 16));
      const s01 = mul(aT, v128.load(block, L.TET_S_COUPLING + 32));
      const s33 = mul(aT, v128.load(block, L.TET_S_SHEAR));
      const s44 = mul(aT, v128.load(block, L.TET_S_SHEAR + 16));
      const s55 = mul(aT, v128.load(block, L.TET_S_SHEAR + 32));
      trace = add(k00, add(k11, k22));
      if (!first) {
        r0 = sub(r0, madd(s00, l0, madd(s01, l1, mul(s02, l2))));
        r1 = sub(r1, madd(s11, l1, madd(s01, l0, mul(s12, l2))));
        r2 = sub(r2, madd(s22, l2, madd(s02, l0, mul(s12, l1))));
        r3 = sub(r3, mul(s33, l3));
        r4 = sub(r4, mul(s44, l4));
        r5 = sub(r5, mul(s55, l5));
      }
      // W + aT S = L D L^T with 2x2 pivots: half as many dependent divisions (1x1 pivots took 8 % longer)
      const a00 = madd(t00, k00, s00);
      const a10 = madd(t01, k01, s01);
      const a11 = madd(t11, k11, s11);
      const v0 = f32x4.div(one, sub(mul(a00, a11), mul(a10, a10)));
      const i00 = mul(a11, v0);
      const i11 = mul(a00, v0);
      const i10 = mul(a10, v0);
      const a20 = madd(t02, k02, s02);
      const a21 = madd(t12, k12, s12);
      const q20 = sub(mul(a20, i00), mul(a21, i10));
      const q21 = sub(mul(a21, i11), mul(a20, i10));
      const a30 = madd(t02, k01, mul(t01, k02));
      const a31 = madd(t12, k11, mul(t11, k12));
      const q30 = sub(mul(a30, i00), mul(a31, i10));
      const q31 = sub(mul(a31, i11), mul(a30, i10));
      const a40 = madd(t02, k00, mul(t00, k02));
      const a41 = madd(t12, k01, mul(t01, k12));
      const q40 = sub(mul(a40, i00), mul(a41, i10));
      const q41 = sub(mul(a41, i11), mul(a40, i10));
      const a50 = madd(t01, k00, mul(t00, k01));
      const a51 = madd(t11, k01, mul(t01, k11));
      const q50 = sub(mul(a50, i00), mul(a51, i10));
      const q51 = sub(mul(a51, i11), mul(a50, i10));
      const a22 = sub(madd(t22, k22, s22), madd(q20, a20, mul(q21, a21)));
      const a32 = sub(madd(t22, k12, mul(t12, k22)), madd(q30, a20, mul(q31, a21)));
      const a33 = sub(madd(t22, k11, madd(mul(two, t12), k12, madd(t11, k22, s33))), madd(q30, a30, mul(q31, a31)));
      const v1 = f32x4.div(one, sub(mul(a22, a33), mul(a32, a32)));
      const i22 = mul(a33, v1);
      const i33 = mul(a22, v1);
      const i32 = mul(a32, v1);
      const a42 = sub(madd(t22, k02, mul(t02, k22)), madd(q40, a20, mul(q41, a21)));
      const a43 = sub(madd(t22, k01, madd(t02, k12, madd(t12, k02, mul(t01, k22)))), madd(q40, a30, mul(q41, a31)));
      const q42 = sub(mul(a42, i22), mul(a43, i32));
      const q43 = sub(mul(a43, i33), mul(a42, i32));
      const a52 = sub(madd(t12, k02, mul(t02, k12)), madd(q50, a20, mul(q51, a21)));
      const a53 = sub(madd(t12, k01, madd(t02, k11, madd(t11, k02, mul(t01, k12)))), madd(q50, a30, mul(q51, a31)));
      const q52 = sub(mul(a52, i22), mul(a53, i32));
      const q53 = sub(mul(a53, i33), mul(a52, i32));
      const a44 = sub(
        sub(madd(t22, k00, madd(mul(two, t02), k02, madd(t00, k22, s44))), madd(q40, a40, mul(q41, a41))),
        madd(q42, a42, mul(q43, a43)),
      );
      const a54 = sub(
        sub(madd(t12, k00, madd(t02, k01, madd(t01, k02, mul(t00, k12)))), madd(q50, a40, mul(q51, a41))),
        madd(q52, a42, mul(q53, a43)),
      );
      const a55 = sub(
        sub(madd(t11, k00, madd(mul(two, t01), k01, madd(t00, k11, s55))), madd(q50, a50, mul(q51, a51))),
        madd(q52, a52, mul(q53, a53)),
      );
      const v2 = f32x4.div(one, sub(mul(a44, a55), mul(a54, a54)));
      const i44 = mul(a55, v2);
      const i55 = mul(a44, v2);
      const i54 = mul(a54, v2);
      // forward, then backward substitution
      const f2 = sub(r2, madd(q20, r0, mul(q21, r1)));
      const f3 = sub(r3, madd(q30, r0, mul(q31, r1)));
      const f4 = sub(sub(r4, madd(q40, r0, mul(q41, r1))), madd(q42, f2, mul(q43, f3)));
      const f5 = sub(sub(r5, madd(q50, r0, mul(q51, r1))), madd(q52, f2, mul(q53, f3)));
      d4 = sub(mul(i44, f4), mul(i54, f5));
      d5 = sub(mul(i55, f5), mul(i54, f4));
      d2 = sub(sub(sub(mul(i22, f2), mul(i32, f3)), mul(q42, d4)), mul(q52, d5));
      d3 = sub(sub(sub(mul(i33, f3), mul(i32, f2)), mul(q43, d4)), mul(q53, d5));
      d0 = sub(sub(sub(sub(sub(mul(i00, r0), mul(i10, r1)), mul(q20, d2)), mul(q30, d3)), mul(q40, d4)), mul(q50, d5));
      d1 = sub(sub(sub(sub(sub(mul(i11, r1), mul(i10, r0)), mul(q21, d2)), mul(q31, d3)), mul(q41, d4)), mul(q51, d5));
    } else {
      // K is diagonal here, so W is sparse: normal strains couple through S alone, N = diag(n) + c 1 1^T, and a shear
      // couples to two of them
      const k0 = v128.load(block, L.TET_K);
      const k1 = v128.load(block, L.TET_K + 16);
      const k2 = v128.load(block, L.TET_K + 32);
      const c = mul(aT, v128.load(block, L.TET_S + 16));
      const s = sub(mul(aT, v128.load(block, L.TET_S)), c);
      const shear = add(s, s);
      if (!first) {
        const volume = mul(c, add(l0, add(l1, l2)));
        r0 = sub(r0, madd(s, l0, volume));
        r1 = sub(r1, madd(s, l1, volume));
        r2 = sub(r2, madd(s, l2, volume));
        r3 = sub(r3, mul(shear, l3));
        r4 = sub(r4, mul(shear, l4));
        r5 = sub(r5, mul(shear, l5));
      }
      // N^-1 = diag(i) - g i i^T (Sherman and Morrison), g = c/(1 + c sum i), with both quotients at once
      const n0 = madd(t00, k0, s);
      const n1 = madd(t11, k1, s);
      const n2 = madd(t22, k2, s);
      const n12 = mul(n1, n2);
      const n02 = mul(n0, n2);
      const n01 = mul(n0, n1);
      const n012 = mul(n0, n12);
      const over = f32x4.div(one, n012);
      const g = f32x4.div(mul(c, n012), madd(c, add(n12, add(n02, n01)), n012));
      const i0 = mul(n12, over);
      const i1 = mul(n02, over);
      const i2 = mul(n01, over);
      const g0 = mul(k0, i0);
      const g1 = mul(k1, i1);
      const g2 = mul(k2, i2);
      const e0 = mul(k0, g0);
      const e1 = mul(k1, g1);
      const e2 = mul(k2, g2);
      // the remaining system of the shears, by the adjugate; in K's axes it is diagonal at rest for an element of any
      // shape, so cofactors lose no digits
      const p0 = add(g1, g2);
      const p1 = add(g0, g2);
      const p2 = add(g0, g1);
      const q0 = mul(g, p0);
      const q1 = mul(g, p1);
      const q2 = mul(g, p2);
      const a33 = sub(madd(t22, k1, madd(t11, k2, shear)), mul(mul(t12, t12), sub(add(e1, e2), mul(q0, p0))));
      const a44 = sub(madd(t22, k0, madd(t00, k2, shear)), mul(mul(t02, t02), sub(add(e0, e2), mul(q1, p1))));
      const a55 = sub(madd(t11, k0, madd(t00, k1, shear)), mul(mul(t01, t01), sub(add(e0, e1), mul(q2, p2))));
      const a43 = sub(mul(t01, k2), mul(mul(t12, t02), sub(e2, mul(q0, p1))));
      const a53 = sub(mul(t02, k1), mul(mul(t01, t12), sub(e1, mul(q0, p2))));
      const a54 = sub(mul(t12, k0), mul(mul(t02, t01), sub(e0, mul(q1, p2))));
      const b33 = sub(mul(a44, a55), mul(a54, a54));
      const b43 = sub(mul(a53, a54), mul(a43, a55));
      const b53 = sub(mul(a43, a54), mul(a53, a44));
      const b44 = sub(mul(a33, a55), mul(a53, a53));
      const b54 = sub(mul(a43, a53), mul(a33, a54));
      const b55 = sub(mul(a33, a44), mul(a43, a43));
      const det = f32x4.div(one, dot3(a33, b33, a43, b43, a53, b53));
      const rho = mul(g, dot3(i0, r0, i1, r1, i2, r2));
      const v0 = mul(g0, sub(r0, rho));
      const v1 = mul(g1, sub(r1, rho));
      const v2 = mul(g2, sub(r2, rho));
      const f3 = sub(r3, mul(t12, add(v1, v2)));
      const f4 = sub(r4, mul(t02, add(v0, v2)));
      const f5 = sub(r5, mul(t01, add(v0, v1)));
      d3 = mul(det, dot3(b33, f3, b43, f4, b53, f5));
      d4 = mul(det, dot3(b43, f3, b44, f4, b54, f5));
      d5 = mul(det, dot3(b53, f3, b54, f4, b55, f5));
      const u3 = mul(t12, d3);
      const u4 = mul(t02, d4);
      const u5 = mul(t01, d5);
      r0 = sub(r0, mul(k0, add(u4, u5)));
      r1 = sub(r1, mul(k1, add(u3, u5)));
      r2 = sub(r2, mul(k2, add(u3, u4)));
      const back = mul(g, dot3(i0, r0, i1, r1, i2, r2));
      d0 = mul(i0, sub(r0, back));
      d1 = mul(i1, sub(r1, back));
      d2 = mul(i2, sub(r2, back));
    }
    if (dashpot) {
      d0 = v128.and(d0, sound);
      d1 = v128.and(d1, sound);
      d2 = v128.and(d2, sound);
      d3 = v128.and(d3, sound);
      d4 = v128.and(d4, sound);
      d5 = v128.and(d5, sound);
    }
    if (!last) {
      v128.store(own, add(l0, d0));
      v128.store(own, add(l1, d1), 16);
      v128.store(own, add(l2, d2), 32);
      v128.store(own, add(l3, d3), 48);
      v128.store(own, add(l4, d4), 64);
      v128.store(own, add(l5, d5), 80);
    }

    // G = F [dL] + theta (F [L] - applied) = F [dL + theta L] - theta applied; x_i += w_i G b_i
    let s0 = d0;
    let s1 = d1;
    let s2 = d2;
    let s3 = d3;
    let s4 = d4;
    let s5 = d5;
    let theta = zero;
    if (!first) {
      const size = f32x4.sqrt(madd(two, dot3(l3, l3, l4, l4, l5, l5), dot3(l0, l0, l1, l1, l2, l2)));
      theta = f32x4.div(one, general ? madd(size, trace, one) : add(size, one)); // tr K is 1 in K's axes
      if (dashpot) theta = v128.and(theta, sound);
      s0 = madd(theta, l0, d0);
      s1 = madd(theta, l1, d1);
      s2 = madd(theta, l2, d2);
      s3 = madd(theta, l3, d3);
      s4 = madd(theta, l4, d4);
      s5 = madd(theta, l5, d5);
    }
    const whole = dashpot || i32x4.all_true(sound); // else continueUnsound records the corrections of all lanes
    let p00 = dot3(f00, s0, f01, s5, f02, s4);
    let p01 = dot3(f00, s5, f01, s1, f02, s3);
    let p02 = dot3(f00, s4, f01, s3, f02, s2);
    let p10 = dot3(f10, s0, f11, s5, f12, s4);
    let p11 = dot3(f10, s5, f11, s1, f12, s3);
    let p12 = dot3(f10, s4, f11, s3, f12, s2);
    let p20 = dot3(f20, s0, f21, s5, f22, s4);
    let p21 = dot3(f20, s5, f21, s1, f22, s3);
    let p22 = dot3(f20, s4, f21, s3, f22, s2);
    // minus the correction applied so far, which is updated
    if (!first) {
      const o00 = v128.load(from, L.TET_APPLIED);
      const o01 = v128.load(from, L.TET_APPLIED + 16);
      const o02 = v128.load(from, L.TET_APPLIED + 32);
      const o10 = v128.load(from, L.TET_APPLIED + 48);
      const o11 = v128.load(from, L.TET_APPLIED + 64);
      const o12 = v128.load(from, L.TET_APPLIED + 80);
      const o20 = v128.load(from, L.TET_APPLIED + 96);
      const o21 = v128.load(from, L.TET_APPLIED + 112);
      const o22 = v128.load(from, L.TET_APPLIED + 128);
      p00 = sub(p00, mul(theta, o00));
      p01 = sub(p01, mul(theta, o01));
      p02 = sub(p02, mul(theta, o02));
      p10 = sub(p10, mul(theta, o10));
      p11 = sub(p11, mul(theta, o11));
      p12 = sub(p12, mul(theta, o12));
      p20 = sub(p20, mul(theta, o20));
      p21 = sub(p21, mul(theta, o21));
      p22 = sub(p22, mul(theta, o22));
      if (!last && whole) {
        v128.store(own, add(o00, p00), L.TET_APPLIED);
        v128.store(own, add(o01, p01), L.TET_APPLIED + 16);
        v128.store(own, add(o02, p02), L.TET_APPLIED + 32);
        v128.store(own, add(o10, p10), L.TET_APPLIED + 48);
        v128.store(own, add(o11, p11), L.TET_APPLIED + 64);
        v128.store(own, add(o12, p12), L.TET_APPLIED + 80);
        v128.store(own, add(o20, p20), L.TET_APPLIED + 96);
        v128.store(own, add(o21, p21), L.TET_APPLIED + 112);
        v128.store(own, add(o22, p22), L.TET_APPLIED + 128);
      }
    } else if (!last && whole) {
      v128.store(own, p00, L.TET_APPLIED);
      v128.store(own, p01, L.TET_APPLIED + 16);
      v128.store(own, p02, L.TET_APPLIED + 32);
      v128.store(own, p10, L.TET_APPLIED + 48);
      v128.store(own, p11, L.TET_APPLIED + 64);
      v128.store(own, p12, L.TET_APPLIED + 80);
      v128.store(own, p20, L.TET_APPLIED + 96);
      v128.store(own, p21, L.TET_APPLIED + 112);
      v128.store(own, p22, L.TET_APPLIED + 128);
    }
    // inverted lanes are solved in inversion.ts
    if (!whole) {
      store9(scratch, f00, f01, f02, f10, f11, f12, f20, f21, f22);
      store9(scratch + L.SCRATCH_G, p00, p01, p02, p10, p11, p12, p20, p21, p22);
      continueUnsound(scratch, sound, block, own, first ? 0 : from + L.TET_APPLIED, inverseH2, general, plastic);
      p00 = v128.load(scratch, L.SCRATCH_G);
      p01 = v128.load(scratch, L.SCRATCH_G + 16);
      p02 = v128.load(scratch, L.SCRATCH_G + 32);
      p10 = v128.load(scratch, L.SCRATCH_G + 48);
      p11 = v128.load(scratch, L.SCRATCH_G + 64);
      p12 = v128.load(scratch, L.SCRATCH_G + 80);
      p20 = v128.load(scratch, L.SCRATCH_G + 96);
      p21 = v128.load(scratch, L.SCRATCH_G + 112);
      p22 = v128.load(scratch, L.SCRATCH_G + 128);
    }
    moveCorners(block, low, p00, p01, p02, p10, p11, p12, p20, p21, p22, !general);
  }
}

// @inline
function store9(at: usize, a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128, i: v128): void {
  v128.store(at, a);
  v128.store(at, b, 16);
  v128.store(at, c, 32);
  v128.store(at, d, 48);
  v128.store(at, e, 64);
  v128.store(at, f, 80);
  v128.store(at, g, 96);
  v128.store(at, h, 112);
  v128.store(at, i, 128);
}

// @inline
function continueUnsound(
  scratch: usize,
  sound: v128,
  block: usize,
  own: usize,
  applied: usize,
  inverseH2: f32,
  general: bool,
  plastic: bool,
): void {
  if (plastic) continuePlastic(scratch, sound, block, own, applied, inverseH2);
  else if (general) continueOrthotropic(scratch, sound, block, own, applied, inverseH2);
  else continueIsotropic(scratch, sound, block, own, applied, inverseH2);
}
