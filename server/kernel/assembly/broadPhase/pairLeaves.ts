/**
 * Tests leaf against leaf: which of sixteen pairs of primitives may come within reach, four lanes at a time in float32.
 * Pairs that pass are measured exactly (pairList.ts). Rejected pairs are separated, at the start and at the end of all
 * trajectories, by one of a few directions: axes of the boxes, the triangle's normal and the normals of its sides in
 * its plane, the closest points of two edges. For fast primitives also across their motion: the direction between
 * centers, without its part along their relative trajectory.
 * Corners are projected, so any direction is valid; only the rounding of projections counts. Pairs are rejected beyond
 * the distance sqrt(R^2 + R^2/64 + (s_1^2 + s_2^2)/2^13 + m^2/2^24), s the lengths of two sides, m the difference of
 * trajectories. Projections of differences, relative to one corner, are off by 2^-22 of s, R and m. The projection of a
 * side down to 1/32 of the others is derived from theirs, with an error larger by that factor; shorter sides separate
 * nothing. Triangles with an angle whose sine is below 2^-10 have no normal in float32 and all pass. Lengths to the
 * fourth power must be normal numbers: sides of 1e-9 m to 1e9 m.
 * Tried, no faster: rows written from the lanes where float32 suffices (2.9 ms both, 5,000 triangles, 20,748 pairs).
 */
import {
  EDGE_LEAF_AT,
  EDGE_LEAF_TRAJECTORIES,
  EDGE_LEAF_BYTES,
  TRIANGLE_LEAF_AT,
  TRIANGLE_LEAF_TRAJECTORIES,
  TRIANGLE_LEAF_BYTES,
} from "../layout/layout";
import { add, dot3, madd, mul, sub } from "../math/lanes";
import { addEdges, addVertexTriangle } from "./pairList";
import { lanesOf } from "./trees";

const WIDER: f32 = 1.015625; // 1 + 1/64
const SIDE_SHARE: f32 = 1.220703125e-4; // 2^-13
const TRAJECTORY_SHARE: f32 = 5.9604644775390625e-8; // 2^-24
const NEEDLE: f32 = 9.5367431640625e-7; // 2^-20, a sine squared
const SHORT: f32 = 1024; // 32 squared

let wideReach2: v128;
let boxReach: v128;
let itself: bool;
let shift: usize;
let toTrajectories: usize;

/**
 * @param reach2 R^2; box inflation of boxes, rounding included; same whether both leaves are of one surface; positions,
 * trajectories offsets from X
 */
export function openLeaves(reach2: f32, box: f32, same: bool, positions: usize, trajectories: usize): void {
  wideReach2 = f32x4.splat(reach2 * WIDER);
  boxReach = f32x4.splat(box);
  itself = same;
  shift = positions;
  toTrajectories = trajectories;
}

// @inline
function row(leaf: usize, at: usize): v128 {
  return v128.load(leaf + at);
}
// @inline
function and(a: v128, b: v128): v128 {
  return v128.and(a, b);
}
// @inline
function or(a: v128, b: v128): v128 {
  return v128.or(a, b);
}
// @inline
function least(a: v128, b: v128, c: v128): v128 {
  return f32x4.pmin(f32x4.pmin(a, b), c);
}
// @inline
function most(a: v128, b: v128, c: v128): v128 {
  return f32x4.pmax(f32x4.pmax(a, b), c);
}
// @inline
function clamp(a: v128): v128 {
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), a));
}
/** Returns whether both differences exceed the limit (a square), along a direction whose square is length2. */
// @inline
function parted(w: v128, later: v128, limit: v128, length2: v128): v128 {
  const less = f32x4.pmin(w, later);
  return and(f32x4.gt(less, f32x4.splat(0)), f32x4.gt(mul(less, less), mul(limit, length2)));
}

