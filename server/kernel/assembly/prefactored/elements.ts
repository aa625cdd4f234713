/**
 * Elastic forces and energies of prefactored bodies, four elements at a time: Saint Venant-Kirchhoff membranes, E = V/2
 * eps^T C eps (../constraints/triangle.ts), bending stencils, E = (|K x| - rest)^2 / (2 alpha)
 * (../constraints/bending.ts), and tetrahedra (tetrahedra.ts). Twin: sim/reference/prefactored.ts.
 */
import { add, dot3, madd, mul, sub, toLow, xs, ys, zs } from "../math/lanes";
import * as L from "../layout/layout";
import { edge, subtract, sumOf } from "./corners";
import { tetrahedra } from "./tetrahedra";

/** Avoids 0/0 where |K x| is 0, m: the square of a smaller one underflows. */
const SMALLEST: f32 = 1e-30;

/**
 * Bound of the membrane's stiffness over P's, at the last `addForces`: at rest times 1 + 3 e for the largest principal
 * strain e, which Saint Venant-Kirchhoff's law stiffens with.
 */
export let stiffening: f32 = 1;

/** Adds the forces of all elements to the residual. */
export function addForces(row: usize): void {
  stiffening = 1 / load<f32>(row, L.PREFACTORED_BOUND);
  triangles(row, 0, toLow, false);
  if (load<u32>(row, L.PREFACTORED_PAIRS)) pairs(row);
  else bends(row, 0, toLow, false);
  tetrahedra(row, 0, toLow, false);
}

/**
 * Bending of a sheet that is flat at rest: the stencils' forces are linear, so those between the same two particles
 * are added up beforehand. Half of the work of the stencils.
 */
function pairs(row: usize): void {
  const r = <usize>load<u32>(row, L.PREFACTORED_RESIDUAL);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const columns = <usize>load<i32>(row, L.PREFACTORED_COLUMNS);
  const lows = toLow;
  let pair = <usize>load<u32>(row, L.PREFACTORED_PAIRS);
  const counts = <usize>load<u32>(row, L.PREFACTORED_PAIR_COUNTS);
  for (let k: usize = 0; k < columns; k++) {
    const at = first + <usize>load<u32>(order + (k << 2));
    const x = v128.load(at);
    const low = v128.load(at + lows);
    const to = r + (k << 4);
    let force = v128.load(to);
    for (let n = load<i32>(counts + (k << 2)); n > 0; n--, pair += L.PREFACTORED_PAIR_BYTES) {
      const other = <usize>load<u32>(pair, L.PREFACTORED_PAIR_PARTICLE);
      const way = add(sub(v128.load(other), x), sub(v128.load(other + lows), low));
      const pull = mul(v128.load32_splat(pair, L.PREFACTORED_PAIR_STIFFNESS), way);
      const column = <usize>load<u32>(pair, L.PREFACTORED_PAIR_COLUMN);
      force = add(force, pull);
      v128.store(column, sub(v128.load(column), pull));
    }
    v128.store(to, force);
  }
}

/** Elastic energy, J. @param by bytes from X to the array of positions; lows to that of their low words */
export function energyAt(row: usize, by: usize, lows: usize): f64 {
  return triangles(row, by, lows, true) + bends(row, by, lows, true) + tetrahedra(row, by, lows, true);
}

// @inline
function laneOf(a: v128, lane: usize): f32 {
  return lane < 2
    ? lane
      ? f32x4.extract_lane(a, 1)
      : f32x4.extract_lane(a, 0)
    : lane === 2
      ? f32x4.extract_lane(a, 2)
      : f32x4.extract_lane(a, 3);
}

