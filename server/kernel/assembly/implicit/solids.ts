/**
 * Saint Venant-Kirchhoff tetrahedra of an implicit body: E = V (mu E:E + lambda/2 (tr E)^2), E Green's strain, and
 * products with its Hessian whose stress part is projected to be positive semidefinite (Teran et al. 2005): dP = F dS +
 * dF S+. That law weakens under compression, and pulls nearly flat elements on through inversion. So an element below
 * CRUSHED of its volume also resists with
 *   V K/2 ((J - CRUSHED)/CRUSHED)^2,   J = det F,  K = lambda + 2 mu
 * The positive part K/CRUSHED^2 cof F (cof F)^T of its Hessian is used. (Without it a soft cube that fell from 5 cm
 * stayed crumpled for ever.) It is finite where an element is flat or inverted, and pushes it back. (When no step was
 * allowed to invert an element, one in a corner that the floor had pressed flat cut the step of the whole body.)
 * A viscous solid (Kelvin and Voigt) adds V theta (mu D:D + lambda/2 (tr D)^2), D = E - Ep with theta and Ep of
 * viscosity.ts. The sum is (1 + theta) times the law of E - theta/(1 + theta) Ep, up to a constant. Float64. Twin:
 * sim/reference/implicit/elements.ts, same operations in the same order.
 * Tried: the positive part by Jacobi's rotations. It was more than half of the cost of a body without contacts.
 */
import * as L from "../layout/layout";

/** Newton steps for an eigenvalue: the first guess is off by at most 15 %, and each step doubles the digits. */
const STEPS: i32 = 4;
const CRUSHED: f64 = 0.5;

// columns of the last deformation: x and y, then z
export let e0: v128 = f64x2.splat(0);
export let e1: v128 = f64x2.splat(0);
export let e2: v128 = f64x2.splat(0);
export let z0: f64 = 0;
export let z1: f64 = 0;
export let z2: f64 = 0;
// last symmetric matrix: 00 11 22 12 02 01
let s0: f64 = 0;
let s1: f64 = 0;
let s2: f64 = 0;
let s3: f64 = 0;
let s4: f64 = 0;
let s5: f64 = 0;

/** sum_j x_j b_j^T -> e, z: the last deformation. @param x a vector, tet an element's row */
// @inline
export function deform(x: usize, tet: usize): void {
  const p0 = x + <usize>load<u32>(tet);
  const p1 = x + <usize>load<u32>(tet, 4);
  const p2 = x + <usize>load<u32>(tet, 8);
  const p3 = x + <usize>load<u32>(tet, 12);
  const origin = v128.load(p3);
  const a = f64x2.sub(v128.load(p0), origin);
  const b = f64x2.sub(v128.load(p1), origin);
  const c = f64x2.sub(v128.load(p2), origin);
  const w = load<f64>(p3, 16);
  const az = load<f64>(p0, 16) - w;
  const bz = load<f64>(p1, 16) - w;
  const cz = load<f64>(p2, 16) - w;
  let m0 = load<f64>(tet, L.IMPLICIT_TET_DM);
  let m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 24);
  let m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 48);
  e0 = mix(a, m0, b, m1, c, m2);
  z0 = az * m0 + bz * m1 + cz * m2;
  m0 = load<f64>(tet, L.IMPLICIT_TET_DM + 8);
  m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 32);
  m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 56);
  e1 = mix(a, m0, b, m1, c, m2);
  z1 = az * m0 + bz * m1 + cz * m2;
  m0 = load<f64>(tet, L.IMPLICIT_TET_DM + 16);
  m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 40);
  m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 64);
  e2 = mix(a, m0, b, m1, c, m2);
  z2 = az * m0 + bz * m1 + cz * m2;
}

/** a s + b t + c u */
// @inline
function mix(a: v128, s: f64, b: v128, t: f64, c: v128, u: f64): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(f64x2.splat(s), a), f64x2.mul(f64x2.splat(t), b)), f64x2.mul(f64x2.splat(u), c));
}

