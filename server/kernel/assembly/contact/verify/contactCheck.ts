/**
 * Verifies at the end of a substep that no listed pair came together on the way from its safe positions S to x. Four
 * pairs at a time.
 *
 * Two convex sets whose points move on straight lines do not meet if one direction separates them at the start and at
 * the end: n . (p - q) is linear in time for every p of the one and q of the other. Every pair stores such a direction
 * n for its S (CONTACT_BLOCK_NORMAL). If n also separates the pair by its least distance at x, the pair is clear. Else
 * the direction of the closest points at x is tried on S. A pair that neither clears is marked CONTACT_BLOCK_BAD;
 * contactResponse.ts examines it alone, in float64. Float32 suffices here: coordinates are differences within the pair,
 * and rounding is about 1e-7 of its size. A direction must separate the pair at x by a part of its thickness (KEEP of
 * contactList.ts), and by half as much at S.
 *
 * Cleared near pairs take the direction, weights and gap of their closest points at x for the next substep's contacts.
 */
import { sub, mul, add, dot3, smallest } from "../../math/lanes";
import { badOf, nearOf, NEVER, numberOfBlock, quietOf } from "../prepare/blockStatus";
import { PRESSED } from "../solve/piles";
import { isRestless, PREDICTED, STIR } from "../detect/stirredLeaves";
import { gather, separation, closest, b0, b1, b2, b3, dx, dy, dz } from "../solve/contactLanes";
import * as L from "../../layout/layout";
import { hasLoads } from "../../state/islands";

/**
 * A pair is solved if its gap is below NEAR thicknesses, or will be after losing AHEAD times the gap that it lost in
 * the last substep.
 */
export const NEAR: f32 = 1.25;
export const AHEAD: f32 = 1.5;

/** Counted work of a checked block, with the choice of near pairs. */
export const UNITS_OF_CHECK = 4;

/** Returns whether all lanes of a block are freed: neither verified nor solved. */
// @inline
function isDead(keep: v128, r: v128): bool {
  return v128.all_true<i32>(f32x4.le(f32x4.pmax(keep, r), f32x4.splat(NEVER)));
}

/** Most stirs for which a block is quiet. */
const MOST_STIRS: f32 = 64;
/** A pair keeps its direction if its thickness is at least this many times the play (stirredLeaves.ts). */
const THICK: f32 = 10;

/** Number of blocks that this thread has checked. */
export let checkedBlocks = 0;

/** Returns which of four words of H_BLOCK_QUIET have a bit. */
// @inline
function quietLanes(words: v128, bit: v128): v128 {
  return v128.and(v128.and(words, bit), i32x4.ge_s(words, i32x4.splat(L.QUIET_STIR)));
}
// @inline
function isQuiet(word: i32, bit: i32): bool {
  return word >= L.QUIET_STIR && (word & bit) !== 0;
}

