/**
 * Saint Venant-Kirchhoff tetrahedra as two compliant constraints that share one deformation gradient, four elements at a time.
 *
 *            x2
 *           /|\          D_s = (x0-x3, x1-x3, x2-x3),  F = D_s D_m^-1          Bender et al. 2014, eq 9
 *          / | \         eps = (F^T F - I)/2
 *        x0--|--x1       C1 = sqrt(2 mu V) |eps|,  C2 = sqrt(lambda V) tr eps  so that C1^2/2 + C2^2/2 = E_s (eqs 4, 5)
 *          \ | /         compliance 1: alphaTilde = 1/h^2                       Macklin et al. 2016 (XPBD)
 *            x3
 * Both are solved together from one linearisation:
 *   ( W11 + aT   W12      ) (dL1)   ( -C1 - aT L1 )        Wab = sum_i w_i gradCa_i . gradCb_i
 *   ( W12        W22 + aT ) (dL2) = ( -C2 - aT L2 )        x_i += w_i (gradC1_i dL1 + gradC2_i dL2)
 * Tried beside it: a block of all six strains (25-40 % less error left per iteration, 1.6 times the work: even), and starting from the
 * last substep's multipliers (exact in equilibrium, but unstable as soon as a mode needs more than one substep to converge).
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, scatter } from "./lanes";
import { TET_DM, TET_S1, TET_S2, TET_LAMBDA, TET_BYTES } from "./layout";
import { clampInvertedLanes } from "./inversion";

/**
 * @param block address of the first of `count` blocks of four elements
 * @param first 1: multipliers start at zero (first iteration of a substep)
 * @param inverseH2 1/h^2, 1/s^2
 * @param scratch this thread's SCRATCH_BYTES
 */
