/**
 * Saint Venant-Kirchhoff tetrahedra of an implicit body: E = V (mu E:E + lambda/2 (tr E)^2), E Green's strain, and
 * products with its Hessian whose stress part is projected to be positive semidefinite (Teran et al. 2005): dP = F dS +
 * dF S+. That law is weaker the more it is crushed, and pulls what is nearly flat on through; so an element of less
 * than CRUSHED of its volume resists with
 *   V K/2 ((J - CRUSHED)/CRUSHED)^2,   J = det F,  K = lambda + 2 mu
 * too, of whose Hessian the positive part K/CRUSHED^2 cof F (cof F)^T is taken. (Without it a soft cube that fell from
 * 5 cm stayed a crumpled block for ever: no step may turn its flat elements inside out.)
 * Float64. Twin: sim/reference/implicit/elements.ts, same operations in the same order.
 * Tried: the positive part by Jacobi's rotations. It was more than half of the cost of a body that nothing touches.
 */
import {
  IMPLICIT_TETS,
  IMPLICIT_TET_COUNT,
  IMPLICIT_MU,
  IMPLICIT_LAMBDA,
  IMPLICIT_TET_DM,
  IMPLICIT_TET_VOLUME,
  IMPLICIT_TET_F,
  IMPLICIT_TET_STRESS,
  IMPLICIT_TET_CRUSHED,
  IMPLICIT_TET_BYTES,
} from "../layout/layout";

/** Newton's steps for an eigenvalue: the first guess is wrong by 15 % at most, and each step doubles the digits. */
const STEPS: i32 = 4;
const CRUSHED: f64 = 0.5;

// the last deformation, row by row
let f0: f64 = 0;
let f1: f64 = 0;
let f2: f64 = 0;
let f3: f64 = 0;
let f4: f64 = 0;
let f5: f64 = 0;
let f6: f64 = 0;
let f7: f64 = 0;
let f8: f64 = 0;
// the last symmetric matrix: 00 11 22 12 02 01
let s0: f64 = 0;
let s1: f64 = 0;
let s2: f64 = 0;
let s3: f64 = 0;
let s4: f64 = 0;
let s5: f64 = 0;

/** sum_j x_j b_j^T -> f0 .. f8. @param x a vector, tet an element's row */
// @inline
function deform(x: usize, tet: usize): void {
  const p0 = x + <usize>load<u32>(tet);
  const p1 = x + <usize>load<u32>(tet, 4);
  const p2 = x + <usize>load<u32>(tet, 8);
  const p3 = x + <usize>load<u32>(tet, 12);
  const m0 = load<f64>(tet, IMPLICIT_TET_DM);
  const m1 = load<f64>(tet, IMPLICIT_TET_DM + 8);
  const m2 = load<f64>(tet, IMPLICIT_TET_DM + 16);
  const m3 = load<f64>(tet, IMPLICIT_TET_DM + 24);
  const m4 = load<f64>(tet, IMPLICIT_TET_DM + 32);
  const m5 = load<f64>(tet, IMPLICIT_TET_DM + 40);
  const m6 = load<f64>(tet, IMPLICIT_TET_DM + 48);
  const m7 = load<f64>(tet, IMPLICIT_TET_DM + 56);
  const m8 = load<f64>(tet, IMPLICIT_TET_DM + 64);
  const w0 = load<f64>(p3);
  const w1 = load<f64>(p3, 8);
  const w2 = load<f64>(p3, 16);
  let a = load<f64>(p0) - w0;
  let b = load<f64>(p1) - w0;
  let c = load<f64>(p2) - w0;
  f0 = a * m0 + b * m3 + c * m6;
  f1 = a * m1 + b * m4 + c * m7;
  f2 = a * m2 + b * m5 + c * m8;
  a = load<f64>(p0, 8) - w1;
  b = load<f64>(p1, 8) - w1;
  c = load<f64>(p2, 8) - w1;
  f3 = a * m0 + b * m3 + c * m6;
  f4 = a * m1 + b * m4 + c * m7;
  f5 = a * m2 + b * m5 + c * m8;
  a = load<f64>(p0, 16) - w2;
  b = load<f64>(p1, 16) - w2;
  c = load<f64>(p2, 16) - w2;
  f6 = a * m0 + b * m3 + c * m6;
  f7 = a * m1 + b * m4 + c * m7;
  f8 = a * m2 + b * m5 + c * m8;
}