/** Returns the dot product of two columns. */
// @inline
function dot(a: v128, az: f64, b: v128, bz: f64): f64 {
  const both = f64x2.mul(a, b);
  return f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1) + az * bz;
}

/** Green's strain of the last deformation -> s0 .. s5. */
// @inline
function greenStrain(): void {
  s0 = 0.5 * (dot(e0, z0, e0, z0) - 1);
  s1 = 0.5 * (dot(e1, z1, e1, z1) - 1);
  s2 = 0.5 * (dot(e2, z2, e2, z2) - 1);
  s3 = 0.5 * dot(e1, z1, e2, z2);
  s4 = 0.5 * dot(e0, z0, e2, z2);
  s5 = 0.5 * dot(e0, z0, e1, z1);
}

// @inline
function xOf(a: v128): f64 {
  return f64x2.extract_lane(a, 0);
}
// @inline
function yOf(a: v128): f64 {
  return f64x2.extract_lane(a, 1);
}

/** Returns det F of the last deformation. */
// @inline
function volumeRatio(): f64 {
  return (
    xOf(e0) * (yOf(e1) * z2 - yOf(e2) * z1) +
    xOf(e1) * (yOf(e2) * z0 - yOf(e0) * z2) +
    xOf(e2) * (yOf(e0) * z1 - yOf(e1) * z0)
  );
}

/** Returns stiffening (mu s:s + lambda/2 (tr s)^2), and the resistance of a crushed element, J/m^3. */
// @inline
function density(mu: f64, lambda: f64, stiffening: f64): f64 {
  const J = volumeRatio();
  const trace = s0 + s1 + s2;
  const squares = s0 * s0 + s1 * s1 + s2 * s2 + 2 * (s3 * s3 + s4 * s4 + s5 * s5);
  const E = stiffening * (mu * squares + 0.5 * lambda * trace * trace);
  if (J >= CRUSHED) return E;
  const part = (J - CRUSHED) / CRUSHED;
  return E + 0.5 * (lambda + 2 * mu) * part * part;
}

/**
 * Adds the resistance of a crushed element to a gradient, or to a product with p, whose deformation is in e, z.
 * @param to vector; K lambda + 2 mu
 * @returns whether the element is crushed
 */
function resistCrushing(tet: usize, to: usize, K: f64, product: bool): bool {
  const F0 = load<f64>(tet, L.IMPLICIT_TET_F);
  const F3 = load<f64>(tet, L.IMPLICIT_TET_F + 8);
  const F1 = load<f64>(tet, L.IMPLICIT_TET_F + 16);
  const F4 = load<f64>(tet, L.IMPLICIT_TET_F + 24);
  const F2 = load<f64>(tet, L.IMPLICIT_TET_F + 32);
  const F5 = load<f64>(tet, L.IMPLICIT_TET_F + 40);
  const F6 = load<f64>(tet, L.IMPLICIT_TET_F + 48);
  const F7 = load<f64>(tet, L.IMPLICIT_TET_F + 56);
  const F8 = load<f64>(tet, L.IMPLICIT_TET_F + 64);
  const c0 = F4 * F8 - F5 * F7;
  const c1 = F5 * F6 - F3 * F8;
  const c2 = F3 * F7 - F4 * F6;
  const J = F0 * c0 + F1 * c1 + F2 * c2;
  if (J >= CRUSHED) return false;
  const c3 = F2 * F7 - F1 * F8;
  const c4 = F0 * F8 - F2 * F6;
  const c5 = F1 * F6 - F0 * F7;
  const c6 = F1 * F5 - F2 * F4;
  const c7 = F2 * F3 - F0 * F5;
  const c8 = F0 * F4 - F1 * F3;
  const by = product
    ? c0 * xOf(e0) +
      c1 * xOf(e1) +
      c2 * xOf(e2) +
      (c3 * yOf(e0) + c4 * yOf(e1) + c5 * yOf(e2)) +
      (c6 * z0 + c7 * z1 + c8 * z2)
    : J - CRUSHED;
  const a = (load<f64>(tet, L.IMPLICIT_TET_VOLUME) * K * by) / (CRUSHED * CRUSHED);
  const factor = f64x2.splat(a);
  scatterStress(
    tet,
    to,
    f64x2.mul(factor, f64x2(c0, c3)),
    f64x2.mul(factor, f64x2(c1, c4)),
    f64x2.mul(factor, f64x2(c2, c5)),
    a * c6,
    a * c7,
    a * c8,
  );
  return true;
}

