/**
 * Distances between two particles, four at a time (Mueller et al. 2007; Rodero Gomez, eq 4.7).
 *
 *     x0 <--- L0 ---> x1      C = |x0 - x1| - L0,  n = (x0 - x1)/|x0 - x1|,  dx_0 = w_0 n dL,  dx_1 = -w_1 n dL
 *
 * geometric.ts computes the multiplier. A unilateral distance only resists stretching: L <= 0. Two particles in one
 * place separate along their rest direction, so that a body crushed into a point unfolds. There is no smallest length.
 */
import { sub, mul, add, dot3, xs, ys, zs, ws, push, pushBack, toLow, placeSigns } from "../math/lanes";
import { remembered, unbounded, keep } from "./geometric";
import * as L from "../layout/layout";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; pass
 * PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2
 */
export function solveDistances(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  const low = toLow;
  const inverse = f32x4.splat(inverseH2);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const minus = placeSigns;
  for (let n = 0; n < count; n++, block += L.DISTANCE_BYTES, own += L.DISTANCE_KEPT_BYTES) {
    const a = apart(<usize>load<u32>(block, 0), <usize>load<u32>(block, 16), low, minus);
    const b = apart(<usize>load<u32>(block, 4), <usize>load<u32>(block, 20), low, minus);
    const c = apart(<usize>load<u32>(block, 8), <usize>load<u32>(block, 24), low, minus);
    const d = apart(<usize>load<u32>(block, 12), <usize>load<u32>(block, 28), low, minus);
    let dx = xs(a, b, c, d);
    let dy = ys(a, b, c, d);
    let dz = zs(a, b, c, d);
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
    const dL = unbounded(rows, C, ws(a, b, c, d), old, inverse);
    const grown = keep(own, pass, f32x4.pmin(add(old, dL), v128.load(rows, L.GEOMETRIC_LIMIT)), old);

    const along = f32x4.div(grown, length);
    dx = mul(along, dx);
    dy = mul(along, dy);
    dz = mul(along, dz);
    pushApart(<usize>load<u32>(block, 0), <usize>load<u32>(block, 16), low, xs(dx, dy, dz, zero));
    pushApart(<usize>load<u32>(block, 4), <usize>load<u32>(block, 20), low, ys(dx, dy, dz, zero));
    pushApart(<usize>load<u32>(block, 8), <usize>load<u32>(block, 24), low, zs(dx, dy, dz, zero));
    pushApart(<usize>load<u32>(block, 12), <usize>load<u32>(block, 28), low, ws(dx, dy, dz, zero));
  }
}

/** Returns x0 - x1, and w0 + w1 in the fourth lane. */
// @inline
function apart(p0: usize, p1: usize, low: usize, minus: v128): v128 {
  return add(add(v128.load(p0), v128.xor(v128.load(p1), minus)), sub(v128.load(p0 + low), v128.load(p1 + low)));
}

/** Moves x0 by w0 times a vector, and x1 by -w1 times it. */
// @inline
function pushApart(p0: usize, p1: usize, low: usize, by: v128): void {
  push(p0, low, by);
  pushBack(p1, low, by);
}
