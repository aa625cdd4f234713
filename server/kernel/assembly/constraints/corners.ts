/** Shared code of tetrahedron solvers: low words of the corners, and moving them. */
import * as L from "../layout/layout";
import { add, mul, shift, toLow } from "../math/lanes";

/** Loads the low words of the particle whose address is at offset `at`. */
// @inline
export function lowOf(block: usize, at: usize): v128 {
  return v128.load(<usize>load<u32>(block + at) + toLow);
}

/**
 * x_i += w_i G b_i, G b_3 = -(G b_0 + G b_1 + G b_2); for isotropic elements G is in the block's unit of multipliers.
 */
// @inline
export function moveCorners(
  block: usize,
  h0x: v128,
  h0y: v128,
  h0z: v128,
  h1x: v128,
  h1y: v128,
  h1z: v128,
  h2x: v128,
  h2y: v128,
  h2z: v128,
  x0: v128,
  y0: v128,
  z0: v128,
  w0: v128,
  x1: v128,
  y1: v128,
  z1: v128,
  w1: v128,
  x2: v128,
  y2: v128,
  z2: v128,
  w2: v128,
  x3: v128,
  y3: v128,
  z3: v128,
  w3: v128,
  general: bool,
  keeps: bool,
): void {
  let s = general ? w0 : mul(w0, v128.load(block, L.TET_UNIT));
  shift(block, s, h0x, h0y, h0z, x0, y0, z0, w0, keeps);
  s = general ? w1 : mul(w1, v128.load(block, L.TET_UNIT));
  shift(block + 16, s, h1x, h1y, h1z, x1, y1, z1, w1, keeps);
  s = general ? w2 : mul(w2, v128.load(block, L.TET_UNIT));
  shift(block + 32, s, h2x, h2y, h2z, x2, y2, z2, w2, keeps);
  s = general ? w3 : mul(w3, v128.load(block, L.TET_UNIT));
  shift(
    block + 48,
    f32x4.neg(s),
    add(h0x, add(h1x, h2x)),
    add(h0y, add(h1y, h2y)),
    add(h0z, add(h1z, h2z)),
    x3,
    y3,
    z3,
    w3,
    keeps,
  );
}
