/**
 * Isometric bending over an interior edge, four stencils at a time (Bender et al. 2014, section 4.3 and figure 3;
 * Bergou et al. 2006).
 *
 *          x2                K = (c01 + c04, c02 + c03, -c01 - c02, -c03 - c04)
 *         /  \               c_jk = cot of the angle between edges e_j and e_k
 *   e2  /  A0  \ e1          E_b = B/(2 (A0+A1)) |K x|^2 = |C|^2 / (2 alpha)
 *     x0 --e0-- x1           C = sum_i K_i x_i (a vector), alpha = (A0+A1)/B
 *   e3  \  A1  / e4          dL = (-C - aT L) / (sum_i w_i K_i^2 + aT)
 *         \  /               x_i += w_i K_i dL,  aT = alpha/h^2
 *          x3
 * B is the flexural rigidity in N m (sim/constraints/bending.ts on the factor). The energy is quadratic, so its
 * compliant constraint is the vector C itself: one exact linear solve, and its multiplier keeps its direction. A sheet
 * that is curved at rest keeps |C| at its rest length. sum_i K_i = 0: subtracting x0 first keeps float32 digits far
 * from the origin.
 * K and alpha are given: hinges with weights, and other stencils of four particles on sheets of rectangles
 * (sim/constraints/sheetBending.ts).
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, shift, toLow } from "../math/lanes";
import * as L from "../layout/layout";
import { nx, ny, nz, turnFrame, ux, uy, uz, vx, vy, vz } from "./stencilFrame";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; pass
 * PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2
 */
export function solveBending(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  if (toLow) solve(block, own, count, pass, inverseH2, true, false);
  else solve(block, own, count, pass, inverseH2, false, false);
}

/**
 * Solves dashpots, like solveBending: C is K x minus its value at the start of the substep, rotated with the stencil
 * (dashpots.ts).
 */
export function solveBendDashpots(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  if (toLow) solve(block, own, count, pass, inverseH2, true, true);
  else solve(block, own, count, pass, inverseH2, false, true);
}

/** @param keeps, dashpot compile-time constants (math/lanes.ts, shift) */
// @inline
function solve(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32, keeps: bool, dashpot: bool): void {
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  const inverse = f32x4.splat(inverseH2);
  const first = pass & L.PASS_FIRST;
  const last = pass & L.PASS_LAST;
  // m; only avoids 0/0 if |C| is zero: smaller ones underflow in float32 when squared
  const smallest = f32x4.splat(1e-30);
  for (let n = 0; n < count; n++, block += dashpot ? L.BEND_DASHPOT_BYTES : L.BEND_BYTES, own += L.BEND_KEPT_BYTES) {
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

    const k0 = v128.load(block, L.BEND_K);
    const k1 = v128.load(block, L.BEND_K + 16);
    const k2 = v128.load(block, L.BEND_K + 32);
    const k3 = v128.load(block, L.BEND_K + 48);
    let cx = dot3(k1, sub(x1, x0), k2, sub(x2, x0), k3, sub(x3, x0));
    let cy = dot3(k1, sub(y1, y0), k2, sub(y2, y0), k3, sub(y3, y0));
    let cz = dot3(k1, sub(z1, z0), k2, sub(z2, z0), k3, sub(z3, z0));
    const rest = v128.load(block, L.BEND_REST);
    if (!dashpot && v128.any_true(rest)) {
      // not flat at rest
      const length = f32x4.sqrt(dot3(cx, cx, cy, cy, cz, cz));
      const beyond = sub(one, f32x4.div(rest, f32x4.max(length, smallest)));
      cx = mul(cx, beyond);
      cy = mul(cy, beyond);
      cz = mul(cz, beyond);
    }
    if (dashpot) {
      turnFrame(sub(x1, x0), sub(y1, y0), sub(z1, z0), sub(x3, x2), sub(y3, y2), sub(z3, z2));
      const along = v128.load(block, L.BEND_PAST);
      const across = v128.load(block, L.BEND_PAST + 16);
      const out = v128.load(block, L.BEND_PAST + 32);
      cx = sub(cx, dot3(ux, along, vx, across, nx, out));
      cy = sub(cy, dot3(uy, along, vy, across, ny, out));
      cz = sub(cz, dot3(uz, along, vz, across, nz, out));
    }

    const aT = mul(v128.load(block, L.BEND_ALPHA), inverse);
    const scale = f32x4.div(f32x4.splat(-1), add(v128.load(block, L.BEND_W), aT));
    let lx = zero;
    let ly = zero;
    let lz = zero;
    if (!first) {
      lx = v128.load(own);
      ly = v128.load(own, 16);
      lz = v128.load(own, 32);
    }
    const dx = mul(scale, madd(aT, lx, cx));
    const dy = mul(scale, madd(aT, ly, cy));
    const dz = mul(scale, madd(aT, lz, cz));
    if (!last) {
      v128.store(own, add(lx, dx));
      v128.store(own, add(ly, dy), 16);
      v128.store(own, add(lz, dz), 32);
    }

    let s = mul(w0, k0);
    shift(block, s, dx, dy, dz, x0, y0, z0, w0, keeps);
    s = mul(w1, k1);
    shift(block + 16, s, dx, dy, dz, x1, y1, z1, w1, keeps);
    s = mul(w2, k2);
    shift(block + 32, s, dx, dy, dz, x2, y2, z2, w2, keeps);
    s = mul(w3, k3);
    shift(block + 48, s, dx, dy, dz, x3, y3, z3, w3, keeps);
  }
}
