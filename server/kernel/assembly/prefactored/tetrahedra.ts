/**
 * Saint Venant-Kirchhoff tetrahedra of prefactored solids, E = V (mu eps:eps + lambda/2 (tr eps)^2). That law weakens
 * under compression, so an element below CRUSHED of its volume also has V mu (CRUSHED - J)^2, J = det F: solids recover
 * from any positions.
 */
import { add, dot3, madd, mul, sub, xs, ys, zs } from "../math/lanes";
import * as L from "../layout/layout";
import { edge, subtract, sumOf } from "./corners";

const CRUSHED: f32 = 0.3;

/** @param measures compile-time constant: returns the energy; otherwise adds the forces */
// @inline
export function tetrahedra(row: usize, by: usize, lows: usize, measures: bool): f64 {
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  const none = f32x4.splat(0);
  let energy: f64 = 0;
  let at = <usize>load<u32>(row, L.PREFACTORED_TETS);
  for (let n = load<i32>(row, L.PREFACTORED_TET_ROWS); n > 0; n--, at += L.PREFACTORED_TET_BYTES) {
    // F, column by column: a, b, c
    let ax = none;
    let ay = none;
    let az = none;
    let bx = none;
    let by_ = none;
    let bz = none;
    let cx = none;
    let cy = none;
    let cz = none;
    let dm = at + L.PREFACTORED_TET_DM;
    for (let corner: usize = 0; corner < 48; corner += 16, dm += 48) {
      const p = edge(at, 48, corner, by, lows);
      const q = edge(at, 52, corner + 4, by, lows);
      const s = edge(at, 56, corner + 8, by, lows);
      const t = edge(at, 60, corner + 12, by, lows);
      const x = xs(p, q, s, t);
      const y = ys(p, q, s, t);
      const z = zs(p, q, s, t);
      let m = v128.load(dm);
      ax = madd(x, m, ax);
      ay = madd(y, m, ay);
      az = madd(z, m, az);
      m = v128.load(dm, 16);
      bx = madd(x, m, bx);
      by_ = madd(y, m, by_);
      bz = madd(z, m, bz);
      m = v128.load(dm, 32);
      cx = madd(x, m, cx);
      cy = madd(y, m, cy);
      cz = madd(z, m, cz);
    }
    const lambda = v128.load(at, L.PREFACTORED_TET_LAMBDA);
    const mu = v128.load(at, L.PREFACTORED_TET_MU);
    // Green strain; half of the shears
    const e0 = mul(half, sub(dot3(ax, ax, ay, ay, az, az), one));
    const e1 = mul(half, sub(dot3(bx, bx, by_, by_, bz, bz), one));
    const e2 = mul(half, sub(dot3(cx, cx, cy, cy, cz, cz), one));
    const e12 = mul(half, dot3(bx, cx, by_, cy, bz, cz));
    const e02 = mul(half, dot3(ax, cx, ay, cy, az, cz));
    const e01 = mul(half, dot3(ax, bx, ay, by_, az, bz));
    // cofactors of F: b x c, c x a, a x b
    const ux = sub(mul(by_, cz), mul(bz, cy));
    const uy = sub(mul(bz, cx), mul(bx, cz));
    const uz = sub(mul(bx, cy), mul(by_, cx));
    const missing = f32x4.max(none, sub(f32x4.splat(CRUSHED), dot3(ax, ux, ay, uy, az, uz)));
    const trace = add(add(e0, e1), e2);
    if (measures) {
      const squares = dot3(e0, e0, e1, e1, e2, e2);
      const shears = dot3(e12, e12, e02, e02, e01, e01);
      const density = madd(missing, missing, add(squares, add(shears, shears)));
      energy += sumOf(madd(mu, density, mul(mul(half, lambda), mul(trace, trace))));
      continue;
    }
    const twice = add(mu, mu);
    const pressure = mul(lambda, trace);
    const s0 = madd(twice, e0, pressure);
    const s1 = madd(twice, e1, pressure);
    const s2 = madd(twice, e2, pressure);
    const s12 = mul(twice, e12);
    const s02 = mul(twice, e02);
    const s01 = mul(twice, e01);
    // F S, column by column
    let px = dot3(ax, s0, bx, s01, cx, s02);
    let py = dot3(ay, s0, by_, s01, cy, s02);
    let pz = dot3(az, s0, bz, s01, cz, s02);
    let qx = dot3(ax, s01, bx, s1, cx, s12);
    let qy = dot3(ay, s01, by_, s1, cy, s12);
    let qz = dot3(az, s01, bz, s1, cz, s12);
    let rx = dot3(ax, s02, bx, s12, cx, s2);
    let ry = dot3(ay, s02, by_, s12, cy, s2);
    let rz = dot3(az, s02, bz, s12, cz, s2);
    if (v128.any_true(missing)) {
      const push = mul(twice, missing);
      px = sub(px, mul(push, ux));
      py = sub(py, mul(push, uy));
      pz = sub(pz, mul(push, uz));
      qx = sub(qx, mul(push, sub(mul(cy, az), mul(cz, ay))));
      qy = sub(qy, mul(push, sub(mul(cz, ax), mul(cx, az))));
      qz = sub(qz, mul(push, sub(mul(cx, ay), mul(cy, ax))));
      rx = sub(rx, mul(push, sub(mul(ay, bz), mul(az, by_))));
      ry = sub(ry, mul(push, sub(mul(az, bx), mul(ax, bz))));
      rz = sub(rz, mul(push, sub(mul(ax, by_), mul(ay, bx))));
    }
    let lastX = none;
    let lastY = none;
    let lastZ = none;
    dm = at + L.PREFACTORED_TET_DM;
    const to = at + L.PREFACTORED_TET_COLUMN;
    for (let corner: usize = 0; corner < 48; corner += 16, dm += 48) {
      const m0 = v128.load(dm);
      const m1 = v128.load(dm, 16);
      const m2 = v128.load(dm, 32);
      const fx = dot3(px, m0, qx, m1, rx, m2);
      const fy = dot3(py, m0, qy, m1, ry, m2);
      const fz = dot3(pz, m0, qz, m1, rz, m2);
      subtract(to + corner, fx, fy, fz);
      lastX = sub(lastX, fx);
      lastY = sub(lastY, fy);
      lastZ = sub(lastZ, fz);
    }
    subtract(to + 48, lastX, lastY, lastZ);
  }
  return energy;
}