/** s = 2 mu s + lambda tr s 1 */
// @inline
function hooke(mu: f64, lambda: f64): void {
  const pressure = lambda * (s0 + s1 + s2);
  const twice = 2 * mu;
  s0 = twice * s0 + pressure;
  s1 = twice * s1 + pressure;
  s2 = twice * s2 + pressure;
  s3 = twice * s3;
  s4 = twice * s4;
  s5 = twice * s5;
}

/** g += P b_j of the four corners, P by its columns: x and y, z. */
// @inline
function scatterStress(tet: usize, g: usize, a: v128, b: v128, c: v128, az: f64, bz: f64, cz: f64): void {
  const p0 = g + <usize>load<u32>(tet);
  const p1 = g + <usize>load<u32>(tet, 4);
  const p2 = g + <usize>load<u32>(tet, 8);
  const p3 = g + <usize>load<u32>(tet, 12);
  let m0 = load<f64>(tet, L.IMPLICIT_TET_DM);
  let m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 8);
  let m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 16);
  const r0 = mix(a, m0, b, m1, c, m2);
  const q0 = az * m0 + bz * m1 + cz * m2;
  m0 = load<f64>(tet, L.IMPLICIT_TET_DM + 24);
  m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 32);
  m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 40);
  const r1 = mix(a, m0, b, m1, c, m2);
  const q1 = az * m0 + bz * m1 + cz * m2;
  m0 = load<f64>(tet, L.IMPLICIT_TET_DM + 48);
  m1 = load<f64>(tet, L.IMPLICIT_TET_DM + 56);
  m2 = load<f64>(tet, L.IMPLICIT_TET_DM + 64);
  const r2 = mix(a, m0, b, m1, c, m2);
  const q2 = az * m0 + bz * m1 + cz * m2;
  v128.store(p0, f64x2.add(v128.load(p0), r0));
  v128.store(p1, f64x2.add(v128.load(p1), r1));
  v128.store(p2, f64x2.add(v128.load(p2), r2));
  v128.store(p3, f64x2.sub(v128.load(p3), f64x2.add(f64x2.add(r0, r1), r2)));
  store<f64>(p0, load<f64>(p0, 16) + q0, 16);
  store<f64>(p1, load<f64>(p1, 16) + q1, 16);
  store<f64>(p2, load<f64>(p2, 16) + q2, 16);
  store<f64>(p3, load<f64>(p3, 16) - (q0 + q1 + q2), 16);
}

/** g += V F s b_j of the four corners, s the last stress. */
// @inline
function scatterForce(tet: usize, g: usize, V: f64): void {
  const volume = f64x2.splat(V);
  scatterStress(
    tet,
    g,
    f64x2.mul(volume, mix(e0, s0, e1, s5, e2, s4)),
    f64x2.mul(volume, mix(e0, s5, e1, s1, e2, s3)),
    f64x2.mul(volume, mix(e0, s4, e1, s3, e2, s2)),
    V * (z0 * s0 + z1 * s5 + z2 * s4),
    V * (z0 * s5 + z1 * s1 + z2 * s3),
    V * (z0 * s4 + z1 * s3 + z2 * s2),
  );
}