/** @returns how many blocks have a pair that is not cleared. Quiet blocks have none */
export function checkContacts(block: usize, count: i32, vertex: bool): i32 {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const number = numberOfBlock(block);
  const nears = nearOf(number);
  const bads = badOf(number);
  const quiets = quietOf(number);
  const carries = hasLoads();
  const mayQuiet = load<i32>(L.HEADER, L.H_MAY_QUIET);
  const first = block;
  const still = i32x4.splat(L.QUIET_STILL);
  let found = 0;
  for (let n = 0; n < count; n++) {
    const word = (<usize>n) << 2;
    if (n + 4 <= count && v128.all_true<i32>(quietLanes(v128.load(quiets + word), still))) {
      n += 3;
      continue;
    }
    if (isQuiet(load<i32>(quiets + word), L.QUIET_STILL)) continue;
    block = first + <usize>n * L.CONTACT_BLOCK_BYTES;
    checkedBlocks++;
    const keep = v128.load(block, L.CONTACT_BLOCK_KEEP);
    const r = v128.load(block, L.CONTACT_BLOCK_THICKNESS);
    if (isDead(keep, r)) {
      noteFar(nears + word, 0);
      store<i32>(bads + word, 0);
      if (mayQuiet) store<i32>(quiets + word, L.QUIET_STIR | L.QUIET);
      continue;
    }
    const plays = v128.load(block, L.CONTACT_BLOCK_PLAY);
    gather(block, 0);
    const nx = v128.load(block, L.CONTACT_BLOCK_NORMAL);
    const ny = v128.load(block, L.CONTACT_BLOCK_NORMAL + 16);
    const nz = v128.load(block, L.CONTACT_BLOCK_NORMAL + 32);
    const apart = separation(vertex, nx, ny, nz);
    const reach = mul(f32x4.splat(NEAR), r);
    const least = f32x4.pmax(reach, keep);
    // NaN counts as not cleared
    let bad = v128.not(f32x4.ge(apart, keep));
    const within = f32x4.lt(apart, least);
    if (!v128.any_true(v128.or(bad, within))) {
      v128.store(block, apart, L.CONTACT_BLOCK_GAP);
      v128.store(block, zero, L.CONTACT_BLOCK_NEAR);
      v128.store(block, zero, L.CONTACT_BLOCK_BAD);
      if (carries) keepPushes(block, zero);
      noteFar(nears + word, farLanes(apart, keep, keep, reach));
      store<i32>(bads + word, 0);
      if (mayQuiet)
        store<i32>(
          quiets + word,
          quietWord(
            stirsLeft(apart, least, plays, mayWait(apart, keep, r, plays, mayQuiet)),
            stirsAhead(apart, r, plays),
            L.QUIET,
          ),
        );
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
    v128.store(block, bad, L.CONTACT_BLOCK_BAD);
    // solved next: near pairs, and pairs that come near if they continue as in this substep
    const good = v128.andnot(f32x4.gt(gap, zero), bad);
    const close = v128.and(
      good,
      f32x4.lt(gap, add(reach, mul(f32x4.splat(AHEAD), f32x4.pmax(zero, sub(wasApart, gap))))),
    );
    const near = v128.and(
      close,
      vertex ? answers(block, weight1, weight2, weight3) : crosses(weight0, weight1, weight2, weight3),
    );
    v128.store(block, near, L.CONTACT_BLOCK_NEAR);
    if (carries) keepPushes(block, near);
    store<i32>(bads + word, v128.bitmask<i32>(bad));
    v128.store(block, gap, L.CONTACT_BLOCK_GAP);
    v128.store(block, v128.bitselect(mx, nx, good), L.CONTACT_BLOCK_NORMAL);
    v128.store(block, v128.bitselect(my, ny, good), L.CONTACT_BLOCK_NORMAL + 16);
    v128.store(block, v128.bitselect(mz, nz, good), L.CONTACT_BLOCK_NORMAL + 32);
    v128.store(block, weight0, L.CONTACT_BLOCK_WEIGHT);
    v128.store(block, weight1, L.CONTACT_BLOCK_WEIGHT + 16);
    v128.store(block, weight2, L.CONTACT_BLOCK_WEIGHT + 32);
    v128.store(block, weight3, L.CONTACT_BLOCK_WEIGHT + 48);
    const far = farLanes(v128.bitselect(gap, zero, good), wasApart, keep, reach);
    store<i32>(nears + word, nearWord(block, near, gap, r, vertex) | far);
    if (!mayQuiet) continue;
    const waits = mayWait(gap, keep, r, plays, mayQuiet);
    const stirs = stirsLeft(gap, least, plays, waits);
    const ahead = v128.bitselect(one, stirsAhead(gap, r, plays), v128.or(near, v128.and(waits, f32x4.lt(gap, reach))));
    store<i32>(quiets + word, v128.any_true(bad) ? 0 : quietWord(stirs, ahead, mayQuiet));
  }
  return found;
}

/**
 * Returns the word of H_BLOCK_QUIET. @param stirs of its leaves after which each lane must be checked; ahead the same
 * for the prediction; may QUIET_* bits that it may have
 */
// @inline
function quietWord(stirs: v128, ahead: v128, may: i32): i32 {
  const still = smallest(stirs);
  const out = smallest(ahead);
  // NaN is awake
  const isStill = still >= 1 && (may & L.QUIET_STILL) !== 0;
  const isOut = out >= 1;
  const count = min<f32>(isStill ? still : MOST_STIRS, isOut ? out : MOST_STIRS);
  if (!isStill && !isOut) return 0;
  return (
    (<i32>min<f32>(count, MOST_STIRS) * L.QUIET_STIR) | (isStill ? L.QUIET_STILL : 0) | (isOut ? L.QUIET_AHEAD : 0)
  );
}

/**
 * Returns how often leaves may be stirred before lanes may come within `least`. Between two stirs a leaf moves by STIR
 * of its plays at most, and by one before the first. @param waits lanes that may wait for one stir in any case
 */
// @inline
function stirsLeft(apart: v128, least: v128, plays: v128, waits: v128): v128 {
  const one = f32x4.splat(1);
  const stirs = stirsWithin(sub(sub(apart, least), plays), plays);
  return v128.bitselect(f32x4.pmax(one, stirs), stirs, waits);
}

/** Returns the same for lanes that a predicted x may bring within their thickness. Some lanes are never solved. */
// @inline
function stirsAhead(apart: v128, r: v128, plays: v128): v128 {
  const left = sub(sub(apart, r), mul(f32x4.splat(PREDICTED), plays));
  return v128.bitselect(f32x4.splat(MOST_STIRS), stirsWithin(left, plays), f32x4.le(r, f32x4.splat(0)));
}

/** Returns one more than the stirs that use up `left`, m; below 1: there is nothing left. */
// @inline
function stirsWithin(left: v128, plays: v128): v128 {
  return add(f32x4.splat(1), f32x4.div(mul(f32x4.splat(2 / STIR), left), plays));
}

/**
 * Returns lanes that stay further apart than their least distance until a leaf is stirred. They keep their direction,
 * and whether they are near, so long.
 */
// @inline
function mayWait(gap: v128, keep: v128, r: v128, plays: v128, mayQuiet: i32): v128 {
  if (!(mayQuiet & L.QUIET_STILL)) return f32x4.splat(0);
  return v128.and(f32x4.ge(r, mul(f32x4.splat(THICK), plays)), f32x4.ge(sub(gap, keep), plays));
}

/** Notes that no lane of a block is near. @param word of H_BLOCK_NEAR; far its far lanes */
// @inline
function noteFar(word: usize, far: i32): void {
  store<i32>(word, (load<i32>(word) & L.NEAR_LANES ? L.NEAR_FRESH : 0) | far);
}

/**
 * Returns the far lanes, as bits of H_BLOCK_NEAR: those that stay clear while their particles come nearer by less than
 * `farSpare`. @param apart distance along the lane's direction at x; wasApart the same at S
 */
// @inline
function farLanes(apart: v128, wasApart: v128, keep: v128, reach: v128): i32 {
  const clear = v128.and(f32x4.ge(keep, f32x4.splat(0)), f32x4.ge(wasApart, mul(f32x4.splat(0.5), keep)));
  return v128.bitmask<i32>(v128.and(clear, f32x4.ge(apart, f32x4.pmax(reach, keep)))) << L.NEAR_FAR;
}

/**
 * Returns how much nearer the particles of a far lane may come until it must be examined, m. While a block is quiet,
 * its leaves move by up to their plays.
 */
// @inline
export function farSpare(lane: usize): f32 {
  return (
    NEAR * load<f32>(lane, L.CONTACT_BLOCK_THICKNESS) -
    load<f32>(lane, L.CONTACT_BLOCK_KEEP) -
    2 * load<f32>(lane, L.CONTACT_BLOCK_PLAY)
  );
}

/** Returns the block's word of H_BLOCK_NEAR. @param near mask of its near lanes; gap, r of its lanes */
function nearWord(block: usize, near: v128, gap: v128, r: v128, vertex: bool): i32 {
  const zero = f32x4.splat(0);
  const pressed = v128.and(near, f32x4.lt(gap, mul(f32x4.splat(PRESSED), r)));
  const word = L.NEAR_FRESH | v128.bitmask<i32>(near) | (v128.bitmask<i32>(pressed) << L.NEAR_PRESSED);
  if (!vertex) return word;
  const wa = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 16);
  const wb = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 32);
  const wc = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 48);
  const beside = v128.or(f32x4.eq(wa, zero), v128.or(f32x4.eq(wb, zero), f32x4.eq(wc, zero)));
  return word | (v128.bitmask<i32>(v128.and(near, beside)) << L.NEAR_BESIDE);
}

