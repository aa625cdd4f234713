/**
 * Volumes of tetrahedra, four at a time (Mueller et al. 2007; Rodero Gomez, section 3.2).
 *
 *        x0             6V = a . (b x c),  a = x0 - x3, b = x1 - x3, c = x2 - x3
 *       / | \           C = V - V0, signed: an inverted tetrahedron is pushed through, not out the way it came
 *     x1--|--x2         grad_0 = b x c/6, grad_1 = c x a/6, grad_2 = a x b/6, grad_3 = minus their sum
 *       \ | /
 *        x3             geometric.ts computes the multiplier. A unilateral volume only resists compression: L >= 0.
 */
import { sub, mul, add, madd, dot3, xs, ys, zs, ws, shift, toLow } from "../math/lanes";
import { remembered, unbounded, keep } from "./geometric";
import * as L from "../layout/layout";

/** @param block address of the first of `count` blocks; pass PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2 */
export function solveVolumes(block: usize, count: i32, pass: i32, inverseH2: f32): void {
  if (toLow) solve(block, count, pass, inverseH2, true);
  else solve(block, count, pass, inverseH2, false);
}

/** @param keeps compile-time constant (math/lanes.ts, shift) */
// @inline
function solve(block: usize, count: i32, pass: i32, inverseH2: f32, keeps: bool): void {
  const inverse = f32x4.splat(inverseH2);
  const sixth = f32x4.splat(1.0 / 6.0);
  for (let n = 0; n < count; n++, block += L.VOLUME_BYTES) {
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
    a = v128.load(<usize>load<u32>(block, 32));
    b = v128.load(<usize>load<u32>(block, 36));
    c = v128.load(<usize>load<u32>(block, 40));
    d = v128.load(<usize>load<u32>(block, 44));
    const x2 = xs(a, b, c, d);
    const y2 = ys(a, b, c, d);
    const z2 = zs(a, b, c, d);
    const w2 = ws(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 48));
    b = v128.load(<usize>load<u32>(block, 52));
    c = v128.load(<usize>load<u32>(block, 56));
    d = v128.load(<usize>load<u32>(block, 60));
    const x3 = xs(a, b, c, d);
    const y3 = ys(a, b, c, d);
    const z3 = zs(a, b, c, d);
    const w3 = ws(a, b, c, d);

    const ax = sub(x0, x3);
    const ay = sub(y0, y3);
    const az = sub(z0, z3);
    const bx = sub(x1, x3);
    const by = sub(y1, y3);
    const bz = sub(z1, z3);
    const cx = sub(x2, x3);
    const cy = sub(y2, y3);
    const cz = sub(z2, z3);
    // six times the gradients
    const gx0 = sub(mul(by, cz), mul(bz, cy));
    const gy0 = sub(mul(bz, cx), mul(bx, cz));
    const gz0 = sub(mul(bx, cy), mul(by, cx));
    const gx1 = sub(mul(cy, az), mul(cz, ay));
    const gy1 = sub(mul(cz, ax), mul(cx, az));
    const gz1 = sub(mul(cx, ay), mul(cy, ax));
    const gx2 = sub(mul(ay, bz), mul(az, by));
    const gy2 = sub(mul(az, bx), mul(ax, bz));
    const gz2 = sub(mul(ax, by), mul(ay, bx));
    const gx3 = add(gx0, add(gx1, gx2));
    const gy3 = add(gy0, add(gy1, gy2));
    const gz3 = add(gz0, add(gz1, gz2)); // minus the fourth

    const rows = block + L.VOLUME_REST;
    const own = rows + L.GEOMETRIC_LAMBDA;
    const old = remembered(rows, own, pass);
    const C = mul(sixth, sub(dot3(ax, gx0, ay, gy0, az, gz0), v128.load(rows)));
    const W = mul(
      f32x4.splat(1.0 / 36.0),
      madd(
        w0,
        dot3(gx0, gx0, gy0, gy0, gz0, gz0),
        madd(
          w1,
          dot3(gx1, gx1, gy1, gy1, gz1, gz1),
          madd(w2, dot3(gx2, gx2, gy2, gy2, gz2, gz2), mul(w3, dot3(gx3, gx3, gy3, gy3, gz3, gz3))),
        ),
      ),
    );
    const grown = mul(
      sixth,
      keep(
        own,
        pass,
        f32x4.max(add(old, unbounded(rows, C, W, old, inverse)), v128.load(rows, L.GEOMETRIC_LIMIT)),
        old,
      ),
    );

    let s = mul(w0, grown);
    shift(block, s, gx0, gy0, gz0, x0, y0, z0, w0, keeps);
    s = mul(w1, grown);
    shift(block + 16, s, gx1, gy1, gz1, x1, y1, z1, w1, keeps);
    s = mul(w2, grown);
    shift(block + 32, s, gx2, gy2, gz2, x2, y2, z2, w2, keeps);
    s = mul(w3, grown);
    shift(block + 48, f32x4.neg(s), gx3, gy3, gz3, x3, y3, z3, w3, keeps);
  }
}
