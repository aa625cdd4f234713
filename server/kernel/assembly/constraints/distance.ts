/**
 * Distances between two particles, four at a time (Mueller et al. 2007; Rodero Gomez, eq 4.7).
 *
 *     x0 <--- L0 ---> x1      C = |x0 - x1| - L0,  n = (x0 - x1)/|x0 - x1|,  dx_0 = w_0 n dL,  dx_1 = -w_1 n dL
 *
 * geometric.ts computes the multiplier. A unilateral distance only resists stretching: L <= 0. Two particles in one
 * place separate along their rest direction, so that a body crushed into a point unfolds. There is no smallest length.
 */
import { sub, mul, add, dot3, xs, ys, zs, ws, shift, toLow } from "../math/lanes";
import { remembered, unbounded, keep } from "./geometric";
import * as L from "../layout/layout";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; pass
 * PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2
 */
export function solveDistances(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  if (toLow) solve(block, own, count, pass, inverseH2, true);
  else solve(block, own, count, pass, inverseH2, false);
}

/** @param keeps compile-time constant (math/lanes.ts, shift) */
// @inline
function solve(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32, keeps: bool): void {
  const inverse = f32x4.splat(inverseH2);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  for (let n = 0; n < count; n++, block += L.DISTANCE_BYTES, own += L.DISTANCE_KEPT_BYTES) {
    let a = v128.load(<usize>load<u32>(block, 0));
    let b = v128.load(<usize>load<u32>(block, 4));
    let c = v128.load(<usize>load<u32>(block, 8));
    let d = v128.load(<usize>load<u32>(block, 12));
    const x0 = xs(a, b, c, d);
    const y0 = ys(a, b, c, d);
    const z0 = zs(a, b, c, d);
    const w0 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 16));
    b = v128.load(<usize>load<u32>(block, 20));
    c = v128.load(<usize>load<u32>(block, 24));
    d = v128.load(<usize>load<u32>(block, 28));
    const x1 = xs(a, b, c, d);
    const y1 = ys(a, b, c, d);
    const z1 = zs(a, b, c, d);
    const w1 = ws(a, b, c, d);

    let dx = sub(x0, x1);
    let dy = sub(y0, y1);
    let dz = sub(z0, z1);
    let length = f32x4.sqrt(dot3(dx, dx, dy, dy, dz, dz));
    const rows = block + L.DISTANCE_REST;
    const C = sub(length, v128.load(rows));
    const together = f32x4.eq(length, zero);
    if (v128.any_true(together)) {
      dx = v128.bitselect(v128.load(block, L.DISTANCE_DIRECTION), dx, together);
      dy = v128.bitselect(v128.load(block, L.DISTANCE_DIRECTION + 16), dy, together);
      dz = v128.bitselect(v128.load(block, L.DISTANCE_DIRECTION + 32), dz, together);
      length = v128.bitselect(one, length, together);
    }
    const old = remembered(rows, own, pass);
    const dL = unbounded(rows, C, add(w0, w1), old, inverse);
    const grown = keep(own, pass, f32x4.min(add(old, dL), v128.load(rows, L.GEOMETRIC_LIMIT)), old);

    const along = f32x4.div(grown, length);
    const s0 = mul(w0, along);
    const s1 = mul(w1, along);
    shift(block, s0, dx, dy, dz, x0, y0, z0, w0, keeps);
    shift(block + 16, f32x4.neg(s1), dx, dy, dz, x1, y1, z1, w1, keeps);
  }
}
