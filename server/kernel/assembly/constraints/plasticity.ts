/**
 * Additive plasticity with von Mises yield (Bender et al. 2014, section 4.2): once a substep, the plastic strain takes
 * over the part of the elastic strain's deviator that the material allows.
 *
 *   eps_el = eps - eps_pl,   eps' = eps_el - tr(eps_el)/3 I,   |.| the Frobenius norm
 *   |eps'| > yield:   eps_pl += min(x, 1 - yield/|eps'|) eps',   x the part that creep takes in h
 *   |eps_pl| > max:   eps_pl *= max/|eps_pl|
 *
 * - The paper adds h creep eps' while |eps'| > yield, which depends on the step (one step too far below yield; unstable
 * for h creep > 2). Its limit of small steps is the decay d eps'/dt = -creep eps' that ends at yield. 1 - yield/|eps'|
 * stops there exactly. x = (z + z^2/2)/(1 + z + z^2/2), z = h creep, is 1 - exp(-z) to third order of z, below 1 for
 * any step, without a host's exp. So flow depends on time and strain, not on substeps or iterations.
 * - The paper's second case reads "eps_pl := max eps_pl/|eps_pl| if |eps'| >= max". Taken literally, a large elastic
 * strain would at once stretch a still small plastic strain to max. Its text ("determines the maximum plastic strain")
 * and its source (O'Brien et al. 2002) limit the plastic strain itself, as here.
 * - Elements that are flat, compressed to less than 58 % or inverted do not flow: Green's strain cannot tell an element
 * from its mirror image, so the shape to remember is unknown. If more than 3 % of a body's elements are inverted, the
 * whole body stops flowing until no element is inverted. Otherwise the neighbors of an intersection would take on its
 * shape and keep it. (A mirrored box with creep 50/s kept 13 of 320 inverted elements for ever. One squeezed into a
 * point and allowed to flow below 3 % kept 4. Now both recover like elastic ones.) A single inverted element does not
 * stop the flow: a thin horn under a heavy sphere would keep a whole dragon from flowing.
 * The norm of a plastic strain without trace is that of its deviator; gammas are doubled shears and count twice:
 * |eps|^2 = sum normal^2 + sum gamma^2/2.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs } from "../math/lanes";
import * as L from "../layout/layout";

/** Updates plastic strains, nothing else. @param block address of the first of `count` plastic blocks; h s */
export function flow(block: usize, count: i32, h: f32): void {
  const one = f32x4.splat(1);
  const half = f32x4.splat(0.5);
  const third = f32x4.splat(0.33333334);
  const zero = f32x4.splat(0);
  const hh = f32x4.splat(h);
  for (let n = 0; n < count; n++, block += L.TET_PLASTIC_BYTES) {
    let a = v128.load(<usize>load<u32>(block, 48));
    let b = v128.load(<usize>load<u32>(block, 52));
    let c = v128.load(<usize>load<u32>(block, 56));
    let d = v128.load(<usize>load<u32>(block, 60));
    const x3 = xs(a, b, c, d);
    const y3 = ys(a, b, c, d);
    const z3 = zs(a, b, c, d);
    a = v128.load(<usize>load<u32>(block, 0));
    b = v128.load(<usize>load<u32>(block, 4));
    c = v128.load(<usize>load<u32>(block, 8));
    d = v128.load(<usize>load<u32>(block, 12));
    const ax = sub(xs(a, b, c, d), x3);
    const ay = sub(ys(a, b, c, d), y3);
    const az = sub(zs(a, b, c, d), z3);
    a = v128.load(<usize>load<u32>(block, 16));
    b = v128.load(<usize>load<u32>(block, 20));
    c = v128.load(<usize>load<u32>(block, 24));
    d = v128.load(<usize>load<u32>(block, 28));
    const bx = sub(xs(a, b, c, d), x3);
    const by = sub(ys(a, b, c, d), y3);
    const bz = sub(zs(a, b, c, d), z3);
    a = v128.load(<usize>load<u32>(block, 32));
    b = v128.load(<usize>load<u32>(block, 36));
    c = v128.load(<usize>load<u32>(block, 40));
    d = v128.load(<usize>load<u32>(block, 44));
    const cx = sub(xs(a, b, c, d), x3);
    const cy = sub(ys(a, b, c, d), y3);
    const cz = sub(zs(a, b, c, d), z3);
    const m00 = v128.load(block, L.TET_DM);
    const m01 = v128.load(block, L.TET_DM + 16);
    const m02 = v128.load(block, L.TET_DM + 32);
    const m10 = v128.load(block, L.TET_DM + 48);
    const m11 = v128.load(block, L.TET_DM + 64);
    const m12 = v128.load(block, L.TET_DM + 80);
    const m20 = v128.load(block, L.TET_DM + 96);
    const m21 = v128.load(block, L.TET_DM + 112);
    const m22 = v128.load(block, L.TET_DM + 128);
    // F = D Dm^-1
    const f00 = dot3(ax, m00, bx, m10, cx, m20);
    const f01 = dot3(ax, m01, bx, m11, cx, m21);
    const f02 = dot3(ax, m02, bx, m12, cx, m22);
    const f10 = dot3(ay, m00, by, m10, cy, m20);
    const f11 = dot3(ay, m01, by, m11, cy, m21);
    const f12 = dot3(ay, m02, by, m12, cy, m22);
    const f20 = dot3(az, m00, bz, m10, cz, m20);
    const f21 = dot3(az, m01, bz, m11, cz, m21);
    const f22 = dot3(az, m02, bz, m12, cz, m22);
    const detF = add(
      sub(mul(f00, sub(mul(f11, f22), mul(f12, f21))), mul(f01, sub(mul(f10, f22), mul(f12, f20)))),
      mul(f02, sub(mul(f10, f21), mul(f11, f20))),
    );

    const p0 = v128.load(block, L.TET_PLASTIC_STRAIN);
    const p1 = v128.load(block, L.TET_PLASTIC_STRAIN + 16);
    const p2 = v128.load(block, L.TET_PLASTIC_STRAIN + 32);
    const p3 = v128.load(block, L.TET_PLASTIC_STRAIN + 48);
    const p4 = v128.load(block, L.TET_PLASTIC_STRAIN + 64);
    const p5 = v128.load(block, L.TET_PLASTIC_STRAIN + 80);
    const yieldAt = v128.load(block, L.TET_FLOW);
    const most = v128.load(block, L.TET_FLOW + 32);
    // elastic strain, and its deviator
    let d0 = sub(mul(half, sub(dot3(f00, f00, f10, f10, f20, f20), one)), p0);
    let d1 = sub(mul(half, sub(dot3(f01, f01, f11, f11, f21, f21), one)), p1);
    let d2 = sub(mul(half, sub(dot3(f02, f02, f12, f12, f22, f22), one)), p2);
    const d3 = sub(dot3(f01, f02, f11, f12, f21, f22), p3);
    const d4 = sub(dot3(f00, f02, f10, f12, f20, f22), p4);
    const d5 = sub(dot3(f00, f01, f10, f11, f20, f21), p5);
    const mean = mul(third, add(d0, add(d1, d2)));
    d0 = sub(d0, mean);
    d1 = sub(d1, mean);
    d2 = sub(d2, mean);
    const size = f32x4.sqrt(madd(half, dot3(d3, d3, d4, d4, d5, d5), dot3(d0, d0, d1, d1, d2, d2)));
    const t00 = dot3(f00, f00, f10, f10, f20, f20);
    const t11 = dot3(f01, f01, f11, f11, f21, f21);
    const t22 = dot3(f02, f02, f12, f12, f22, f22);
    const t01 = dot3(f00, f01, f10, f11, f20, f21);
    const t02 = dot3(f00, f02, f10, f12, f20, f22);
    const t12 = dot3(f01, f02, f11, f12, f21, f22);
    const g00 = sub(t00, third);
    const g11 = sub(t11, third);
    const g22 = sub(t22, third);
    const minor2 = sub(mul(g00, g11), mul(t01, t01));
    const detG = add(
      sub(mul(g22, minor2), mul(t12, sub(mul(g00, t12), mul(t02, t01)))),
      mul(t02, sub(mul(t01, t12), mul(t02, g11))),
    );
    // every singular value above 1/sqrt 3, as in tetrahedron.ts
    const sound = f32x4.gt(f32x4.pmin(f32x4.pmin(g00, minor2), f32x4.pmin(detG, detF)), zero);
    const flows = v128.and(v128.and(f32x4.gt(size, yieldAt), sound), i32x4.eq(invertedLanes(block), i32x4.splat(0)));
    if (!v128.any_true(flows)) continue;
    const z = mul(hh, v128.load(block, L.TET_FLOW + 16));
    const decay = madd(half, mul(z, z), z);
    const part = v128.and(flows, f32x4.min(f32x4.div(decay, add(one, decay)), sub(one, f32x4.div(yieldAt, size))));
    const n0 = madd(part, d0, p0);
    const n1 = madd(part, d1, p1);
    const n2 = madd(part, d2, p2);
    const n3 = madd(part, d3, p3);
    const n4 = madd(part, d4, p4);
    const n5 = madd(part, d5, p5);
    const length = f32x4.sqrt(madd(half, dot3(n3, n3, n4, n4, n5, n5), dot3(n0, n0, n1, n1, n2, n2)));
    const cap = v128.bitselect(f32x4.div(most, length), one, v128.and(flows, f32x4.gt(length, most)));
    v128.store(block, mul(cap, n0), L.TET_PLASTIC_STRAIN);
    v128.store(block, mul(cap, n1), L.TET_PLASTIC_STRAIN + 16);
    v128.store(block, mul(cap, n2), L.TET_PLASTIC_STRAIN + 32);
    v128.store(block, mul(cap, n3), L.TET_PLASTIC_STRAIN + 48);
    v128.store(block, mul(cap, n4), L.TET_PLASTIC_STRAIN + 64);
    v128.store(block, mul(cap, n5), L.TET_PLASTIC_STRAIN + 80);
  }
}

