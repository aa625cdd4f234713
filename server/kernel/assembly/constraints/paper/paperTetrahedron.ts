/**
 * The paper's own form for tetrahedra, four at a time: the energy itself is the constraint (Bender et al. 2014, eqs
 * 1-3, Algorithm 1).
 *   C = E,  dx_j = -w_j grad_j E  E / sum_i w_i |grad_i E|^2,  grad_j E = V P(F) b_j          (eqs 6, 9)
 * There is no multiplier, compliance or step length. Any factor of E cancels, so Young's modulus has no effect:
 * stiffness depends on the number of iterations and the step (section 7 of the paper). E has a double root at rest, so
 * a step goes half of the way there.
 *
 * A model is a function that reads F and writes P and E, both over any common factor: k V here, which keeps float32 in
 * the middle of its range for any modulus and size. There is no absolute threshold for corrections (the authors'
 * library skips elements below one): only the quotient E / sum is guarded if the sum is not positive.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, position, pushFour, toLow } from "../../math/lanes";
import * as L from "../../layout/layout";
import { storeStress } from "../hooke";
import { hyperelasticStress } from "./paperHyperelastic";
import { continueIsotropic, continueOrthotropic, continuePlastic } from "../inversion";

/** Returns the bytes of a block of the given kind. */
export function paperTetrahedronBytes(kind: i32): i32 {
  if (kind === L.KIND_PAPER_NEO_HOOKEAN || kind === L.KIND_PAPER_STABLE_NEO_HOOKEAN) return L.HYPER_BYTES;
  return kind === L.KIND_PAPER_TET_PLASTIC
    ? L.TET_PLASTIC_BYTES
    : kind === L.KIND_PAPER_TET_ORTHO
      ? L.TET_ORTHO_BYTES
      : L.TET_BYTES;
}

/**
 * P and E of four elements: scratch rows F in, P (9), E and DONE out. For a DONE lane, P is not the stress but twice
 * the correction G = -P E / sum: inversion.ts has the constraint sqrt(2E), which steps twice as far without compliance.
 */
// @inline
function stress(kind: i32, block: usize, scratch: usize): void {
  if (kind === L.KIND_PAPER_TET_PLASTIC) stvkStress(block, scratch, true, true);
  else if (kind === L.KIND_PAPER_TET_ORTHO) stvkStress(block, scratch, true, false);
  else if (kind === L.KIND_PAPER_NEO_HOOKEAN) hyperelasticStress(block, scratch, false);
  else if (kind === L.KIND_PAPER_STABLE_NEO_HOOKEAN) hyperelasticStress(block, scratch, true);
  else stvkStress(block, scratch, false, false);
}

/**
 * Saint Venant-Kirchhoff over k V: E = mu |eps|^2 + lambda/2 (tr eps)^2, P = F (2 mu eps + lambda tr eps I) (eqs 4, 5,
 * 7); with nine compliances over 1/S_00, E = eps : C eps/2, P = F C eps, of the elastic strain.
 */
