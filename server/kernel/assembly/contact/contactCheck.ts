/**
 * At the end of a substep: has any listed pair come together on the way from its safe positions S to x? Four at a time.
 *
 * Two convex sets whose points move on straight lines do not meet if one direction holds them apart at the start and at
 * the end: n . (p - q) is linear in time for every p of the one and q of the other. Every pair keeps such a direction n
 * for its S (CONTACT_BLOCK_NORMAL); while it holds the pair apart by its least distance at x, too, that is the whole
 * test. Else the direction of the closest points at x is tried on S. What neither clears is marked CONTACT_BLOCK_BAD
 * for contactResponse.ts, which looks at it alone and in float64. Float32 is enough: coordinates are differences within
 * the pair, rounding is some 1e-7 of its size, and a direction has to hold it apart by a part of its thickness (KEEP of
 * contactList.ts) at x, by half as much at S.
 *
 * Pairs that are cleared and near get the direction, weights and gap of their closest points at x, from which the next
 * substep's contacts are solved.
 */
import { sub, mul, add, dot3 } from "../math/lanes";
import { badOf, nearOf, NEVER, numberOfBlock } from "./blockStatus";
import { hasLoads } from "./piles";
import { gather, separation, closest, b0, b1, b2, b3, dx, dy, dz } from "./contactLanes";
import {
  HEADER,
  H_X,
  H_SAFE,
  CONTACT_BLOCK_NORMAL,
  CONTACT_BLOCK_KEEP,
  CONTACT_BLOCK_THICKNESS,
  CONTACT_BLOCK_GAP,
  CONTACT_BLOCK_NEAR,
  CONTACT_BLOCK_BAD,
  CONTACT_BLOCK_WEIGHT,
  CONTACT_BLOCK_OWNS,
  CONTACT_BLOCK_PUSH,
  CONTACT_BLOCK_BYTES,
} from "../layout/layout";

/**
 * Pairs are solved while their gap is below this many thicknesses, or will be if it goes on losing this many times what
 * it lost in the last substep.
 */
export const NEAR: f32 = 1.25;
export const AHEAD: f32 = 1.5;

/** Neither held apart nor solved: lanes that have been given back. */
// @inline
function isDead(keep: v128, r: v128): bool {
  return v128.all_true<i32>(f32x4.le(f32x4.max(keep, r), f32x4.splat(NEVER)));
}

/** @returns how many blocks have a pair that is not cleared */
export function checkContacts(block: usize, count: i32, vertex: bool): i32 {
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const number = numberOfBlock(block);
  const nears = nearOf(number);
  const bads = badOf(number);
  const carries = hasLoads();
  let found = 0;
  for (let n = 0; n < count; n++, block += CONTACT_BLOCK_BYTES) {
    const word = (<usize>n) << 2;
    const keep = v128.load(block, CONTACT_BLOCK_KEEP);
    const r = v128.load(block, CONTACT_BLOCK_THICKNESS);
    if (isDead(keep, r)) {
      store<i32>(nears + word, 0);
      store<i32>(bads + word, 0);
      continue;
    }
    gather(block, 0);
    const nx = v128.load(block, CONTACT_BLOCK_NORMAL);
    const ny = v128.load(block, CONTACT_BLOCK_NORMAL + 16);
    const nz = v128.load(block, CONTACT_BLOCK_NORMAL + 32);
    const apart = separation(vertex, nx, ny, nz);
    const reach = mul(f32x4.splat(NEAR), r);
    const least = f32x4.max(reach, keep);
    // not a number counts as not cleared
    let bad = v128.not(f32x4.ge(apart, keep));
    const within = f32x4.lt(apart, least);
    if (!v128.any_true(v128.or(bad, within))) {
      v128.store(block, apart, CONTACT_BLOCK_GAP);
      v128.store(block, zero, CONTACT_BLOCK_NEAR);
      v128.store(block, zero, CONTACT_BLOCK_BAD);
      if (carries) keepPushes(block, zero);
      store<i32>(nears + word, 0);
      store<i32>(bads + word, 0);
      continue;
    }
    closest(vertex);
    const gap = f32x4.sqrt(dot3(dx, dx, dy, dy, dz, dz));
    const scale = f32x4.div(one, gap);
    const mx = mul(dx, scale);
    const my = mul(dy, scale);
    const mz = mul(dz, scale);
    const weight0 = b0;
    const weight1 = b1;
    const weight2 = b2;
    const weight3 = b3;
    gather(block, toSafe);
    const wasApart = separation(vertex, mx, my, mz);
    if (v128.any_true(bad)) {
      bad = v128.andnot(bad, v128.and(f32x4.ge(gap, keep), f32x4.ge(wasApart, mul(f32x4.splat(0.5), keep))));
      if (v128.any_true(bad)) found++;
    }
    v128.store(block, bad, CONTACT_BLOCK_BAD);
    // solved next: what is near, and what comes near if it goes on as it did in this substep
    const good = v128.andnot(f32x4.gt(gap, zero), bad);
    const close = v128.and(
      good,
      f32x4.lt(gap, add(reach, mul(f32x4.splat(AHEAD), f32x4.max(zero, sub(wasApart, gap))))),
    );
    const near = v128.and(
      close,
      vertex ? answers(block, weight1, weight2, weight3) : crosses(weight0, weight1, weight2, weight3),
    );
    v128.store(block, near, CONTACT_BLOCK_NEAR);
    if (carries) keepPushes(block, near);
    store<i32>(nears + word, v128.bitmask<i32>(near));
    store<i32>(bads + word, v128.bitmask<i32>(bad));
    v128.store(block, gap, CONTACT_BLOCK_GAP);
    v128.store(block, v128.bitselect(mx, nx, good), CONTACT_BLOCK_NORMAL);
    v128.store(block, v128.bitselect(my, ny, good), CONTACT_BLOCK_NORMAL + 16);
    v128.store(block, v128.bitselect(mz, nz, good), CONTACT_BLOCK_NORMAL + 32);
    v128.store(block, weight0, CONTACT_BLOCK_WEIGHT);
    v128.store(block, weight1, CONTACT_BLOCK_WEIGHT + 16);
    v128.store(block, weight2, CONTACT_BLOCK_WEIGHT + 32);
    v128.store(block, weight3, CONTACT_BLOCK_WEIGHT + 48);
  }
  return found;
}