/**
 * Predicts contacts: marks pairs as near that would be near or past each other at the predicted x, along the direction
 * of the closest points at S.
 */
export function predictContacts(block: usize, count: i32, vertex: bool): void {
  const nears = nearOf(numberOfBlock(block));
  const quiets = quietOf(numberOfBlock(block));
  const all = isRestless();
  const ahead = i32x4.splat(all ? 0 : L.QUIET_AHEAD);
  for (let n = 0; n < count; n++) {
    const word = (<usize>n) << 2;
    if (n + 4 <= count && v128.all_true<i32>(quietLanes(v128.load(quiets + word), ahead))) {
      n += 3;
      continue;
    }
    if (!all && isQuiet(load<i32>(quiets + word), L.QUIET_AHEAD)) continue;
    checkedBlocks++;
    predictBlock(block + <usize>n * L.CONTACT_BLOCK_BYTES, nears + word, quiets + word, vertex);
  }
}

/** Predicts contacts of a block. @param nearAt, quietAt addresses of its words */
function predictBlock(block: usize, nearAt: usize, quietAt: usize, vertex: bool): void {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  // the check looks as far beyond x when it selects near pairs
  const beyond = f32x4.splat(AHEAD - 1);
  const keep = v128.load(block, L.CONTACT_BLOCK_KEEP);
  const r = v128.load(block, L.CONTACT_BLOCK_THICKNESS);
  if (isDead(keep, r)) return;
  const reach = mul(f32x4.splat(NEAR), r);
  const was = v128.load(block, L.CONTACT_BLOCK_NEAR);
  const nx = v128.load(block, L.CONTACT_BLOCK_NORMAL);
  const ny = v128.load(block, L.CONTACT_BLOCK_NORMAL + 16);
  const nz = v128.load(block, L.CONTACT_BLOCK_NORMAL + 32);
  gather(block, 0);
  const held = separation(vertex, nx, ny, nz);
  gather(block, toSafe);
  const within = v128.andnot(
    f32x4.lt(
      sub(held, mul(beyond, f32x4.pmax(zero, sub(separation(vertex, nx, ny, nz), held)))),
      f32x4.pmax(reach, keep),
    ),
    was,
  );
  if (!v128.any_true(within)) return;
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
  const close = v128.and(good, f32x4.lt(sub(then, mul(beyond, f32x4.pmax(zero, sub(gap, then)))), reach));
  const near = v128.and(
    close,
    vertex ? answers(block, weight1, weight2, weight3) : crosses(weight0, weight1, weight2, weight3),
  );
  if (!v128.any_true(near)) return;
  v128.store(block, v128.or(was, near), L.CONTACT_BLOCK_NEAR);
  keepLanes(block, L.CONTACT_BLOCK_NORMAL, mx, near);
  keepLanes(block, L.CONTACT_BLOCK_NORMAL + 16, my, near);
  keepLanes(block, L.CONTACT_BLOCK_NORMAL + 32, mz, near);
  keepLanes(block, L.CONTACT_BLOCK_WEIGHT, weight0, near);
  keepLanes(block, L.CONTACT_BLOCK_WEIGHT + 16, weight1, near);
  keepLanes(block, L.CONTACT_BLOCK_WEIGHT + 32, weight2, near);
  keepLanes(block, L.CONTACT_BLOCK_WEIGHT + 48, weight3, near);
  const far = load<i32>(nearAt) & L.NEAR_FAR_LANES & ~(v128.bitmask<i32>(near) << L.NEAR_FAR);
  store<i32>(nearAt, nearWord(block, v128.or(was, near), v128.load(block, L.CONTACT_BLOCK_GAP), r, vertex) | far);
  store<i32>(quietAt, 0);
}

