/**
 * Four pairs of primitives at a time: gathers their particles into lanes, computes how far a direction separates them,
 * and their closest points. All arithmetic uses differences to the pair's last particle, so it is as exact a kilometer
 * away as at the origin.
 *
 *   vertex-triangle   first: p            second: a, b, c       weights 1, -wa, -wb, -wc
 *   edge-edge         first: a0, a1       second: b0, b1        weights 1 - s, s, t - 1, -t
 *
 * Closest points, vertex-triangle: the foot of the perpendicular if it is inside, else the nearest of three edges'
 * points. Edge-edge: Ericson 2005, section 5.1.9, clamped twice. A degenerate primitive (no area, no length) is its
 * longest edge, or its point.
 */
import { add, sub, mul, madd, dot3, xs, ys, zs } from "../../math/lanes";

// four pairs of the last `gather`: differences to the fourth particle
export let x0: v128 = i32x4(0, 0, 0, 0);
export let y0: v128 = i32x4(0, 0, 0, 0);
export let z0: v128 = i32x4(0, 0, 0, 0);
export let x1: v128 = i32x4(0, 0, 0, 0);
export let y1: v128 = i32x4(0, 0, 0, 0);
export let z1: v128 = i32x4(0, 0, 0, 0);
export let x2: v128 = i32x4(0, 0, 0, 0);
export let y2: v128 = i32x4(0, 0, 0, 0);
export let z2: v128 = i32x4(0, 0, 0, 0);
// results of the last `closest`: weights, and the vector between the points
export let b0: v128 = i32x4(0, 0, 0, 0);
export let b1: v128 = i32x4(0, 0, 0, 0);
export let b2: v128 = i32x4(0, 0, 0, 0);
export let b3: v128 = i32x4(0, 0, 0, 0);
export let dx: v128 = i32x4(0, 0, 0, 0);
export let dy: v128 = i32x4(0, 0, 0, 0);
export let dz: v128 = i32x4(0, 0, 0, 0);

/** Loads the particles of a block, `shift` bytes from their addresses. */
export function gather(block: usize, shift: usize): void {
  const p = rowOf(block, 48, shift);
  const q = rowOf(block, 52, shift);
  const r = rowOf(block, 56, shift);
  const s = rowOf(block, 60, shift);
  let a = sub(rowOf(block, 0, shift), p);
  let b = sub(rowOf(block, 4, shift), q);
  let c = sub(rowOf(block, 8, shift), r);
  let d = sub(rowOf(block, 12, shift), s);
  x0 = xs(a, b, c, d);
  y0 = ys(a, b, c, d);
  z0 = zs(a, b, c, d);
  a = sub(rowOf(block, 16, shift), p);
  b = sub(rowOf(block, 20, shift), q);
  c = sub(rowOf(block, 24, shift), r);
  d = sub(rowOf(block, 28, shift), s);
  x1 = xs(a, b, c, d);
  y1 = ys(a, b, c, d);
  z1 = zs(a, b, c, d);
  a = sub(rowOf(block, 32, shift), p);
  b = sub(rowOf(block, 36, shift), q);
  c = sub(rowOf(block, 40, shift), r);
  d = sub(rowOf(block, 44, shift), s);
  x2 = xs(a, b, c, d);
  y2 = ys(a, b, c, d);
  z2 = zs(a, b, c, d);
}

// @inline
function rowOf(block: usize, corner: usize, shift: usize): v128 {
  return v128.load(<usize>load<u32>(block + corner) + shift);
}

/** Adds the low words of the particles gathered last, `low` bytes from those. */
export function addLowWords(block: usize, shift: usize, low: usize): void {
  // high words
  const hx0 = x0;
  const hy0 = y0;
  const hz0 = z0;
  const hx1 = x1;
  const hy1 = y1;
  const hz1 = z1;
  const hx2 = x2;
  const hy2 = y2;
  const hz2 = z2;
  gather(block, shift + low);
  x0 = add(hx0, x0);
  y0 = add(hy0, y0);
  z0 = add(hz0, z0);
  x1 = add(hx1, x1);
  y1 = add(hy1, y1);
  z1 = add(hz1, z1);
  x2 = add(hx2, x2);
  y2 = add(hy2, y2);
  z2 = add(hz2, z2);
}

/**
 * Returns how far direction n separates the gathered pairs: least n . (first - second) over their particles, m; NaN if
 * any coordinate is NaN or infinite. pmin and pmax are one instruction, min and max eight, but they return the first
 * argument if either is NaN. So the first argument gets the NaN of the second, as s - s.
 */
// @inline
export function separation(vertex: bool, nx: v128, ny: v128, nz: v128): v128 {
  const zero = f32x4.splat(0);
  const s0 = dot3(nx, x0, ny, y0, nz, z0);
  const s1 = dot3(nx, x1, ny, y1, nz, z1);
  const s2 = dot3(nx, x2, ny, y2, nz, z2);
  return vertex
    ? sub(s0, f32x4.pmax(f32x4.pmax(add(s1, sub(s2, s2)), s2), zero))
    : sub(f32x4.pmin(add(s0, sub(s1, s1)), s1), f32x4.pmax(s2, zero));
}

/** Returns num / den in [0, 1]; 0 if den is 0. */
// @inline
function share(num: v128, den: v128): v128 {
  // pmax(0, NaN) is 0
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), f32x4.div(num, den)));
}

/** Finds the closest points of the gathered pairs. */
export function closest(vertex: bool): void {
  if (vertex) closestVertex();
  else closestEdges();
}

