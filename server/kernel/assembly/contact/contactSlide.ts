/**
 * Directions and weights that pairs of contact are solved with (contactSolver.ts, rigidContact.ts): those of the
 * closest points when the substep began, but for pairs that slide. A vertex that slides over a flat face stands above
 * the next triangle at x, whose nearest point was its edge before: along the direction from that edge it is held back.
 * A soft block on a mesh collider at 3 m/s and 8 substeps slowed down by 2.0 mu g, at 1.5 m/s by 1.14 mu g; now by
 * 1.00.
 */
import { add, dot3, madd, mul, sub } from "../math/lanes";
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
import { CONTACT_BLOCK_NORMAL, CONTACT_BLOCK_WEIGHT } from "../layout/layout";
import { isVertexBlock } from "./blockStatus";

/** Part of its thickness that a pair may slide in a substep without being asked again. */
const STRAY: f32 = 0.05;
/** Directions are the same way within 60 degrees, as in collide.ts. */
export const SAME_WAY: f32 = 0.5;

// of the block of the last `loadDirections`; one instance belongs to one thread
export let nx: v128 = i32x4(0, 0, 0, 0);
export let ny: v128 = i32x4(0, 0, 0, 0);
export let nz: v128 = i32x4(0, 0, 0, 0);
export let b0: v128 = i32x4(0, 0, 0, 0);
export let b1: v128 = i32x4(0, 0, 0, 0);
export let b2: v128 = i32x4(0, 0, 0, 0);
export let b3: v128 = i32x4(0, 0, 0, 0);

/** Those that the block keeps. */
export function loadDirections(block: usize): void {
  nx = v128.load(block, CONTACT_BLOCK_NORMAL);
  ny = v128.load(block, CONTACT_BLOCK_NORMAL + 16);
  nz = v128.load(block, CONTACT_BLOCK_NORMAL + 32);
  b0 = v128.load(block, CONTACT_BLOCK_WEIGHT);
  b1 = v128.load(block, CONTACT_BLOCK_WEIGHT + 16);
  b2 = v128.load(block, CONTACT_BLOCK_WEIGHT + 32);
  b3 = v128.load(block, CONTACT_BLOCK_WEIGHT + 48);
}

/** Gaps of the gathered pairs. */
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
 * @param slide2 squared tangential displacement in this substep; r thickness.
 * @returns mask of those that have to be asked again
 */
// @inline
export function slides(slide2: v128, r: v128): v128 {
  const far = mul(f32x4.splat(STRAY), r);
  return f32x4.gt(slide2, mul(far, far));
}

/** Squared tangential displacement of the pairs of a block in this substep. They are gathered at x before and after. */
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
 * Lanes that slide, by the directions of x too, take those, and their weights, where they point the same way as before
 * or held the pair apart when the substep began. @param slid mask of those; r thickness
 * @returns those that are nearest elsewhere and clear at x, and that a direction between the two holds apart at both
 *   ends: they passed each other
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
  // what the closest points of x have moved: more across m than along it, or it is no sliding
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