/** g += dE/dx at x, without viscosity. */
export function addForcesOfTets(row: usize, x: usize, g: usize): void {
  const mu = load<f64>(row, L.IMPLICIT_MU);
  const lambda = load<f64>(row, L.IMPLICIT_LAMBDA);
  const end = endOf(row);
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += L.IMPLICIT_TET_BYTES) {
    deform(x, tet);
    greenStrain();
    hooke(mu, lambda);
    scatterForce(tet, g, load<f64>(tet, L.IMPLICIT_TET_VOLUME));
    if (volumeRatio() >= CRUSHED) continue;
    storeDeformation(tet);
    resistCrushing(tet, g, lambda + 2 * mu, false);
  }
}

/** J at the vector x. */
export function energyOfTets(row: usize, x: usize): f64 {
  const mu = load<f64>(row, L.IMPLICIT_MU);
  const lambda = load<f64>(row, L.IMPLICIT_LAMBDA);
  const stiffening = load<f64>(row, L.IMPLICIT_STIFFENING);
  const end = endOf(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  let sum: f64 = 0;
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += L.IMPLICIT_TET_BYTES) {
    deform(x, tet);
    greenStrain();
    if (past) past = subtractPast(past);
    sum += load<f64>(tet, L.IMPLICIT_TET_VOLUME) * density(mu, lambda, stiffening);
  }
  return sum;
}

/** s -= the strain at `past`. @returns address of the next element's strain */
// @inline
function subtractPast(past: usize): usize {
  s0 -= load<f64>(past);
  s1 -= load<f64>(past, 8);
  s2 -= load<f64>(past, 16);
  s3 -= load<f64>(past, 24);
  s4 -= load<f64>(past, 32);
  s5 -= load<f64>(past, 40);
  return past + 48;
}

/**
 * Stores the strains from which the step's rates are measured, `share` of a s(x) + b s(x1) (viscosity.ts).
 * @param x, x1 vectors; x1 is not read if b is 0
 */
export function keepPastOfTets(row: usize, x: usize, x1: usize, a: f64, b: f64, share: f64): void {
  const end = endOf(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += L.IMPLICIT_TET_BYTES, past += 48) {
    memory.fill(past, 0, 48);
    addPast(past, x, tet, share * a);
    if (b !== 0) addPast(past, x1, tet, share * b);
  }
}

function addPast(past: usize, x: usize, tet: usize, factor: f64): void {
  deform(x, tet);
  greenStrain();
  store<f64>(past, load<f64>(past) + factor * s0);
  store<f64>(past, load<f64>(past, 8) + factor * s1, 8);
  store<f64>(past, load<f64>(past, 16) + factor * s2, 16);
  store<f64>(past, load<f64>(past, 24) + factor * s3, 24);
  store<f64>(past, load<f64>(past, 32) + factor * s4, 32);
  store<f64>(past, load<f64>(past, 40) + factor * s5, 40);
}

// @inline
function endOf(row: usize): usize {
  return <usize>load<u32>(row, L.IMPLICIT_TETS) + <usize>load<i32>(row, L.IMPLICIT_TET_COUNT) * L.IMPLICIT_TET_BYTES;
}

/**
 * g += dE/dx at x; stores data for products.
 * @param stresses whether positive parts of stresses are computed too; else those of the last time remain
 * @returns J at x, as energyOfTets has it
 */
export function linearizeTets(row: usize, x: usize, g: usize, stresses: bool): f64 {
  let sum: f64 = 0;
  const mu = load<f64>(row, L.IMPLICIT_MU);
  const lambda = load<f64>(row, L.IMPLICIT_LAMBDA);
  const stiffening = load<f64>(row, L.IMPLICIT_STIFFENING);
  const end = endOf(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += L.IMPLICIT_TET_BYTES) {
    deform(x, tet);
    storeDeformation(tet);
    greenStrain();
    if (past) past = subtractPast(past);
    const V = load<f64>(tet, L.IMPLICIT_TET_VOLUME);
    sum += V * density(mu, lambda, stiffening);
    hooke(stiffening * mu, stiffening * lambda);
    scatterForce(tet, g, V);
    store<i32>(tet, resistCrushing(tet, g, lambda + 2 * mu, false) ? 1 : 0, L.IMPLICIT_TET_CRUSHED);
    if (stresses) storeStress(tet);
  }
  if (stresses) positiveParts(row);
  return sum;
}

