/**
 * The paper's own form for cloth triangles, isotropic or orthotropic, four at a time (Bender et al. 2014, eqs 1-3 and
 * section 4.3):
 *   C = E,  dx_j = -w_j grad_j E  E / sum_i w_i |grad_i E|^2,
 *   E = A t/2 eps : tensor eps,  grad_j E = A t F (tensor eps) b_j
 * divided by k_weft A t, which cancels (see paperTetrahedron.ts).
 *
 * If a singular value is below s0 = 1/sqrt 3, the stress fades towards a flat triangle while the energy does not, so
 * the quotient would throw particles away. There the strain continues linearly, as for tetrahedra (inversion.ts), for
 * any elasticity tensor:
 *   F = U diag(s) V^T (3x2, s >= 0),  eps = V diag(t) V^T,  t_i = (s_i^2 - 1)/2 above s0, e0 + s0 (s_i - s0) below;
 *   t_i' = max(s_i, s0)
 *   T = V^T (tensor eps) V,  dE/dF = U (T_11 t_1', 2 r T_12 s_1; 2 r T_12 s_2, T_22 t_2') V^T
 *   r = (t_1 - t_2)/(s_1^2 - s_2^2)
 * because d eps_12 = r (s_1 dA_12 + s_2 dA_21) in the frame of the singular vectors, dF = U dA V^T. Scalar float64,
 * because such lanes are rare.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, position, pushFour, toLow } from "../../math/lanes";
import * as L from "../../layout/layout";

const S0: f64 = 0.5773502691896257;
const E0: f64 = -1.0 / 3.0;

/**
 * @param block address of the first of `count` blocks, in the layout of triangle.ts; scratch this thread's
 * SCRATCH_BYTES
 */
