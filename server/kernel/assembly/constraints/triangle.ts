/**
 * Saint Venant-Kirchhoff cloth triangles, isotropic or orthotropic, four at a time.
 *
 *        x1
 *        | \          F = (x0-x2, x1-x2) D_m^-1 (3x2); F^T F equals that of the 2x2 gradient in the triangle's plane
 *        |  \         C = (eps_xx, eps_yy, gamma_xy): Green strain, gamma_xy = 2 eps_xy; x is weft, y is warp
 *       x2---x0       E_s = A t / 2  C^T (elasticity tensor) C                      Bender et al. 2014, section 4.3
 *
 * All three strains are solved as one block, with the material's compliance matrix S = (A t tensor)^-1 (3x3). The three
 * multipliers are the second Piola-Kirchhoff stresses times -h^2 A t:
 *   (W + aT S) dL = -C - aT S L,   W_IJ = sum_i w_i gradC_I,i . gradC_J,i = products of F^T F and sum_i w_i b_i b_i^T
 * As in tetrahedron.ts, the multipliers so far act through today's F: dx_i = w_i (F [dL] + theta (F [L] - applied))
 * b_i, theta = 1/(1 + |L| tr K). Multipliers per strain keep the direction of the stress, and weft, warp and shear
 * cannot work against each other inside an element.
 * Tried: the adjugate, with one division instead of three successive ones. It takes 10 % less time but is up to 15
 * units off the twin if a stiff triangle is flat: unlike in tetrahedron.ts, the shear couples to both strains at rest,
 * and cofactors cancel.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, between, push, pushBack, toLow } from "../math/lanes";
import * as L from "../layout/layout";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; pass
 * PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2
 */
export function solveTriangles(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  solve(block, own, count, pass, inverseH2, false);
}

/** Solves dashpots, like solveTriangles: C is the strain minus its value at the start of the substep (dashpots.ts). */
export function solveTriangleDashpots(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  solve(block, own, count, pass, inverseH2, true);
}

