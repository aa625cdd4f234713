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
 *                             what does not fit, or is not cleared, is held with its group                   hold.ts
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
  H_CONTACT_BLOCKS,
  H_CONTACT_BLOCK_CAPACITY,
  H_VERTEX_PAIRS,
  H_VERTEX_CONTACT_BLOCKS,
  H_X,
  PAIR_BYTES,
  PAIR_COLOR,
  STAGE_BROAD_PHASE,
  STAGE_RESPONSE,
  STAGE_VERIFY,
  CONTACT_BLOCK_BAD,
  CONTACT_BLOCK_BYTES,
} from "../layout/layout";
import { advanceFront, beginFront, beginTick, endFront } from "./front";
import { packNear } from "./frontNear";
import { chainRows } from "./frontRows";
import { changedCount } from "./changed";
import { badOf } from "./blockStatus";
import { countGroups, halveFullest, holdChanged, holdFullest, keepHeld, releaseHeld } from "./hold";
import { takePushes } from "./contactLoads";
import { checkAll } from "./contactPasses";
import { enterStage, preemptionPoint } from "../scheduler/clock";
import { CLEAR, examine, laneOf } from "./contactPair";
import { allowResponse, respond, stopAll, updateChanged } from "./contactResponse";

/** Fronts that one substep may take: the response itself may bring together what was not near. */
const FRONTS = 4;
/** Times that bodies are held in a substep, before everything stays where it began. */
const HOLDS = 4;
/** Times that a group of bodies goes half as far, before it is held. */
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
  if (!advanceFront()) return;
  checkAll();
  takePushes();
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
  keepHeld();
  allowResponse();
  let clear = false;
  let halvings = 0;
  for (let n = 0; n <= HOLDS + halvings && !clear; n++) {
    enterStage(STAGE_BROAD_PHASE);
    const fits = advanceFront();
    preemptionPoint();
    clear = fits && clearAll();
    if (clear) break;
    if (!load<i32>(HEADER, H_LIST_VALID)) {
      if (halvings < HALVINGS && halveFullest()) halvings++;
      else if (!holdFullest()) break;
    } else {
      countGroups();
      if (!holdChanged()) break;
      store<i32>(HEADER, 0, H_LIST_VALID);
    }
    keepHeld();
  }
  if (!clear) stopAll();
  releaseHeld();
  if (changedCount) {
    if (load<i32>(HEADER, H_LIST_VALID)) chainRows();
    updateChanged(h);
  }
  endFront();
}

/** Until all rows are clear, and those that this needs. @returns false if it did not come to that */
function clearAll(): bool {
  enterStage(STAGE_VERIFY);
  let found = checkAll();
  for (let n = 0; found; n++) {
    preemptionPoint();
    enterStage(STAGE_RESPONSE);
    chainRows();
    if (!respond()) return true;
    preemptionPoint();
    enterStage(STAGE_BROAD_PHASE);
    if (n === FRONTS || !advanceFront()) return false;
    enterStage(STAGE_VERIFY);
    found = examineNew();
  }
  return true;
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