/** Tests four particles, their addresses at `block`, the first `count` valid, against a leaf of triangles. */
export function vertexLeaf(tree: usize, leaf: usize, block: usize, count: i32): void {
  const at = leaf + TRIANGLE_LEAF_AT;
  const ahead = leaf + TRIANGLE_LEAF_TRAJECTORIES;
  const ax = row(at, 0);
  const ay = row(at, 16);
  const az = row(at, 32);
  const bx = row(at, 48);
  const by = row(at, 64);
  const bz = row(at, 80);
  const cx = row(at, 96);
  const cy = row(at, 112);
  const cz = row(at, 128);
  const kx = row(ahead, 0);
  const ky = row(ahead, 16);
  const kz = row(ahead, 32);
  const eX = row(ahead, 48);
  const eY = row(ahead, 64);
  const eZ = row(ahead, 80);
  const fX = row(ahead, 96);
  const fY = row(ahead, 112);
  const fZ = row(ahead, 128);
  const Ax = add(ax, kx);
  const Ay = add(ay, ky);
  const Az = add(az, kz);
  const Bx = add(bx, eX);
  const By = add(by, eY);
  const Bz = add(bz, eZ);
  const Cx = add(cx, fX);
  const Cy = add(cy, fY);
  const Cz = add(cz, fZ);
  // the boxes at both ends of the trajectories
  const lx = sub(least(ax, bx, cx), boxReach);
  const ly = sub(least(ay, by, cy), boxReach);
  const lz = sub(least(az, bz, cz), boxReach);
  const hx = add(most(ax, bx, cx), boxReach);
  const hy = add(most(ay, by, cy), boxReach);
  const hz = add(most(az, bz, cz), boxReach);
  const Lx = sub(least(Ax, Bx, Cx), boxReach);
  const Ly = sub(least(Ay, By, Cy), boxReach);
  const Lz = sub(least(Az, Bz, Cz), boxReach);
  const Hx = add(most(Ax, Bx, Cx), boxReach);
  const Hy = add(most(Ay, By, Cy), boxReach);
  const Hz = add(most(Az, Bz, Cz), boxReach);
  const valid = lanesOf(tree, leaf, TRIANGLE_LEAF_BYTES);
  // vertices in one of the boxes
  let near = 0; // four bits a vertex
  for (let i = count - 1; i >= 0; i--) {
    const particle = load<u32>(block + ((<usize>i) << 2));
    const from = <usize>particle + shift;
    const trajectory = <usize>particle + toTrajectories;
    const px = v128.load32_splat(from);
    const py = v128.load32_splat(from, 4);
    const pz = v128.load32_splat(from, 8);
    const jx = v128.load32_splat(trajectory);
    const jy = v128.load32_splat(trajectory, 4);
    const jz = v128.load32_splat(trajectory, 8);
    const Px = add(px, jx);
    const Py = add(py, jy);
    const Pz = add(pz, jz);
    let hit = and(
      and(
        and(or(f32x4.ge(px, lx), f32x4.ge(Px, Lx)), or(f32x4.le(px, hx), f32x4.le(Px, Hx))),
        and(or(f32x4.ge(py, ly), f32x4.ge(Py, Ly)), or(f32x4.le(py, hy), f32x4.le(Py, Hy))),
      ),
      and(or(f32x4.ge(pz, lz), f32x4.ge(Pz, Lz)), or(f32x4.le(pz, hz), f32x4.le(Pz, Hz))),
    );
    if (itself) {
      const p = i32x4.splat(<i32>particle);
      hit = v128.andnot(hit, or(i32x4.eq(row(leaf, 0), p), or(i32x4.eq(row(leaf, 16), p), i32x4.eq(row(leaf, 32), p))));
    }
    near = (near << 4) | (v128.bitmask<i32>(hit) & valid);
  }
  if (!near) return;
  const zero = f32x4.splat(0);
  // sides and normal
  const ux = sub(bx, ax);
  const uy = sub(by, ay);
  const uz = sub(bz, az);
  const vx = sub(cx, ax);
  const vy = sub(cy, ay);
  const vz = sub(cz, az);
  const ex = sub(cx, bx);
  const ey = sub(cy, by);
  const ez = sub(cz, bz);
  let nx = sub(mul(uy, vz), mul(uz, vy));
  let ny = sub(mul(uz, vx), mul(ux, vz));
  let nz = sub(mul(ux, vy), mul(uy, vx));
  const n2 = dot3(nx, nx, ny, ny, nz, nz);
  const u2 = dot3(ux, ux, uy, uy, uz, uz);
  const v2 = dot3(vx, vx, vy, vy, vz, vz);
  const e2 = dot3(ex, ex, ey, ey, ez, ez);
  const area = f32x4.sqrt(n2);
  const sound = f32x4.ge(n2, mul(f32x4.splat(NEEDLE), mul(u2, v2)));
  const long = f32x4.ge(mul(f32x4.splat(SHORT), e2), u2);
  nx = f32x4.div(nx, area);
  ny = f32x4.div(ny, area);
  nz = f32x4.div(nz, area);
  // normals of the sides a b (opposite c) and a c (opposite b), inward, as long as the side; that of b c is minus their
  // sum, a at area
  const fx = sub(mul(ny, uz), mul(nz, uy));
  const fy = sub(mul(nz, ux), mul(nx, uz));
  const fz = sub(mul(nx, uy), mul(ny, ux));
  const gx = sub(mul(vy, nz), mul(vz, ny));
  const gy = sub(mul(vz, nx), mul(vx, nz));
  const gz = sub(mul(vx, ny), mul(vy, nx));
  // trajectories of b and c relative to a, and the triangle's extent along each direction at the end
  const bX = sub(eX, kx);
  const bY = sub(eY, ky);
  const bZ = sub(eZ, kz);
  const cX = sub(fX, kx);
  const cY = sub(fY, ky);
  const cZ = sub(fZ, kz);
  const nb = dot3(nx, bX, ny, bY, nz, bZ);
  const nc = dot3(nx, cX, ny, cY, nz, cZ);
  const fb = dot3(fx, bX, fy, bY, fz, bZ);
  const fc = dot3(fx, cX, fy, cY, fz, cZ);
  const gb = dot3(gx, bX, gy, bY, gz, bZ);
  const gc = dot3(gx, cX, gy, cY, gz, cZ);
  const lowN = least(zero, nb, nc);
  const highN = most(zero, nb, nc);
  const lowF = least(zero, fb, add(area, fc));
  const lowG = least(zero, gc, add(area, gb));
  const lowE = least(area, sub(zero, add(fb, gb)), sub(zero, add(fc, gc)));
  const limit = madd(
    f32x4.splat(SIDE_SHARE),
    add(u2, v2),
    madd(f32x4.splat(TRAJECTORY_SHARE), add(dot3(bX, bX, bY, bY, bZ, bZ), dot3(cX, cX, cY, cY, cZ, cZ)), wideReach2),
  );
  // test whether one of those directions separates them at both ends
  for (let i = 0; near; i++, near >>= 4) {
    if (!(near & 15)) continue;
    const particle = load<u32>(block + ((<usize>i) << 2));
    const from = <usize>particle + shift;
    const trajectory = <usize>particle + toTrajectories;
    const px = v128.load32_splat(from);
    const py = v128.load32_splat(from, 4);
    const pz = v128.load32_splat(from, 8);
    const jx = v128.load32_splat(trajectory);
    const jy = v128.load32_splat(trajectory, 4);
    const jz = v128.load32_splat(trajectory, 8);
    const qx = sub(px, ax);
    const qy = sub(py, ay);
    const qz = sub(pz, az);
    const dx = sub(jx, kx);
    const dy = sub(jy, ky);
    const dz = sub(jz, kz);
    const up = dot3(qx, nx, qy, ny, qz, nz);
    const wc = dot3(qx, fx, qy, fy, qz, fz);
    const wb = dot3(qx, gx, qy, gy, qz, gz);
    const wa = sub(sub(area, wb), wc);
    const Up = madd(dx, nx, madd(dy, ny, madd(dz, nz, up)));
    const Wc = madd(dx, fx, madd(dy, fy, madd(dz, fz, wc)));
    const Wb = madd(dx, gx, madd(dy, gy, madd(dz, gz, wb)));
    const Wa = sub(sub(area, Wb), Wc);
    const wide = madd(f32x4.splat(TRAJECTORY_SHARE), dot3(dx, dx, dy, dy, dz, dz), limit);
    const one = f32x4.splat(1);
    const out = and(
      sound,
      or(
        or(parted(up, sub(Up, highN), wide, one), parted(sub(zero, up), sub(lowN, Up), wide, one)),
        or(
          or(parted(sub(zero, wc), sub(lowF, Wc), wide, u2), parted(sub(zero, wb), sub(lowG, Wb), wide, v2)),
          and(long, parted(sub(zero, wa), sub(lowE, Wa), wide, e2)),
        ),
      ),
    );
    // fast ones: separated across their relative motion, along the direction between centers?
    let bits = near & 15 & ~v128.bitmask<i32>(out);
    if (bits && bits & v128.bitmask<i32>(f32x4.gt(dot3(dx, dx, dy, dy, dz, dz), wideReach2))) {
      const third = f32x4.splat(0.3333333432674408);
      const ox = sub(qx, mul(third, add(ux, vx)));
      const oy = sub(qy, mul(third, add(uy, vy)));
      const oz = sub(qz, mul(third, add(uz, vz)));
      const rx = sub(dx, mul(third, add(bX, cX)));
      const ry = sub(dy, mul(third, add(bY, cY)));
      const rz = sub(dz, mul(third, add(bZ, cZ)));
      const along = f32x4.div(dot3(ox, rx, oy, ry, oz, rz), dot3(rx, rx, ry, ry, rz, rz));
      const mx = sub(ox, mul(along, rx));
      const my = sub(oy, mul(along, ry));
      const mz = sub(oz, mul(along, rz));
      const mp = dot3(mx, qx, my, qy, mz, qz);
      const mb = dot3(mx, ux, my, uy, mz, uz);
      const mc = dot3(mx, vx, my, vy, mz, vz);
      const Mp = madd(mx, dx, madd(my, dy, madd(mz, dz, mp)));
      const Mb = madd(mx, bX, madd(my, bY, madd(mz, bZ, mb)));
      const Mc = madd(mx, cX, madd(my, cY, madd(mz, cZ, mc)));
      bits &= ~v128.bitmask<i32>(
        parted(sub(mp, most(zero, mb, mc)), sub(Mp, most(zero, Mb, Mc)), wide, dot3(mx, mx, my, my, mz, mz)),
      );
    }
    for (; bits; bits &= bits - 1) {
      const lane = leaf + ((<usize>ctz(bits)) << 2);
      addVertexTriangle(particle, load<u32>(lane), load<u32>(lane, 16), load<u32>(lane, 32));
    }
  }
}

