/**
 * Flat, strongly compressed and inverted Neo-Hookean elements: the energy is continued below a stretch s0 of the
 * singular values, so that the restoring stress neither grows without bound nor fades (Bender et al. 2014, section 4.2
 * and figure 2 d; Irving et al. 2004).
 *
 * F = U diag(sigma) V^T with rotations U, V, c_i = max(sigma_i, s0), beyond = sum_i (sigma_i - c_i)/c_i <= 0.
 *
 * Neo-Hookean: f(sigma) = sigma^2 - 1 - 2 log sigma and log sigma continue as their tangents at s0, so that Psi = mu/2
 * sum f_i + lambda/2 t^2 with
 *   t = log(c_0 c_1 c_2) + beyond,   P = U diag(mu (c_i - 1/c_i) + lambda t/c_i) V^T
 * This is the regular P of F := U diag(c) V^T with t in place of log J, and these two are returned. At s0 = 0.2 (80 %
 * compression) the stress is 4.8 mu.
 *
 * Stable Neo-Hookean is finite everywhere and, as Smith et al. say, needs no continuation if one singular value
 * vanishes or is negative. But its stress is zero at F = 0 and pulls inwards around it: along F = sigma 1 it is mu
 * sigma - lambda' (gamma - sigma^3) sigma^2 > 0 for small sigma (up to sigma = 0.54 at nu = 0, 0.29 at nu = 0.3). So a
 * body in a point stays there, and on a line the stress across is zero (they add a logarithm against that, which
 * Macklin & Mueller leave out). Therefore J continues as its tangent plane at c,
 *   j = c_0 c_1 c_2 (1 + beyond),   P = mu F + lambda' (j - gamma) dj/dF
 * with s0 just above that trap (sim/scene/materialConstants.ts). J is linear in each singular value: with one of them
 * below s0 this is the energy itself.
 *
 * Tangled bodies: from the first inverted element until no element is compressed to less than 58 %, the whole body has
 * the Saint Venant-Kirchhoff energy. mu and lambda (lambda' in the stable model) stay; it is continued from 1/sqrt 3 on
 * like in inversion.ts:
 *   P_i = mu (c_i^3 - c_i) + lambda t c_i,   t = sum_i (c_i^2 - 1)/2 + c_i (sigma_i - c_i)
 * In a body that was flattened or crumpled, vertices are turned inside out. To untangle them, upright elements must be
 * pressed through flatness, which the energies above resist: bodies of 30 kPa stayed at 84 ... 97 % of their volume for
 * ever, with every element upright and some wrapped twice round a vertex. A body that is only crushed, however flat, is
 * not affected.
 */
import { add, sub, mul, dot3 } from "../math/lanes";
import * as L from "../layout/layout";
import { svdLanes } from "../math/svd";

/** Stretch 1/sqrt 3 where the Saint Venant-Kirchhoff stress turns back: compression to 58 % of the length. */
const TURNING: f32 = 0.57735027;

/**
 * @param at scratch: F at 0 in; out: the substitutes of F at 0, of cof F at SCRATCH_G, of J at SCRATCH_U, the term
 * added to log J behind it, and the rotation U V^T at SCRATCH_V
 * @param clamp the stretch s0 of each lane's material; tangled lanes of tangled bodies
 * @returns lanes that are inverted, or still keep their body tangled
 */
