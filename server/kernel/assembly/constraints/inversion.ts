/**
 * Flat, strongly compressed and inverted elements, four lanes at a time: the strain measures are continued beyond the
 * point where the Saint Venant-Kirchhoff stress turns back, so that the restoring stress never fades (Bender et al.
 * 2014, section 4.2 and figure 2 b; Irving et al. 2004).
 *
 * F = U diag(sigma) V^T with rotations U, V; a reflection gives a negative smallest sigma (svd.ts). Green's strain of a
 * principal stretch, e(sigma) = (sigma^2 - 1)/2, continues as its tangent below s0 = 1/sqrt 3 (compression to 58 %):
 *   e(sigma) = e0 + s0 (sigma - s0) + max(sigma - s0, 0)^2/2,  e0 = -1/3,  e'(sigma) = max(sigma, s0)
 * Clamping by singular value, not only for det F < 0, lets a nearly flat element recover as fast as an inverted one.
 * Such a lane is solved as one scalar constraint of its continued energy, P = V dPsi/dF. The six multipliers of the
 * regular path have no meaning here. The correction A applied so far in the substep (by either path) takes part:
 *   dA = -r (h^2 P + A),  r = 2E/h^2 / (sum_i w_i |P b_i|^2 + 2E/h^2),  x_i += w_i dA b_i
 * This is XPBD's step for C = sqrt(2E) while A = 0, and has the fixed point A = -h^2 P: implicit Euler. (Without A
 * every iteration pushed anew, and a cube crushed with four iterations was four times as stiff as with one.)
 *
 * Isotropic, elastic:
 *   q = sum_i eps_i^2,  q_i = e0^2 + 2 e0 s0 (sigma_i - s0) below s0      (the clamped stress of figure 2 b),
 *   t = sum_i e(sigma_i)
 *   E = mu V q + lambda V t^2/2,   P = 2 mu V U diag(eps_i sigma_i) V^T + lambda V t U diag(sigma_i) V^T
 *   at the clamped sigma
 * Orthotropic or plastic: with H = V diag(e(sigma)) V^T in material axes and the plastic strain H_pl,
 *   E = V/2 (H - H_pl) : C (H - H_pl),   S = V C (H - H_pl),   S^ = V^T S V,   P = U P^ V^T
 *   P^_ii = e'(sigma_i) S^_ii
 *   P^_ij = g_ij sigma_i S^_ij,  g_ij = 2 (e_i - e_j)/(sigma_i^2 - sigma_j^2)        [1 if neither is clamped: P = F S]
 * This is dE/dF itself (V turns by (sigma_i A_ij + sigma_j A_ji)/(sigma_j^2 - sigma_i^2), A = U^T dF V), so E falls in
 * every step. The tangent is used instead of the constant stress of figure 2 b because the plastic rest strain may lie
 * beyond e0: a stress that stays constant below s0 would then push the element through itself for ever. With the
 * tangent, E is positive definite in H, so H = H_pl is the only rest. P^ S is evaluated at the clamped values as in the
 * paper, but its off-diagonals are not: if S^ has shears, P F^T of U F^_clamped S^ V^T is not symmetric, which would be
 * a spurious torque. g_ij grows without bound as sigma_i -> -sigma_j (which of the two is negated is then arbitrary,
 * and E jumps). Its denominator is kept above s0^2, so such an element is not quite conservative, but free of torque.
 *
 * E and P are computed over 1/S_00 (k V if isotropic), which float32 holds for any modulus and size; 2E/h^2 then has aT
 * S_00 in place of 1/h^2. A scalar float64 path took 460 ... 515 ns an element, 30 times the regular solve.
 */
import { add, sub, mul, madd, dot3 } from "../math/lanes";
import * as L from "../layout/layout";
import { storeStress } from "./hooke";
import { noteInverted } from "./plasticity";
import { svdLanes } from "../math/svd";

const S0: f32 = 0.57735026;
const E0: f32 = -0.33333334;

/** Row (a, b, c) of U times the given diagonal: stores its product with V^T. */
// @inline
function storeRow(at: usize, sound: v128, s: v128, x: v128, y: v128, z: v128): void {
  v128.store(at, v128.bitselect(v128.load(at), mul(s, x), sound));
  v128.store(at, v128.bitselect(v128.load(at, 16), mul(s, y), sound), 16);
  v128.store(at, v128.bitselect(v128.load(at, 32), mul(s, z), sound), 32);
}

/** Returns the inverse masses of the corners of four elements at `at`. */
// @inline
function inverseMassesOf(at: usize): v128 {
  return f32x4(
    load<f32>(<usize>load<u32>(at, 0), 12),
    load<f32>(<usize>load<u32>(at, 4), 12),
    load<f32>(<usize>load<u32>(at, 8), 12),
    load<f32>(<usize>load<u32>(at, 12), 12),
  );
}

