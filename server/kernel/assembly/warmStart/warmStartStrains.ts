/**
 * Remembered stress of Saint Venant-Kirchhoff tetrahedra (warmStart.ts), isotropic, orthotropic and plastic: six
 * multipliers; per body, the mismatch of strain and stress; support of the particles. `general` and `plastic` are
 * compile-time constants, as in tetrahedron.ts.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs, ws } from "../math/lanes";
import * as L from "../layout/layout";
import { addTo, ofBody, support } from "./support";

/**
 * @param block address of the first of `count` blocks; own the values that they keep between iterations; kept their
 * remembered stress; inverseH2 1/h^2, 1/s^2; settled 1 if the blocks have the last substep's multipliers
 */
export function warmStartTetrahedra(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
): void {
  warmStartStrains(block, own, count, kept, inverseH2, settled, false, false);
}
/** Like warmStartTetrahedra. */
export function warmStartOrthotropic(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
): void {
  warmStartStrains(block, own, count, kept, inverseH2, settled, true, false);
}
/** Like warmStartTetrahedra. */
export function warmStartPlastic(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
): void {
  warmStartStrains(block, own, count, kept, inverseH2, settled, true, true);
}

// @inline
function warmStartStrains(
  block: usize,
  own: usize,
  count: i32,
  kept: usize,
  inverseH2: f32,
  settled: i32,
  general: bool,
  plastic: bool,
): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const toSupport = <usize>load<u32>(L.HEADER, L.H_SUPPORT) - <usize>load<u32>(L.HEADER, L.H_X);
  const aT = f32x4.splat(inverseH2);
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  for (
    let n = 0;
    n < count;
    n++,
      own += L.TET_KEPT_BYTES,
      block += plastic ? L.TET_PLASTIC_BYTES : general ? L.TET_ORTHO_BYTES : L.TET_BYTES,
      kept += L.WARM_START_BYTES
  ) {
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
    // corners relative to the last one
    const ax = sub(x0, x3);
    const ay = sub(y0, y3);
    const az = sub(z0, z3);
    const bx = sub(x1, x3);
    const by = sub(y1, y3);
    const bz = sub(z1, z3);
    const cx = sub(x2, x3);
    const cy = sub(y2, y3);
    const cz = sub(z2, z3);
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

    let k0 = v128.load(kept);
    let k1 = v128.load(kept, 16);
    let k2 = v128.load(kept, 32);
    let k3 = v128.load(kept, 48);
    let k4 = v128.load(kept, 64);
    let k5 = v128.load(kept, 80);
    const unit = general ? one : v128.load(block, L.TET_UNIT);
    if (settled) {
      const l0 = v128.load(own);
      const l1 = v128.load(own, 16);
      const l2 = v128.load(own, 32);
      const l3 = v128.load(own, 48);
      const l4 = v128.load(own, 64);
      const l5 = v128.load(own, 80);
      // difference between the strain and the strain of the stress
      const normal = general ? v128.load(block, L.TET_ORTHO_S) : v128.load(block, L.TET_S);
      const weight = f32x4.div(unit, normal);
      const s00 = mul(aT, normal);
      let s11 = s00;
      let s22 = s00;
      let s12 = s00;
      let s02 = s00;
      let s01 = s00;
      let s33 = s00;
      let s44 = s00;
      let s55 = s00;
      if (general) {
        s11 = mul(aT, v128.load(block, L.TET_ORTHO_S + 16));
        s22 = mul(aT, v128.load(block, L.TET_ORTHO_S + 32));
        s12 = mul(aT, v128.load(block, L.TET_S_COUPLING));
        s02 = mul(aT, v128.load(block, L.TET_S_COUPLING + 16));
        s01 = mul(aT, v128.load(block, L.TET_S_COUPLING + 32));
        s33 = mul(aT, v128.load(block, L.TET_S_SHEAR));
        s44 = mul(aT, v128.load(block, L.TET_S_SHEAR + 16));
        s55 = mul(aT, v128.load(block, L.TET_S_SHEAR + 32));
      } else {
        s12 = s02 = s01 = mul(aT, v128.load(block, L.TET_S + 16));
        s33 = s44 = s55 = mul(add(aT, aT), sub(normal, v128.load(block, L.TET_S + 16)));
      }
      const e0 = dot3(s00, l0, s01, l1, s02, l2);
      const e1 = dot3(s01, l0, s11, l1, s12, l2);
      const e2 = dot3(s02, l0, s12, l1, s22, l2);
      const e3 = mul(s33, l3);
      const e4 = mul(s44, l4);
      const e5 = mul(s55, l5);
      let r0 = madd(half, sub(dot3(f00, f00, f10, f10, f20, f20), one), e0);
      let r1 = madd(half, sub(dot3(f01, f01, f11, f11, f21, f21), one), e1);
      let r2 = madd(half, sub(dot3(f02, f02, f12, f12, f22, f22), one), e2);
      let r3 = add(dot3(f01, f02, f11, f12, f21, f22), e3);
      let r4 = add(dot3(f00, f02, f10, f12, f20, f22), e4);
      let r5 = add(dot3(f00, f01, f10, f11, f20, f21), e5);
      if (plastic) {
        r0 = sub(r0, v128.load(block, L.TET_PLASTIC_STRAIN));
        r1 = sub(r1, v128.load(block, L.TET_PLASTIC_STRAIN + 16));
        r2 = sub(r2, v128.load(block, L.TET_PLASTIC_STRAIN + 32));
        r3 = sub(r3, v128.load(block, L.TET_PLASTIC_STRAIN + 48));
        r4 = sub(r4, v128.load(block, L.TET_PLASTIC_STRAIN + 64));
        r5 = sub(r5, v128.load(block, L.TET_PLASTIC_STRAIN + 80));
      }
      // summed over the body
      addTo(
        rows,
        kept + L.WARM_START_BODY,
        L.BODY_MISMATCH,
        mul(weight, add(dot3(r0, r0, r1, r1, r2, r2), mul(half, dot3(r3, r3, r4, r4, r5, r5)))),
      );
      addTo(rows, kept + L.WARM_START_BODY, L.BODY_WEIGHT, weight);
      addTo(
        rows,
        kept + L.WARM_START_BODY,
        L.BODY_STRAIN,
        mul(weight, add(dot3(e0, e0, e1, e1, e2, e2), mul(half, dot3(e3, e3, e4, e4, e5, e5)))),
      );
      const d0 = sub(l0, k0);
      const d1 = sub(l1, k1);
      const d2 = sub(l2, k2);
      const d3 = sub(l3, k3);
      const d4 = sub(l4, k4);
      const d5 = sub(l5, k5);
      const q0 = dot3(s00, d0, s01, d1, s02, d2);
      const q1 = dot3(s01, d0, s11, d1, s12, d2);
      const q2 = dot3(s02, d0, s12, d1, s22, d2);
      const q3 = mul(s33, d3);
      const q4 = mul(s44, d4);
      const q5 = mul(s55, d5);
      addTo(
        rows,
        kept + L.WARM_START_BODY,
        L.BODY_CHANGE,
        mul(weight, add(dot3(q0, q0, q1, q1, q2, q2), mul(half, dot3(q3, q3, q4, q4, q5, q5)))),
      );
      // an inverted element has no multipliers (inversion.ts) and remembers nothing
      const known = f32x4.ne(v128.or(v128.or(v128.or(l0, l1), v128.or(l2, l3)), v128.or(l4, l5)), f32x4.splat(0));
      const gain = ofBody(rows, kept + L.WARM_START_BODY, L.BODY_GAIN);
      const keep = v128.and(ofBody(rows, kept + L.WARM_START_BODY, L.BODY_KEEP), known);
      k0 = mul(keep, madd(gain, d0, k0));
      k1 = mul(keep, madd(gain, d1, k1));
      k2 = mul(keep, madd(gain, d2, k2));
      k3 = mul(keep, madd(gain, d3, k3));
      k4 = mul(keep, madd(gain, d4, k4));
      k5 = mul(keep, madd(gain, d5, k5));
      v128.store(kept, k0);
      v128.store(kept, k1, 16);
      v128.store(kept, k2, 32);
      v128.store(kept, k3, 48);
      v128.store(kept, k4, 64);
      v128.store(kept, k5, 80);
    }
    const p00 = dot3(f00, k0, f01, k5, f02, k4);
    const p01 = dot3(f00, k5, f01, k1, f02, k3);
    const p02 = dot3(f00, k4, f01, k3, f02, k2);
    const p10 = dot3(f10, k0, f11, k5, f12, k4);
    const p11 = dot3(f10, k5, f11, k1, f12, k3);
    const p12 = dot3(f10, k4, f11, k3, f12, k2);
    const p20 = dot3(f20, k0, f21, k5, f22, k4);
    const p21 = dot3(f20, k5, f21, k1, f22, k3);
    const p22 = dot3(f20, k4, f21, k3, f22, k2);
    const applied = kept + L.TET_APPLIED;
    v128.store(applied, p00);
    v128.store(applied, p01, 16);
    v128.store(applied, p02, 32);
    v128.store(applied, p10, 48);
    v128.store(applied, p11, 64);
    v128.store(applied, p12, 80);
    v128.store(applied, p20, 96);
    v128.store(applied, p21, 112);
    v128.store(applied, p22, 128);
    const h0x = dot3(p00, m00, p01, m01, p02, m02);
    const h0y = dot3(p10, m00, p11, m01, p12, m02);
    const h0z = dot3(p20, m00, p21, m01, p22, m02);
    const h1x = dot3(p00, m10, p01, m11, p02, m12);
    const h1y = dot3(p10, m10, p11, m11, p12, m12);
    const h1z = dot3(p20, m10, p21, m11, p22, m12);
    const h2x = dot3(p00, m20, p01, m21, p02, m22);
    const h2y = dot3(p10, m20, p11, m21, p12, m22);
    const h2z = dot3(p20, m20, p21, m21, p22, m22);
    const u0 = mul(w0, unit);
    const u1 = mul(w1, unit);
    const u2 = mul(w2, unit);
    const u3 = f32x4.neg(mul(w3, unit));
    support(block, toSupport, mul(u0, h0x), mul(u0, h0y), mul(u0, h0z));
    support(block + 16, toSupport, mul(u1, h1x), mul(u1, h1y), mul(u1, h1z));
    support(block + 32, toSupport, mul(u2, h2x), mul(u2, h2y), mul(u2, h2z));
    support(
      block + 48,
      toSupport,
      mul(u3, add(h0x, add(h1x, h2x))),
      mul(u3, add(h0y, add(h1y, h2y))),
      mul(u3, add(h0z, add(h1z, h2z))),
    );
  }
}
