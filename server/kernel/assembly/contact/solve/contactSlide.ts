/**
 * Directions and weights with which contact pairs are solved (contactSolver.ts, rigidContact.ts). They come from the
 * closest points at the start of the substep, or at x if the pair slides. A vertex that slides over a flat face has
 * passed its old nearest edge by x and lies above the next triangle. The old direction from that edge would brake it: a
 * soft block on a mesh collider, 8 substeps, slowed by 2.0 mu g at 3 m/s and 1.14 mu g at 1.5 m/s; now by 1.00 mu g.
 */
import { add, dot3, madd, mul, sub } from "../../math/lanes";
import {
  closest,
  gather,
  separation,
  b0 as c0,
  b1 as c1,
  b2 as c2,
  b3 as c3,
  dx,
  dy,
  dz,
  x0,
  y0,
  z0,
  x1,
  y1,
  z1,
  x2,
  y2,
  z2,
} from "./contactLanes";
import * as L from "../../layout/layout";
import { isVertexBlock } from "../prepare/blockStatus";

/** Slide in a substep, as a part of the thickness, up to which a pair keeps its direction. */
const STRAY: f32 = 0.05;
/** Least cosine (60 degrees) between directions that count as the same, as in collide.ts. */
export const SAME_WAY: f32 = 0.5;

// of the block of the last `loadDirections`; each thread has its own instance
export let nx: v128 = i32x4(0, 0, 0, 0);
export let ny: v128 = i32x4(0, 0, 0, 0);
export let nz: v128 = i32x4(0, 0, 0, 0);
export let b0: v128 = i32x4(0, 0, 0, 0);
export let b1: v128 = i32x4(0, 0, 0, 0);
export let b2: v128 = i32x4(0, 0, 0, 0);
export let b3: v128 = i32x4(0, 0, 0, 0);

/** Loads the directions and weights stored in the block. */
export function loadDirections(block: usize): void {
  nx = v128.load(block, L.CONTACT_BLOCK_NORMAL);
  ny = v128.load(block, L.CONTACT_BLOCK_NORMAL + 16);
  nz = v128.load(block, L.CONTACT_BLOCK_NORMAL + 32);
  b0 = v128.load(block, L.CONTACT_BLOCK_WEIGHT);
  b1 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 16);
  b2 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 32);
  b3 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 48);
}

/** Returns the gaps of the gathered pairs. */
// @inline
export function gapAlong(): v128 {
  return dot3(
    nx,
    madd(b0, x0, madd(b1, x1, mul(b2, x2))),
    ny,
    madd(b0, y0, madd(b1, y1, mul(b2, y2))),
    nz,
    madd(b0, z0, madd(b1, z1, mul(b2, z2))),
  );
}

/**
 * @param slide2 squared tangential displacement in this substep; r thickness
 * @returns mask of the pairs that need new directions
 */
// @inline
export function slides(slide2: v128, r: v128): v128 {
  const far = mul(f32x4.splat(STRAY), r);
  return f32x4.gt(slide2, mul(far, far));
}

/**
 * Returns the squared tangential displacement of a block's pairs in this substep. Before and after, the pairs are
 * gathered at x.
 */
export function slide2Of(block: usize, toPrev: usize): v128 {
  const ux = madd(b0, x0, madd(b1, x1, mul(b2, x2)));
  const uy = madd(b0, y0, madd(b1, y1, mul(b2, y2)));
  const uz = madd(b0, z0, madd(b1, z1, mul(b2, z2)));
  gather(block, toPrev);
  const tx = sub(ux, madd(b0, x0, madd(b1, x1, mul(b2, x2))));
  const ty = sub(uy, madd(b0, y0, madd(b1, y1, mul(b2, y2))));
  const tz = sub(uz, madd(b0, z0, madd(b1, z1, mul(b2, z2))));
  const along = dot3(tx, nx, ty, ny, tz, nz);
  gather(block, 0);
  return sub(dot3(tx, tx, ty, ty, tz, tz), mul(along, along));
}

/**
 * Gives sliding lanes the directions and weights of their closest points at x. The new direction must be within
 * SAME_WAY of the old one, or have separated the pair when the substep began. @param slid mask of sliding lanes; r
 * thickness
 * @returns lanes that passed each other: their nearest points are elsewhere and clear at x, and the mean of both
 * directions separates them at both ends
 */
export function turnAlong(block: usize, slid: v128, toPrev: usize, r: v128): v128 {
  const zero = f32x4.splat(0);
  const half = mul(f32x4.splat(0.5), r);
  const vertex = isVertexBlock(block);
  closest(vertex);
  const gap = f32x4.sqrt(dot3(dx, dx, dy, dy, dz, dz));
  const scale = f32x4.div(f32x4.splat(1), gap);
  const mx = mul(dx, scale);
  const my = mul(dy, scale);
  const mz = mul(dz, scale);
  const ex = dx;
  const ey = dy;
  const ez = dz;
  gather(block, toPrev);
  // relative displacement of the closest points at x: the pair slides only if its part across m exceeds that along m
  const ux = sub(ex, madd(c0, x0, madd(c1, x1, mul(c2, x2))));
  const uy = sub(ey, madd(c0, y0, madd(c1, y1, mul(c2, y2))));
  const uz = sub(ez, madd(c0, z0, madd(c1, z1, mul(c2, z2))));
  const along = dot3(mx, ux, my, uy, mz, uz);
  const glides = f32x4.gt(dot3(ux, ux, uy, uy, uz, uz), mul(f32x4.splat(2), mul(along, along)));
  const held = f32x4.ge(separation(vertex, mx, my, mz), half);
  const kx = add(mx, nx);
  const ky = add(my, ny);
  const kz = add(mz, nz);
  const least = mul(half, f32x4.sqrt(dot3(kx, kx, ky, ky, kz, kz)));
  let passed = v128.and(v128.and(slid, f32x4.ge(gap, r)), f32x4.ge(separation(vertex, kx, ky, kz), least));
  gather(block, 0);
  const turned = v128.and(
    v128.and(slid, f32x4.gt(gap, zero)),
    v128.and(glides, v128.or(held, f32x4.ge(dot3(mx, nx, my, ny, mz, nz), f32x4.splat(SAME_WAY)))),
  );
  passed = v128.and(v128.andnot(passed, turned), f32x4.ge(separation(vertex, kx, ky, kz), least));
  nx = v128.bitselect(mx, nx, turned);
  ny = v128.bitselect(my, ny, turned);
  nz = v128.bitselect(mz, nz, turned);
  b0 = v128.bitselect(c0, b0, turned);
  b1 = v128.bitselect(c1, b1, turned);
  b2 = v128.bitselect(c2, b2, turned);
  b3 = v128.bitselect(c3, b3, turned);
  return passed;
}