export function continueLanes(at: usize, clamp: v128, tangled: v128, stable: bool): v128 {
  svdLanes(at);
  const one = f32x4.splat(1);
  const u = at + L.SCRATCH_U;
  const v = at + L.SCRATCH_V;
  const turning = f32x4.splat(TURNING);
  const s_0 = v128.load(at, L.SCRATCH_SIGMA);
  const s_1 = v128.load(at, L.SCRATCH_SIGMA + 16);
  const s_2 = v128.load(at, L.SCRATCH_SIGMA + 32);
  const s0 = v128.bitselect(turning, clamp, tangled);
  const c0 = f32x4.max(s_0, s0);
  const c1 = f32x4.max(s_1, s0);
  const c2 = f32x4.max(s_2, s0);
  let beyond = add(f32x4.div(sub(s_0, c0), c0), add(f32x4.div(sub(s_1, c1), c1), f32x4.div(sub(s_2, c2), c2)));
  let J = mul(c0, mul(c1, c2));
  let d0 = mul(c1, c2);
  let d1 = mul(c0, c2);
  let d2 = mul(c0, c1);
  let g0 = c0;
  let g1 = c1;
  let g2 = c2;
  if (stable) {
    // dj/dsigma_i: singular values below s0 are not in the other factor
    const factor = add(one, beyond);
    J = mul(J, factor);
    d0 = mul(d0, v128.bitselect(factor, one, f32x4.ge(s_0, s0)));
    d1 = mul(d1, v128.bitselect(factor, one, f32x4.ge(s_1, s0)));
    d2 = mul(d2, v128.bitselect(factor, one, f32x4.ge(s_2, s0)));
    g0 = s_0;
    g1 = s_1;
    g2 = s_2;
  }
  if (v128.any_true(tangled)) {
    // P_i = mu (c^3 - c) + lambda t c: substitutes for F, cof F and J that give this in the caller's formula, mu F -
    // mu/J cof F + lambda log J/J cof F, or mu F - mu cof F + lambda' (J - 1) cof F
    const half = f32x4.splat(0.5);
    const q0 = mul(c0, c0);
    const q1 = mul(c1, c1);
    const q2 = mul(c2, c2);
    const t = add(
      mul(half, sub(add(q0, add(q1, q2)), f32x4.splat(3))),
      dot3(c0, sub(s_0, c0), c1, sub(s_1, c1), c2, sub(s_2, c2)),
    );
    J = v128.bitselect(stable ? add(one, t) : one, J, tangled);
    beyond = v128.bitselect(t, beyond, tangled);
    g0 = v128.bitselect(mul(q0, c0), g0, tangled);
    g1 = v128.bitselect(mul(q1, c1), g1, tangled);
    g2 = v128.bitselect(mul(q2, c2), g2, tangled);
    d0 = v128.bitselect(c0, d0, tangled);
    d1 = v128.bitselect(c1, d1, tangled);
    d2 = v128.bitselect(c2, d2, tangled);
  }
  rotated(at, u, v, g0, g1, g2);
  rotated(at + L.SCRATCH_G, u, v, d0, d1, d2);
  rotated(v, u, v, one, one, one);
  v128.store(u, J, 0);
  v128.store(u, beyond, 16);
  return v128.bitselect(f32x4.lt(s_2, turning), f32x4.le(s_2, f32x4.splat(0)), tangled);
}

/** Stores U diag(d0, d1, d2) V^T; `out` may be V's own place. */
// @inline
function rotated(out: usize, u: usize, v: usize, d0: v128, d1: v128, d2: v128): void {
  const v00 = v128.load(v, 0);
  const v01 = v128.load(v, 16);
  const v02 = v128.load(v, 32);
  const v10 = v128.load(v, 48);
  const v11 = v128.load(v, 64);
  const v12 = v128.load(v, 80);
  const v20 = v128.load(v, 96);
  const v21 = v128.load(v, 112);
  const v22 = v128.load(v, 128);
  for (let row = 0; row < 3; row++, out += 48, u += 48) {
    const a = mul(v128.load(u, 0), d0);
    const b = mul(v128.load(u, 16), d1);
    const c = mul(v128.load(u, 32), d2);
    v128.store(out, dot3(a, v00, b, v01, c, v02), 0);
    v128.store(out, dot3(a, v10, b, v11, c, v12), 16);
    v128.store(out, dot3(a, v20, b, v21, c, v22), 32);
  }
}
