/**
 * Singular value decomposition of four 3x3 matrices at once: F = U diag(sigma) V^T with rotations U and V, sigma_0 >=
 * sigma_1 >= |sigma_2|. A reflection in F gives a negative sigma_2: the smallest singular value and its column of U are
 * negated (Irving et al. 2004; Bender et al. 2014, section 4.2).
 *
 * V is found without iteration, from T = F^T F = q I + p B with tr B = 0 and |B|^2 = 6 (after Eberly 2014, "A robust
 * eigensolver for 3x3 symmetric matrices"):
 *   the eigenvalues of B are 2 cos(phi + 2 pi k/3), cos 3 phi = r = det B/2. The one far from both others (by 3/2 and
 *   more) is sign(r) 2 c with 4 c^3 - 3 c = |r| and sqrt(3)/2 <= c <= 1, where the cubic is steep. An interpolation
 *   accurate to 1e-4 and one Newton step reach float32's precision.
 *   Its eigenvector is the largest cross product of two rows of B - 2 c I. One Jacobi rotation in the plane across it
 *   gives the other two.
 * U = F V, orthogonalized from the largest singular value down. Squaring F costs digits: the angle between v_i and v_j
 * is accurate to 2^-24 sigma_0^2/(sigma_i^2 - sigma_j^2). A function of F loses up to sigma_0/sigma_1 compared to a
 * decomposition of F itself.
 *
 * Tried, slower: cyclic Jacobi in these lanes, exact angles first and McAdams' approximate ones after, 16 ns an element
 * and sweep, three to four sweeps (75 ... 91 ns an element in all); scalar float64 460 ... 515 ns.
 */
import { add, sub, mul, madd, dot3 } from "./lanes";
import * as L from "../layout/layout";

/**
 * If sigma_1 is below this times sigma_0, it is rounding and its direction is meaningless: the element has collapsed to
 * a line.
 */
const LINE: f32 = 1e-6;
/** Avoids 0/0 in lanes that are already diagonal, or a point. */
const TINY: f32 = 1e-30;
// @inline
function pick(mask: v128, yes: v128, no: v128): v128 {
  return v128.bitselect(yes, no, mask);
}

/** tan(theta) of the rotation that clears a_pq = a, |theta| <= pi/4; d = a_qq - a_pp. */
// @inline
function exactTangent(d: v128, a: v128): v128 {
  const e = add(a, a);
  const r = f32x4.sqrt(madd(d, d, mul(e, e)));
  const t = f32x4.div(e, f32x4.max(add(f32x4.abs(d), r), f32x4.splat(TINY)));
  return v128.xor(t, v128.and(d, f32x4.splat(-0.0))); // the sign of d
}

