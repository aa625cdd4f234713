/**
 * Unit vectors that turn with bending stencils, four at a time: u along a stencil's first edge x1 - x0, n across that
 * and its second edge x3 - x2, v = u x n. Zero if its particles are collinear.
 */
import { dot3, mul, sub } from "../math/lanes";

export let ux: v128 = f32x4.splat(0);
export let uy: v128 = f32x4.splat(0);
export let uz: v128 = f32x4.splat(0);
export let vx: v128 = f32x4.splat(0);
export let vy: v128 = f32x4.splat(0);
export let vz: v128 = f32x4.splat(0);
export let nx: v128 = f32x4.splat(0);
export let ny: v128 = f32x4.splat(0);
export let nz: v128 = f32x4.splat(0);

/** @param ax, ay, az first edges, m; bx, by, bz second ones */
export function turnFrame(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): void {
  ux = ax;
  uy = ay;
  uz = az;
  let over = overLength(ux, uy, uz);
  ux = mul(ux, over);
  uy = mul(uy, over);
  uz = mul(uz, over);
  nx = sub(mul(uy, bz), mul(uz, by));
  ny = sub(mul(uz, bx), mul(ux, bz));
  nz = sub(mul(ux, by), mul(uy, bx));
  over = overLength(nx, ny, nz);
  nx = mul(nx, over);
  ny = mul(ny, over);
  nz = mul(nz, over);
  vx = sub(mul(uy, nz), mul(uz, ny));
  vy = sub(mul(uz, nx), mul(ux, nz));
  vz = sub(mul(ux, ny), mul(uy, nx));
}

/** Returns 1/length, 0 for a zero vector. */
// @inline
function overLength(x: v128, y: v128, z: v128): v128 {
  const square = dot3(x, x, y, y, z, z);
  const over = f32x4.div(f32x4.splat(1), f32x4.sqrt(square));
  return v128.and(over, f32x4.gt(square, f32x4.splat(0)));
}