/** Tests edges of leaf A against those of leaf B; a leaf with itself: each pair once. */
export function edgeLeaves(treeA: usize, A: usize, treeB: usize, B: usize): void {
  const at = B + EDGE_LEAF_AT;
  const ahead = B + EDGE_LEAF_TRAJECTORIES;
  const cx = row(at, 0);
  const cy = row(at, 16);
  const cz = row(at, 32);
  const dx = row(at, 48);
  const dy = row(at, 64);
  const dz = row(at, 80);
  const kx = row(ahead, 0);
  const ky = row(ahead, 16);
  const kz = row(ahead, 32);
  const mx = row(ahead, 48);
  const my = row(ahead, 64);
  const mz = row(ahead, 80);
  const Cx = add(cx, kx);
  const Cy = add(cy, ky);
  const Cz = add(cz, kz);
  const Dx = add(dx, mx);
  const Dy = add(dy, my);
  const Dz = add(dz, mz);
  // the boxes at both ends of the trajectories
  const lx = sub(f32x4.pmin(cx, dx), boxReach);
  const ly = sub(f32x4.pmin(cy, dy), boxReach);
  const lz = sub(f32x4.pmin(cz, dz), boxReach);
  const hx = add(f32x4.pmax(cx, dx), boxReach);
  const hy = add(f32x4.pmax(cy, dy), boxReach);
  const hz = add(f32x4.pmax(cz, dz), boxReach);
  const Lx = sub(f32x4.pmin(Cx, Dx), boxReach);
  const Ly = sub(f32x4.pmin(Cy, Dy), boxReach);
  const Lz = sub(f32x4.pmin(Cz, Dz), boxReach);
  const Hx = add(f32x4.pmax(Cx, Dx), boxReach);
  const Hy = add(f32x4.pmax(Cy, Dy), boxReach);
  const Hz = add(f32x4.pmax(Cz, Dz), boxReach);
  const vx = sub(dx, cx);
  const vy = sub(dy, cy);
  const vz = sub(dz, cz);
  const v2 = dot3(vx, vx, vy, vy, vz, vz);
  const validA = lanesOf(treeA, A, EDGE_LEAF_BYTES);
  const validB = lanesOf(treeB, B, EDGE_LEAF_BYTES);
  const zero = f32x4.splat(0);
  for (let i = 0; validA >> i; i++) {
    const lane = A + ((<usize>i) << 2);
    const from = lane + EDGE_LEAF_AT;
    const trajectory = lane + EDGE_LEAF_TRAJECTORIES;
    const ax = v128.load32_splat(from);
    const ay = v128.load32_splat(from, 16);
    const az = v128.load32_splat(from, 32);
    const bx = v128.load32_splat(from, 48);
    const by = v128.load32_splat(from, 64);
    const bz = v128.load32_splat(from, 80);
    const ix = v128.load32_splat(trajectory);
    const iy = v128.load32_splat(trajectory, 16);
    const iz = v128.load32_splat(trajectory, 32);
    const jx = v128.load32_splat(trajectory, 48);
    const jy = v128.load32_splat(trajectory, 64);
    const jz = v128.load32_splat(trajectory, 80);
    const Ax = add(ax, ix);
    const Ay = add(ay, iy);
    const Az = add(az, iz);
    const Bx = add(bx, jx);
    const By = add(by, jy);
    const Bz = add(bz, jz);
    // edges in one of the boxes, without those that share a vertex
    const hit = and(
      and(
        and(
          or(f32x4.ge(f32x4.pmax(ax, bx), lx), f32x4.ge(f32x4.pmax(Ax, Bx), Lx)),
          or(f32x4.le(f32x4.pmin(ax, bx), hx), f32x4.le(f32x4.pmin(Ax, Bx), Hx)),
        ),
        and(
          or(f32x4.ge(f32x4.pmax(ay, by), ly), f32x4.ge(f32x4.pmax(Ay, By), Ly)),
          or(f32x4.le(f32x4.pmin(ay, by), hy), f32x4.le(f32x4.pmin(Ay, By), Hy)),
        ),
      ),
      and(
        or(f32x4.ge(f32x4.pmax(az, bz), lz), f32x4.ge(f32x4.pmax(Az, Bz), Lz)),
        or(f32x4.le(f32x4.pmin(az, bz), hz), f32x4.le(f32x4.pmin(Az, Bz), Hz)),
      ),
    );
    let bits = v128.bitmask<i32>(hit) & validB;
    if (A === B) bits &= 14 << i;
    if (!bits) continue;
    const a0 = load<u32>(lane);
    const a1 = load<u32>(lane, 16);
    if (itself) {
      const p = i32x4.splat(<i32>a0);
      const q = i32x4.splat(<i32>a1);
      bits &= ~v128.bitmask<i32>(
        or(or(i32x4.eq(row(B, 0), p), i32x4.eq(row(B, 16), p)), or(i32x4.eq(row(B, 0), q), i32x4.eq(row(B, 16), q))),
      );
      if (!bits) continue;
    }
    // sides and the vector between them
    const ux = sub(bx, ax);
    const uy = sub(by, ay);
    const uz = sub(bz, az);
    const qx = sub(ax, cx);
    const qy = sub(ay, cy);
    const qz = sub(az, cz);
    const u2 = dot3(ux, ux, uy, uy, uz, uz);
    const uv = dot3(ux, vx, uy, vy, uz, vz);
    const uq = dot3(ux, qx, uy, qy, uz, qz);
    const vq = dot3(vx, qx, vy, qy, vz, qz);
    // the lines' closest points, then each edge's own closest to the other's (Ericson 2005, section 5.1.9); 0/0 becomes
    // 0
    let s = clamp(f32x4.div(sub(mul(uv, vq), mul(uq, v2)), sub(mul(u2, v2), mul(uv, uv))));
    const t = clamp(f32x4.div(madd(uv, s, vq), v2));
    s = clamp(f32x4.div(sub(mul(uv, t), uq), u2));
    const gx = madd(s, ux, sub(qx, mul(t, vx)));
    const gy = madd(s, uy, sub(qy, mul(t, vy)));
    const gz = madd(s, uz, sub(qz, mul(t, vz)));
    // all four ends along that direction, relative to c
    const pa = dot3(gx, qx, gy, qy, gz, qz);
    const pb = madd(gx, ux, madd(gy, uy, madd(gz, uz, pa)));
    const pd = dot3(gx, vx, gy, vy, gz, vz);
    const iX = sub(ix, kx);
    const iY = sub(iy, ky);
    const iZ = sub(iz, kz);
    const jX = sub(jx, kx);
    const jY = sub(jy, ky);
    const jZ = sub(jz, kz);
    const mX = sub(mx, kx);
    const mY = sub(my, ky);
    const mZ = sub(mz, kz);
    const Pa = madd(gx, iX, madd(gy, iY, madd(gz, iZ, pa)));
    const Pb = madd(gx, jX, madd(gy, jY, madd(gz, jZ, pb)));
    const Pd = madd(gx, mX, madd(gy, mY, madd(gz, mZ, pd)));
    const courses2 = add(dot3(iX, iX, iY, iY, iZ, iZ), add(dot3(jX, jX, jY, jY, jZ, jZ), dot3(mX, mX, mY, mY, mZ, mZ)));
    const limit = madd(f32x4.splat(SIDE_SHARE), add(u2, v2), madd(f32x4.splat(TRAJECTORY_SHARE), courses2, wideReach2));
    bits &= ~v128.bitmask<i32>(
      parted(
        sub(f32x4.pmin(pa, pb), f32x4.pmax(zero, pd)),
        sub(f32x4.pmin(Pa, Pb), f32x4.pmax(zero, Pd)),
        limit,
        dot3(gx, gx, gy, gy, gz, gz),
      ),
    );
    if (bits && bits & v128.bitmask<i32>(f32x4.gt(courses2, wideReach2))) {
      const half = f32x4.splat(0.5);
      const ox = add(qx, mul(half, sub(ux, vx)));
      const oy = add(qy, mul(half, sub(uy, vy)));
      const oz = add(qz, mul(half, sub(uz, vz)));
      const rx = mul(half, sub(add(iX, jX), mX));
      const ry = mul(half, sub(add(iY, jY), mY));
      const rz = mul(half, sub(add(iZ, jZ), mZ));
      const along = f32x4.div(dot3(ox, rx, oy, ry, oz, rz), dot3(rx, rx, ry, ry, rz, rz));
      const nx = sub(ox, mul(along, rx));
      const ny = sub(oy, mul(along, ry));
      const nz = sub(oz, mul(along, rz));
      const na = dot3(nx, qx, ny, qy, nz, qz);
      const nb = madd(nx, ux, madd(ny, uy, madd(nz, uz, na)));
      const nd = dot3(nx, vx, ny, vy, nz, vz);
      const Na = madd(nx, iX, madd(ny, iY, madd(nz, iZ, na)));
      const Nb = madd(nx, jX, madd(ny, jY, madd(nz, jZ, nb)));
      const Nd = madd(nx, mX, madd(ny, mY, madd(nz, mZ, nd)));
      bits &= ~v128.bitmask<i32>(
        parted(
          sub(f32x4.pmin(na, nb), f32x4.pmax(zero, nd)),
          sub(f32x4.pmin(Na, Nb), f32x4.pmax(zero, Nd)),
          limit,
          dot3(nx, nx, ny, ny, nz, nz),
        ),
      );
    }
    for (; bits; bits &= bits - 1) {
      const other = B + ((<usize>ctz(bits)) << 2);
      addEdges(a0, a1, load<u32>(other), load<u32>(other, 16));
    }
  }
}
