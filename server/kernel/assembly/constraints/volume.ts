/**
 * Volumes of tetrahedra, four at a time (Mueller et al. 2007; Rodero Gomez, section 3.2).
 *
 *        x0             6V = a . (b x c),  a = x0 - x3, b = x1 - x3, c = x2 - x3
 *       / | \           C = V - V0, signed: an inverted tetrahedron is pushed through, not out the way it came
 *     x1--|--x2         grad_0 = b x c/6, grad_1 = c x a/6, grad_2 = a x b/6, grad_3 = minus their sum
 *       \ | /
 *        x3             geometric.ts computes the multiplier. A unilateral volume only resists compression: L >= 0.
 */
import { sub, mul, add, madd, dot3, xs, ys, zs, between, inverseMasses, pushFour, toLow } from "../math/lanes";
import { remembered, unbounded, keep } from "./geometric";
import * as L from "../layout/layout";

/** @param block address of the first of `count` blocks; pass PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2 */
export function solveVolumes(block: usize, count: i32, pass: i32, inverseH2: f32): void {
  const low = toLow;
  const inverse = f32x4.splat(inverseH2);
  const sixth = f32x4.splat(1.0 / 6.0);
  for (let n = 0; n < count; n++, block += L.VOLUME_BYTES) {
    let p = between(<usize>load<u32>(block, 48), <usize>load<u32>(block, 0), low);
    let q = between(<usize>load<u32>(block, 52), <usize>load<u32>(block, 4), low);
    let r = between(<usize>load<u32>(block, 56), <usize>load<u32>(block, 8), low);
    let s = between(<usize>load<u32>(block, 60), <usize>load<u32>(block, 12), low);
    const ax = xs(p, q, r, s);
    const ay = ys(p, q, r, s);
    const az = zs(p, q, r, s);
    p = between(<usize>load<u32>(block, 48), <usize>load<u32>(block, 16), low);
    q = between(<usize>load<u32>(block, 52), <usize>load<u32>(block, 20), low);
    r = between(<usize>load<u32>(block, 56), <usize>load<u32>(block, 24), low);
    s = between(<usize>load<u32>(block, 60), <usize>load<u32>(block, 28), low);
    const bx = xs(p, q, r, s);
    const by = ys(p, q, r, s);
    const bz = zs(p, q, r, s);
    p = between(<usize>load<u32>(block, 48), <usize>load<u32>(block, 32), low);
    q = between(<usize>load<u32>(block, 52), <usize>load<u32>(block, 36), low);
    r = between(<usize>load<u32>(block, 56), <usize>load<u32>(block, 40), low);
    s = between(<usize>load<u32>(block, 60), <usize>load<u32>(block, 44), low);
    const cx = xs(p, q, r, s);
    const cy = ys(p, q, r, s);
    const cz = zs(p, q, r, s);
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
        inverseMasses(block),
        dot3(gx0, gx0, gy0, gy0, gz0, gz0),
        madd(
          inverseMasses(block + 16),
          dot3(gx1, gx1, gy1, gy1, gz1, gz1),
          madd(
            inverseMasses(block + 32),
            dot3(gx2, gx2, gy2, gy2, gz2, gz2),
            mul(inverseMasses(block + 48), dot3(gx3, gx3, gy3, gy3, gz3, gz3)),
          ),
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

    pushFour(block, low, mul(grown, gx0), mul(grown, gy0), mul(grown, gz0));
    pushFour(block + 16, low, mul(grown, gx1), mul(grown, gy1), mul(grown, gz1));
    pushFour(block + 32, low, mul(grown, gx2), mul(grown, gy2), mul(grown, gz2));
    const back = f32x4.neg(grown);
    pushFour(block + 48, low, mul(back, gx3), mul(back, gy3), mul(back, gz3));
  }
}