/** @param dashpot compile-time constant */
// @inline
function solve(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32, dashpot: bool): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const two = f32x4.splat(2);
  const zero = f32x4.splat(0);
  const aT = f32x4.splat(inverseH2);
  const first = pass & L.PASS_FIRST;
  const last = pass & L.PASS_LAST;
  // keeps pivots of a collapsed, infinitely stiff lane from 0. An absolute number suffices: otherwise pivots are W + aT
  // S > 0, which sim/world/massUnit.ts keeps near 1
  const smallest = f32x4.splat(1e-37);
  for (let n = 0; n < count; n++, block += dashpot ? L.TRI_DASHPOT_BYTES : L.TRI_BYTES, own += L.TRI_KEPT_BYTES) {
    const base0 = <usize>load<u32>(block, 32);
    const base1 = <usize>load<u32>(block, 36);
    const base2 = <usize>load<u32>(block, 40);
    const base3 = <usize>load<u32>(block, 44);
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

    // F = D Dm^-1, and its strain
    const m00 = v128.load(block, L.TRI_DM);
    const m01 = v128.load(block, L.TRI_DM + 16);
    const m10 = v128.load(block, L.TRI_DM + 32);
    const m11 = v128.load(block, L.TRI_DM + 48);
    const fx0 = madd(ax, m00, mul(bx, m10));
    const fy0 = madd(ay, m00, mul(by, m10));
    const fz0 = madd(az, m00, mul(bz, m10));
    const fx1 = madd(ax, m01, mul(bx, m11));
    const fy1 = madd(ay, m01, mul(by, m11));
    const fz1 = madd(az, m01, mul(bz, m11));
    const c00 = dot3(fx0, fx0, fy0, fy0, fz0, fz0);
    const c11 = dot3(fx1, fx1, fy1, fy1, fz1, fz1);
    const c01 = dot3(fx0, fx1, fy0, fy1, fz0, fz1);
    const exx = mul(half, sub(c00, one));
    const eyy = mul(half, sub(c11, one));

    // right sides and matrix of the three strains
    const k00 = v128.load(block, L.TRI_K);
    const k01 = v128.load(block, L.TRI_K + 16);
    const k11 = v128.load(block, L.TRI_K + 32);
    const s00 = mul(aT, v128.load(block, L.TRI_S));
    const s01 = mul(aT, v128.load(block, L.TRI_S + 16));
    const s11 = mul(aT, v128.load(block, L.TRI_S + 32));
    const s22 = mul(aT, v128.load(block, L.TRI_S + 48));
    let l0 = zero;
    let l1 = zero;
    let l2 = zero;
    if (!first) {
      l0 = v128.load(own);
      l1 = v128.load(own, 16);
      l2 = v128.load(own, 32);
    }
    let r0 = f32x4.neg(add(exx, madd(s00, l0, mul(s01, l1))));
    let r1 = f32x4.neg(add(eyy, madd(s01, l0, mul(s11, l1))));
    let r2 = f32x4.neg(madd(s22, l2, c01));
    if (dashpot) {
      r0 = add(r0, v128.load(block, L.TRI_PAST));
      r1 = add(r1, v128.load(block, L.TRI_PAST + 16));
      r2 = add(r2, v128.load(block, L.TRI_PAST + 32));
    }

    const a00 = madd(c00, k00, s00);
    const a01 = madd(c01, k01, s01);
    const a02 = madd(c00, k01, mul(c01, k00));
    const a11 = madd(c11, k11, s11);
    const a12 = madd(c01, k11, mul(c11, k01));
    const a22 = add(madd(c00, k11, mul(c11, k00)), madd(two, mul(c01, k01), s22));
    // L D L^T, symmetric and positive definite because of S
    const i0 = f32x4.div(one, f32x4.pmax(a00, smallest));
    const g10 = mul(a01, i0);
    const g20 = mul(a02, i0);
    const p1 = f32x4.pmax(sub(a11, mul(g10, a01)), smallest);
    const i1 = f32x4.div(one, p1);
    const q21 = sub(a12, mul(g10, a02));
    const g21 = mul(q21, i1);
    const p2 = f32x4.pmax(sub(sub(a22, mul(g20, a02)), mul(g21, q21)), smallest);
    const t1 = sub(r1, mul(g10, r0));
    const t2 = sub(sub(r2, mul(g20, r0)), mul(g21, t1));
    const d2 = f32x4.div(t2, p2);
    const d1 = sub(mul(t1, i1), mul(g21, d2));
    const d0 = sub(sub(mul(r0, i0), mul(g10, d1)), mul(g20, d2));
    if (!last) {
      v128.store(own, add(l0, d0));
      v128.store(own, add(l1, d1), 16);
      v128.store(own, add(l2, d2), 32);
    }

    // x_i += w_i F (dL as symmetric 2x2) b_i
    let gx0 = madd(fx0, d0, mul(fx1, d2));
    let gy0 = madd(fy0, d0, mul(fy1, d2));
    let gz0 = madd(fz0, d0, mul(fz1, d2));
    let gx1 = madd(fx0, d2, mul(fx1, d1));
    let gy1 = madd(fy0, d2, mul(fy1, d1));
    let gz1 = madd(fz0, d2, mul(fz1, d1));
    // minus the correction applied so far, which is updated
    let ox0 = zero;
    let oy0 = zero;
    let oz0 = zero;
    let ox1 = zero;
    let oy1 = zero;
    let oz1 = zero;
    if (!first) {
      ox0 = v128.load(own, L.TRI_APPLIED);
      oy0 = v128.load(own, L.TRI_APPLIED + 16);
      oz0 = v128.load(own, L.TRI_APPLIED + 32);
      ox1 = v128.load(own, L.TRI_APPLIED + 48);
      oy1 = v128.load(own, L.TRI_APPLIED + 64);
      oz1 = v128.load(own, L.TRI_APPLIED + 80);
      const size = f32x4.sqrt(madd(two, mul(l2, l2), madd(l0, l0, mul(l1, l1))));
      const theta = f32x4.div(one, madd(size, add(k00, k11), one));
      gx0 = madd(theta, sub(madd(fx0, l0, mul(fx1, l2)), ox0), gx0);
      gy0 = madd(theta, sub(madd(fy0, l0, mul(fy1, l2)), oy0), gy0);
      gz0 = madd(theta, sub(madd(fz0, l0, mul(fz1, l2)), oz0), gz0);
      gx1 = madd(theta, sub(madd(fx0, l2, mul(fx1, l1)), ox1), gx1);
      gy1 = madd(theta, sub(madd(fy0, l2, mul(fy1, l1)), oy1), gy1);
      gz1 = madd(theta, sub(madd(fz0, l2, mul(fz1, l1)), oz1), gz1);
    }
    if (!last) {
      v128.store(own, add(ox0, gx0), L.TRI_APPLIED);
      v128.store(own, add(oy0, gy0), L.TRI_APPLIED + 16);
      v128.store(own, add(oz0, gz0), L.TRI_APPLIED + 32);
      v128.store(own, add(ox1, gx1), L.TRI_APPLIED + 48);
      v128.store(own, add(oy1, gy1), L.TRI_APPLIED + 64);
      v128.store(own, add(oz1, gz1), L.TRI_APPLIED + 80);
    }
    // to the corners
    const h0x = madd(gx0, m00, mul(gx1, m01));
    const h0y = madd(gy0, m00, mul(gy1, m01));
    const h0z = madd(gz0, m00, mul(gz1, m01));
    const h1x = madd(gx0, m10, mul(gx1, m11));
    const h1y = madd(gy0, m10, mul(gy1, m11));
    const h1z = madd(gz0, m10, mul(gz1, m11));
    pushThree(block, low, xs(h0x, h0y, h0z, zero), xs(h1x, h1y, h1z, zero));
    pushThree(block + 4, low, ys(h0x, h0y, h0z, zero), ys(h1x, h1y, h1z, zero));
    pushThree(block + 8, low, zs(h0x, h0y, h0z, zero), zs(h1x, h1y, h1z, zero));
    pushThree(block + 12, low, ws(h0x, h0y, h0z, zero), ws(h1x, h1y, h1z, zero));
  }
}

/** Moves the corners of one triangle by w times h0, h1 and -(h0 + h1). */
// @inline
function pushThree(corners: usize, low: usize, h0: v128, h1: v128): void {
  push(<usize>load<u32>(corners, 0), low, h0);
  push(<usize>load<u32>(corners, 16), low, h1);
  pushBack(<usize>load<u32>(corners, 32), low, add(h0, h1));
}