/** Returns p K p^T = sum_i w_i (p . b_i)^2 of one row of P. The block's own K has the factor of over-relaxed sweeps. */
// @inline
function rowK(block: usize, a: v128, b: v128, c: v128, general: bool): v128 {
  const dm = block + L.TET_DM;
  const p0 = dot3(a, v128.load(dm), b, v128.load(dm, 16), c, v128.load(dm, 32));
  const p1 = dot3(a, v128.load(dm, 48), b, v128.load(dm, 64), c, v128.load(dm, 80));
  const p2 = dot3(a, v128.load(dm, 96), b, v128.load(dm, 112), c, v128.load(dm, 128));
  const p3 = add(p0, add(p1, p2));
  const sum = madd(
    inverseMassesOf(block),
    mul(p0, p0),
    madd(
      inverseMassesOf(block + 16),
      mul(p1, p1),
      madd(inverseMassesOf(block + 32), mul(p2, p2), mul(inverseMassesOf(block + 48), mul(p3, p3))),
    ),
  );
  return general ? sum : mul(v128.load(block, L.TET_UNIT), sum);
}

/**
 * Replaces G in `scratch` (rows of four lanes: F, G) in lanes that are not `sound`, and clears their multipliers.
 * Stores the corrections of all lanes among the values that the block keeps between iterations (`own`; 0 in the paper's
 * form, which keeps none).
 * @param sound lane mask; applied address of the nine rows applied so far in this substep, 0: nothing; general, plastic
 * compile-time constants: nine compliances; plastic strain
 */