/** Green's strain of f0 .. f8 -> s0 .. s5. */
// @inline
function greenStrain(): void {
  s0 = 0.5 * (f0 * f0 + f3 * f3 + f6 * f6 - 1);
  s1 = 0.5 * (f1 * f1 + f4 * f4 + f7 * f7 - 1);
  s2 = 0.5 * (f2 * f2 + f5 * f5 + f8 * f8 - 1);
  s3 = 0.5 * (f1 * f2 + f4 * f5 + f7 * f8);
  s4 = 0.5 * (f0 * f2 + f3 * f5 + f6 * f8);
  s5 = 0.5 * (f0 * f1 + f3 * f4 + f6 * f7);
}

/** mu s:s + lambda/2 (tr s)^2; infinite where det F <= 0: no step that goes down turns an element inside out. */
// @inline
function density(mu: f64, lambda: f64): f64 {
  const J = f0 * (f4 * f8 - f5 * f7) + f1 * (f5 * f6 - f3 * f8) + f2 * (f3 * f7 - f4 * f6);
  if (!(J > 0)) return Infinity;
  const trace = s0 + s1 + s2;
  const E = mu * (s0 * s0 + s1 * s1 + s2 * s2 + 2 * (s3 * s3 + s4 * s4 + s5 * s5)) + 0.5 * lambda * trace * trace;
  if (J >= CRUSHED) return E;
  const part = (J - CRUSHED) / CRUSHED;
  return E + 0.5 * (lambda + 2 * mu) * part * part;
}

/**
 * What a crushed element adds to a gradient, or to a product with p of whose deformation f0 .. f8 is.
 * @param to vector; K lambda + 2 mu
 * @returns whether it is crushed
 */