function closestVertex(): void {
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  // relative to corner c: u to a, v to b, q to p
  const ux = x1;
  const uy = y1;
  const uz = z1;
  const vx = x2;
  const vy = y2;
  const vz = z2;
  const qx = x0;
  const qy = y0;
  const qz = z0;
  const uu = dot3(ux, ux, uy, uy, uz, uz);
  const vv = dot3(vx, vx, vy, vy, vz, vz);
  const uv = dot3(ux, vx, uy, vy, uz, vz);
  const uq = dot3(ux, qx, uy, qy, uz, qz);
  const vq = dot3(vx, qx, vy, qy, vz, qz);
  const det = sub(mul(uu, vv), mul(uv, uv));
  const s = sub(mul(vv, uq), mul(uv, vq));
  const t = sub(mul(uu, vq), mul(uv, uq));
  // edge c a
  const k1 = share(uq, uu);
  const e1x = sub(qx, mul(k1, ux));
  const e1y = sub(qy, mul(k1, uy));
  const e1z = sub(qz, mul(k1, uz));
  const d1 = dot3(e1x, e1x, e1y, e1y, e1z, e1z);
  // edge c b
  const k2 = share(vq, vv);
  const e2x = sub(qx, mul(k2, vx));
  const e2y = sub(qy, mul(k2, vy));
  const e2z = sub(qz, mul(k2, vz));
  const d2 = dot3(e2x, e2x, e2y, e2y, e2z, e2z);
  let best = f32x4.lt(d2, d1);
  const least = f32x4.pmin(d1, d2);
  let wa = v128.bitselect(zero, k1, best);
  let wb = v128.bitselect(k2, zero, best);
  let ex = v128.bitselect(e2x, e1x, best);
  let ey = v128.bitselect(e2y, e1y, best);
  let ez = v128.bitselect(e2z, e1z, best);
  // edge a b
  const mx = sub(vx, ux);
  const my = sub(vy, uy);
  const mz = sub(vz, uz);
  const rx = sub(qx, ux);
  const ry = sub(qy, uy);
  const rz = sub(qz, uz);
  const k3 = share(dot3(rx, mx, ry, my, rz, mz), dot3(mx, mx, my, my, mz, mz));
  const e3x = sub(rx, mul(k3, mx));
  const e3y = sub(ry, mul(k3, my));
  const e3z = sub(rz, mul(k3, mz));
  const d3 = dot3(e3x, e3x, e3y, e3y, e3z, e3z);
  best = f32x4.lt(d3, least);
  wa = v128.bitselect(sub(one, k3), wa, best);
  wb = v128.bitselect(k3, wb, best);
  ex = v128.bitselect(e3x, ex, best);
  ey = v128.bitselect(e3y, ey, best);
  ez = v128.bitselect(e3z, ez, best);
  // inside a triangle whose determinant exceeds its rounding
  const inside = v128.and(
    v128.and(f32x4.ge(s, zero), f32x4.ge(t, zero)),
    v128.and(f32x4.le(add(s, t), det), f32x4.gt(det, mul(f32x4.splat(1e-5), mul(uu, vv)))),
  );
  if (v128.any_true(inside)) {
    const ia = f32x4.div(s, det);
    const ib = f32x4.div(t, det);
    wa = v128.bitselect(ia, wa, inside);
    wb = v128.bitselect(ib, wb, inside);
    ex = v128.bitselect(sub(qx, madd(ia, ux, mul(ib, vx))), ex, inside);
    ey = v128.bitselect(sub(qy, madd(ia, uy, mul(ib, vy))), ey, inside);
    ez = v128.bitselect(sub(qz, madd(ia, uz, mul(ib, vz))), ez, inside);
  }
  b0 = one;
  b1 = f32x4.neg(wa);
  b2 = f32x4.neg(wb);
  b3 = sub(add(wa, wb), one);
  dx = ex;
  dy = ey;
  dz = ez;
}

function closestEdges(): void {
  const one = f32x4.splat(1);
  const zero = f32x4.splat(0);
  // a0 + s f, b0 + t g, r = a0 - b0; b1 is the origin
  const fx = sub(x1, x0);
  const fy = sub(y1, y0);
  const fz = sub(z1, z0);
  const gx = f32x4.neg(x2);
  const gy = f32x4.neg(y2);
  const gz = f32x4.neg(z2);
  const rx = sub(x0, x2);
  const ry = sub(y0, y2);
  const rz = sub(z0, z2);
  const ff = dot3(fx, fx, fy, fy, fz, fz);
  const gg = dot3(gx, gx, gy, gy, gz, gz);
  const fg = dot3(fx, gx, fy, gy, fz, gz);
  const fr = dot3(fx, rx, fy, ry, fz, rz);
  const gr = dot3(gx, rx, gy, ry, gz, rz);
  const det = sub(mul(ff, gg), mul(fg, fg));
  // parallel edges: any s is valid, the clamping below finds the rest
  let s = v128.bitselect(
    share(sub(mul(fg, gr), mul(fr, gg)), det),
    zero,
    f32x4.gt(det, mul(f32x4.splat(1e-5), mul(ff, gg))),
  );
  let t = share(madd(fg, s, gr), gg);
  s = share(sub(mul(fg, t), fr), ff);
  t = share(madd(fg, s, gr), gg);
  b0 = sub(one, s);
  b1 = s;
  b2 = sub(t, one);
  b3 = f32x4.neg(t);
  dx = add(rx, sub(mul(s, fx), mul(t, gx)));
  dy = add(ry, sub(mul(s, fy), mul(t, gy)));
  dz = add(rz, sub(mul(s, fz), mul(t, gz)));
}
