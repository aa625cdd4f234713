/**
 * Leaf against leaf: which of sixteen pairs of primitives may be within reach, four lanes at a time in float32. What passes is measured exactly
 * (pairList.ts); what is refused is beyond reach: squared distances are let go from R^2 + R^2/64 + (s_1^2 + s_2^2)/2^13 on, s the lengths of two sides.
 * A pair of edges at an angle of a, whose place along each other float32 finds to 2^-21/a^2, is measured too far by a times that, or by a where all
 * places are equally good: 7e-4 s at most, where (R + d)^2 <= R^2 (1 + 1/64) + 65 d^2 leaves 1.4e-3 s. Triangles with an angle whose sine is below
 * 2^-10 have no normal in float32 and all pass. Lengths to the fourth power must be normal numbers: sides of 1e-9 m to 1e9 m.
 * Tried and lost: rows written from the lanes where float32 is good enough; the list was no faster (2.9 ms both, 5,000 triangles, 20,748 pairs).
 */
import { EDGE_LEAF_AT, EDGE_LEAF_BYTES, TRIANGLE_LEAF_AT, TRIANGLE_LEAF_BYTES } from "./layout";
import { dot3, madd, mul, sub } from "./lanes";
import { addEdges, addVertexTriangle } from "./pairList";
import { lanesOf } from "./trees";

const WIDER: f32 = 1.015625; // 1 + 1/64
const SIDE_SHARE: f32 = 1.220703125e-4; // 2^-13
const NEEDLE: f32 = 9.5367431640625e-7; // 2^-20, a sine squared

let wideReach2: v128, boxReach: v128, itself: bool;

/** @param reach2 R^2; box how far boxes are inflated, rounding included; same whether both leaves are of one surface */
export function openLeaves(reach2: f32, box: f32, same: bool): void {
  wideReach2 = f32x4.splat(reach2 * WIDER); boxReach = f32x4.splat(box); itself = same;
}

@inline function row(leaf: usize, at: usize): v128 { return v128.load(leaf + at); }
@inline function and(a: v128, b: v128): v128 { return v128.and(a, b); }
@inline function or(a: v128, b: v128): v128 { return v128.or(a, b); }
@inline function least(a: v128, b: v128, c: v128): v128 { return f32x4.pmin(f32x4.pmin(a, b), c); }
@inline function most(a: v128, b: v128, c: v128): v128 { return f32x4.pmax(f32x4.pmax(a, b), c); }
@inline function clamp(a: v128): v128 { return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), a)); }
/** Beyond an edge by more than the limit: w = its distance times the edge's length, negative outside. */
@inline function beyond(w: v128, limit: v128, length2: v128): v128 { return and(f32x4.lt(w, f32x4.splat(0)), f32x4.gt(mul(w, w), mul(limit, length2))); }

/** Four particles, their addresses at `block`, the first `count` valid, against a leaf of triangles. @param shift bytes from X to the positions */
export function vertexLeaf(tree: usize, leaf: usize, block: usize, count: i32, shift: usize): void {
  const at = leaf + TRIANGLE_LEAF_AT;
  const ax = row(at, 0), ay = row(at, 16), az = row(at, 32), bx = row(at, 48), by = row(at, 64), bz = row(at, 80), cx = row(at, 96), cy = row(at, 112), cz = row(at, 128);
  const lx = sub(least(ax, bx, cx), boxReach), ly = sub(least(ay, by, cy), boxReach), lz = sub(least(az, bz, cz), boxReach);
  const hx = f32x4.add(most(ax, bx, cx), boxReach), hy = f32x4.add(most(ay, by, cy), boxReach), hz = f32x4.add(most(az, bz, cz), boxReach);
  const valid = lanesOf(tree, leaf, TRIANGLE_LEAF_BYTES);
  let near = 0; // four bits a vertex
  for (let i = count - 1; i >= 0; i--) {
    const particle = load<u32>(block + (<usize>i << 2)), from = <usize>particle + shift;
    const px = v128.load32_splat(from), py = v128.load32_splat(from, 4), pz = v128.load32_splat(from, 8);
    let hit = and(and(and(f32x4.ge(px, lx), f32x4.le(px, hx)), and(f32x4.ge(py, ly), f32x4.le(py, hy))), and(f32x4.ge(pz, lz), f32x4.le(pz, hz)));
    if (itself) {
      const p = i32x4.splat(<i32>particle);
      hit = v128.andnot(hit, or(i32x4.eq(row(leaf, 0), p), or(i32x4.eq(row(leaf, 16), p), i32x4.eq(row(leaf, 32), p))));
    }
    near = (near << 4) | (v128.bitmask<i32>(hit) & valid);
  }
  if (!near) return;
  const ux = sub(bx, ax), uy = sub(by, ay), uz = sub(bz, az), vx = sub(cx, ax), vy = sub(cy, ay), vz = sub(cz, az), ex = sub(cx, bx), ey = sub(cy, by), ez = sub(cz, bz);
  let nx = sub(mul(uy, vz), mul(uz, vy)), ny = sub(mul(uz, vx), mul(ux, vz)), nz = sub(mul(ux, vy), mul(uy, vx));
  const n2 = dot3(nx, nx, ny, ny, nz, nz), u2 = dot3(ux, ux, uy, uy, uz, uz), v2 = dot3(vx, vx, vy, vy, vz, vz), e2 = dot3(ex, ex, ey, ey, ez, ez);
  const area = f32x4.sqrt(n2), limit = madd(f32x4.splat(SIDE_SHARE), f32x4.add(u2, v2), wideReach2);
  const sound = f32x4.ge(n2, mul(f32x4.splat(NEEDLE), mul(u2, v2)));
  nx = f32x4.div(nx, area); ny = f32x4.div(ny, area); nz = f32x4.div(nz, area);
  for (let i = 0; near; i++, near >>= 4) {
    if (!(near & 15)) continue;
    const particle = load<u32>(block + (<usize>i << 2)), from = <usize>particle + shift;
    const qx = sub(v128.load32_splat(from), ax), qy = sub(v128.load32_splat(from, 4), ay), qz = sub(v128.load32_splat(from, 8), az);
    const up = dot3(qx, nx, qy, ny, qz, nz);
    const wc = dot3(sub(mul(uy, qz), mul(uz, qy)), nx, sub(mul(uz, qx), mul(ux, qz)), ny, sub(mul(ux, qy), mul(uy, qx)), nz);
    const wb = dot3(sub(mul(qy, vz), mul(qz, vy)), nx, sub(mul(qz, vx), mul(qx, vz)), ny, sub(mul(qx, vy), mul(qy, vx)), nz);
    const wa = sub(sub(area, wb), wc);
    const out = and(sound, or(or(f32x4.gt(mul(up, up), limit), beyond(wc, limit, u2)), or(beyond(wb, limit, v2), beyond(wa, limit, e2))));
    for (let bits = near & 15 & ~v128.bitmask<i32>(out); bits; bits &= bits - 1) {
      const lane = leaf + (<usize>ctz(bits) << 2);
      addVertexTriangle(particle, load<u32>(lane), load<u32>(lane, 16), load<u32>(lane, 32));
    }
  }
}