/** Forgets the pushes of pairs that are not near. */
function keepPushes(block: usize, near: v128): void {
  for (let row: usize = 0; row < 48; row += 16) {
    const at = block + row;
    v128.store(at, v128.and(near, v128.load(at, L.CONTACT_BLOCK_PUSH)), L.CONTACT_BLOCK_PUSH);
  }
}

// @inline
function keepLanes(block: usize, row: usize, value: v128, mask: v128): void {
  v128.store(block + row, v128.bitselect(value, v128.load(block + row), mask));
}

/**
 * Selects vertex-triangle pairs to solve. If the nearest point is a corner, all triangles around it are as near, and so
 * are those around the vertex for the corner. Only one of these pairs is solved: that of the triangle that owns the
 * corner, seen from the vertex with the lower address.
 */
// @inline
function answers(block: usize, wa: v128, wb: v128, wc: v128): v128 {
  const owns = v128.load(block, L.CONTACT_BLOCK_OWNS);
  const corner = f32x4.splat(-1);
  const none = i32x4.splat(0);
  const a = v128.and(f32x4.eq(wa, corner), i32x4.eq(v128.and(owns, i32x4.splat(1)), none));
  const b = v128.and(f32x4.eq(wb, corner), i32x4.eq(v128.and(owns, i32x4.splat(2)), none));
  const c = v128.and(f32x4.eq(wc, corner), i32x4.eq(v128.and(owns, i32x4.splat(4)), none));
  return v128.not(v128.or(a, v128.or(b, c)));
}

/**
 * Selects edge pairs to solve: those that cross. If a closest point is the end of an edge, the pairs of that vertex
 * with the other edge's triangles are solved instead.
 */
// @inline
function crosses(w0: v128, w1: v128, w2: v128, w3: v128): v128 {
  const zero = f32x4.splat(0);
  return v128.and(v128.and(f32x4.ne(w0, zero), f32x4.ne(w1, zero)), v128.and(f32x4.ne(w2, zero), f32x4.ne(w3, zero)));
}