/** @param measures compile-time constant: returns the energy; otherwise adds the forces */
// @inline
function triangles(row: usize, by: usize, lows: usize, measures: bool): f64 {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  let energy: f64 = 0;
  let most = f32x4.splat(0);
  let at = <usize>load<u32>(row, L.PREFACTORED_TRIANGLES);
  for (let n = load<i32>(row, L.PREFACTORED_TRIANGLE_ROWS); n > 0; n--, at += L.PREFACTORED_TRIANGLE_BYTES) {
    let a = edge(at, 32, 0, by, lows);
    let b = edge(at, 36, 4, by, lows);
    let c = edge(at, 40, 8, by, lows);
    let d = edge(at, 44, 12, by, lows);
    const ax = xs(a, b, c, d);
    const ay = ys(a, b, c, d);
    const az = zs(a, b, c, d);
    a = edge(at, 32, 16, by, lows);
    b = edge(at, 36, 20, by, lows);
    c = edge(at, 40, 24, by, lows);
    d = edge(at, 44, 28, by, lows);
    const bx = xs(a, b, c, d);
    const cy = ys(a, b, c, d);
    const cz = zs(a, b, c, d);
    const m00 = v128.load(at, L.PREFACTORED_TRIANGLE_DM);
    const m01 = v128.load(at, L.PREFACTORED_TRIANGLE_DM + 16);
    const m10 = v128.load(at, L.PREFACTORED_TRIANGLE_DM + 32);
    const m11 = v128.load(at, L.PREFACTORED_TRIANGLE_DM + 48);
    const ux = madd(ax, m00, mul(bx, m10));
    const uy = madd(ay, m00, mul(cy, m10));
    const uz = madd(az, m00, mul(cz, m10));
    const vx = madd(ax, m01, mul(bx, m11));
    const vy = madd(ay, m01, mul(cy, m11));
    const vz = madd(az, m01, mul(cz, m11));
    // Green strain and stress
    const weft = mul(half, sub(dot3(ux, ux, uy, uy, uz, uz), one));
    const warp = mul(half, sub(dot3(vx, vx, vy, vy, vz, vz), one));
    const shear = dot3(ux, vx, uy, vy, uz, vz);
    const c01 = v128.load(at, L.PREFACTORED_TRIANGLE_C + 16);
    const s0 = madd(v128.load(at, L.PREFACTORED_TRIANGLE_C), weft, mul(c01, warp));
    const s1 = madd(c01, weft, mul(v128.load(at, L.PREFACTORED_TRIANGLE_C + 32), warp));
    const s2 = mul(v128.load(at, L.PREFACTORED_TRIANGLE_C + 48), shear);
    if (measures) {
      energy += sumOf(mul(half, dot3(s0, weft, s1, warp, s2, shear)));
      continue;
    }
    // pmax is one instruction where max is eight; the guard handles a NaN that passes it
    most = f32x4.pmax(most, madd(half, f32x4.abs(shear), f32x4.pmax(weft, warp)));
    // forces of the corners
    const px = madd(ux, s0, mul(vx, s2));
    const py = madd(uy, s0, mul(vy, s2));
    const pz = madd(uz, s0, mul(vz, s2));
    const qx = madd(ux, s2, mul(vx, s1));
    const qy = madd(uy, s2, mul(vy, s1));
    const qz = madd(uz, s2, mul(vz, s1));
    const fx = madd(px, m00, mul(qx, m01));
    const fy = madd(py, m00, mul(qy, m01));
    const fz = madd(pz, m00, mul(qz, m01));
    const gx = madd(px, m10, mul(qx, m11));
    const gy = madd(py, m10, mul(qy, m11));
    const gz = madd(pz, m10, mul(qz, m11));
    const to = at + L.PREFACTORED_TRIANGLE_COLUMN;
    subtract(to, fx, fy, fz);
    subtract(to + 16, gx, gy, gz);
    subtract(to + 32, f32x4.neg(add(fx, gx)), f32x4.neg(add(fy, gy)), f32x4.neg(add(fz, gz)));
  }
  if (!measures) {
    most = f32x4.div(madd(f32x4.splat(3), most, one), v128.load32_splat(row, L.PREFACTORED_BOUND));
    for (let lane: usize = 0; lane < 4; lane++) stiffening = max<f32>(stiffening, laneOf(most, lane));
  }
  return energy;
}

/** @param measures as of `triangles` */
// @inline
function bends(row: usize, by: usize, lows: usize, measures: bool): f64 {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  let energy: f64 = 0;
  let at = <usize>load<u32>(row, L.PREFACTORED_BENDS);
  for (let n = load<i32>(row, L.PREFACTORED_BEND_ROWS); n > 0; n--, at += L.PREFACTORED_BEND_BYTES) {
    let kx = f32x4.splat(0);
    let ky = kx;
    let kz = kx;
    for (let corner: usize = 16; corner < 64; corner += 16) {
      const a = edge(at, 0, corner, by, lows);
      const b = edge(at, 4, corner + 4, by, lows);
      const c = edge(at, 8, corner + 8, by, lows);
      const d = edge(at, 12, corner + 12, by, lows);
      const K = v128.load(at + corner, L.PREFACTORED_BEND_K);
      kx = madd(K, xs(a, b, c, d), kx);
      ky = madd(K, ys(a, b, c, d), ky);
      kz = madd(K, zs(a, b, c, d), kz);
    }
    const rest = v128.load(at, L.PREFACTORED_BEND_REST);
    if (v128.any_true(rest)) {
      // not flat at rest
      const length = f32x4.sqrt(dot3(kx, kx, ky, ky, kz, kz));
      const beyond = sub(one, f32x4.div(rest, f32x4.max(length, f32x4.splat(SMALLEST))));
      kx = mul(kx, beyond);
      ky = mul(ky, beyond);
      kz = mul(kz, beyond);
    }
    const stiffness = v128.load(at, L.PREFACTORED_BEND_STIFFNESS);
    if (measures) {
      energy += sumOf(mul(half, mul(stiffness, dot3(kx, kx, ky, ky, kz, kz))));
      continue;
    }
    kx = mul(stiffness, kx);
    ky = mul(stiffness, ky);
    kz = mul(stiffness, kz);
    for (let corner: usize = 0; corner < 64; corner += 16) {
      const K = v128.load(at + corner, L.PREFACTORED_BEND_K);
      subtract(at + corner + L.PREFACTORED_BEND_COLUMN, mul(K, kx), mul(K, ky), mul(K, kz));
    }
  }
  return energy;
}