// @inline
function continueLanes(
  scratch: usize,
  sound: v128,
  block: usize,
  own: usize,
  applied: usize,
  inverseH2: f32,
  general: bool,
  plastic: bool,
): void {
  const s0 = f32x4.splat(S0);
  const e0 = f32x4.splat(E0);
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  const two = f32x4.splat(2);
  const zero = f32x4.splat(0);
  svdLanes(scratch);
  const u00 = v128.load(scratch, L.SCRATCH_U);
  const u01 = v128.load(scratch, L.SCRATCH_U + 16);
  const u02 = v128.load(scratch, L.SCRATCH_U + 32);
  const u10 = v128.load(scratch, L.SCRATCH_U + 48);
  const u11 = v128.load(scratch, L.SCRATCH_U + 64);
  const u12 = v128.load(scratch, L.SCRATCH_U + 80);
  const u20 = v128.load(scratch, L.SCRATCH_U + 96);
  const u21 = v128.load(scratch, L.SCRATCH_U + 112);
  const u22 = v128.load(scratch, L.SCRATCH_U + 128);
  const v00 = v128.load(scratch, L.SCRATCH_V);
  const v01 = v128.load(scratch, L.SCRATCH_V + 16);
  const v02 = v128.load(scratch, L.SCRATCH_V + 32);
  const v10 = v128.load(scratch, L.SCRATCH_V + 48);
  const v11 = v128.load(scratch, L.SCRATCH_V + 64);
  const v12 = v128.load(scratch, L.SCRATCH_V + 80);
  const v20 = v128.load(scratch, L.SCRATCH_V + 96);
  const v21 = v128.load(scratch, L.SCRATCH_V + 112);
  const v22 = v128.load(scratch, L.SCRATCH_V + 128);
  const sigma0 = v128.load(scratch, L.SCRATCH_SIGMA);
  const sigma1 = v128.load(scratch, L.SCRATCH_SIGMA + 16);
  const sigma2 = v128.load(scratch, L.SCRATCH_SIGMA + 32);
  // parts of sigma below and above the turning point
  const b0 = f32x4.min(sub(sigma0, s0), zero);
  const b1 = f32x4.min(sub(sigma1, s0), zero);
  const b2 = f32x4.min(sub(sigma2, s0), zero);
  const h0 = f32x4.max(sigma0, s0);
  const h1 = f32x4.max(sigma1, s0);
  const h2 = f32x4.max(sigma2, s0);
  const c0 = mul(half, sub(mul(h0, h0), one));
  const c1 = mul(half, sub(mul(h1, h1), one));
  const c2 = mul(half, sub(mul(h2, h2), one));
  const e_0 = madd(s0, b0, c0);
  const e_1 = madd(s0, b1, c1);
  const e_2 = madd(s0, b2, c2);

  const unit = general ? v128.load(block, L.TET_ORTHO_S) : v128.load(block, L.TET_S);
  if (plastic) noteInverted(block, i32x4.bitmask(v128.andnot(f32x4.le(sigma2, zero), sound)));
  let energy2: v128; // 2E
  let q00: v128;
  let q01: v128;
  let q02: v128;
  let q10: v128;
  let q11: v128;
  let q12: v128;
  let q20: v128;
  let q21: v128;
  let q22: v128; // U P^
  if (general) {
    // H - H_pl, shears as gamma
    const w00 = mul(e_0, v00);
    const w01 = mul(e_1, v01);
    const w02 = mul(e_2, v02);
    const w10 = mul(e_0, v10);
    const w11 = mul(e_1, v11);
    const w12 = mul(e_2, v12);
    const w20 = mul(e_0, v20);
    const w21 = mul(e_1, v21);
    const w22 = mul(e_2, v22);
    let k0 = dot3(w00, v00, w01, v01, w02, v02);
    let k1 = dot3(w10, v10, w11, v11, w12, v12);
    let k2 = dot3(w20, v20, w21, v21, w22, v22);
    let k3 = mul(two, dot3(w10, v20, w11, v21, w12, v22));
    let k4 = mul(two, dot3(w00, v20, w01, v21, w02, v22));
    let k5 = mul(two, dot3(w00, v10, w01, v11, w02, v12));
    if (plastic) {
      k0 = sub(k0, v128.load(block, L.TET_PLASTIC_STRAIN));
      k1 = sub(k1, v128.load(block, L.TET_PLASTIC_STRAIN + 16));
      k2 = sub(k2, v128.load(block, L.TET_PLASTIC_STRAIN + 32));
      k3 = sub(k3, v128.load(block, L.TET_PLASTIC_STRAIN + 48));
      k4 = sub(k4, v128.load(block, L.TET_PLASTIC_STRAIN + 64));
      k5 = sub(k5, v128.load(block, L.TET_PLASTIC_STRAIN + 80));
    }
    storeStress(block, scratch + L.SCRATCH_U, k0, k1, k2, k3, k4, k5); // U is already in registers
    const t0 = v128.load(scratch, L.SCRATCH_U);
    const t1 = v128.load(scratch, L.SCRATCH_U + 16);
    const t2 = v128.load(scratch, L.SCRATCH_U + 32);
    const t3 = v128.load(scratch, L.SCRATCH_U + 48);
    const t4 = v128.load(scratch, L.SCRATCH_U + 64);
    const t5 = v128.load(scratch, L.SCRATCH_U + 80);
    energy2 = madd(t3, k3, madd(t4, k4, madd(t5, k5, dot3(t0, k0, t1, k1, t2, k2))));
    // S^ = V^T S V
    const n00 = dot3(t0, v00, t5, v10, t4, v20);
    const n10 = dot3(t5, v00, t1, v10, t3, v20);
    const n20 = dot3(t4, v00, t3, v10, t2, v20);
    const n01 = dot3(t0, v01, t5, v11, t4, v21);
    const n11 = dot3(t5, v01, t1, v11, t3, v21);
    const n21 = dot3(t4, v01, t3, v11, t2, v21);
    const n02 = dot3(t0, v02, t5, v12, t4, v22);
    const n12 = dot3(t5, v02, t1, v12, t3, v22);
    const n22 = dot3(t4, v02, t3, v12, t2, v22);
    const p00 = mul(h0, dot3(v00, n00, v10, n10, v20, n20));
    const p11 = mul(h1, dot3(v01, n01, v11, n11, v21, n21));
    const p22 = mul(h2, dot3(v02, n02, v12, n12, v22, n22));
    const x12 = mul(secant(sigma1, sigma2), dot3(v01, n02, v11, n12, v21, n22));
    const x02 = mul(secant(sigma0, sigma2), dot3(v00, n02, v10, n12, v20, n22));
    const x01 = mul(secant(sigma0, sigma1), dot3(v00, n01, v10, n11, v20, n21));
    const p01 = mul(sigma0, x01);
    const p02 = mul(sigma0, x02);
    const p10 = mul(sigma1, x01);
    const p12 = mul(sigma1, x12);
    const p20 = mul(sigma2, x02);
    const p21 = mul(sigma2, x12);
    q00 = dot3(u00, p00, u01, p10, u02, p20);
    q01 = dot3(u00, p01, u01, p11, u02, p21);
    q02 = dot3(u00, p02, u01, p12, u02, p22);
    q10 = dot3(u10, p00, u11, p10, u12, p20);
    q11 = dot3(u10, p01, u11, p11, u12, p21);
    q12 = dot3(u10, p02, u11, p12, u12, p22);
    q20 = dot3(u20, p00, u21, p10, u22, p20);
    q21 = dot3(u20, p01, u21, p11, u22, p21);
    q22 = dot3(u20, p02, u21, p12, u22, p22);
  } else {
    const q = madd(mul(two, mul(e0, s0)), add(b0, add(b1, b2)), dot3(c0, c0, c1, c1, c2, c2));
    const t = add(e_0, add(e_1, e_2));
    // mu/k and lambda/k from the compliance: S_normal = 1/(k V), S_coupling = -nu/(k V)
    const nu = f32x4.neg(f32x4.div(v128.load(block, L.TET_S + 16), unit));
    const mu2 = f32x4.div(one, add(one, nu));
    const lambda = f32x4.div(nu, mul(add(one, nu), sub(one, add(nu, nu))));
    const pressure = mul(lambda, t);
    energy2 = madd(mu2, q, mul(pressure, t));
    const g0 = mul(h0, madd(mu2, c0, pressure));
    const g1 = mul(h1, madd(mu2, c1, pressure));
    const g2 = mul(h2, madd(mu2, c2, pressure));
    q00 = mul(u00, g0);
    q01 = mul(u01, g1);
    q02 = mul(u02, g2);
    q10 = mul(u10, g0);
    q11 = mul(u11, g1);
    q12 = mul(u12, g2);
    q20 = mul(u20, g0);
    q21 = mul(u21, g1);
    q22 = mul(u22, g2);
  }
  const p00 = dot3(q00, v00, q01, v01, q02, v02);
  const p01 = dot3(q00, v10, q01, v11, q02, v12);
  const p02 = dot3(q00, v20, q01, v21, q02, v22);
  const p10 = dot3(q10, v00, q11, v01, q12, v02);
  const p11 = dot3(q10, v10, q11, v11, q12, v12);
  const p12 = dot3(q10, v20, q11, v21, q12, v22);
  const p20 = dot3(q20, v00, q21, v01, q22, v02);
  const p21 = dot3(q20, v10, q21, v11, q22, v12);
  const p22 = dot3(q20, v20, q21, v21, q22, v22);
  // sum_i w_i |P b_i|^2 = sum over rows p of P of p K p^T
  const W = add(
    rowK(block, p00, p01, p02, general),
    add(rowK(block, p10, p11, p12, general), rowK(block, p20, p21, p22, general)),
  );
  const inertia = mul(f32x4.splat(inverseH2), unit);
  const denominator = madd(energy2, inertia, W);
  const some = f32x4.gt(denominator, zero);
  const s = v128.and(some, f32x4.neg(f32x4.div(energy2, denominator)));
  storeRow(scratch + L.SCRATCH_G, sound, s, p00, p01, p02);
  storeRow(scratch + L.SCRATCH_G + 48, sound, s, p10, p11, p12);
  storeRow(scratch + L.SCRATCH_G + 96, sound, s, p20, p21, p22);
  if (own) for (let row: usize = 0; row < 96; row += 16) v128.store(own + row, v128.and(v128.load(own + row), sound));
  const share = mul(s, inertia);
  const to = own + L.TET_APPLIED; // -r
  for (let row: usize = 0; row < 144; row += 16) {
    const before = applied ? v128.load(applied + row) : zero;
    const more = madd(share, before, v128.load(scratch + row, L.SCRATCH_G));
    const now = v128.bitselect(v128.load(scratch + row, L.SCRATCH_G), more, sound);
    if (own) v128.store(to + row, add(before, now));
    v128.store(scratch + row, now, L.SCRATCH_G);
  }
}