/** @param at scratch of this thread: F at 0 in, U V sigma out, rows of four lanes */
export function svdLanes(at: usize): void {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const tiny = f32x4.splat(TINY);
  const f00 = v128.load(at, 0);
  const f01 = v128.load(at, 16);
  const f02 = v128.load(at, 32);
  const f10 = v128.load(at, 48);
  const f11 = v128.load(at, 64);
  const f12 = v128.load(at, 80);
  const f20 = v128.load(at, 96);
  const f21 = v128.load(at, 112);
  const f22 = v128.load(at, 128);
  const t00 = dot3(f00, f00, f10, f10, f20, f20);
  const t11 = dot3(f01, f01, f11, f11, f21, f21);
  const t22 = dot3(f02, f02, f12, f12, f22, f22);
  const t01 = dot3(f00, f01, f10, f11, f20, f21);
  const t02 = dot3(f00, f02, f10, f12, f20, f22);
  const t12 = dot3(f01, f02, f11, f12, f21, f22);
  const q = mul(f32x4.splat(0.33333334), add(t00, add(t11, t22)));
  let b00 = sub(t00, q);
  let b11 = sub(t11, q);
  let b22 = sub(t22, q);
  let b01 = t01;
  let b02 = t02;
  let b12 = t12;
  // If p = 0, all directions are eigenvectors, and the code below finds one with B = 0.
  const p2 = madd(
    f32x4.splat(0.33333334),
    dot3(b01, b01, b02, b02, b12, b12),
    mul(f32x4.splat(0.16666667), dot3(b00, b00, b11, b11, b22, b22)),
  );
  let g = f32x4.div(one, f32x4.max(f32x4.sqrt(p2), tiny));
  b00 = mul(g, b00);
  b11 = mul(g, b11);
  b22 = mul(g, b22);
  b01 = mul(g, b01);
  b02 = mul(g, b02);
  b12 = mul(g, b12);
  const r = mul(
    half,
    dot3(
      b00,
      sub(mul(b11, b22), mul(b12, b12)),
      b01,
      sub(mul(b02, b12), mul(b01, b22)),
      b02,
      sub(mul(b01, b12), mul(b11, b02)),
    ),
  );
  const size = f32x4.min(f32x4.abs(r), one);
  const sign = v128.and(r, f32x4.splat(-0.0));
  // values and slopes of c(|r|) at both ends
  let c = madd(
    madd(madd(f32x4.splat(0.0098286), size, f32x4.splat(-0.0425207)), size, f32x4.splat(0.16666667)),
    size,
    f32x4.splat(0.8660254),
  );
  g = mul(f32x4.splat(4), mul(c, c));
  c = sub(c, f32x4.div(sub(mul(c, sub(g, f32x4.splat(3))), size), mul(f32x4.splat(3), sub(g, one))));
  const beta = v128.xor(add(c, c), sign);
  b00 = sub(b00, beta);
  b11 = sub(b11, beta);
  b22 = sub(b22, beta);
  // rows 0 x 1, 0 x 2, 1 x 2: the longest
  let x = sub(mul(b01, b12), mul(b02, b11));
  let y = sub(mul(b02, b01), mul(b00, b12));
  let z = sub(mul(b00, b11), mul(b01, b01));
  let l = dot3(x, x, y, y, z, z);
  let ox = sub(mul(b01, b22), mul(b02, b12));
  let oy = sub(mul(b02, b02), mul(b00, b22));
  let oz = sub(mul(b00, b12), mul(b01, b02));
  let ol = dot3(ox, ox, oy, oy, oz, oz);
  let m = f32x4.gt(ol, l);
  x = pick(m, ox, x);
  y = pick(m, oy, y);
  z = pick(m, oz, z);
  l = pick(m, ol, l);
  ox = sub(mul(b11, b22), mul(b12, b12));
  oy = sub(mul(b12, b02), mul(b01, b22));
  oz = sub(mul(b01, b12), mul(b11, b02));
  ol = dot3(ox, ox, oy, oy, oz, oz);
  m = f32x4.gt(ol, l);
  x = pick(m, ox, x);
  y = pick(m, oy, y);
  z = pick(m, oz, z);
  l = pick(m, ol, l);
  g = f32x4.div(one, f32x4.sqrt(l));
  x = mul(g, x);
  y = mul(g, y);
  z = mul(g, z);
  // two unit vectors across it (Duff et al. 2017): one division, no branch
  const side = v128.or(one, v128.and(z, f32x4.splat(-0.0)));
  const a = f32x4.neg(f32x4.div(one, add(side, z)));
  const b = mul(mul(x, y), a);
  const wx = madd(mul(side, mul(x, x)), a, one);
  const wy = mul(side, b);
  const wz = f32x4.neg(mul(side, x));
  const ux = b;
  const uy = madd(mul(y, y), a, side);
  const uz = f32x4.neg(y);
  const twx = dot3(t00, wx, t01, wy, t02, wz);
  const twy = dot3(t01, wx, t11, wy, t12, wz);
  const twz = dot3(t02, wx, t12, wy, t22, wz);
  const m00 = dot3(wx, twx, wy, twy, wz, twz);
  const m01 = dot3(ux, twx, uy, twy, uz, twz);
  const m11 = dot3(
    ux,
    dot3(t00, ux, t01, uy, t02, uz),
    uy,
    dot3(t01, ux, t11, uy, t12, uz),
    uz,
    dot3(t02, ux, t12, uy, t22, uz),
  );
  const tan = exactTangent(sub(m11, m00), m01);
  const cos = f32x4.div(one, f32x4.sqrt(madd(tan, tan, one)));
  const sin = mul(tan, cos);
  ox = sub(mul(cos, wx), mul(sin, ux));
  oy = sub(mul(cos, wy), mul(sin, uy));
  oz = sub(mul(cos, wz), mul(sin, uz));
  const vx = madd(sin, wx, mul(cos, ux));
  const vy = madd(sin, wy, mul(cos, uy));
  const vz = madd(sin, wz, mul(cos, uz));
  // largest first: the isolated one is the largest if r >= 0, else the smallest; the third is their cross product, so V
  // is a rotation
  m = f32x4.ge(m00, m11); // the rotation is by less than pi/4, so the order of sizes stays
  const lx = pick(m, ox, vx);
  const ly = pick(m, oy, vy);
  const lz = pick(m, oz, vz);
  const far = i32x4.ge_s(r, i32x4.splat(0));
  const v00 = pick(far, x, lx);
  const v10 = pick(far, y, ly);
  const v20 = pick(far, z, lz);
  const v01 = pick(far, lx, pick(m, vx, ox));
  const v11 = pick(far, ly, pick(m, vy, oy));
  const v21 = pick(far, lz, pick(m, vz, oz));
  const v02 = sub(mul(v10, v21), mul(v20, v11));
  const v12 = sub(mul(v20, v01), mul(v00, v21));
  const v22 = sub(mul(v00, v11), mul(v10, v01));

  let u00 = dot3(f00, v00, f01, v10, f02, v20);
  let u10 = dot3(f10, v00, f11, v10, f12, v20);
  let u20 = dot3(f20, v00, f21, v10, f22, v20);
  const s0 = f32x4.sqrt(dot3(u00, u00, u10, u10, u20, u20));
  g = f32x4.div(one, s0);
  u00 = mul(u00, g);
  u10 = mul(u10, g);
  u20 = mul(u20, g);
  m = f32x4.gt(s0, tiny);
  if (!i32x4.all_true(m)) {
    // collapsed to a point: any direction is valid. Sigma is a ratio of lengths, so TINY has no unit
    u00 = pick(m, u00, one);
    u10 = v128.and(u10, m);
    u20 = v128.and(u20, m);
  }
  let u01 = dot3(f00, v01, f01, v11, f02, v21);
  let u11 = dot3(f10, v01, f11, v11, f12, v21);
  let u21 = dot3(f20, v01, f21, v11, f22, v21);
  g = dot3(u00, u01, u10, u11, u20, u21);
  u01 = sub(u01, mul(g, u00));
  u11 = sub(u11, mul(g, u10));
  u21 = sub(u21, mul(g, u20));
  let s1 = f32x4.sqrt(dot3(u01, u01, u11, u11, u21, u21));
  g = f32x4.div(one, s1);
  u01 = mul(u01, g);
  u11 = mul(u11, g);
  u21 = mul(u21, g);
  m = f32x4.gt(s1, f32x4.max(mul(f32x4.splat(LINE), s0), tiny));
  if (!i32x4.all_true(m)) {
    // collapsed to a line: a perpendicular, from the coordinate axis least along u0
    const x = f32x4.abs(u00);
    const y = f32x4.abs(u10);
    const z = f32x4.abs(u20);
    const zero = f32x4.splat(0);
    const alongX = v128.and(f32x4.le(x, y), f32x4.le(x, z));
    const alongY = f32x4.le(y, z);
    const px = pick(alongX, zero, pick(alongY, u20, f32x4.neg(u10)));
    const py = pick(alongX, f32x4.neg(u20), pick(alongY, zero, u00));
    const pz = pick(alongX, u10, pick(alongY, f32x4.neg(u00), zero));
    g = f32x4.div(one, f32x4.sqrt(dot3(px, px, py, py, pz, pz)));
    u01 = pick(m, u01, mul(px, g));
    u11 = pick(m, u11, mul(py, g));
    u21 = pick(m, u21, mul(pz, g));
    s1 = v128.and(s1, m);
  }
  const u02 = sub(mul(u10, u21), mul(u20, u11));
  const u12 = sub(mul(u20, u01), mul(u00, u21));
  const u22 = sub(mul(u00, u11), mul(u10, u01));
  const s2 = dot3(
    u02,
    dot3(f00, v02, f01, v12, f02, v22),
    u12,
    dot3(f10, v02, f11, v12, f12, v22),
    u22,
    dot3(f20, v02, f21, v12, f22, v22),
  );

  at += L.SCRATCH_U;
  v128.store(at, u00, 0);
  v128.store(at, u01, 16);
  v128.store(at, u02, 32);
  v128.store(at, u10, 48);
  v128.store(at, u11, 64);
  v128.store(at, u12, 80);
  v128.store(at, u20, 96);
  v128.store(at, u21, 112);
  v128.store(at, u22, 128);
  at += L.SCRATCH_V - L.SCRATCH_U;
  v128.store(at, v00, 0);
  v128.store(at, v01, 16);
  v128.store(at, v02, 32);
  v128.store(at, v10, 48);
  v128.store(at, v11, 64);
  v128.store(at, v12, 80);
  v128.store(at, v20, 96);
  v128.store(at, v21, 112);
  v128.store(at, v22, 128);
  at += L.SCRATCH_SIGMA - L.SCRATCH_V;
  v128.store(at, s0, 0);
  v128.store(at, s1, 16);
  v128.store(at, s2, 32);
}