function rowOf(block: usize, lane: usize): usize {
  return <usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>load<u32>(block + (lane << 2), L.TET_BODY) * L.BODY_BYTES;
}

/**
 * Returns whether a body is tangled at the end of a substep: too much of it is inverted, or it was tangled and some
 * element is still inverted.
 */
// @inline
function tangled(row: usize): bool {
  const count = load<i32>(row, L.BODY_INVERTED);
  return count > load<i32>(row, L.BODY_INVERTED_LIMIT) || (count > 0 && load<i32>(row, L.BODY_WAS_INVERTED) !== 0);
}

function invertedLanes(block: usize): v128 {
  return i32x4(tangled(rowOf(block, 0)), tangled(rowOf(block, 1)), tangled(rowOf(block, 2)), tangled(rowOf(block, 3)));
}

/** Counts inverted lanes, body by body: a sum of ones does not depend on the order of threads. */
export function noteInverted(block: usize, inverted: i32): void {
  for (let lane: usize = 0; lane < 4; lane++)
    if (inverted & (1 << (<i32>lane))) atomic.add<i32>(rowOf(block, lane), 1, L.BODY_INVERTED);
}

/** Call before the first phase of a substep: stores which bodies are tangled, and restarts the counts. */
export function forgetInverted(): void {
  let row = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = 0; b < load<i32>(L.HEADER, L.H_BODY_COUNT); b++, row += L.BODY_BYTES) {
    store<i32>(row, <i32>tangled(row), L.BODY_WAS_INVERTED);
    store<i32>(row, 0, L.BODY_INVERTED);
  }
}
