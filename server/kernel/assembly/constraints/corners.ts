/** Moves the corners of tetrahedra. */
import * as L from "../layout/layout";
import { add, dot3, mul, push, pushBack, xs, ys, zs, ws } from "../math/lanes";

/**
 * x_i += w_i P b_i, b_3 = -(b_0 + b_1 + b_2).
 * @param block four elements; p00 .. p22 P; inUnit compile-time constant: P is in the block's TET_UNIT
 */
// @inline
export function moveCorners(
  block: usize,
  low: usize,
  p00: v128,
  p01: v128,
  p02: v128,
  p10: v128,
  p11: v128,
  p12: v128,
  p20: v128,
  p21: v128,
  p22: v128,
  inUnit: bool,
): void {
  const none = f32x4.splat(0);
  let m0 = v128.load(block, L.TET_DM);
  let m1 = v128.load(block, L.TET_DM + 16);
  let m2 = v128.load(block, L.TET_DM + 32);
  let x = dot3(p00, m0, p01, m1, p02, m2);
  let y = dot3(p10, m0, p11, m1, p12, m2);
  let z = dot3(p20, m0, p21, m1, p22, m2);
  if (inUnit) {
    const unit = v128.load(block, L.TET_UNIT);
    x = mul(unit, x);
    y = mul(unit, y);
    z = mul(unit, z);
  }
  const a0 = xs(x, y, z, none);
  const b0 = ys(x, y, z, none);
  const c0 = zs(x, y, z, none);
  const d0 = ws(x, y, z, none);
  m0 = v128.load(block, L.TET_DM + 48);
  m1 = v128.load(block, L.TET_DM + 64);
  m2 = v128.load(block, L.TET_DM + 80);
  x = dot3(p00, m0, p01, m1, p02, m2);
  y = dot3(p10, m0, p11, m1, p12, m2);
  z = dot3(p20, m0, p21, m1, p22, m2);
  if (inUnit) {
    const unit = v128.load(block, L.TET_UNIT);
    x = mul(unit, x);
    y = mul(unit, y);
    z = mul(unit, z);
  }
  const a1 = xs(x, y, z, none);
  const b1 = ys(x, y, z, none);
  const c1 = zs(x, y, z, none);
  const d1 = ws(x, y, z, none);
  m0 = v128.load(block, L.TET_DM + 96);
  m1 = v128.load(block, L.TET_DM + 112);
  m2 = v128.load(block, L.TET_DM + 128);
  x = dot3(p00, m0, p01, m1, p02, m2);
  y = dot3(p10, m0, p11, m1, p12, m2);
  z = dot3(p20, m0, p21, m1, p22, m2);
  if (inUnit) {
    const unit = v128.load(block, L.TET_UNIT);
    x = mul(unit, x);
    y = mul(unit, y);
    z = mul(unit, z);
  }
  moveOne(block, low, a0, a1, xs(x, y, z, none));
  moveOne(block + 4, low, b0, b1, ys(x, y, z, none));
  moveOne(block + 8, low, c0, c1, zs(x, y, z, none));
  moveOne(block + 12, low, d0, d1, ws(x, y, z, none));
}

// @inline
function moveOne(corners: usize, low: usize, h0: v128, h1: v128, h2: v128): void {
  push(<usize>load<u32>(corners, 0), low, h0);
  push(<usize>load<u32>(corners, 16), low, h1);
  push(<usize>load<u32>(corners, 32), low, h2);
  pushBack(<usize>load<u32>(corners, 48), low, add(h0, add(h1, h2)));
}
