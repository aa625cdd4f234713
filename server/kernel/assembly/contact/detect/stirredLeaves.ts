/**
 * Stirred leaves: the part of contact at rest that must be looked at. Every leaf of the bvtt front (bvttFront.ts) has a
 * play, 1/32 of its surface's radius. It is stirred when its particles have moved by its play since it was last
 * stirred: path of the leaf's particle that moved furthest in each substep, summed. Predicted positions leave and come
 * back: they may use PREDICTED plays, and a leaf that uses more is looked at before the solve only.
 *
 *   leaf pair  quiet once it has been tested and has SETTLED plays of both leaves of its slack left (leafPairs.ts)
 *   block      quiet once it has been checked, for a number of stirs: no lane can come near or to its least distance
 *              before. Near lanes keep their direction, their weights, and being near for one stir (contactCheck.ts)
 *   a stirred leaf   wakes its pairs, and takes one stir from the blocks of their rows, or wakes them after a long
 *              path
 *
 * Quiet pairs and blocks are skipped, because a test would have the same result. Exception: a near lane's direction and
 * weights are up to the plays of both leaves old, 1/32 of their thickness. (contactSlide.ts turns directions from 1/20
 * on.) If many leaves are stirred, everything is looked at, without any bookkeeping.
 */
import * as L from "../../layout/layout";
import { PLAY, quietOf } from "../prepare/blockStatus";
import { nextOf, NEXT_MASK } from "../prepare/rows";
import { leafPairRow, pairLeaves } from "./separatedPairs";

/** Plays that a predicted position may use. */
export const PREDICTED: f32 = 6;
/**
 * Plays of both leaves that a quiet pair has left of its slack: it may use PREDICTED when it is tested, one until the
 * substep ends, PREDICTED later; the rest covers the rounding of sums (LARGE).
 */
export const SETTLED: f32 = 16;
/** Sums of displacements above LARGE plays round by more than that: the leaf counts as stirred. */
const LARGE: f32 = 16384;
/** Everything is looked at if one of so many leaves is stirred. */
const RESTLESS = 4;
/** A room is calm if no more than one of so many leaves has been stirred in each substep for CALM_SECONDS. */
const CALM = 16;
const CALM_SECONDS: f32 = 0.25;
/** Most plays that a leaf moves between two stirs. */
export const STIR: f32 = 1.25;
/** Factor that covers the rounding of a path. */
const MORE: f32 = 1.000001;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function stirOf(leaf: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_STIRS) + <usize>leaf * L.STIR_BYTES;
}
// @inline
export function stirredAt(leaf: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_STIRRED) + <usize>leaf;
}
// @inline
export function playOf(leaf: i32): f32 {
  return load<f32>(stirOf(leaf), L.STIR_PLAY);
}
/** Returns whether x is predicted. */
// @inline
function predicts(): bool {
  return load<i32>(front(), L.FRONT_PREDICTS) !== 0;
}
/** Returns whether everything is looked at. */
// @inline
export function isRestless(): bool {
  return load<i32>(front(), L.FRONT_RESTLESS) !== 0;
}

/** Sets the plays of leaves first .. last of a surface, for a new front. */
export function beginStirs(first: i32, last: i32, radius: f32): void {
  for (let n = first; n < last; n++) {
    const stir = stirOf(n);
    store<f32>(stir, 0, L.STIR_MOVED);
    store<f32>(stir, 0, L.STIR_NOW);
    store<f32>(stir, PLAY * radius, L.STIR_PLAY);
    store<u8>(stirredAt(n), 0);
  }
}

/** Longest of the vectors between `least` and `most`, m. */
// @inline
function farthest(least: v128, most: v128): f32 {
  return lengthOf(f32x4.pmax(f32x4.abs(least), f32x4.abs(most)));
}

/** Length of a vector, rounded up. */
// @inline
export function lengthOf(far: v128): f32 {
  const far2 = f32x4.mul(far, far);
  return MORE * Mathf.sqrt(f32x4.extract_lane(far2, 0) + f32x4.extract_lane(far2, 1) + f32x4.extract_lane(far2, 2));
}

/**
 * Notes a leaf's displacement from S to x.
 * @param least, most displacement of its particles, by axis
 * @param low, high sums of these since counting restarted
 * @returns whether it is stirred
 */
// @inline
export function noteDisplacement(leaf: i32, least: v128, most: v128, low: v128, high: v128, predicts: bool): bool {
  const stir = stirOf(leaf);
  const now = farthest(least, most);
  const play = load<f32>(stir, L.STIR_PLAY);
  store<f32>(stir, now, L.STIR_NOW);
  const path = load<f32>(stir, L.STIR_MOVED) + now;
  const sums = f32x4.gt(f32x4.pmax(f32x4.abs(low), f32x4.abs(high)), f32x4.splat(LARGE * play));
  // NaN is stirred
  const stirred = !(path <= (predicts ? PREDICTED * play : play)) || (v128.bitmask<i32>(sums) & 7) !== 0;
  const at = stirredAt(leaf);
  const before = load<u8>(at) & L.STIRRED_BEFORE;
  const far = path <= STIR * play ? 0 : L.STIRRED_FAR;
  store<u8>(at, !stirred ? before : predicts ? before | L.STIRRED : L.STIRRED | L.STIRRED_BEFORE | far);
  return stirred;
}

