/**
 * Products with a sheet's Hessian, in float32. Conjugate gradients need a direction to a twentieth only, and rounding
 * errors are at the mesh's own wavelength, where the preconditioner damps them most. Membranes: four triangles at a
 * time (QUAD rows), sums in order of elements and corners. Bending: the constant K^T K / alpha as sparse rows, the same
 * for x, y and z. Twin: sim/reference/implicit/elements.ts, same operations in the same order.
 */
import * as L from "../layout/layout";
import { roundedAt } from "../math/vectors";
import { LANES } from "../layout/sizes";
import { add, dot3, firstHalves, high, low, madd, mul, secondHalves, sub, xs, ys, zs } from "../math/lanes";

/**
 * (c M + H+) p -> q, of the last linearization.
 * @param p, q vectors; coefficient c
 */
export function multiplySheet(row: usize, p: usize, q: usize, coefficient: f64): void {
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  const lanes = <usize>load<u32>(row, L.IMPLICIT_LANES);
  const out = lanes + ((<usize>count) << 4);
  for (let i = 0, from = p, to = lanes; i < count; i++, from += 24, to += 16) v128.store(to, roundedAt(from));
  memory.fill(out, 0, (<usize>count) << 4);
  const end =
    <usize>load<u32>(row, L.IMPLICIT_QUADS) +
    <usize>((load<i32>(row, L.IMPLICIT_TRIANGLE_COUNT) + 3) >> 2) * L.QUAD_BYTES;
  for (let quad = <usize>load<u32>(row, L.IMPLICIT_QUADS); quad < end; quad += L.QUAD_BYTES)
    multiplyQuad(row, quad, lanes, out);
  finish(row, p, q, coefficient, lanes, out);
}

function multiplyQuad(row: usize, quad: usize, p: usize, q: usize): void {
  const m0 = v128.load(quad, L.QUAD_DM);
  const m1 = v128.load(quad, L.QUAD_DM + LANES);
  const m2 = v128.load(quad, L.QUAD_DM + 2 * LANES);
  const m3 = v128.load(quad, L.QUAD_DM + 3 * LANES);
  // differences of the corners
  const a = corner(quad, p, 0);
  const b = corner(quad, p, 4);
  const c = corner(quad, p, 8);
  const d = corner(quad, p, 12);
  const ax = xs(a, b, c, d);
  const ay = ys(a, b, c, d);
  const az = zs(a, b, c, d);
  const e = corner(quad + LANES, p, 0);
  const f = corner(quad + LANES, p, 4);
  const g = corner(quad + LANES, p, 8);
  const h = corner(quad + LANES, p, 12);
  const bx = xs(e, f, g, h);
  const by = ys(e, f, g, h);
  const bz = zs(e, f, g, h);
  const i = corner(quad + 2 * LANES, p, 0);
  const j = corner(quad + 2 * LANES, p, 4);
  const k = corner(quad + 2 * LANES, p, 8);
  const l = corner(quad + 2 * LANES, p, 12);
  const ox = xs(i, j, k, l);
  const oy = ys(i, j, k, l);
  const oz = zs(i, j, k, l);
  const dax = sub(ax, ox);
  const day = sub(ay, oy);
  const daz = sub(az, oz);
  const dbx = sub(bx, ox);
  const dby = sub(by, oy);
  const dbz = sub(bz, oz);
  // columns of the deformation
  const ux = add(mul(dax, m0), mul(dbx, m2));
  const uy = add(mul(day, m0), mul(dby, m2));
  const uz = add(mul(daz, m0), mul(dbz, m2));
  const vx = add(mul(dax, m1), mul(dbx, m3));
  const vy = add(mul(day, m1), mul(dby, m3));
  const vz = add(mul(daz, m1), mul(dbz, m3));
  const Ux = v128.load(quad, L.QUAD_F);
  const Uy = v128.load(quad, L.QUAD_F + LANES);
  const Uz = v128.load(quad, L.QUAD_F + 2 * LANES);
  const Vx = v128.load(quad, L.QUAD_F + 3 * LANES);
  const Vy = v128.load(quad, L.QUAD_F + 4 * LANES);
  const Vz = v128.load(quad, L.QUAD_F + 5 * LANES);
  // strain and its stress
  const s0 = dot3(Ux, ux, Uy, uy, Uz, uz);
  const s1 = dot3(Vx, vx, Vy, vy, Vz, vz);
  const s2 = add(dot3(Ux, vx, Uy, vy, Uz, vz), dot3(Vx, ux, Vy, uy, Vz, uz));
  const stiffening = constant(row, L.IMPLICIT_STIFFENING);
  const weft = mul(stiffening, add(mul(constant(row, L.IMPLICIT_C00), s0), mul(constant(row, L.IMPLICIT_C01), s1)));
  const warp = mul(stiffening, add(mul(constant(row, L.IMPLICIT_C01), s0), mul(constant(row, L.IMPLICIT_C11), s1)));
  const shear = mul(stiffening, mul(constant(row, L.IMPLICIT_C22), s2));
  const t0 = v128.load(quad, L.QUAD_STRESS);
  const t1 = v128.load(quad, L.QUAD_STRESS + LANES);
  const t2 = v128.load(quad, L.QUAD_STRESS + 2 * LANES);
  const volume = v128.load(quad, L.QUAD_VOLUME);
  // first Piola-Kirchhoff stress
  const Px = mul(volume, add(add(mul(weft, Ux), mul(shear, Vx)), add(mul(t0, ux), mul(t2, vx))));
  const Py = mul(volume, add(add(mul(weft, Uy), mul(shear, Vy)), add(mul(t0, uy), mul(t2, vy))));
  const Pz = mul(volume, add(add(mul(weft, Uz), mul(shear, Vz)), add(mul(t0, uz), mul(t2, vz))));
  const Qx = mul(volume, add(add(mul(shear, Ux), mul(warp, Vx)), add(mul(t2, ux), mul(t1, vx))));
  const Qy = mul(volume, add(add(mul(shear, Uy), mul(warp, Vy)), add(mul(t2, uy), mul(t1, vy))));
  const Qz = mul(volume, add(add(mul(shear, Uz), mul(warp, Vz)), add(mul(t2, uz), mul(t1, vz))));
  // forces on the corners
  const firstX = madd(m0, Px, mul(m1, Qx));
  const firstY = madd(m0, Py, mul(m1, Qy));
  const firstZ = madd(m0, Pz, mul(m1, Qz));
  const secondX = madd(m2, Px, mul(m3, Qx));
  const secondY = madd(m2, Py, mul(m3, Qy));
  const secondZ = madd(m2, Pz, mul(m3, Qz));
  const none = f32x4.splat(0);
  const fxy = low(firstX, firstY);
  const fz = low(firstZ, none);
  const sxy = low(secondX, secondY);
  const sz = low(secondZ, none);
  push(quad, q, firstHalves(fxy, fz), firstHalves(sxy, sz));
  push(quad + 4, q, secondHalves(fxy, fz), secondHalves(sxy, sz));
  const fxyHigh = high(firstX, firstY);
  const fzHigh = high(firstZ, none);
  const sxyHigh = high(secondX, secondY);
  const szHigh = high(secondZ, none);
  push(quad + 8, q, firstHalves(fxyHigh, fzHigh), firstHalves(sxyHigh, szHigh));
  push(quad + 12, q, secondHalves(fxyHigh, fzHigh), secondHalves(sxyHigh, szHigh));
}

