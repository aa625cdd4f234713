/**
 * Flat, strongly compressed and inverted Neo-Hookean elements: the energy is continued below a stretch s0 of the singular values, so that the
 * restoring stress neither grows without bound nor fades (Bender et al. 2014, section 4.2 and figure 2 d; Irving et al. 2004).
 *
 * F = U diag(sigma) V^T with rotations U, V, c_i = max(sigma_i, s0), beyond = sum_i (sigma_i - c_i)/c_i <= 0.
 *
 * Neo-Hookean: f(sigma) = sigma^2 - 1 - 2 log sigma and log sigma go on as their tangents at s0, so that Psi = mu/2 sum f_i + lambda/2 t^2 with
 *   t = log(c_0 c_1 c_2) + beyond,   P = U diag(mu (c_i - 1/c_i) + lambda t/c_i) V^T
 * which is the regular P of F := U diag(c) V^T with t in place of log J: that is what comes back. At s0 = 0.2 (80 % compression) the stress has 4.8 mu.
 *
 * Stable Neo-Hookean is finite everywhere and, as Smith et al. say, needs nothing done where one singular value vanishes or is negative. But
 * its stress is zero at F = 0 and draws inwards around it: along F = sigma 1 it is mu sigma - lambda' (gamma - sigma^3) sigma^2 > 0 for small sigma
 * (up to sigma = 0.54 at nu = 0, 0.29 at nu = 0.3), a body in a point stays in it, and on a line it is zero across (they add a logarithm against that,
 * which Macklin & Mueller leave out). So J goes on as its tangent plane at c,
 *   j = c_0 c_1 c_2 (1 + beyond),   P = mu F + lambda' (j - gamma) dj/dF
 * with s0 just above the trap (server/sim/materials.ts). J is linear in each singular value: with one of them below s0 this is the energy itself.
 */
import { add, sub, mul, dot3 } from "./lanes";
import { SCRATCH_G, SCRATCH_U, SCRATCH_V, SCRATCH_SIGMA } from "./layout";
import { svdLanes } from "./svd";

/**
 * @param at scratch: F at 0 in; out: what stands for F at 0, for cof F at SCRATCH_G, for J at SCRATCH_U, what is added to log J behind it, and the rotation U V^T at SCRATCH_V
 * @param s0 the stretch, per lane
 */
export function continueLanes(at: usize, s0: v128, stable: bool): void {
  svdLanes(at);
  const one = f32x4.splat(1), u = at + SCRATCH_U, v = at + SCRATCH_V;
  const s_0 = v128.load(at, SCRATCH_SIGMA), s_1 = v128.load(at, SCRATCH_SIGMA + 16), s_2 = v128.load(at, SCRATCH_SIGMA + 32);
  const c0 = f32x4.max(s_0, s0), c1 = f32x4.max(s_1, s0), c2 = f32x4.max(s_2, s0);
  const beyond = add(f32x4.div(sub(s_0, c0), c0), add(f32x4.div(sub(s_1, c1), c1), f32x4.div(sub(s_2, c2), c2)));
  let J = mul(c0, mul(c1, c2)), d0 = mul(c1, c2), d1 = mul(c0, c2), d2 = mul(c0, c1);
  const u00 = v128.load(u, 0), u01 = v128.load(u, 16), u02 = v128.load(u, 32), u10 = v128.load(u, 48), u11 = v128.load(u, 64), u12 = v128.load(u, 80), u20 = v128.load(u, 96), u21 = v128.load(u, 112), u22 = v128.load(u, 128);
  const v00 = v128.load(v, 0), v01 = v128.load(v, 16), v02 = v128.load(v, 32), v10 = v128.load(v, 48), v11 = v128.load(v, 64), v12 = v128.load(v, 80), v20 = v128.load(v, 96), v21 = v128.load(v, 112), v22 = v128.load(v, 128);
  if (stable) {
    // dj/dsigma_i: those below s0 do not enter the other factor
    const factor = add(one, beyond);
    J = mul(J, factor);
    d0 = mul(d0, v128.bitselect(factor, one, f32x4.ge(s_0, s0))); d1 = mul(d1, v128.bitselect(factor, one, f32x4.ge(s_1, s0))); d2 = mul(d2, v128.bitselect(factor, one, f32x4.ge(s_2, s0)));
  } else {
    const a0 = mul(u00, c0), a1 = mul(u01, c1), a2 = mul(u02, c2), b0 = mul(u10, c0), b1 = mul(u11, c1), b2 = mul(u12, c2), e0 = mul(u20, c0), e1 = mul(u21, c1), e2 = mul(u22, c2);
    v128.store(at, dot3(a0, v00, a1, v01, a2, v02), 0); v128.store(at, dot3(a0, v10, a1, v11, a2, v12), 16); v128.store(at, dot3(a0, v20, a1, v21, a2, v22), 32);
    v128.store(at, dot3(b0, v00, b1, v01, b2, v02), 48); v128.store(at, dot3(b0, v10, b1, v11, b2, v12), 64); v128.store(at, dot3(b0, v20, b1, v21, b2, v22), 80);
    v128.store(at, dot3(e0, v00, e1, v01, e2, v02), 96); v128.store(at, dot3(e0, v10, e1, v11, e2, v12), 112); v128.store(at, dot3(e0, v20, e1, v21, e2, v22), 128);
  }
  const a0 = mul(u00, d0), a1 = mul(u01, d1), a2 = mul(u02, d2), b0 = mul(u10, d0), b1 = mul(u11, d1), b2 = mul(u12, d2), e0 = mul(u20, d0), e1 = mul(u21, d1), e2 = mul(u22, d2), out = at + SCRATCH_G;
  v128.store(out, dot3(a0, v00, a1, v01, a2, v02), 0); v128.store(out, dot3(a0, v10, a1, v11, a2, v12), 16); v128.store(out, dot3(a0, v20, a1, v21, a2, v22), 32);
  v128.store(out, dot3(b0, v00, b1, v01, b2, v02), 48); v128.store(out, dot3(b0, v10, b1, v11, b2, v12), 64); v128.store(out, dot3(b0, v20, b1, v21, b2, v22), 80);
  v128.store(out, dot3(e0, v00, e1, v01, e2, v02), 96); v128.store(out, dot3(e0, v10, e1, v11, e2, v12), 112); v128.store(out, dot3(e0, v20, e1, v21, e2, v22), 128);
  v128.store(u, J, 0); v128.store(u, beyond, 16);
  v128.store(v, dot3(u00, v00, u01, v01, u02, v02), 0); v128.store(v, dot3(u00, v10, u01, v11, u02, v12), 16); v128.store(v, dot3(u00, v20, u01, v21, u02, v22), 32);
  v128.store(v, dot3(u10, v00, u11, v01, u12, v02), 48); v128.store(v, dot3(u10, v10, u11, v11, u12, v12), 64); v128.store(v, dot3(u10, v20, u11, v21, u12, v22), 80);
  v128.store(v, dot3(u20, v00, u21, v01, u22, v02), 96); v128.store(v, dot3(u20, v10, u21, v11, u22, v12), 112); v128.store(v, dot3(u20, v20, u21, v21, u22, v22), 128);
}