function resistCrushing(tet: usize, to: usize, K: f64, product: bool): bool {
  const F0 = load<f64>(tet, IMPLICIT_TET_F);
  const F1 = load<f64>(tet, IMPLICIT_TET_F + 8);
  const F2 = load<f64>(tet, IMPLICIT_TET_F + 16);
  const F3 = load<f64>(tet, IMPLICIT_TET_F + 24);
  const F4 = load<f64>(tet, IMPLICIT_TET_F + 32);
  const F5 = load<f64>(tet, IMPLICIT_TET_F + 40);
  const F6 = load<f64>(tet, IMPLICIT_TET_F + 48);
  const F7 = load<f64>(tet, IMPLICIT_TET_F + 56);
  const F8 = load<f64>(tet, IMPLICIT_TET_F + 64);
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
    ? c0 * f0 + c1 * f1 + c2 * f2 + (c3 * f3 + c4 * f4 + c5 * f5) + (c6 * f6 + c7 * f7 + c8 * f8)
    : J - CRUSHED;
  const a = (load<f64>(tet, IMPLICIT_TET_VOLUME) * K * by) / (CRUSHED * CRUSHED);
  scatterRow(tet, to, a * c0, a * c1, a * c2);
  scatterRow(tet, to + 8, a * c3, a * c4, a * c5);
  scatterRow(tet, to + 16, a * c6, a * c7, a * c8);
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

/** One row of P: g += P b_j of the four corners. @param g address of the coordinate in a vector's first particle */
// @inline
function scatterRow(tet: usize, g: usize, a: f64, b: f64, c: f64): void {
  const p0 = g + <usize>load<u32>(tet);
  const p1 = g + <usize>load<u32>(tet, 4);
  const p2 = g + <usize>load<u32>(tet, 8);
  const p3 = g + <usize>load<u32>(tet, 12);
  const r0 =
    a * load<f64>(tet, IMPLICIT_TET_DM) +
    b * load<f64>(tet, IMPLICIT_TET_DM + 8) +
    c * load<f64>(tet, IMPLICIT_TET_DM + 16);
  const r1 =
    a * load<f64>(tet, IMPLICIT_TET_DM + 24) +
    b * load<f64>(tet, IMPLICIT_TET_DM + 32) +
    c * load<f64>(tet, IMPLICIT_TET_DM + 40);
  const r2 =
    a * load<f64>(tet, IMPLICIT_TET_DM + 48) +
    b * load<f64>(tet, IMPLICIT_TET_DM + 56) +
    c * load<f64>(tet, IMPLICIT_TET_DM + 64);
  store<f64>(p0, load<f64>(p0) + r0);
  store<f64>(p1, load<f64>(p1) + r1);
  store<f64>(p2, load<f64>(p2) + r2);
  store<f64>(p3, load<f64>(p3) - (r0 + r1 + r2));
}

/** J at the vector x. */
export function energyOfTets(row: usize, x: usize): f64 {
  const mu = load<f64>(row, IMPLICIT_MU);
  const lambda = load<f64>(row, IMPLICIT_LAMBDA);
  const end = endOf(row);
  let sum: f64 = 0;
  for (let tet = <usize>load<u32>(row, IMPLICIT_TETS); tet < end; tet += IMPLICIT_TET_BYTES) {
    deform(x, tet);
    greenStrain();
    sum += load<f64>(tet, IMPLICIT_TET_VOLUME) * density(mu, lambda);
  }
  return sum;
}

// @inline
function endOf(row: usize): usize {
  return <usize>load<u32>(row, IMPLICIT_TETS) + <usize>load<i32>(row, IMPLICIT_TET_COUNT) * IMPLICIT_TET_BYTES;
}

/** g += dE/dx at x; keeps what products need. @returns J at x, as energyOfTets has it */
export function linearizeTets(row: usize, x: usize, g: usize): f64 {
  let sum: f64 = 0;
  const mu = load<f64>(row, IMPLICIT_MU);
  const lambda = load<f64>(row, IMPLICIT_LAMBDA);
  const end = endOf(row);
  for (let tet = <usize>load<u32>(row, IMPLICIT_TETS); tet < end; tet += IMPLICIT_TET_BYTES) {
    deform(x, tet);
    storeDeformation(tet);
    greenStrain();
    const V = load<f64>(tet, IMPLICIT_TET_VOLUME);
    sum += V * density(mu, lambda);
    hooke(mu, lambda);
    scatterRow(
      tet,
      g,
      V * (f0 * s0 + f1 * s5 + f2 * s4),
      V * (f0 * s5 + f1 * s1 + f2 * s3),
      V * (f0 * s4 + f1 * s3 + f2 * s2),
    );
    scatterRow(
      tet,
      g + 8,
      V * (f3 * s0 + f4 * s5 + f5 * s4),
      V * (f3 * s5 + f4 * s1 + f5 * s3),
      V * (f3 * s4 + f4 * s3 + f5 * s2),
    );
    scatterRow(
      tet,
      g + 16,
      V * (f6 * s0 + f7 * s5 + f8 * s4),
      V * (f6 * s5 + f7 * s1 + f8 * s3),
      V * (f6 * s4 + f7 * s3 + f8 * s2),
    );
    store<i32>(tet, resistCrushing(tet, g, lambda + 2 * mu, false) ? 1 : 0, IMPLICIT_TET_CRUSHED);
    positivePart();
    storeStress(tet);
  }
  return sum;
}

// @inline
function storeDeformation(tet: usize): void {
  store<f64>(tet, f0, IMPLICIT_TET_F);
  store<f64>(tet, f1, IMPLICIT_TET_F + 8);
  store<f64>(tet, f2, IMPLICIT_TET_F + 16);
  store<f64>(tet, f3, IMPLICIT_TET_F + 24);
  store<f64>(tet, f4, IMPLICIT_TET_F + 32);
  store<f64>(tet, f5, IMPLICIT_TET_F + 40);
  store<f64>(tet, f6, IMPLICIT_TET_F + 48);
  store<f64>(tet, f7, IMPLICIT_TET_F + 56);
  store<f64>(tet, f8, IMPLICIT_TET_F + 64);
}

// @inline
function storeStress(tet: usize): void {
  store<f64>(tet, s0, IMPLICIT_TET_STRESS);
  store<f64>(tet, s1, IMPLICIT_TET_STRESS + 8);
  store<f64>(tet, s2, IMPLICIT_TET_STRESS + 16);
  store<f64>(tet, s3, IMPLICIT_TET_STRESS + 24);
  store<f64>(tet, s4, IMPLICIT_TET_STRESS + 32);
  store<f64>(tet, s5, IMPLICIT_TET_STRESS + 40);
}

/** q += H+ p of the last linearization. */
export function multiplyTets(row: usize, p: usize, q: usize): void {
  const mu = load<f64>(row, IMPLICIT_MU);
  const lambda = load<f64>(row, IMPLICIT_LAMBDA);
  const end = endOf(row);
  for (let tet = <usize>load<u32>(row, IMPLICIT_TETS); tet < end; tet += IMPLICIT_TET_BYTES) {
    deform(p, tet);
    const F0 = load<f64>(tet, IMPLICIT_TET_F);
    const F1 = load<f64>(tet, IMPLICIT_TET_F + 8);
    const F2 = load<f64>(tet, IMPLICIT_TET_F + 16);
    const F3 = load<f64>(tet, IMPLICIT_TET_F + 24);
    const F4 = load<f64>(tet, IMPLICIT_TET_F + 32);
    const F5 = load<f64>(tet, IMPLICIT_TET_F + 40);
    const F6 = load<f64>(tet, IMPLICIT_TET_F + 48);
    const F7 = load<f64>(tet, IMPLICIT_TET_F + 56);
    const F8 = load<f64>(tet, IMPLICIT_TET_F + 64);
    s0 = F0 * f0 + F3 * f3 + F6 * f6;
    s1 = F1 * f1 + F4 * f4 + F7 * f7;
    s2 = F2 * f2 + F5 * f5 + F8 * f8;
    s3 = 0.5 * (F1 * f2 + F4 * f5 + F7 * f8 + (F2 * f1 + F5 * f4 + F8 * f7));
    s4 = 0.5 * (F0 * f2 + F3 * f5 + F6 * f8 + (F2 * f0 + F5 * f3 + F8 * f6));
    s5 = 0.5 * (F0 * f1 + F3 * f4 + F6 * f7 + (F1 * f0 + F4 * f3 + F7 * f6));
    hooke(mu, lambda);
    const V = load<f64>(tet, IMPLICIT_TET_VOLUME);
    const t0 = load<f64>(tet, IMPLICIT_TET_STRESS);
    const t1 = load<f64>(tet, IMPLICIT_TET_STRESS + 8);
    const t2 = load<f64>(tet, IMPLICIT_TET_STRESS + 16);
    const t3 = load<f64>(tet, IMPLICIT_TET_STRESS + 24);
    const t4 = load<f64>(tet, IMPLICIT_TET_STRESS + 32);
    const t5 = load<f64>(tet, IMPLICIT_TET_STRESS + 40);
    scatterRow(
      tet,
      q,
      V * (F0 * s0 + F1 * s5 + F2 * s4) + V * (f0 * t0 + f1 * t5 + f2 * t4),
      V * (F0 * s5 + F1 * s1 + F2 * s3) + V * (f0 * t5 + f1 * t1 + f2 * t3),
      V * (F0 * s4 + F1 * s3 + F2 * s2) + V * (f0 * t4 + f1 * t3 + f2 * t2),
    );
    scatterRow(
      tet,
      q + 8,
      V * (F3 * s0 + F4 * s5 + F5 * s4) + V * (f3 * t0 + f4 * t5 + f5 * t4),
      V * (F3 * s5 + F4 * s1 + F5 * s3) + V * (f3 * t5 + f4 * t1 + f5 * t3),
      V * (F3 * s4 + F4 * s3 + F5 * s2) + V * (f3 * t4 + f4 * t3 + f5 * t2),
    );
    scatterRow(
      tet,
      q + 16,
      V * (F6 * s0 + F7 * s5 + F8 * s4) + V * (f6 * t0 + f7 * t5 + f8 * t4),
      V * (F6 * s5 + F7 * s1 + F8 * s3) + V * (f6 * t5 + f7 * t1 + f8 * t3),
      V * (F6 * s4 + F7 * s3 + F8 * s2) + V * (f6 * t4 + f7 * t3 + f8 * t2),
    );
    if (load<i32>(tet, IMPLICIT_TET_CRUSHED)) resistCrushing(tet, q, lambda + 2 * mu, true);
  }
}

/**
 * s0 .. s5 without its negative eigenvalues, from the one eigenvalue l that has its sign alone, by Cayley and Hamilton:
 * S+ = l P(l) or S - l P(l) with P(l) = (S - a)(S - b)/((l - a)(l - b)) and a, b the other two. l = m -+ p (1 + d), m
 * the mean of all three, 6 p^2 = |S - m|^2, and d in 0 .. 1 solves d^3 + 3 d^2 = 2 (1 -+ r), r = det (S - m)/(2 p^3).
 */
function positivePart(): void {
  const trace = s0 + s1 + s2;
  const minors = s0 * s1 - s5 * s5 + (s1 * s2 - s3 * s3) + (s0 * s2 - s4 * s4);
  const det = s0 * (s1 * s2 - s3 * s3) - s5 * (s5 * s2 - s3 * s4) + s4 * (s5 * s3 - s1 * s4);
  if (trace >= 0 && minors >= 0 && det >= 0) return;
  if (trace <= 0 && minors >= 0 && det <= 0) return setPart(0, 0, 0, 0, 0, 0);
  const sign: f64 = det < 0 ? -1 : 1;
  const m = trace / 3;
  const a = s0 - m;
  const b = s1 - m;
  const c = s2 - m;
  const p2 = (a * a + b * b + c * c + 2 * (s3 * s3 + s4 * s4 + s5 * s5)) / 6;
  const p = sqrt<f64>(p2);
  const r = (a * (b * c - s3 * s3) - s5 * (s5 * c - s3 * s4) + s4 * (s5 * s3 - b * s4)) / (2 * p2 * p);
  const e = 2 * (1 + sign * r);
  // the other two are as far from zero as this one, or there is none but them
  if (!(e > 0)) {
    if (sign > 0) setPart(0, 0, 0, 0, 0, 0);
    return;
  }
  let d = sqrt<f64>(e / 3);
  for (let step = 0; step < STEPS; step++) d -= ((d + 3) * d * d - e) / (3 * d * (d + 2));
  const l = m + sign * p * (1 + d);
  const sum = trace - l;
  const product = minors - l * sum;
  const scale = l / (3 * p2 * d * (d + 2));
  const part0 = scale * (s0 * s0 + s4 * s4 + s5 * s5 - sum * s0 + product);
  const part1 = scale * (s1 * s1 + s3 * s3 + s5 * s5 - sum * s1 + product);
  const part2 = scale * (s2 * s2 + s3 * s3 + s4 * s4 - sum * s2 + product);
  const part3 = scale * (s5 * s4 + s1 * s3 + s3 * s2 - sum * s3);
  const part4 = scale * (s0 * s4 + s5 * s3 + s4 * s2 - sum * s4);
  const part5 = scale * (s0 * s5 + s5 * s1 + s4 * s3 - sum * s5);
  if (sign > 0) setPart(part0, part1, part2, part3, part4, part5);
  else setPart(s0 - part0, s1 - part1, s2 - part2, s3 - part3, s4 - part4, s5 - part5);
}

// @inline
function setPart(a: f64, b: f64, c: f64, bc: f64, ca: f64, ab: f64): void {
  s0 = a;
  s1 = b;
  s2 = c;
  s3 = bc;
  s4 = ca;
  s5 = ab;
}
