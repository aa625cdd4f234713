/**
 * Corrects the rigid motion of a free body, or of bodies that touch only each other, so that momentum and angular
 * momentum are exact. A rigid motion changes no elastic energy. Conjugate gradients that end early do not conserve them
 * (a bar pulled with 2 MN turned about its axis by 20 degrees), and BDF2 itself damps rotation.
 *   y = S + Q (y - Y),  S, Y = centers of mass of xt, y
 *   L' = sum m q x v' = keep ((4 L - L1)/3 + 2h/3 sum m q x a),  v' = (3 y - 4 x + x1)/2h,  q = y - Y
 * In Euler's step L' = keep (L + h sum m q x a), v' = (y - x)/h. With v' = (k y - e)/b, where e includes b times the
 * velocity that a adds in the step, that is sum m q x e = -b L', the latter without a. Q are Cayley rotations, found by
 * Newton's steps,
 *   sum m ((q.e) 1 - (q e^T + e q^T)/2) w = sum m q x e + b L'
 * L and L1 are about centers of mass; damping applies alike.
 * Tried: Q where sum m |y - xt|^2 is least (a spin of 8 1/s lost 1 % a minute); the torque of a before Q (a bar pulled
 * with 2 MN tumbled).
 */
import * as L from "../layout/layout";

// numbers of the state's vectors; those of the work area count from WORK on
const X = 0;
const V = 1;
const X1 = 2;
const V1 = 3;
const WORK = 4;
/** Newton steps: enough to place a body that turns a radian in 4 steps to the last digits. */
const TURNS = 3;

// last center of mass
let center0: f64 = 0;
let center1: f64 = 0;
let center2: f64 = 0;
// center of e
let E0: f64 = 0;
let E1: f64 = 0;
let E2: f64 = 0;
// b L'
let turn0: f64 = 0;
let turn1: f64 = 0;
let turn2: f64 = 0;

/**
 * Corrects y. @param list addresses of the IMPLICIT rows of `bodies` bodies without fixed particles
 * @param y number of the vector to correct; target number of the vector xt; euler whether the step is Euler's
 */
export function moveRigidly(list: usize, bodies: i32, y: i32, target: i32, euler: bool): void {
  wantTurn(list, bodies, euler);
  for (let n = 0; n < TURNS; n++) turnTowards(list, bodies, y, euler);
  findCenter(list, bodies, WORK + y);
  const Y0 = center0;
  const Y1 = center1;
  const Y2 = center2;
  findCenter(list, bodies, WORK + target);
  for (let n = 0; n < bodies; n++) {
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, WORK + y); i < count; i++, p += 24) {
      store<f64>(p, center0 + (load<f64>(p) - Y0));
      store<f64>(p, center1 + (load<f64>(p, 8) - Y1), 8);
      store<f64>(p, center2 + (load<f64>(p, 16) - Y2), 16);
    }
  }
}