// @inline
function storeDeformation(tet: usize): void {
  v128.store(tet, e0, L.IMPLICIT_TET_F);
  v128.store(tet, e1, L.IMPLICIT_TET_F + 16);
  v128.store(tet, e2, L.IMPLICIT_TET_F + 32);
  store<f64>(tet, z0, L.IMPLICIT_TET_F + 48);
  store<f64>(tet, z1, L.IMPLICIT_TET_F + 56);
  store<f64>(tet, z2, L.IMPLICIT_TET_F + 64);
}

// @inline
function storeStress(tet: usize): void {
  store<f64>(tet, s0, L.IMPLICIT_TET_STRESS);
  store<f64>(tet, s1, L.IMPLICIT_TET_STRESS + 8);
  store<f64>(tet, s2, L.IMPLICIT_TET_STRESS + 16);
  store<f64>(tet, s3, L.IMPLICIT_TET_STRESS + 24);
  store<f64>(tet, s4, L.IMPLICIT_TET_STRESS + 32);
  store<f64>(tet, s5, L.IMPLICIT_TET_STRESS + 40);
}

/** q += H+ p of the last linearization. */
export function multiplyTets(row: usize, p: usize, q: usize): void {
  const mu = load<f64>(row, L.IMPLICIT_MU);
  const lambda = load<f64>(row, L.IMPLICIT_LAMBDA);
  const stiffening = load<f64>(row, L.IMPLICIT_STIFFENING);
  const end = endOf(row);
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += L.IMPLICIT_TET_BYTES) {
    deform(p, tet);
    const E0 = v128.load(tet, L.IMPLICIT_TET_F);
    const E1 = v128.load(tet, L.IMPLICIT_TET_F + 16);
    const E2 = v128.load(tet, L.IMPLICIT_TET_F + 32);
    const Z0 = load<f64>(tet, L.IMPLICIT_TET_F + 48);
    const Z1 = load<f64>(tet, L.IMPLICIT_TET_F + 56);
    const Z2 = load<f64>(tet, L.IMPLICIT_TET_F + 64);
    s0 = dot(E0, Z0, e0, z0);
    s1 = dot(E1, Z1, e1, z1);
    s2 = dot(E2, Z2, e2, z2);
    s3 = 0.5 * (dot(E1, Z1, e2, z2) + dot(E2, Z2, e1, z1));
    s4 = 0.5 * (dot(E0, Z0, e2, z2) + dot(E2, Z2, e0, z0));
    s5 = 0.5 * (dot(E0, Z0, e1, z1) + dot(E1, Z1, e0, z0));
    hooke(stiffening * mu, stiffening * lambda);
    const V = load<f64>(tet, L.IMPLICIT_TET_VOLUME);
    const volume = f64x2.splat(V);
    const t0 = load<f64>(tet, L.IMPLICIT_TET_STRESS);
    const t1 = load<f64>(tet, L.IMPLICIT_TET_STRESS + 8);
    const t2 = load<f64>(tet, L.IMPLICIT_TET_STRESS + 16);
    const t3 = load<f64>(tet, L.IMPLICIT_TET_STRESS + 24);
    const t4 = load<f64>(tet, L.IMPLICIT_TET_STRESS + 32);
    const t5 = load<f64>(tet, L.IMPLICIT_TET_STRESS + 40);
    scatterStress(
      tet,
      q,
      f64x2.add(f64x2.mul(volume, mix(E0, s0, E1, s5, E2, s4)), f64x2.mul(volume, mix(e0, t0, e1, t5, e2, t4))),
      f64x2.add(f64x2.mul(volume, mix(E0, s5, E1, s1, E2, s3)), f64x2.mul(volume, mix(e0, t5, e1, t1, e2, t3))),
      f64x2.add(f64x2.mul(volume, mix(E0, s4, E1, s3, E2, s2)), f64x2.mul(volume, mix(e0, t4, e1, t3, e2, t2))),
      V * (Z0 * s0 + Z1 * s5 + Z2 * s4) + V * (z0 * t0 + z1 * t5 + z2 * t4),
      V * (Z0 * s5 + Z1 * s1 + Z2 * s3) + V * (z0 * t5 + z1 * t1 + z2 * t3),
      V * (Z0 * s4 + Z1 * s3 + Z2 * s2) + V * (z0 * t4 + z1 * t3 + z2 * t2),
    );
    if (load<i32>(tet, L.IMPLICIT_TET_CRUSHED)) resistCrushing(tet, q, lambda + 2 * mu, true);
  }
}