/** Returns a leaf's greatest displacement from S to x, m. */
// @inline
export function displacementNow(leaf: i32): f32 {
  return load<f32>(stirOf(leaf), L.STIR_NOW);
}

/**
 * Returns whether no leaf of a surface is stirred if x is predicted. @param first its first leaf; goes displacement of
 * its particles to x, at most; sum their whole path since displacements were 0
 */
export function isBelowStir(first: i32, goes: f32, sum: f32): bool {
  // a leaf that is not stirred has used one play at most
  const play = playOf(first);
  return goes * MORE <= (PREDICTED - 1) * play && sum * MORE <= LARGE * play;
}

/** Adds motion between substeps to a leaf's path. */
export function notePath(leaf: i32, least: v128, most: v128): void {
  const stir = stirOf(leaf);
  store<f32>(stir, MORE * (load<f32>(stir, L.STIR_MOVED) + farthest(least, most)), L.STIR_MOVED);
}

/** Ends a substep for a leaf. */
// @inline
export function endStir(leaf: i32): void {
  const stir = stirOf(leaf);
  const at = stirredAt(leaf);
  const path: f32 =
    load<u8>(at) & L.STIRRED_BEFORE ? 0 : MORE * (load<f32>(stir, L.STIR_MOVED) + load<f32>(stir, L.STIR_NOW));
  store<f32>(stir, path, L.STIR_MOVED);
  store<f32>(stir, 0, L.STIR_NOW);
  store<u8>(at, 0);
}

/** Returns whether a leaf has used no more plays than a quiet pair allows when it is tested. */
// @inline
export function isSteady(leaf: i32): bool {
  const stir = stirOf(leaf);
  return load<f32>(stir, L.STIR_NOW) <= PREDICTED * load<f32>(stir, L.STIR_PLAY);
}

/** Ends a substep for the room. */
export function endStirs(): void {
  const stirs = load<i32>(front(), L.FRONT_STIRRED_COUNT) * CALM > load<i32>(front(), L.FRONT_LEAF_COUNT);
  store<i32>(front(), stirs ? 0 : load<i32>(front(), L.FRONT_CALM) + 1, L.FRONT_CALM);
}

/** Returns whether few leaves have been stirred for some time. */
export function isCalm(): bool {
  return <f32>load<i32>(front(), L.FRONT_CALM) * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) > CALM_SECONDS;
}

/** Decides after a refit whether single leaves are tracked. */
export function endRefit(): void {
  const restless = load<i32>(front(), L.FRONT_STIRRED_COUNT) * RESTLESS > load<i32>(front(), L.FRONT_LEAF_COUNT);
  store<i32>(front(), restless ? 1 : 0, L.FRONT_RESTLESS);
  if (predicts()) return;
  if (restless) wakeAll();
  // rigid and implicit bodies solve contacts to convergence, with exact directions
  const exact = load<u32>(L.HEADER, L.H_RIGID_CONTACTS) || load<u32>(L.HEADER, L.H_TOGETHER);
  store<i32>(L.HEADER, restless ? 0 : exact ? L.QUIET_AHEAD : L.QUIET, L.H_MAY_QUIET);
  if (!restless) store<i32>(front(), 1, L.FRONT_QUIETED);
}

/** Wakes all pairs and blocks. */
function wakeAll(): void {
  if (!load<i32>(front(), L.FRONT_QUIETED)) return;
  store<i32>(front(), 0, L.FRONT_QUIETED);
  wakeBlocks();
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) - 1; n >= 0; n--) {
    const leaves = pairLeaves(n);
    store<u32>(leaves, load<u32>(leaves) & ~L.PAIR_QUIET);
  }
}

/** Wakes all blocks. */
export function wakeBlocks(): void {
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  memory.fill(quietOf(0), 0, <usize>load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) * L.STATUS_BYTES);
  memory.fill(quietOf(capacity - edges), 0, <usize>edges * L.STATUS_BYTES);
}

/**
 * Takes a stir from the blocks of a leaf pair's rows, or wakes them if a leaf has gone `far`. If x is predicted, the
 * blocks are looked at before the solve. Several threads may do this to one block.
 */
export function wakeRows(pair: i32, far: bool): void {
  const ahead = predicts();
  let last: u32 = 0xffffffff;
  for (let entry = load<u32>(leafPairRow(pair), L.LEAF_PAIR_LANES); entry; ) {
    const lane = entry - 1;
    // Lanes of one block mostly follow each other, so comparing with the last block skips most repetitions.
    if (lane >> 2 !== last) {
      last = lane >> 2;
      const quiet = quietOf(<i32>last);
      if (ahead) store<i32>(quiet, load<i32>(quiet) & ~L.QUIET_AHEAD);
      else if (far) atomic.store<i32>(quiet, 0);
      else if (load<i32>(quiet) >= L.QUIET_STIR) atomic.sub<i32>(quiet, L.QUIET_STIR);
    }
    entry = load<u32>(nextOf(<i32>lane)) & NEXT_MASK;
  }
}
