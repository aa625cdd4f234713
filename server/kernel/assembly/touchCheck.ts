/**
 * At the end of a substep: has any listed pair come together on the way from its safe positions S to x? Four at a time.
 *
 * Two convex sets whose points move on straight lines do not meet if one direction holds them apart at the start and at the end: n . (p - q) is linear
 * in time for every p of the one and q of the other. Every pair keeps such a direction n for its S (TOUCH_NORMAL); while it holds the pair apart by
 * its least distance at x, too, that is the whole test. Else the direction of the closest points at x is tried on S. What neither clears is
 * marked TOUCH_BAD for touchResponse.ts, which looks at it alone and in float64.
 * Float32 is enough: coordinates are differences within the pair, rounding is some 1e-7 of its size, and a direction has to hold it apart by a part
 * of its thickness (KEEP of touchList.ts) at x, by half as much at S.
 *
 * Pairs that are cleared and near get the direction, weights and gap of their closest points at x, from which the next substep's contacts are solved.
 */
import { sub, mul, add, dot3 } from "./lanes";
import { gather, separation, closest, b0, b1, b2, b3, dx, dy, dz } from "./touchLanes";
import { HEADER, H_X, H_SAFE, TOUCH_NORMAL, TOUCH_KEEP, TOUCH_THICKNESS, TOUCH_GAP, TOUCH_NEAR, TOUCH_BAD, TOUCH_WEIGHT, TOUCH_BYTES } from "./layout";

/** Pairs are solved while their gap is below this many thicknesses, and this many times what it lost in the last substep above that. */
const NEAR: f32 = 1.25;
const AHEAD: f32 = 1.5;

/** @returns how many blocks have a pair that is not cleared */
export function checkTouches(block: usize, count: i32, vertex: bool): i32 {
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X), zero = f32x4.splat(0), one = f32x4.splat(1);
  let found = 0;
  for (let n = 0; n < count; n++, block += TOUCH_BYTES) {
    gather(block, 0);
    const nx = v128.load(block, TOUCH_NORMAL), ny = v128.load(block, TOUCH_NORMAL + 16), nz = v128.load(block, TOUCH_NORMAL + 32), keep = v128.load(block, TOUCH_KEEP), r = v128.load(block, TOUCH_THICKNESS), before = v128.load(block, TOUCH_GAP);
    const apart = separation(vertex, nx, ny, nz), reach = mul(f32x4.splat(NEAR), r);
    const holds = f32x4.ge(apart, keep);
    // not a number counts as not cleared
    let bad = v128.not(holds);
    const approach = f32x4.max(zero, sub(before, apart)), within = f32x4.lt(apart, add(reach, mul(f32x4.splat(AHEAD), approach)));
    if (!v128.any_true(v128.or(bad, within))) {
      v128.store(block, apart, TOUCH_GAP);
      v128.store(block, zero, TOUCH_NEAR);
      v128.store(block, zero, TOUCH_BAD);
      continue;
    }
    closest(vertex);
    const gap = f32x4.sqrt(dot3(dx, dx, dy, dy, dz, dz)), scale = f32x4.div(one, gap), mx = mul(dx, scale), my = mul(dy, scale), mz = mul(dz, scale);
    const weight0 = b0, weight1 = b1, weight2 = b2, weight3 = b3;
    if (v128.any_true(bad)) {
      gather(block, toSafe);
      const cleared = v128.and(f32x4.ge(gap, keep), f32x4.ge(separation(vertex, mx, my, mz), mul(f32x4.splat(0.5), keep)));
      bad = v128.andnot(bad, cleared);
      if (v128.any_true(bad)) found++;
    }
    v128.store(block, bad, TOUCH_BAD);
    const good = v128.not(bad), near = v128.and(good, f32x4.lt(gap, add(reach, mul(f32x4.splat(AHEAD), f32x4.max(zero, sub(before, gap))))));
    v128.store(block, near, TOUCH_NEAR);
    v128.store(block, v128.bitselect(gap, before, good), TOUCH_GAP);
    v128.store(block, v128.bitselect(mx, nx, good), TOUCH_NORMAL); v128.store(block, v128.bitselect(my, ny, good), TOUCH_NORMAL + 16); v128.store(block, v128.bitselect(mz, nz, good), TOUCH_NORMAL + 32);
    v128.store(block, weight0, TOUCH_WEIGHT); v128.store(block, weight1, TOUCH_WEIGHT + 16); v128.store(block, weight2, TOUCH_WEIGHT + 32); v128.store(block, weight3, TOUCH_WEIGHT + 48);
  }
  return found;
}
