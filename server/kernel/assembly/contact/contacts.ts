/**
 * Contact between surfaces, as the step sees it: rows for what is near, near rows in every iteration, verification at
 * the end of a substep.
 *
 *   tick       beginPairList   rows, where there are none                                                   front.ts
 *   substep    keepSafe       S = x
 *              ... predict, solve
 *              foresee        rows for where the substep is going, and what is near there is solved       front.ts,
 *                             frontNear.ts
 *              ... solve with solveNearContacts in every iteration
 *              contactPasses.ts, contactSolver.ts
 *              ... velocity, colliders
 *              verifyContacts  rows for all that may have come near on the way. Are all clear?              front.ts,
 *                              contactCheck.ts
 *                             if not: impulses, zones, stop
 *                             contactResponse.ts, rigidImpactZones.ts
 *
 * After verifyContacts no two surfaces that meet intersect at x, nor did they on the straight way from S to x.
 */
import {
  HEADER,
  H_EDGE_PAIRS,
  H_EDGE_CONTACT_BLOCKS,
  H_LIST_VALID,
  H_PAIRS,
  H_PAIR_CAPACITY,
  H_PARTICLES,
  H_SAFE,
  H_SURFACE,
  H_SURFACE_COUNT,
  H_CONTACT_BLOCKS,
  H_CONTACT_BLOCK_CAPACITY,
  H_VERTEX_PAIRS,
  H_VERTEX_CONTACT_BLOCKS,
  H_X,
  PAIR_BYTES,
  PAIR_COLOR,
  SURFACE_BYTES,
  SURFACE_COUNT,
  STAGE_BROAD_PHASE,
  STAGE_RESPONSE,
  STAGE_VERIFY,
  SURFACE_FIRST,
  CONTACT_BLOCK_BAD,
  CONTACT_BLOCK_BYTES,
} from "../layout/layout";
import { advanceFront, beginFront, beginTick, endFront } from "./front";
import { packNear } from "./frontNear";
import { chainRows } from "./frontRows";
import { change, changedCount } from "./changed";
import { badOf } from "./blockStatus";
import { checkAll } from "./contactPasses";
import { enterStage, preemptionPoint } from "../scheduler/clock";
import { CLEAR, examine, laneOf } from "./contactPair";
import { respond, stopAll, updateChanged } from "./contactResponse";

/** Fronts that one substep may take: the response itself may bring together what was not near. */
const FRONTS = 4;
/** A substep whose rows do not fit goes half as far, and again so many times, before it stays where it began. */
const HALVINGS = 4;

/**
 * At the start of a tick: the rows that there are go on, or are found anew, and what is near now is solved in the first
 * substep already.
 */
export function beginPairList(): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  beginTick();
  if (load<i32>(HEADER, H_LIST_VALID)) return;
  keepSafe();
  if (advanceFront()) checkAll();
}

/** S = x, before a substep moves anything. */
export function keepSafe(): void {
  const safe = <usize>load<u32>(HEADER, H_SAFE);
  if (!safe) return;
  memory.copy(safe, <usize>load<u32>(HEADER, H_X), (<usize>load<i32>(HEADER, H_PARTICLES)) << 4);
  beginFront();
}

/** Before contacts are solved first in a substep. */
export function foresee(): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  const before = enterStage(STAGE_BROAD_PHASE);
  advanceFront();
  preemptionPoint();
  packNear();
  enterStage(before);
}

/** @param h s */
export function verifyContacts(h: f32): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  enterStage(STAGE_BROAD_PHASE);
  let fits = advanceFront();
  for (let n = 0; n < HALVINGS && !fits; n++) {
    goHalf();
    fits = advanceFront();
  }
  preemptionPoint();
  enterStage(STAGE_VERIFY);
  if (fits) clearAll();
  else stopAll();
  if (changedCount) {
    if (load<i32>(HEADER, H_LIST_VALID)) chainRows();
    updateChanged(h);
  }
  endFront();
}

/** Until all rows are clear, and those that this needs. */
function clearAll(): void {
  let found = checkAll();
  for (let n = 0; found; n++) {
    preemptionPoint();
    enterStage(STAGE_RESPONSE);
    chainRows();
    if (!respond()) return;
    preemptionPoint();
    enterStage(STAGE_BROAD_PHASE);
    if (n === FRONTS || !advanceFront()) {
      stopAll();
      return;
    }
    enterStage(STAGE_VERIFY);
    found = examineNew();
  }
}

/**
 * Rows that the last front has added, in float64, for nothing is known of them at x.
 * @returns how many are not clear
 */
function examineNew(): i32 {
  const pairs = <usize>load<u32>(HEADER, H_PAIRS);
  const edges = load<i32>(HEADER, H_EDGE_PAIRS);
  const capacity = load<i32>(HEADER, H_CONTACT_BLOCK_CAPACITY);
  const edgeBlocks = load<i32>(HEADER, H_EDGE_CONTACT_BLOCKS);
  forgetBad(0, load<i32>(HEADER, H_VERTEX_CONTACT_BLOCKS));
  forgetBad(capacity - edgeBlocks, capacity);
  return (
    examineRows(pairs, load<i32>(HEADER, H_VERTEX_PAIRS)) +
    examineRows(pairs + <usize>(load<i32>(HEADER, H_PAIR_CAPACITY) - edges) * PAIR_BYTES, edges)
  );
}

function forgetBad(begin: i32, end: i32): void {
  const zero = i32x4.splat(0);
  for (let n = begin, bad = badOf(begin); n < end; n++, bad += 4) {
    if (!load<i32>(bad)) continue;
    store<i32>(bad, 0);
    v128.store(<usize>load<u32>(HEADER, H_CONTACT_BLOCKS) + <usize>n * CONTACT_BLOCK_BYTES, zero, CONTACT_BLOCK_BAD);
  }
}

function examineRows(row: usize, count: i32): i32 {
  let found = 0;
  for (let n = 0; n < count; n++, row += PAIR_BYTES) {
    const pair = load<i32>(row, PAIR_COLOR);
    if (pair < 0 || examine(pair) === CLEAR) continue;
    store<i32>(laneOf(pair), -1, CONTACT_BLOCK_BAD);
    store<i32>(badOf(pair >> 2), 1);
    found++;
  }
  return found;
}

/** Every particle goes half as far from S as it would. */
function goHalf(): void {
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X);
  const half = f32x4.splat(0.5);
  for (let n = 0; n < surfaces; n++) {
    const surface = <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
    for (
      let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST);
      i > 0;
      i--, at += 16
    ) {
      const x = v128.load(at);
      const S = v128.load(at + toSafe);
      if ((v128.bitmask<i32>(f32x4.eq(x, S)) & 7) === 7) continue;
      change(at);
      v128.store(at, f32x4.replace_lane(f32x4.add(S, f32x4.mul(half, f32x4.sub(x, S))), 3, f32x4.extract_lane(x, 3)));
    }
  }
}