export function solvePaperTriangles(block: usize, count: i32, scratch: usize): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const zero = f32x4.splat(0);
  const third = f32x4.splat(0.33333334);
  for (let n = 0; n < count; n++, block += L.TRI_BYTES) {
    let a = position(<usize>load<u32>(block, 0), low);
    let b = position(<usize>load<u32>(block, 4), low);
    let c = position(<usize>load<u32>(block, 8), low);
    let d = position(<usize>load<u32>(block, 12), low);
    const x0 = xs(a, b, c, d);
    const y0 = ys(a, b, c, d);
    const z0 = zs(a, b, c, d);
    const w0 = ws(a, b, c, d);
    a = position(<usize>load<u32>(block, 16), low);
    b = position(<usize>load<u32>(block, 20), low);
    c = position(<usize>load<u32>(block, 24), low);
    d = position(<usize>load<u32>(block, 28), low);
    const x1 = xs(a, b, c, d);
    const y1 = ys(a, b, c, d);
    const z1 = zs(a, b, c, d);
    const w1 = ws(a, b, c, d);
    a = position(<usize>load<u32>(block, 32), low);
    b = position(<usize>load<u32>(block, 36), low);
    c = position(<usize>load<u32>(block, 40), low);
    d = position(<usize>load<u32>(block, 44), low);
    const x2 = xs(a, b, c, d);
    const y2 = ys(a, b, c, d);
    const z2 = zs(a, b, c, d);
    const w2 = ws(a, b, c, d);

    const m00 = v128.load(block, L.TRI_DM);
    const m01 = v128.load(block, L.TRI_DM + 16);
    const m10 = v128.load(block, L.TRI_DM + 32);
    const m11 = v128.load(block, L.TRI_DM + 48);
    const ax = sub(x0, x2);
    const ay = sub(y0, y2);
    const az = sub(z0, z2);
    const bx = sub(x1, x2);
    const by = sub(y1, y2);
    const bz = sub(z1, z2);
    const fx0 = madd(ax, m00, mul(bx, m10));
    const fy0 = madd(ay, m00, mul(by, m10));
    const fz0 = madd(az, m00, mul(bz, m10));
    const fx1 = madd(ax, m01, mul(bx, m11));
    const fy1 = madd(ay, m01, mul(by, m11));
    const fz1 = madd(az, m01, mul(bz, m11));
    const c00 = dot3(fx0, fx0, fy0, fy0, fz0, fz0);
    const c11 = dot3(fx1, fx1, fy1, fy1, fz1, fz1);
    const c01 = dot3(fx0, fx1, fy0, fy1, fz0, fz1);
    const g00 = sub(c00, third);
    const g11 = sub(c11, third);
    const sound = f32x4.gt(f32x4.pmin(g00, sub(mul(g00, g11), mul(c01, c01))), zero);

    // the elasticity tensor over k_weft from the compliances
    const inverse = f32x4.div(one, v128.load(block, L.TRI_S));
    const coupling = mul(v128.load(block, L.TRI_S + 16), inverse);
    const warp = mul(v128.load(block, L.TRI_S + 32), inverse);
    const k11 = f32x4.div(one, sub(warp, mul(coupling, coupling)));
    const k00 = mul(warp, k11);
    const k01 = f32x4.neg(mul(coupling, k11));
    const k22 = f32x4.div(one, mul(v128.load(block, L.TRI_S + 48), inverse));
    const exx = mul(half, sub(c00, one));
    const eyy = mul(half, sub(c11, one));
    const s00 = madd(k00, exx, mul(k01, eyy));
    const s11 = madd(k01, exx, mul(k11, eyy));
    const s01 = mul(k22, c01);
    // C and its gradient: P = F S, g_j = P b_j
    let energy = mul(half, dot3(s00, exx, s11, eyy, s01, c01));
    let px0 = madd(fx0, s00, mul(fx1, s01));
    let py0 = madd(fy0, s00, mul(fy1, s01));
    let pz0 = madd(fz0, s00, mul(fz1, s01));
    let px1 = madd(fx0, s01, mul(fx1, s11));
    let py1 = madd(fy0, s01, mul(fy1, s11));
    let pz1 = madd(fz0, s01, mul(fz1, s11));
    if (!i32x4.all_true(sound)) {
      v128.store(scratch, fx0, L.SCRATCH_F);
      v128.store(scratch, fy0, L.SCRATCH_F + 16);
      v128.store(scratch, fz0, L.SCRATCH_F + 32);
      v128.store(scratch, fx1, L.SCRATCH_F + 48);
      v128.store(scratch, fy1, L.SCRATCH_F + 64);
      v128.store(scratch, fz1, L.SCRATCH_F + 80);
      v128.store(scratch, px0, L.SCRATCH_P);
      v128.store(scratch, py0, L.SCRATCH_P + 16);
      v128.store(scratch, pz0, L.SCRATCH_P + 32);
      v128.store(scratch, px1, L.SCRATCH_P + 48);
      v128.store(scratch, py1, L.SCRATCH_P + 64);
      v128.store(scratch, pz1, L.SCRATCH_P + 80);
      v128.store(scratch, energy, L.SCRATCH_ENERGY);
      const bits = i32x4.bitmask(sound);
      for (let lane = 0; lane < 4; lane++)
        if (!(bits & (1 << lane))) continueLane(scratch + (lane << 2), block + (lane << 2));
      px0 = v128.load(scratch, L.SCRATCH_P);
      py0 = v128.load(scratch, L.SCRATCH_P + 16);
      pz0 = v128.load(scratch, L.SCRATCH_P + 32);
      px1 = v128.load(scratch, L.SCRATCH_P + 48);
      py1 = v128.load(scratch, L.SCRATCH_P + 64);
      pz1 = v128.load(scratch, L.SCRATCH_P + 80);
      energy = v128.load(scratch, L.SCRATCH_ENERGY);
    }
    const g0x = madd(px0, m00, mul(px1, m01));
    const g0y = madd(py0, m00, mul(py1, m01));
    const g0z = madd(pz0, m00, mul(pz1, m01));
    const g1x = madd(px0, m10, mul(px1, m11));
    const g1y = madd(py0, m10, mul(py1, m11));
    const g1z = madd(pz0, m10, mul(pz1, m11));
    const g2x = f32x4.neg(add(g0x, g1x));
    const g2y = f32x4.neg(add(g0y, g1y));
    const g2z = f32x4.neg(add(g0z, g1z));

    // lambda = -E / sum_j w_j |g_j|^2
    const sum = madd(
      w0,
      dot3(g0x, g0x, g0y, g0y, g0z, g0z),
      madd(w1, dot3(g1x, g1x, g1y, g1y, g1z, g1z), mul(w2, dot3(g2x, g2x, g2y, g2y, g2z, g2z))),
    );
    const lambda = v128.and(f32x4.neg(f32x4.div(energy, sum)), f32x4.gt(sum, zero));
    pushFour(block, low, mul(lambda, g0x), mul(lambda, g0y), mul(lambda, g0z));
    pushFour(block + 16, low, mul(lambda, g1x), mul(lambda, g1y), mul(lambda, g1z));
    pushFour(block + 32, low, mul(lambda, g2x), mul(lambda, g2y), mul(lambda, g2z));
  }
}