/**
 * Removes negative eigenvalues of the last linearization's stresses, two elements at a time, to hide the latency of
 * roots and quotients.
 */
function positiveParts(row: usize): void {
  const end = endOf(row);
  for (let tet = <usize>load<u32>(row, L.IMPLICIT_TETS); tet < end; tet += 2 * L.IMPLICIT_TET_BYTES) {
    const other = tet + L.IMPLICIT_TET_BYTES < end ? tet + L.IMPLICIT_TET_BYTES : tet;
    positivePart(tet + L.IMPLICIT_TET_STRESS, other + L.IMPLICIT_TET_STRESS);
  }
}

// @inline
function both(a: usize, b: usize, offset: usize): v128 {
  return f64x2.replace_lane(f64x2.splat(load<f64>(a + offset)), 1, load<f64>(b + offset));
}
// @inline
function x(a: v128, b: v128): v128 {
  return f64x2.mul(a, b);
}
// @inline
function plus(a: v128, b: v128): v128 {
  return f64x2.add(a, b);
}
// @inline
function less(a: v128, b: v128): v128 {
  return f64x2.sub(a, b);
}

/**
 * Uses the one eigenvalue l that alone has its sign, by Cayley and Hamilton: S+ = l P(l) or S - l P(l) with P(l) = (S -
 * a)(S - b)/((l - a)(l - b)) and a, b the other two. l = m -+ p (1 + d), m the mean of all three, 6 p^2 = |S - m|^2,
 * and d in 0 .. 1 solves d^3 + 3 d^2 = 2 (1 -+ r), r = det (S - m)/(2 p^3).
 * @param at, other addresses of two stresses
 */