// @inline
function stvkStress(block: usize, scratch: usize, general: bool, plastic: bool): void {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const zero = f32x4.splat(0);
  const third = f32x4.splat(0.33333334);
  const f00 = v128.load(scratch, L.SCRATCH_F);
  const f01 = v128.load(scratch, L.SCRATCH_F + 16);
  const f02 = v128.load(scratch, L.SCRATCH_F + 32);
  const f10 = v128.load(scratch, L.SCRATCH_F + 48);
  const f11 = v128.load(scratch, L.SCRATCH_F + 64);
  const f12 = v128.load(scratch, L.SCRATCH_F + 80);
  const f20 = v128.load(scratch, L.SCRATCH_F + 96);
  const f21 = v128.load(scratch, L.SCRATCH_F + 112);
  const f22 = v128.load(scratch, L.SCRATCH_F + 128);
  const t00 = dot3(f00, f00, f10, f10, f20, f20);
  const t11 = dot3(f01, f01, f11, f11, f21, f21);
  const t22 = dot3(f02, f02, f12, f12, f22, f22);
  const t01 = dot3(f00, f01, f10, f11, f20, f21);
  const t02 = dot3(f00, f02, f10, f12, f20, f22);
  const t12 = dot3(f01, f02, f11, f12, f21, f22);
  // every singular value above 1/sqrt 3, as in tetrahedron.ts
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
  const sound = f32x4.gt(f32x4.pmin(f32x4.pmin(g00, minor2), f32x4.pmin(detG, detF)), zero);

  v128.store(scratch, v128.not(sound), L.SCRATCH_DONE);
  let s00: v128;
  let s11: v128;
  let s22: v128;
  let s01: v128;
  let s02: v128;
  let s12: v128;
  if (general) {
    let k0 = mul(half, sub(t00, one));
    let k1 = mul(half, sub(t11, one));
    let k2 = mul(half, sub(t22, one));
    let k3 = t12;
    let k4 = t02;
    let k5 = t01;
    if (plastic) {
      k0 = sub(k0, v128.load(block, L.TET_PLASTIC_STRAIN));
      k1 = sub(k1, v128.load(block, L.TET_PLASTIC_STRAIN + 16));
      k2 = sub(k2, v128.load(block, L.TET_PLASTIC_STRAIN + 32));
      k3 = sub(k3, v128.load(block, L.TET_PLASTIC_STRAIN + 48));
      k4 = sub(k4, v128.load(block, L.TET_PLASTIC_STRAIN + 64));
      k5 = sub(k5, v128.load(block, L.TET_PLASTIC_STRAIN + 80));
    }
    storeStress(block, scratch + L.SCRATCH_U, k0, k1, k2, k3, k4, k5);
    s00 = v128.load(scratch, L.SCRATCH_U);
    s11 = v128.load(scratch, L.SCRATCH_U + 16);
    s22 = v128.load(scratch, L.SCRATCH_U + 32);
    s12 = v128.load(scratch, L.SCRATCH_U + 48);
    s02 = v128.load(scratch, L.SCRATCH_U + 64);
    s01 = v128.load(scratch, L.SCRATCH_U + 80);
    v128.store(
      scratch,
      mul(half, add(dot3(s00, k0, s11, k1, s22, k2), dot3(s12, k3, s02, k4, s01, k5))),
      L.SCRATCH_ENERGY,
    );
  } else {
    // from the compliances 1/(k V), -nu/(k V): mu/k and lambda/k
    const sn = v128.load(block, L.TET_S);
    const nu = f32x4.neg(f32x4.div(v128.load(block, L.TET_S + 16), sn));
    const mu = f32x4.div(half, add(one, nu));
    const lambda = f32x4.div(nu, mul(add(one, nu), sub(one, add(nu, nu))));
    const twoMu = add(mu, mu);
    const e00 = mul(half, sub(t00, one));
    const e11 = mul(half, sub(t11, one));
    const e22 = mul(half, sub(t22, one));
    const e01 = mul(half, t01);
    const e02 = mul(half, t02);
    const e12 = mul(half, t12);
    const trace = add(e00, add(e11, e22));
    const pressure = mul(lambda, trace);
    const off = dot3(e01, e01, e02, e02, e12, e12);
    const q = add(dot3(e00, e00, e11, e11, e22, e22), add(off, off));
    v128.store(scratch, madd(mu, q, mul(half, mul(pressure, trace))), L.SCRATCH_ENERGY);
    // S = 2 mu eps + lambda tr eps I, P = F S
    s00 = madd(twoMu, e00, pressure);
    s11 = madd(twoMu, e11, pressure);
    s22 = madd(twoMu, e22, pressure);
    s01 = mul(twoMu, e01);
    s02 = mul(twoMu, e02);
    s12 = mul(twoMu, e12);
  }
  v128.store(scratch, dot3(f00, s00, f01, s01, f02, s02), L.SCRATCH_P);
  v128.store(scratch, dot3(f00, s01, f01, s11, f02, s12), L.SCRATCH_P + 16);
  v128.store(scratch, dot3(f00, s02, f01, s12, f02, s22), L.SCRATCH_P + 32);
  v128.store(scratch, dot3(f10, s00, f11, s01, f12, s02), L.SCRATCH_P + 48);
  v128.store(scratch, dot3(f10, s01, f11, s11, f12, s12), L.SCRATCH_P + 64);
  v128.store(scratch, dot3(f10, s02, f11, s12, f12, s22), L.SCRATCH_P + 80);
  v128.store(scratch, dot3(f20, s00, f21, s01, f22, s02), L.SCRATCH_P + 96);
  v128.store(scratch, dot3(f20, s01, f21, s11, f22, s12), L.SCRATCH_P + 112);
  v128.store(scratch, dot3(f20, s02, f21, s12, f22, s22), L.SCRATCH_P + 128);
  if (i32x4.all_true(sound)) return;
  if (plastic) continuePlastic(scratch, sound, block, 0, 0, 0);
  else if (general) continueOrthotropic(scratch, sound, block, 0, 0, 0);
  else {
    continueIsotropic(scratch, sound, block, 0, 0, 0);
    // convert to the block's unit
    for (let row: usize = 0; row < 144; row += 16) {
      const g = v128.load(scratch + row, L.SCRATCH_P);
      v128.store(scratch + row, v128.bitselect(g, mul(g, v128.load(block, L.TET_UNIT)), sound), L.SCRATCH_P);
    }
  }
}

/**
 * @param block address of the first of `count` blocks of four elements, in the layout of tetrahedron.ts
 * @param kind KIND_PAPER_*: the model
 * @param scratch this thread's SCRATCH_BYTES
 */