/**
 * Marks as near what would be, or would be past each other, where the substep is going: along the direction of the
 * closest points at S.
 */
export function foreseeContacts(block: usize, count: i32, vertex: bool): void {
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  // as far beyond x as the check looks when it chooses what is near
  const beyond = f32x4.splat(AHEAD - 1);
  const nears = nearOf(numberOfBlock(block));
  for (let n = 0; n < count; n++, block += CONTACT_BLOCK_BYTES) {
    const keep = v128.load(block, CONTACT_BLOCK_KEEP);
    const r = v128.load(block, CONTACT_BLOCK_THICKNESS);
    if (isDead(keep, r)) continue;
    const reach = mul(f32x4.splat(NEAR), r);
    const was = v128.load(block, CONTACT_BLOCK_NEAR);
    const nx = v128.load(block, CONTACT_BLOCK_NORMAL);
    const ny = v128.load(block, CONTACT_BLOCK_NORMAL + 16);
    const nz = v128.load(block, CONTACT_BLOCK_NORMAL + 32);
    gather(block, 0);
    const held = separation(vertex, nx, ny, nz);
    gather(block, toSafe);
    const within = v128.andnot(
      f32x4.lt(
        sub(held, mul(beyond, f32x4.max(zero, sub(separation(vertex, nx, ny, nz), held)))),
        f32x4.max(reach, keep),
      ),
      was,
    );
    if (!v128.any_true(within)) continue;
    closest(vertex);
    const gap = f32x4.sqrt(dot3(dx, dx, dy, dy, dz, dz));
    const scale = f32x4.div(one, gap);
    const mx = mul(dx, scale);
    const my = mul(dy, scale);
    const mz = mul(dz, scale);
    const weight0 = b0;
    const weight1 = b1;
    const weight2 = b2;
    const weight3 = b3;
    gather(block, 0);
    const good = v128.and(within, v128.and(f32x4.gt(gap, zero), f32x4.gt(r, zero)));
    const then = separation(vertex, mx, my, mz);
    const close = v128.and(good, f32x4.lt(sub(then, mul(beyond, f32x4.max(zero, sub(gap, then)))), reach));
    const near = v128.and(
      close,
      vertex ? answers(block, weight1, weight2, weight3) : crosses(weight0, weight1, weight2, weight3),
    );
    if (!v128.any_true(near)) continue;
    v128.store(block, v128.or(was, near), CONTACT_BLOCK_NEAR);
    store<i32>(nears + ((<usize>n) << 2), 1);
    keepLanes(block, CONTACT_BLOCK_NORMAL, mx, near);
    keepLanes(block, CONTACT_BLOCK_NORMAL + 16, my, near);
    keepLanes(block, CONTACT_BLOCK_NORMAL + 32, mz, near);
    keepLanes(block, CONTACT_BLOCK_WEIGHT, weight0, near);
    keepLanes(block, CONTACT_BLOCK_WEIGHT + 16, weight1, near);
    keepLanes(block, CONTACT_BLOCK_WEIGHT + 32, weight2, near);
    keepLanes(block, CONTACT_BLOCK_WEIGHT + 48, weight3, near);
  }
}

/** Forgets the pushes of pairs that are not near. */
function keepPushes(block: usize, near: v128): void {
  for (let row: usize = 0; row < 48; row += 16) {
    const at = block + row;
    v128.store(at, v128.and(near, v128.load(at, CONTACT_BLOCK_PUSH)), CONTACT_BLOCK_PUSH);
  }
}

// @inline
function keepLanes(block: usize, row: usize, value: v128, mask: v128): void {
  v128.store(block + row, v128.bitselect(value, v128.load(block + row), mask));
}

/**
 * A vertex whose nearest point of the triangle is a corner is as near to every triangle around that corner, and the
 * corner to those around the vertex: of all these pairs one answers, that of the triangle that owns the corner, seen
 * from the vertex with the lower address.
 */
// @inline
function answers(block: usize, wa: v128, wb: v128, wc: v128): v128 {
  const owns = v128.load(block, CONTACT_BLOCK_OWNS);
  const corner = f32x4.splat(-1);
  const none = i32x4.splat(0);
  const a = v128.and(f32x4.eq(wa, corner), i32x4.eq(v128.and(owns, i32x4.splat(1)), none));
  const b = v128.and(f32x4.eq(wb, corner), i32x4.eq(v128.and(owns, i32x4.splat(2)), none));
  const c = v128.and(f32x4.eq(wc, corner), i32x4.eq(v128.and(owns, i32x4.splat(4)), none));
  return v128.not(v128.or(a, v128.or(b, c)));
}

/**
 * Two edges answer where they cross; at an end of either the vertex there answers to the triangles at the other edge.
 */
// @inline
function crosses(w0: v128, w1: v128, w2: v128, w3: v128): v128 {
  const zero = f32x4.splat(0);
  return v128.and(v128.and(f32x4.ne(w0, zero), f32x4.ne(w1, zero)), v128.and(f32x4.ne(w2, zero), f32x4.ne(w3, zero)));
}