export function solveTetrahedra(block: usize, count: i32, first: i32, inverseH2: f32, scratch: usize): void {
  const one = f32x4.splat(1), half = f32x4.splat(0.5), zero = f32x4.splat(0);
  const third = f32x4.splat(0.33333334); // (1/sqrt 3)^2, where the StVK stress turns: see inversion.ts
  const aT = f32x4.splat(inverseH2);
  // |eps| below this is rounding of F (2^-23); it only keeps 0/0 away, the correction itself is proportional to eps
  const tiny = f32x4.splat(1e-12);
  // relative lift of the 2x2 determinant: the two gradients are parallel under pure dilation and float32 then cancels
  const lift = f32x4.splat(1 + 1e-6);
  for (let n = 0; n < count; n++, block += TET_BYTES) {
    let a = v128.load(<usize>load<u32>(block, 0)), b = v128.load(<usize>load<u32>(block, 4)), c = v128.load(<usize>load<u32>(block, 8)), d = v128.load(<usize>load<u32>(block, 12));
    const x0 = xs(a, b, c, d), y0 = ys(a, b, c, d), z0 = zs(a, b, c, d), w0 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 16)); b = v128.load(<usize>load<u32>(block, 20)); c = v128.load(<usize>load<u32>(block, 24)); d = v128.load(<usize>load<u32>(block, 28));
    const x1 = xs(a, b, c, d), y1 = ys(a, b, c, d), z1 = zs(a, b, c, d), w1 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 32)); b = v128.load(<usize>load<u32>(block, 36)); c = v128.load(<usize>load<u32>(block, 40)); d = v128.load(<usize>load<u32>(block, 44));
    const x2 = xs(a, b, c, d), y2 = ys(a, b, c, d), z2 = zs(a, b, c, d), w2 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 48)); b = v128.load(<usize>load<u32>(block, 52)); c = v128.load(<usize>load<u32>(block, 56)); d = v128.load(<usize>load<u32>(block, 60));
    const x3 = xs(a, b, c, d), y3 = ys(a, b, c, d), z3 = zs(a, b, c, d), w3 = ws(a, b, c, d);

    // F = D_s D_m^-1
    const ax = sub(x0, x3), ay = sub(y0, y3), az = sub(z0, z3);
    const bx = sub(x1, x3), by = sub(y1, y3), bz = sub(z1, z3);
    const cx = sub(x2, x3), cy = sub(y2, y3), cz = sub(z2, z3);
    const m00 = v128.load(block, TET_DM), m01 = v128.load(block, TET_DM + 16), m02 = v128.load(block, TET_DM + 32);
    const m10 = v128.load(block, TET_DM + 48), m11 = v128.load(block, TET_DM + 64), m12 = v128.load(block, TET_DM + 80);
    const m20 = v128.load(block, TET_DM + 96), m21 = v128.load(block, TET_DM + 112), m22 = v128.load(block, TET_DM + 128);
    let f00 = dot3(ax, m00, bx, m10, cx, m20), f01 = dot3(ax, m01, bx, m11, cx, m21), f02 = dot3(ax, m02, bx, m12, cx, m22);
    let f10 = dot3(ay, m00, by, m10, cy, m20), f11 = dot3(ay, m01, by, m11, cy, m21), f12 = dot3(ay, m02, by, m12, cy, m22);
    let f20 = dot3(az, m00, bz, m10, cz, m20), f21 = dot3(az, m01, bz, m11, cz, m21), f22 = dot3(az, m02, bz, m12, cz, m22);

    // right Cauchy-Green tensor and Green strain
    const c00 = dot3(f00, f00, f10, f10, f20, f20), c11 = dot3(f01, f01, f11, f11, f21, f21), c22 = dot3(f02, f02, f12, f12, f22, f22);
    const c01 = dot3(f00, f01, f10, f11, f20, f21), c02 = dot3(f00, f02, f10, f12, f20, f22), c12 = dot3(f01, f02, f11, f12, f21, f22);
    const e00 = mul(half, sub(c00, one)), e11 = mul(half, sub(c11, one)), e22 = mul(half, sub(c22, one));
    const e01 = mul(half, c01), e02 = mul(half, c02), e12 = mul(half, c12);
    let t = add(e00, add(e11, e22)); // tr eps
    const off = dot3(e01, e01, e02, e02, e12, e12);
    let q = add(dot3(e00, e00, e11, e11, e22, e22), add(off, off)); // |eps|^2

    // M1 = F eps = (1/2) d|eps|^2/dF, M2 = F = d(tr eps)/dF
    let p00 = dot3(f00, e00, f01, e01, f02, e02), p01 = dot3(f00, e01, f01, e11, f02, e12), p02 = dot3(f00, e02, f01, e12, f02, e22);
    let p10 = dot3(f10, e00, f11, e01, f12, e02), p11 = dot3(f10, e01, f11, e11, f12, e12), p12 = dot3(f10, e02, f11, e12, f12, e22);
    let p20 = dot3(f20, e00, f21, e01, f22, e02), p21 = dot3(f20, e01, f21, e11, f22, e12), p22 = dot3(f20, e02, f21, e12, f22, e22);

    // Every singular value above 1/sqrt 3 <=> F^T F - I/3 positive definite (Sylvester) and det F > 0.
    const g00 = sub(c00, third), g11 = sub(c11, third), g22 = sub(c22, third);
    const minor2 = sub(mul(g00, g11), mul(c01, c01));
    const detG = add(sub(mul(g22, minor2), mul(c12, sub(mul(g00, c12), mul(c02, c01)))), mul(c02, sub(mul(c01, c12), mul(c02, g11))));
    const detF = add(sub(mul(f00, sub(mul(f11, f22), mul(f12, f21))), mul(f01, sub(mul(f10, f22), mul(f12, f20)))), mul(f02, sub(mul(f10, f21), mul(f11, f20))));
    const sound = v128.and(v128.and(f32x4.gt(g00, zero), f32x4.gt(minor2, zero)), v128.and(f32x4.gt(detG, zero), f32x4.gt(detF, zero)));
    if (!i32x4.all_true(sound)) {
      v128.store(scratch, f00, 0); v128.store(scratch, f01, 16); v128.store(scratch, f02, 32);
      v128.store(scratch, f10, 48); v128.store(scratch, f11, 64); v128.store(scratch, f12, 80);
      v128.store(scratch, f20, 96); v128.store(scratch, f21, 112); v128.store(scratch, f22, 128);
      v128.store(scratch, p00, 144); v128.store(scratch, p01, 160); v128.store(scratch, p02, 176);
      v128.store(scratch, p10, 192); v128.store(scratch, p11, 208); v128.store(scratch, p12, 224);
      v128.store(scratch, p20, 240); v128.store(scratch, p21, 256); v128.store(scratch, p22, 272);
      v128.store(scratch, q, 288); v128.store(scratch, t, 304);
      clampInvertedLanes(scratch, i32x4.bitmask(sound));
      f00 = v128.load(scratch, 0); f01 = v128.load(scratch, 16); f02 = v128.load(scratch, 32);
      f10 = v128.load(scratch, 48); f11 = v128.load(scratch, 64); f12 = v128.load(scratch, 80);
      f20 = v128.load(scratch, 96); f21 = v128.load(scratch, 112); f22 = v128.load(scratch, 128);
      p00 = v128.load(scratch, 144); p01 = v128.load(scratch, 160); p02 = v128.load(scratch, 176);
      p10 = v128.load(scratch, 192); p11 = v128.load(scratch, 208); p12 = v128.load(scratch, 224);
      p20 = v128.load(scratch, 240); p21 = v128.load(scratch, 256); p22 = v128.load(scratch, 272);
      q = v128.load(scratch, 288); t = v128.load(scratch, 304);
    }

    // gradients by x0, x1, x2: columns of M D_m^-T; by x3: minus their sum (eq 6)
    const u0x = dot3(p00, m00, p01, m01, p02, m02), u0y = dot3(p10, m00, p11, m01, p12, m02), u0z = dot3(p20, m00, p21, m01, p22, m02);
    const u1x = dot3(p00, m10, p01, m11, p02, m12), u1y = dot3(p10, m10, p11, m11, p12, m12), u1z = dot3(p20, m10, p21, m11, p22, m12);
    const u2x = dot3(p00, m20, p01, m21, p02, m22), u2y = dot3(p10, m20, p11, m21, p12, m22), u2z = dot3(p20, m20, p21, m21, p22, m22);
    const u3x = f32x4.neg(add(u0x, add(u1x, u2x))), u3y = f32x4.neg(add(u0y, add(u1y, u2y))), u3z = f32x4.neg(add(u0z, add(u1z, u2z)));
    const v0x = dot3(f00, m00, f01, m01, f02, m02), v0y = dot3(f10, m00, f11, m01, f12, m02), v0z = dot3(f20, m00, f21, m01, f22, m02);
    const v1x = dot3(f00, m10, f01, m11, f02, m12), v1y = dot3(f10, m10, f11, m11, f12, m12), v1z = dot3(f20, m10, f21, m11, f22, m12);
    const v2x = dot3(f00, m20, f01, m21, f02, m22), v2y = dot3(f10, m20, f11, m21, f12, m22), v2z = dot3(f20, m20, f21, m21, f22, m22);
    const v3x = f32x4.neg(add(v0x, add(v1x, v2x))), v3y = f32x4.neg(add(v0y, add(v1y, v2y))), v3z = f32x4.neg(add(v0z, add(v1z, v2z)));

    const norm = f32x4.sqrt(q);
    const s1 = v128.load(block, TET_S1), s2 = v128.load(block, TET_S2);
    const k1 = f32x4.div(s1, f32x4.max(norm, tiny)); // gradC1 = k1 u, gradC2 = s2 v
    const w11 = mul(mul(k1, k1), madd(w0, dot3(u0x, u0x, u0y, u0y, u0z, u0z), madd(w1, dot3(u1x, u1x, u1y, u1y, u1z, u1z), madd(w2, dot3(u2x, u2x, u2y, u2y, u2z, u2z), mul(w3, dot3(u3x, u3x, u3y, u3y, u3z, u3z))))));
    const w12 = mul(mul(k1, s2), madd(w0, dot3(u0x, v0x, u0y, v0y, u0z, v0z), madd(w1, dot3(u1x, v1x, u1y, v1y, u1z, v1z), madd(w2, dot3(u2x, v2x, u2y, v2y, u2z, v2z), mul(w3, dot3(u3x, v3x, u3y, v3y, u3z, v3z))))));
    const w22 = mul(mul(s2, s2), madd(w0, dot3(v0x, v0x, v0y, v0y, v0z, v0z), madd(w1, dot3(v1x, v1x, v1y, v1y, v1z, v1z), madd(w2, dot3(v2x, v2x, v2y, v2y, v2z, v2z), mul(w3, dot3(v3x, v3x, v3y, v3y, v3z, v3z))))));

    let l1 = zero, l2 = zero;
    if (!first) { l1 = v128.load(block, TET_LAMBDA); l2 = v128.load(block, TET_LAMBDA + 16); }
    const r1 = f32x4.neg(madd(s1, norm, mul(aT, l1))), r2 = f32x4.neg(madd(s2, t, mul(aT, l2)));
    const d11 = madd(w11, lift, aT), d22 = madd(w22, lift, aT);
    const inverseDet = f32x4.div(one, sub(mul(d11, d22), mul(w12, w12)));
    const dl1 = mul(sub(mul(d22, r1), mul(w12, r2)), inverseDet), dl2 = mul(sub(mul(d11, r2), mul(w12, r1)), inverseDet);
    v128.store(block, add(l1, dl1), TET_LAMBDA);
    v128.store(block, add(l2, dl2), TET_LAMBDA + 16);

    const h1 = mul(k1, dl1), h2 = mul(s2, dl2);
    let i1 = mul(w0, h1), i2 = mul(w0, h2);
    scatter(block, add(x0, madd(i1, u0x, mul(i2, v0x))), add(y0, madd(i1, u0y, mul(i2, v0y))), add(z0, madd(i1, u0z, mul(i2, v0z))), w0);
    i1 = mul(w1, h1); i2 = mul(w1, h2);
    scatter(block + 16, add(x1, madd(i1, u1x, mul(i2, v1x))), add(y1, madd(i1, u1y, mul(i2, v1y))), add(z1, madd(i1, u1z, mul(i2, v1z))), w1);
    i1 = mul(w2, h1); i2 = mul(w2, h2);
    scatter(block + 32, add(x2, madd(i1, u2x, mul(i2, v2x))), add(y2, madd(i1, u2y, mul(i2, v2y))), add(z2, madd(i1, u2z, mul(i2, v2z))), w2);
    i1 = mul(w3, h1); i2 = mul(w3, h2);
    scatter(block + 48, add(x3, madd(i1, u3x, mul(i2, v3x))), add(y3, madd(i1, u3y, mul(i2, v3y))), add(z3, madd(i1, u3z, mul(i2, v3z))), w3);
  }
}