/** Edges of leaf A against those of leaf B; a leaf with itself: each pair once. */
export function edgeLeaves(treeA: usize, A: usize, treeB: usize, B: usize): void {
  const at = B + EDGE_LEAF_AT;
  const cx = row(at, 0), cy = row(at, 16), cz = row(at, 32), dx = row(at, 48), dy = row(at, 64), dz = row(at, 80);
  const lx = sub(f32x4.pmin(cx, dx), boxReach), ly = sub(f32x4.pmin(cy, dy), boxReach), lz = sub(f32x4.pmin(cz, dz), boxReach);
  const hx = f32x4.add(f32x4.pmax(cx, dx), boxReach), hy = f32x4.add(f32x4.pmax(cy, dy), boxReach), hz = f32x4.add(f32x4.pmax(cz, dz), boxReach);
  const vx = sub(dx, cx), vy = sub(dy, cy), vz = sub(dz, cz), v2 = dot3(vx, vx, vy, vy, vz, vz);
  const validA = lanesOf(treeA, A, EDGE_LEAF_BYTES), validB = lanesOf(treeB, B, EDGE_LEAF_BYTES);
  for (let i = 0; validA >> i; i++) {
    const lane = A + (<usize>i << 2), from = lane + EDGE_LEAF_AT;
    const ax = v128.load32_splat(from), ay = v128.load32_splat(from, 16), az = v128.load32_splat(from, 32), bx = v128.load32_splat(from, 48), by = v128.load32_splat(from, 64), bz = v128.load32_splat(from, 80);
    const hit = and(
      and(and(f32x4.ge(f32x4.pmax(ax, bx), lx), f32x4.le(f32x4.pmin(ax, bx), hx)), and(f32x4.ge(f32x4.pmax(ay, by), ly), f32x4.le(f32x4.pmin(ay, by), hy))),
      and(f32x4.ge(f32x4.pmax(az, bz), lz), f32x4.le(f32x4.pmin(az, bz), hz)));
    let bits = v128.bitmask<i32>(hit) & validB;
    if (A == B) bits &= 14 << i;
    if (!bits) continue;
    const a0 = load<u32>(lane), a1 = load<u32>(lane, 16);
    if (itself) {
      const p = i32x4.splat(<i32>a0), q = i32x4.splat(<i32>a1);
      bits &= ~v128.bitmask<i32>(or(or(i32x4.eq(row(B, 0), p), i32x4.eq(row(B, 16), p)), or(i32x4.eq(row(B, 0), q), i32x4.eq(row(B, 16), q))));
      if (!bits) continue;
    }
    const ux = sub(bx, ax), uy = sub(by, ay), uz = sub(bz, az), qx = sub(ax, cx), qy = sub(ay, cy), qz = sub(az, cz);
    const u2 = dot3(ux, ux, uy, uy, uz, uz), uv = dot3(ux, vx, uy, vy, uz, vz), uq = dot3(ux, qx, uy, qy, uz, qz), vq = dot3(vx, qx, vy, qy, vz, qz);
    // the lines' closest points, then each edge's own closest to the other's (Ericson 2005, section 5.1.9); 0/0 becomes 0
    let s = clamp(f32x4.div(sub(mul(uv, vq), mul(uq, v2)), sub(mul(u2, v2), mul(uv, uv))));
    const t = clamp(f32x4.div(madd(uv, s, vq), v2));
    s = clamp(f32x4.div(sub(mul(uv, t), uq), u2));
    const gx = madd(s, ux, sub(qx, mul(t, vx))), gy = madd(s, uy, sub(qy, mul(t, vy))), gz = madd(s, uz, sub(qz, mul(t, vz)));
    bits &= ~v128.bitmask<i32>(f32x4.gt(dot3(gx, gx, gy, gy, gz, gz), madd(f32x4.splat(SIDE_SHARE), f32x4.add(u2, v2), wideReach2)));
    for (; bits; bits &= bits - 1) {
      const other = B + (<usize>ctz(bits) << 2);
      addEdges(a0, a1, load<u32>(other), load<u32>(other, 16));
    }
  }
}