export function solvePaperTetrahedra(block: usize, count: i32, kind: i32, scratch: usize): void {
  const low = toLow;
  const zero = f32x4.splat(0);
  const half = f32x4.splat(0.5);
  const bytes = paperTetrahedronBytes(kind);
  for (let n = 0; n < count; n++, block += bytes) {
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
    a = position(<usize>load<u32>(block, 48), low);
    b = position(<usize>load<u32>(block, 52), low);
    c = position(<usize>load<u32>(block, 56), low);
    d = position(<usize>load<u32>(block, 60), low);
    const x3 = xs(a, b, c, d);
    const y3 = ys(a, b, c, d);
    const z3 = zs(a, b, c, d);
    const w3 = ws(a, b, c, d);

    // F = D_s D_m^-1
    const ax = sub(x0, x3);
    const ay = sub(y0, y3);
    const az = sub(z0, z3);
    const bx = sub(x1, x3);
    const by = sub(y1, y3);
    const bz = sub(z1, z3);
    const cx = sub(x2, x3);
    const cy = sub(y2, y3);
    const cz = sub(z2, z3);
    const m00 = v128.load(block, L.TET_DM);
    const m01 = v128.load(block, L.TET_DM + 16);
    const m02 = v128.load(block, L.TET_DM + 32);
    const m10 = v128.load(block, L.TET_DM + 48);
    const m11 = v128.load(block, L.TET_DM + 64);
    const m12 = v128.load(block, L.TET_DM + 80);
    const m20 = v128.load(block, L.TET_DM + 96);
    const m21 = v128.load(block, L.TET_DM + 112);
    const m22 = v128.load(block, L.TET_DM + 128);
    v128.store(scratch, dot3(ax, m00, bx, m10, cx, m20), L.SCRATCH_F);
    v128.store(scratch, dot3(ax, m01, bx, m11, cx, m21), L.SCRATCH_F + 16);
    v128.store(scratch, dot3(ax, m02, bx, m12, cx, m22), L.SCRATCH_F + 32);
    v128.store(scratch, dot3(ay, m00, by, m10, cy, m20), L.SCRATCH_F + 48);
    v128.store(scratch, dot3(ay, m01, by, m11, cy, m21), L.SCRATCH_F + 64);
    v128.store(scratch, dot3(ay, m02, by, m12, cy, m22), L.SCRATCH_F + 80);
    v128.store(scratch, dot3(az, m00, bz, m10, cz, m20), L.SCRATCH_F + 96);
    v128.store(scratch, dot3(az, m01, bz, m11, cz, m21), L.SCRATCH_F + 112);
    v128.store(scratch, dot3(az, m02, bz, m12, cz, m22), L.SCRATCH_F + 128);

    // C and its gradient: g_j = P b_j
    stress(kind, block, scratch);
    const energy = v128.load(scratch, L.SCRATCH_ENERGY);
    const done = v128.load(scratch, L.SCRATCH_DONE);
    const p00 = v128.load(scratch, L.SCRATCH_P);
    const p01 = v128.load(scratch, L.SCRATCH_P + 16);
    const p02 = v128.load(scratch, L.SCRATCH_P + 32);
    const p10 = v128.load(scratch, L.SCRATCH_P + 48);
    const p11 = v128.load(scratch, L.SCRATCH_P + 64);
    const p12 = v128.load(scratch, L.SCRATCH_P + 80);
    const p20 = v128.load(scratch, L.SCRATCH_P + 96);
    const p21 = v128.load(scratch, L.SCRATCH_P + 112);
    const p22 = v128.load(scratch, L.SCRATCH_P + 128);
    const g0x = dot3(p00, m00, p01, m01, p02, m02);
    const g0y = dot3(p10, m00, p11, m01, p12, m02);
    const g0z = dot3(p20, m00, p21, m01, p22, m02);
    const g1x = dot3(p00, m10, p01, m11, p02, m12);
    const g1y = dot3(p10, m10, p11, m11, p12, m12);
    const g1z = dot3(p20, m10, p21, m11, p22, m12);
    const g2x = dot3(p00, m20, p01, m21, p02, m22);
    const g2y = dot3(p10, m20, p11, m21, p12, m22);
    const g2z = dot3(p20, m20, p21, m21, p22, m22);
    const g3x = f32x4.neg(add(g0x, add(g1x, g2x)));
    const g3y = f32x4.neg(add(g0y, add(g1y, g2y)));
    const g3z = f32x4.neg(add(g0z, add(g1z, g2z)));

    // lambda = -E / sum_j w_j |g_j|^2
    const sum = madd(
      w0,
      dot3(g0x, g0x, g0y, g0y, g0z, g0z),
      madd(
        w1,
        dot3(g1x, g1x, g1y, g1y, g1z, g1z),
        madd(w2, dot3(g2x, g2x, g2y, g2y, g2z, g2z), mul(w3, dot3(g3x, g3x, g3y, g3y, g3z, g3z))),
      ),
    );
    const quotient = v128.and(f32x4.neg(f32x4.div(energy, sum)), f32x4.gt(sum, zero));
    const lambda = v128.bitselect(half, quotient, done);
    pushFour(block, low, mul(lambda, g0x), mul(lambda, g0y), mul(lambda, g0z));
    pushFour(block + 16, low, mul(lambda, g1x), mul(lambda, g1y), mul(lambda, g1z));
    pushFour(block + 32, low, mul(lambda, g2x), mul(lambda, g2y), mul(lambda, g2z));
    pushFour(block + 48, low, mul(lambda, g3x), mul(lambda, g3y), mul(lambda, g3z));
  }
}