/** Turns y about the center of mass by one of the Newton steps that find Q. */
function turnTowards(list: usize, bodies: i32, y: i32, euler: bool): void {
  findCenter(list, bodies, WORK + y);
  let t0 = turn0;
  let t1 = turn1;
  let t2 = turn2;
  let h00: f64 = 0;
  let h11: f64 = 0;
  let h22: f64 = 0;
  let h12: f64 = 0;
  let h02: f64 = 0;
  let h01: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    const mass = massesOf(list, n);
    const count = countOf(list, n);
    const before = 48 * <usize>count;
    const gain = gainOf(list, n, euler);
    let push = accelerationOf(list, n);
    for (let i = 0, p = vectorOf(list, n, WORK + y), q = vectorOf(list, n, X); i < count; i++, p += 24, q += 24) {
      const m = load<f64>(mass + ((<usize>i) << 3));
      const a = load<f64>(p) - center0;
      const b = load<f64>(p, 8) - center1;
      const c = load<f64>(p, 16) - center2;
      const u = (euler ? load<f64>(q) : 4 * load<f64>(q) - load<f64>(q + before)) + gain * <f64>load<f32>(push) - E0;
      const v =
        (euler ? load<f64>(q, 8) : 4 * load<f64>(q, 8) - load<f64>(q + before, 8)) +
        gain * <f64>load<f32>(push, 4) -
        E1;
      const w =
        (euler ? load<f64>(q, 16) : 4 * load<f64>(q, 16) - load<f64>(q + before, 16)) +
        gain * <f64>load<f32>(push, 8) -
        E2;
      push += 16;
      t0 += m * (b * w - c * v);
      t1 += m * (c * u - a * w);
      t2 += m * (a * v - b * u);
      h00 += m * (b * v + c * w);
      h11 += m * (a * u + c * w);
      h22 += m * (a * u + b * v);
      h12 -= 0.5 * m * (b * w + c * v);
      h02 -= 0.5 * m * (a * w + c * u);
      h01 -= 0.5 * m * (a * v + b * u);
    }
  }
  const k0 = h11 * h22 - h12 * h12;
  const k1 = h02 * h12 - h01 * h22;
  const k2 = h01 * h12 - h02 * h11;
  const determinant = h00 * k0 + h01 * k1 + h02 * k2;
  let a0: f64 = 0;
  let a1: f64 = 0;
  let a2: f64 = 0;
  // a body without width has no rotation about its axis
  if (determinant > 0) {
    const half = 0.5 / determinant;
    a0 = half * (k0 * t0 + k1 * t1 + k2 * t2);
    a1 = half * (k1 * t0 + (h00 * h22 - h02 * h02) * t1 + (h01 * h02 - h00 * h12) * t2);
    a2 = half * (k2 * t0 + (h01 * h02 - h00 * h12) * t1 + (h00 * h11 - h01 * h01) * t2);
  }
  turnBy(list, bodies, y, a0, a1, a2);
}

/** Applies Cayley's rotation by 2 a about the last center of mass. */
function turnBy(list: usize, bodies: i32, y: i32, a0: f64, a1: f64, a2: f64): void {
  const scale = 2 / (1 + (a0 * a0 + a1 * a1 + a2 * a2));
  for (let n = 0; n < bodies; n++) {
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, WORK + y); i < count; i++, p += 24) {
      const a = load<f64>(p) - center0;
      const b = load<f64>(p, 8) - center1;
      const c = load<f64>(p, 16) - center2;
      const u = a1 * c - a2 * b;
      const v = a2 * a - a0 * c;
      const w = a0 * b - a1 * a;
      store<f64>(p, center0 + (a + scale * (u + (a1 * w - a2 * v))));
      store<f64>(p, center1 + (b + scale * (v + (a2 * u - a0 * w))), 8);
      store<f64>(p, center2 + (c + scale * (w + (a0 * v - a1 * u))), 16);
    }
  }
}

/** Computes b L' (in `turn`) and the center of e (in E). */
function wantTurn(list: usize, bodies: i32, euler: bool): void {
  const h = load<f64>(rowOf(list, 0), L.IMPLICIT_STEP_SECONDS);
  const b = euler ? h : 2 * h;
  turn0 = 0;
  turn1 = 0;
  turn2 = 0;
  addTurn(list, bodies, X, V, euler, euler ? b : (b * 4) / 3);
  E0 = euler ? center0 : 4 * center0;
  E1 = euler ? center1 : 4 * center1;
  E2 = euler ? center2 : 4 * center2;
  if (!euler) {
    addTurn(list, bodies, X1, V1, euler, -b / 3);
    E0 -= center0;
    E1 -= center1;
    E2 -= center2;
  }
  addPush(list, bodies, euler);
}

/**
 * Adds factor keep sum m (x - center) x (v - mean v) to `turn`. `center` is then the center of mass.
 * @param x, rate numbers of vectors, the latter that of v
 */
