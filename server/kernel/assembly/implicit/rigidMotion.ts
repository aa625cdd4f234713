/**
 * Of what an implicit step minimizes, a rigid motion changes the inertia only, c/2 sum m |y - xt|^2, so a body that
 * nothing holds is moved to where that is least: it keeps its momentum and angular momentum exactly, which conjugate
 * gradients that end early do not (a bar that was torn at with 2 MN turned about its axis by 20 degrees).
 *   y = S + Q (y - Y),  S, Y = centers of mass of xt, y;   Q = Cayley's rotation by one Newton step,
 *   sum m ((q.d) 1 - (q d^T + d q^T)/2) w = sum m q x d,   q = y - Y,  d = xt - S
 * Bodies that touch only each other are moved as one.
 * Twin: sim/reference/implicit/rigidMotion.ts, same operations in the same order.
 */
import { IMPLICIT_COUNT, IMPLICIT_MASS, IMPLICIT_WORK } from "../layout/layout";

// the last center of mass
let center0: f64 = 0;
let center1: f64 = 0;
let center2: f64 = 0;

/**
 * @param list addresses of the IMPLICIT rows of so many bodies, without a particle of no mass
 * @param y, target numbers of vectors: inout; xt
 */
export function moveRigidly(list: usize, bodies: i32, y: i32, target: i32): void {
  findCenter(list, bodies, y);
  const Y0 = center0;
  const Y1 = center1;
  const Y2 = center2;
  findCenter(list, bodies, target);
  let t0: f64 = 0;
  let t1: f64 = 0;
  let t2: f64 = 0;
  let h00: f64 = 0;
  let h11: f64 = 0;
  let h22: f64 = 0;
  let h12: f64 = 0;
  let h02: f64 = 0;
  let h01: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    const mass = massesOf(list, n);
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, y), q = vectorOf(list, n, target); i < count; i++, p += 24, q += 24) {
      const m = load<f64>(mass + ((<usize>i) << 3));
      const a = load<f64>(p) - Y0;
      const b = load<f64>(p, 8) - Y1;
      const c = load<f64>(p, 16) - Y2;
      const u = load<f64>(q) - center0;
      const v = load<f64>(q, 8) - center1;
      const w = load<f64>(q, 16) - center2;
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
  // a body without width has no turn about its axis
  if (determinant > 0) {
    const half = 0.5 / determinant;
    a0 = half * (k0 * t0 + k1 * t1 + k2 * t2);
    a1 = half * (k1 * t0 + (h00 * h22 - h02 * h02) * t1 + (h01 * h02 - h00 * h12) * t2);
    a2 = half * (k2 * t0 + (h01 * h02 - h00 * h12) * t1 + (h00 * h11 - h01 * h01) * t2);
  }
  const scale = 2 / (1 + (a0 * a0 + a1 * a1 + a2 * a2));
  for (let n = 0; n < bodies; n++) {
    const count = countOf(list, n);
    for (let i = 0, p = vectorOf(list, n, y); i < count; i++, p += 24) {
      const a = load<f64>(p) - Y0;
      const b = load<f64>(p, 8) - Y1;
      const c = load<f64>(p, 16) - Y2;
      const u = a1 * c - a2 * b;
      const v = a2 * a - a0 * c;
      const w = a0 * b - a1 * a;
      store<f64>(p, center0 + (a + scale * (u + (a1 * w - a2 * v))));
      store<f64>(p, center1 + (b + scale * (v + (a2 * u - a0 * w))), 8);
      store<f64>(p, center2 + (c + scale * (w + (a0 * v - a1 * u))), 16);
    }
  }
}

// @inline
function rowOf(list: usize, n: i32): usize {
  return <usize>load<u32>(list + ((<usize>n) << 2));
}
// @inline
function countOf(list: usize, n: i32): i32 {
  return load<i32>(rowOf(list, n), IMPLICIT_COUNT);
}
// @inline
function massesOf(list: usize, n: i32): usize {
  return <usize>load<u32>(rowOf(list, n), IMPLICIT_MASS);
}
// @inline
function vectorOf(list: usize, n: i32, v: i32): usize {
  return <usize>load<u32>(rowOf(list, n), IMPLICIT_WORK) + 24 * <usize>countOf(list, n) * <usize>v;
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