// @inline
function corner(at: usize, p: usize, lane: usize): v128 {
  return v128.load(p + <usize>load<u32>(at + lane));
}

// @inline
function constant(row: usize, field: usize): v128 {
  return f32x4.splat(<f32>load<f64>(row + field));
}

/** Adds the forces on the three corners of one triangle. */
// @inline
function push(at: usize, q: usize, first: v128, second: v128): void {
  const q0 = q + <usize>load<u32>(at);
  const q1 = q + <usize>load<u32>(at, LANES);
  const q2 = q + <usize>load<u32>(at, 2 * LANES);
  v128.store(q0, add(v128.load(q0), first));
  v128.store(q1, add(v128.load(q1), second));
  v128.store(q2, sub(v128.load(q2), add(first, second)));
}

/** q = c M p + sums of the lanes + bending */
function finish(row: usize, p: usize, q: usize, coefficient: f64, lanes: usize, out: usize): void {
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const start = <usize>load<u32>(row, L.IMPLICIT_STENCIL_START);
  const stiffening = constant(row, L.IMPLICIT_STIFFENING);
  let entry = <usize>load<u32>(row, L.IMPLICIT_STENCILS);
  for (let i = 0, at: usize = 0; i < count; i++, at += 24) {
    let sum = v128.load(out + ((<usize>i) << 4));
    if (start) {
      const end = <usize>load<u32>(start + ((<usize>i) << 2));
      for (; entry < end; entry += 8)
        sum = add(sum, mul(mul(stiffening, v128.load32_splat(entry, 4)), v128.load(lanes + <usize>load<u32>(entry))));
    }
    const m = coefficient * load<f64>(mass + ((<usize>i) << 3));
    v128.store(q + at, f64x2.add(f64x2.mul(f64x2.splat(m), v128.load(p + at)), f64x2.promote_low_f32x4(sum)));
    store<f64>(q + at, m * load<f64>(p + at, 16) + <f64>f32x4.extract_lane(sum, 2), 16);
  }
}
