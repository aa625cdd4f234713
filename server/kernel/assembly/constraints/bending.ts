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
import { add, sub, mul, madd, dot3, xs, ys, zs, ws, between, push, toLow } from "../math/lanes";
import * as L from "../layout/layout";
import { nx, ny, nz, turnFrameOf, ux, uy, uz, vx, vy, vz } from "./stencilFrame";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; pass
 * PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2
 */
export function solveBending(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  solve(block, own, count, pass, inverseH2, false);
}

/**
 * Solves dashpots, like solveBending: C is K x minus its value at the start of the substep, rotated with the stencil
 * (dashpots.ts).
 */
export function solveBendDashpots(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32): void {
  solve(block, own, count, pass, inverseH2, true);
}

/** @param dashpot compile-time constant */
// @inline
function solve(block: usize, own: usize, count: i32, pass: i32, inverseH2: f32, dashpot: bool): void {
  const low = toLow;
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  const inverse = f32x4.splat(inverseH2);
  const first = pass & L.PASS_FIRST;
  const last = pass & L.PASS_LAST;
  // m; only avoids 0/0 if |C| is zero: smaller ones underflow in float32 when squared
  const smallest = f32x4.splat(1e-30);
  for (let n = 0; n < count; n++, block += dashpot ? L.BEND_DASHPOT_BYTES : L.BEND_BYTES, own += L.BEND_KEPT_BYTES) {
    const a = curvature(block, low);
    const b = curvature(block + 4, low);
    const c = curvature(block + 8, low);
    const d = curvature(block + 12, low);
    let cx = xs(a, b, c, d);
    let cy = ys(a, b, c, d);
    let cz = zs(a, b, c, d);
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
      turnFrameOf(block, low);
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

    pushStencil(block, low, xs(dx, dy, dz, zero));
    pushStencil(block + 4, low, ys(dx, dy, dz, zero));
    pushStencil(block + 8, low, zs(dx, dy, dz, zero));
    pushStencil(block + 12, low, ws(dx, dy, dz, zero));
  }
}

/** Returns K x of one stencil. @param at its lane in the block */
// @inline
function curvature(at: usize, low: usize): v128 {
  const origin = <usize>load<u32>(at, 0);
  return dot3(
    v128.load32_splat(at, L.BEND_K + 16),
    between(origin, <usize>load<u32>(at, 16), low),
    v128.load32_splat(at, L.BEND_K + 32),
    between(origin, <usize>load<u32>(at, 32), low),
    v128.load32_splat(at, L.BEND_K + 48),
    between(origin, <usize>load<u32>(at, 48), low),
  );
}

/** Moves the particles of one stencil by w K times a vector. */
// @inline
function pushStencil(at: usize, low: usize, by: v128): void {
  for (let k: usize = 0; k < 64; k += 16)
    push(<usize>load<u32>(at + k), low, mul(v128.load32_splat(at + k, L.BEND_K), by));
}