function addTurn(list: usize, bodies: i32, x: i32, rate: i32, euler: bool, factor: f64): void {
  findCenter(list, bodies, rate);
  const mean0 = center0;
  const mean1 = center1;
  const mean2 = center2;
  findCenter(list, bodies, x);
  for (let n = 0; n < bodies; n++) {
    const mass = massesOf(list, n);
    const keep = factor * keepOf(list, n, euler);
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, x), q = vectorOf(list, n, rate); i < count; i++, p += 24, q += 24) {
      const m = keep * load<f64>(mass + ((<usize>i) << 3));
      const a = load<f64>(p) - center0;
      const b = load<f64>(p, 8) - center1;
      const c = load<f64>(p, 16) - center2;
      const u = load<f64>(q) - mean0;
      const v = load<f64>(q, 8) - mean1;
      const w = load<f64>(q, 16) - mean2;
      turn0 += m * (b * w - c * v);
      turn1 += m * (c * u - a * w);
      turn2 += m * (a * v - b * u);
    }
  }
}

/** Adds the mean of `gainOf` times the external acceleration to E. */
function addPush(list: usize, bodies: i32, euler: bool): void {
  let total: f64 = 0;
  let a: f64 = 0;
  let b: f64 = 0;
  let c: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    const mass = massesOf(list, n);
    const gain = gainOf(list, n, euler);
    for (let i = 0, p = accelerationOf(list, n); i < countOf(list, n); i++, p += 16) {
      const m = load<f64>(mass + ((<usize>i) << 3));
      total += m;
      a += m * (gain * <f64>load<f32>(p));
      b += m * (gain * <f64>load<f32>(p, 4));
      c += m * (gain * <f64>load<f32>(p, 8));
    }
  }
  E0 += a / total;
  E1 += b / total;
  E2 += c / total;
}

/** Returns b times the velocity that a unit acceleration adds in a step, m for each m/s^2. */
function gainOf(list: usize, n: i32, euler: bool): f64 {
  const h = load<f64>(rowOf(list, n), L.IMPLICIT_STEP_SECONDS);
  return keepOf(list, n, euler) * (euler ? h * h : (4 * h * h) / 3);
}

/** Address of the external acceleration of body n's first particle. */
function accelerationOf(list: usize, n: i32): usize {
  const toA = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  return <usize>load<u32>(rowOf(list, n), L.IMPLICIT_FIRST) + toA;
}

/** 1/(1 + 2 h d/3) of a body, in Euler's step 1/(1 + h d). */
function keepOf(list: usize, n: i32, euler: bool): f64 {
  const row = rowOf(list, n);
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  return euler ? 1 / (h * h * load<f64>(row, L.IMPLICIT_EULER)) : load<f64>(row, L.IMPLICIT_KEEP);
}

// @inline
function rowOf(list: usize, n: i32): usize {
  return <usize>load<u32>(list + ((<usize>n) << 2));
}
// @inline
function countOf(list: usize, n: i32): i32 {
  return load<i32>(rowOf(list, n), L.IMPLICIT_COUNT);
}
// @inline
function massesOf(list: usize, n: i32): usize {
  return <usize>load<u32>(rowOf(list, n), L.IMPLICIT_MASS);
}
// @inline
function vectorOf(list: usize, n: i32, v: i32): usize {
  const work = v >= WORK;
  const vectors = <usize>load<u32>(rowOf(list, n) + (work ? L.IMPLICIT_WORK : L.IMPLICIT_STATE));
  return vectors + 24 * <usize>countOf(list, n) * <usize>(work ? v - WORK : v);
}

function findCenter(list: usize, bodies: i32, v: i32): void {
  let total: f64 = 0;
  center0 = 0;
  center1 = 0;
  center2 = 0;
  for (let n = 0; n < bodies; n++) {
    const mass = massesOf(list, n);
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, v); i < count; i++, p += 24) {
      const m = load<f64>(mass + ((<usize>i) << 3));
      total += m;
      center0 += m * load<f64>(p);
      center1 += m * load<f64>(p, 8);
      center2 += m * load<f64>(p, 16);
    }
  }
  center0 /= total;
  center1 /= total;
  center2 /= total;
}