/** Computes energy and stress of one flat lane, from F in `at` to P and E there. */
function continueLane(at: usize, element: usize): void {
  const ax: f64 = load<f32>(at, L.SCRATCH_F);
  const ay: f64 = load<f32>(at, L.SCRATCH_F + 16);
  const az: f64 = load<f32>(at, L.SCRATCH_F + 32);
  const bx: f64 = load<f32>(at, L.SCRATCH_F + 48);
  const by: f64 = load<f32>(at, L.SCRATCH_F + 64);
  const bz: f64 = load<f32>(at, L.SCRATCH_F + 80);
  // V: one Jacobi rotation (c, -s; s, c)^T clears F^T F's off-diagonal entry
  const a = ax * ax + ay * ay + az * az;
  const b = bx * bx + by * by + bz * bz;
  const off = ax * bx + ay * by + az * bz;
  let c: f64 = 1;
  let s: f64 = 0;
  if (off !== 0.0) {
    const theta = (b - a) / (2.0 * off);
    const t = (theta < 0.0 ? -1.0 : 1.0) / (Math.abs(theta) + Math.sqrt(theta * theta + 1.0));
    c = 1.0 / Math.sqrt(t * t + 1.0);
    s = t * c;
  }
  // F v_1 with v_1 = (c, -s), F v_2 with v_2 = (s, c); the longer one first
  let v1x = c;
  let v1y = -s;
  let v2x = s;
  let v2y = c;
  let ux = c * ax - s * bx;
  let uy = c * ay - s * by;
  let uz = c * az - s * bz;
  let wx = s * ax + c * bx;
  let wy = s * ay + c * by;
  let wz = s * az + c * bz;
  let s1 = Math.sqrt(ux * ux + uy * uy + uz * uz);
  let s2 = Math.sqrt(wx * wx + wy * wy + wz * wz);
  if (s1 < s2) {
    let g = s1;
    s1 = s2;
    s2 = g;
    g = ux;
    ux = wx;
    wx = g;
    g = uy;
    uy = wy;
    wy = g;
    g = uz;
    uz = wz;
    wz = g;
    v1x = s;
    v1y = c;
    v2x = c;
    v2y = -s;
  }
  if (!(s1 > 1e-30)) {
    s1 = 0;
    ux = 1;
    uy = 0;
    uz = 0;
  } // collapsed to a point (or NaN): any direction is valid
  else {
    ux /= s1;
    uy /= s1;
    uz /= s1;
  }
  const along = wx * ux + wy * uy + wz * uz;
  wx -= along * ux;
  wy -= along * uy;
  wz -= along * uz;
  s2 = Math.sqrt(wx * wx + wy * wy + wz * wz);
  if (!(s2 > 1e-12 * s1) || !(s2 > 1e-30)) {
    // collapsed to a line: a perpendicular, from the coordinate axis least along u
    s2 = 0;
    const p = Math.abs(ux);
    const q = Math.abs(uy);
    const r = Math.abs(uz);
    if (p <= q && p <= r) {
      wx = 0;
      wy = -uz;
      wz = uy;
    } else if (q <= r) {
      wx = uz;
      wy = 0;
      wz = -ux;
    } else {
      wx = -uy;
      wy = ux;
      wz = 0;
    }
    const l = Math.sqrt(wx * wx + wy * wy + wz * wz);
    wx /= l;
    wy /= l;
    wz /= l;
  } else {
    wx /= s2;
    wy /= s2;
    wz /= s2;
  }

  const d1 = Math.max(s1, S0);
  const d2 = Math.max(s2, S0);
  const t1 = s1 < S0 ? E0 + S0 * (s1 - S0) : (s1 * s1 - 1.0) * 0.5;
  const t2 = s2 < S0 ? E0 + S0 * (s2 - S0) : (s2 * s2 - 1.0) * 0.5;
  // r = (t1 - t2)/(s1^2 - s2^2): 1/2 above s0, s0/(s1 + s2) below. r s_i is at most s0. If s1 + s2 is 0, there is no
  // shear.
  const sum = s1 + s2;
  const r = s2 >= S0 ? 0.5 : s1 < S0 ? (sum > 0.0 ? S0 / sum : 0.0) : (t1 - t2) / ((s1 - s2) * sum);
  // strain, then stress over k_weft in the fabric's frame
  const exx = t1 * v1x * v1x + t2 * v2x * v2x;
  const eyy = t1 * v1y * v1y + t2 * v2y * v2y;
  const gamma = 2.0 * (t1 * v1x * v1y + t2 * v2x * v2y);
  const weft: f64 = load<f32>(element, L.TRI_S);
  const coupling = <f64>load<f32>(element, L.TRI_S + 16) / weft;
  const warp = <f64>load<f32>(element, L.TRI_S + 32) / weft;
  const shear = <f64>load<f32>(element, L.TRI_S + 48) / weft;
  const k11 = 1.0 / (warp - coupling * coupling);
  const sxx = k11 * (warp * exx - coupling * eyy);
  const syy = k11 * (eyy - coupling * exx);
  const sxy = gamma / shear;
  store<f32>(at, <f32>(0.5 * (sxx * exx + syy * eyy + sxy * gamma)), L.SCRATCH_ENERGY);
  // T = V^T S V; dE/dF = U q V^T
  const T11 = sxx * v1x * v1x + syy * v1y * v1y + 2.0 * sxy * v1x * v1y;
  const T22 = sxx * v2x * v2x + syy * v2y * v2y + 2.0 * sxy * v2x * v2y;
  const T12 = sxx * v1x * v2x + syy * v1y * v2y + sxy * (v1x * v2y + v1y * v2x);
  const q11 = T11 * d1;
  const q12 = 2.0 * r * T12 * s1;
  const q21 = 2.0 * r * T12 * s2;
  const q22 = T22 * d2;
  // columns along v_1 and v_2
  const gx = ux * q11 + wx * q21;
  const gy = uy * q11 + wy * q21;
  const gz = uz * q11 + wz * q21;
  const hx = ux * q12 + wx * q22;
  const hy = uy * q12 + wy * q22;
  const hz = uz * q12 + wz * q22;
  store<f32>(at, <f32>(gx * v1x + hx * v2x), L.SCRATCH_P);
  store<f32>(at, <f32>(gy * v1x + hy * v2x), L.SCRATCH_P + 16);
  store<f32>(at, <f32>(gz * v1x + hz * v2x), L.SCRATCH_P + 32);
  store<f32>(at, <f32>(gx * v1y + hx * v2y), L.SCRATCH_P + 48);
  store<f32>(at, <f32>(gy * v1y + hy * v2y), L.SCRATCH_P + 64);
  store<f32>(at, <f32>(gz * v1y + hz * v2y), L.SCRATCH_P + 80);
}
