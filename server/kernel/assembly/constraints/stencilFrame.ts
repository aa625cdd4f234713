/**
 * Unit vectors that turn with bending stencils, four at a time: u along a stencil's first edge x1 - x0, n across that
 * and its second edge x3 - x2, v = u x n. Zero if its particles are collinear.
 */
import { between, dot3, mul, sub, xs, ys, zs } from "../math/lanes";

export let ux: v128 = f32x4.splat(0);
export let uy: v128 = f32x4.splat(0);
export let uz: v128 = f32x4.splat(0);
export let vx: v128 = f32x4.splat(0);
export let vy: v128 = f32x4.splat(0);
export let vz: v128 = f32x4.splat(0);
export let nx: v128 = f32x4.splat(0);
export let ny: v128 = f32x4.splat(0);
export let nz: v128 = f32x4.splat(0);

/** Turns with four bending stencils. @param block their particles' addresses */
export function turnFrameOf(block: usize, low: usize): void {
  let a = between(<usize>load<u32>(block, 0), <usize>load<u32>(block, 16), low);
  let b = between(<usize>load<u32>(block, 4), <usize>load<u32>(block, 20), low);
  let c = between(<usize>load<u32>(block, 8), <usize>load<u32>(block, 24), low);
  let d = between(<usize>load<u32>(block, 12), <usize>load<u32>(block, 28), low);
  const ax = xs(a, b, c, d);
  const ay = ys(a, b, c, d);
  const az = zs(a, b, c, d);
  a = between(<usize>load<u32>(block, 32), <usize>load<u32>(block, 48), low);
  b = between(<usize>load<u32>(block, 36), <usize>load<u32>(block, 52), low);
  c = between(<usize>load<u32>(block, 40), <usize>load<u32>(block, 56), low);
  d = between(<usize>load<u32>(block, 44), <usize>load<u32>(block, 60), low);
  turnFrame(ax, ay, az, xs(a, b, c, d), ys(a, b, c, d), zs(a, b, c, d));
}

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
