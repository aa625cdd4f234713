/**
 * The paper's own form for bending stencils, four at a time (Bender et al. 2014, eqs 1-3 and section 4.3). With E =
 * |C|^2/(2 alpha), C = sum_j K_j x_j beyond its rest length, and grad_j E = K_j C/alpha, both alpha and |C|^2 cancel:
 *   dx_j = -w_j grad_j E  E / sum_i w_i |grad_i E|^2 = -w_j K_j C / (2 sum_i w_i K_i^2)
 * So the bending stiffness of a sheet depends only on iterations and step, and E -> 0 divides nothing by zero.
 */
import { sub, mul, madd, dot3, xs, ys, zs, ws, position, pushFour, toLow } from "../../math/lanes";
import * as L from "../../layout/layout";

/** @param block address of the first of `count` blocks, in the layout of bending.ts */
export function solvePaperBending(block: usize, count: i32): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  const minusHalf = f32x4.splat(-0.5);
  const smallest = f32x4.splat(1e-30); // only avoids 0/0 if |C| and its rest length are both zero
  for (let n = 0; n < count; n++, block += L.BEND_BYTES) {
    let a = position(<usize>load<u32>(block, 0), low);
    let b = position(<usize>load<u32>(block, 4), low);
    let c = position(<usize>load<u32>(block, 8), low);
    let d = position(<usize>load<u32>(block, 12), low);
    const x0 = xs(a, b, c, d);
    const y0 = ys(a, b, c, d);
    const z0 = zs(a, b, c, d);
    const w0 = ws(a, b, c, d);
    a = position(<usize>load<u32>(block, 16), low);
    b = position(<usize>load<u32>(block, 20), low);
    c = position(<usize>load<u32>(block, 24), low);
    d = position(<usize>load<u32>(block, 28), low);
    const x1 = xs(a, b, c, d);
    const y1 = ys(a, b, c, d);
    const z1 = zs(a, b, c, d);
    const w1 = ws(a, b, c, d);
    a = position(<usize>load<u32>(block, 32), low);
    b = position(<usize>load<u32>(block, 36), low);
    c = position(<usize>load<u32>(block, 40), low);
    d = position(<usize>load<u32>(block, 44), low);
    const x2 = xs(a, b, c, d);
    const y2 = ys(a, b, c, d);
    const z2 = zs(a, b, c, d);
    const w2 = ws(a, b, c, d);
    a = position(<usize>load<u32>(block, 48), low);
    b = position(<usize>load<u32>(block, 52), low);
    c = position(<usize>load<u32>(block, 56), low);
    d = position(<usize>load<u32>(block, 60), low);
    const x3 = xs(a, b, c, d);
    const y3 = ys(a, b, c, d);
    const z3 = zs(a, b, c, d);
    const w3 = ws(a, b, c, d);

    const k0 = v128.load(block, L.BEND_K);
    const k1 = v128.load(block, L.BEND_K + 16);
    const k2 = v128.load(block, L.BEND_K + 32);
    const k3 = v128.load(block, L.BEND_K + 48);
    const cx = dot3(k1, sub(x1, x0), k2, sub(x2, x0), k3, sub(x3, x0));
    const cy = dot3(k1, sub(y1, y0), k2, sub(y2, y0), k3, sub(y3, y0));
    const cz = dot3(k1, sub(z1, z0), k2, sub(z2, z0), k3, sub(z3, z0));
    const length = f32x4.sqrt(dot3(cx, cx, cy, cy, cz, cz));
    const beyond = sub(one, f32x4.div(v128.load(block, L.BEND_REST), f32x4.max(length, smallest)));
    const W = madd(w0, mul(k0, k0), madd(w1, mul(k1, k1), madd(w2, mul(k2, k2), mul(w3, mul(k3, k3)))));
    const lambda = mul(beyond, v128.and(f32x4.div(minusHalf, W), f32x4.gt(W, zero)));
    const dx = mul(lambda, cx);
    const dy = mul(lambda, cy);
    const dz = mul(lambda, cz);

    pushFour(block, low, mul(k0, dx), mul(k0, dy), mul(k0, dz));
    pushFour(block + 16, low, mul(k1, dx), mul(k1, dy), mul(k1, dz));
    pushFour(block + 32, low, mul(k2, dx), mul(k2, dy), mul(k2, dz));
    pushFour(block + 48, low, mul(k3, dx), mul(k3, dy), mul(k3, dz));
  }
}