/**
 * Returns g_ij = 2 (e_i - e_j)/(sigma_i^2 - sigma_j^2), sigma_i >= sigma_j: e_i - e_j over sigma_i - sigma_j is s0 +
 * (a_i + a_j)/2 (a_i - a_j)/(sigma_i - sigma_j), a the part above s0.
 */
// @inline
function secant(si: v128, sj: v128): v128 {
  const s0 = f32x4.splat(S0);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const ai = f32x4.max(sub(si, s0), zero);
  const aj = f32x4.max(sub(sj, s0), zero);
  const apart = sub(si, sj);
  const share = v128.bitselect(f32x4.div(sub(ai, aj), apart), one, f32x4.gt(apart, zero));
  return f32x4.div(madd(add(ai, aj), share, add(s0, s0)), f32x4.max(add(si, sj), s0));
}

/**
 * For an isotropic elastic block: replaces G in `scratch` (rows of four lanes: F, G) in lanes that are not `sound`, and
 * records the corrections of all lanes.
 */
export function continueIsotropic(
  scratch: usize,
  sound: v128,
  block: usize,
  own: usize,
  applied: usize,
  inverseH2: f32,
): void {
  continueLanes(scratch, sound, block, own, applied, inverseH2, false, false);
}
/** The same for an orthotropic block. */
export function continueOrthotropic(
  scratch: usize,
  sound: v128,
  block: usize,
  own: usize,
  applied: usize,
  inverseH2: f32,
): void {
  continueLanes(scratch, sound, block, own, applied, inverseH2, true, false);
}
/** The same for a plastic block. */
export function continuePlastic(
  scratch: usize,
  sound: v128,
  block: usize,
  own: usize,
  applied: usize,
  inverseH2: f32,
): void {
  continueLanes(scratch, sound, block, own, applied, inverseH2, true, true);
}