function positivePart(at: usize, other: usize): void {
  const s0 = both(at, other, 0);
  const s1 = both(at, other, 8);
  const s2 = both(at, other, 16);
  const s3 = both(at, other, 24);
  const s4 = both(at, other, 32);
  const s5 = both(at, other, 40);
  const zero = f64x2.splat(0);
  const trace = plus(plus(s0, s1), s2);
  const yields = less(x(s1, s2), x(s3, s3));
  const minors = plus(plus(less(x(s0, s1), x(s5, s5)), yields), less(x(s0, s2), x(s4, s4)));
  const det = plus(less(x(s0, yields), x(s5, less(x(s5, s2), x(s3, s4)))), x(s4, less(x(s5, s3), x(s1, s4))));
  const alike = f64x2.ge(minors, zero);
  const none = v128.and(v128.and(f64x2.ge(trace, zero), alike), f64x2.ge(det, zero));
  const all = v128.and(v128.and(f64x2.le(trace, zero), alike), f64x2.le(det, zero));
  if (i64x2.all_true(none)) return;
  const negative = f64x2.lt(det, zero);
  const sign = v128.bitselect(f64x2.splat(-1), f64x2.splat(1), negative);
  const m = f64x2.div(trace, f64x2.splat(3));
  const a = less(s0, m);
  const b = less(s1, m);
  const c = less(s2, m);
  const off = plus(plus(x(s3, s3), x(s4, s4)), x(s5, s5));
  const p2 = f64x2.div(plus(plus(plus(x(a, a), x(b, b)), x(c, c)), x(f64x2.splat(2), off)), f64x2.splat(6));
  const p = f64x2.sqrt(p2);
  const deviator = plus(
    less(x(a, less(x(b, c), x(s3, s3))), x(s5, less(x(s5, c), x(s3, s4)))),
    x(s4, less(x(s5, s3), x(b, s4))),
  );
  const r = f64x2.div(deviator, x(x(f64x2.splat(2), p2), p));
  const e = x(f64x2.splat(2), plus(f64x2.splat(1), x(sign, r)));
  // else the other two are as far from zero as l, or all three are equal
  const alone = f64x2.gt(e, zero);
  let d = f64x2.sqrt(f64x2.div(e, f64x2.splat(3)));
  for (let step = 0; step < STEPS; step++) {
    const value = less(x(x(plus(d, f64x2.splat(3)), d), d), e);
    d = less(d, f64x2.div(value, x(x(f64x2.splat(3), d), plus(d, f64x2.splat(2)))));
  }
  const l = plus(m, x(x(sign, p), plus(f64x2.splat(1), d)));
  const sum = less(trace, l);
  const product = less(minors, x(l, sum));
  const scale = f64x2.div(l, x(x(x(f64x2.splat(3), p2), d), plus(d, f64x2.splat(2))));
  // lanes whose positive part is zero, and those whose stress is all positive
  const nothing = v128.andnot(v128.or(all, v128.andnot(v128.not(alone), negative)), none);
  const whole = v128.or(none, v128.andnot(v128.and(v128.not(alone), negative), all));
  const s33 = x(s3, s3);
  const s44 = x(s4, s4);
  const s55 = x(s5, s5);
  let part = plus(less(plus(plus(x(s0, s0), s44), s55), x(sum, s0)), product);
  keepPart(at, other, 0, s0, x(scale, part), negative, nothing, whole);
  part = plus(less(plus(plus(x(s1, s1), s33), s55), x(sum, s1)), product);
  keepPart(at, other, 8, s1, x(scale, part), negative, nothing, whole);
  part = plus(less(plus(plus(x(s2, s2), s33), s44), x(sum, s2)), product);
  keepPart(at, other, 16, s2, x(scale, part), negative, nothing, whole);
  part = less(plus(plus(x(s5, s4), x(s1, s3)), x(s3, s2)), x(sum, s3));
  keepPart(at, other, 24, s3, x(scale, part), negative, nothing, whole);
  part = less(plus(plus(x(s0, s4), x(s5, s3)), x(s4, s2)), x(sum, s4));
  keepPart(at, other, 32, s4, x(scale, part), negative, nothing, whole);
  part = less(plus(plus(x(s0, s5), x(s5, s1)), x(s4, s3)), x(sum, s5));
  keepPart(at, other, 40, s5, x(scale, part), negative, nothing, whole);
}

/** Stores the positive part of one entry. @param s the entry of both stresses, part its share that belongs to l */
// @inline
function keepPart(
  at: usize,
  other: usize,
  offset: usize,
  s: v128,
  part: v128,
  negative: v128,
  nothing: v128,
  whole: v128,
): void {
  const positive = v128.bitselect(less(s, part), part, negative);
  const kept = v128.bitselect(s, v128.andnot(positive, nothing), whole);
  store<f64>(at + offset, f64x2.extract_lane(kept, 0));
  store<f64>(other + offset, f64x2.extract_lane(kept, 1));
}
