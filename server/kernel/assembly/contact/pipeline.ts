/**
 * The contact pipeline between surfaces: finds near rows, solves them in every iteration, verifies each substep.
 *
 *   tick       beginPairList             makes the rows, if there are none: bvttFront.ts
 *   substep    saveSafePositions         S = x
 *              ... predict
 *              updatePredictedContacts   adds rows for the predicted x (bvttFront.ts) and packs near rows
 *                                        (packNearPairs.ts)
 *              ... solve                 solveNearContacts in every iteration: contactPasses.ts, contactSolver.ts
 *              ... velocity, colliders
 *              verifyContacts            adds rows for pairs that may have come near (bvttFront.ts), checks all rows
 *                                        (contactCheck.ts), resolves violations by impulses, zones, stops
 *                                        (contactResponse.ts, rigidImpactZones.ts), and holds a group of bodies whose
 *                                        rows do not fit or cannot be cleared (heldGroups.ts)
 *
 * Small steps (step/smallSteps.ts): the first substep of a group saves and predicts for all of them, and the last one
 * verifies. "Substep" in the contact code then means the whole group, except in the solve.
 *
 * After verifyContacts no two surfaces intersect at x, nor did they on straight paths from S to x, unless filters
 * ignore the pair.
 */
import * as L from "../layout/layout";
import { advanceFront, beginFront, beginTick, endFront } from "./detect/bvttFront";
import { packNear } from "./prepare/packNearPairs";
import { chainRows } from "./prepare/rows";
import { changedCount, forgetPaths } from "./verify/movedParticles";
import { badOf } from "./prepare/blockStatus";
import { countGroups, halveFullest, holdChanged, holdFullest, keepHeld, releaseHeld } from "./verify/heldGroups";
import { takePushes } from "./solve/contactLoads";
import { checkAll } from "./solve/contactPasses";
import { findFall } from "./solve/contactSolver";
import { enterStage, preemptionPoint } from "../scheduler/clock";
import { CLEAR, examine, laneOf } from "./verify/contactPair";
import { wakeBlocks } from "./detect/stirredLeaves";
import { allowResponse, resolveViolations, stopAll, UNITS_OF_EXAMINE, updateChanged } from "./verify/contactResponse";
import { countWork } from "../state/work";

/** Fronts that one substep may take: the response itself may bring together primitives that were not near. */
const FRONTS = 4;
/** Times that bodies are held in a substep. After that, everything stays at S. */
const HOLDS = 4;
/** Times that the step of a group is halved, before the group is held. */
const HALVINGS = 4;

/** Begins a tick: keeps the rows or finds them anew, so that the first substep already solves near ones. */
export function beginPairList(): void {
  if (!load<u32>(L.HEADER, L.H_SAFE)) return;
  findFall();
  beginTick();
  if (load<i32>(L.HEADER, L.H_LIST_VALID)) return;
  saveSafePositions();
  if (!advanceFront(false)) return;
  checkAll();
  takePushes();
}

/** S = x, before a substep moves anything. */
export function saveSafePositions(): void {
  const safe = <usize>load<u32>(L.HEADER, L.H_SAFE);
  if (!safe) return;
  memory.copy(safe, <usize>load<u32>(L.HEADER, L.H_X), (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4);
  beginFront();
}

/** Predicts contacts, before the first contact solve of a substep. */
export function updatePredictedContacts(): void {
  if (!load<u32>(L.HEADER, L.H_SAFE)) return;
  const before = enterStage(L.STAGE_BROAD_PHASE);
  predictsX(true);
  advanceFront(false);
  preemptionPoint();
  packNear();
  predictsX(false);
  enterStage(before);
}

/** Tells all threads whether x is predicted. */
function predictsX(predicts: bool): void {
  store<i32>(<usize>load<u32>(L.HEADER, L.H_FRONT), predicts ? 1 : 0, L.FRONT_PREDICTS);
}

/** Ensures that all surfaces are clear of each other at the end of a substep. @param h s */
export function verifyContacts(h: f32): void {
  if (!load<u32>(L.HEADER, L.H_SAFE)) return;
  keepHeld();
  allowResponse();
  let clear = false;
  let halvings = 0;
  for (let n = 0; n <= HOLDS + halvings && !clear; n++) {
    enterStage(L.STAGE_BROAD_PHASE);
    // x has changed since the last check
    if (n) wakeBlocks();
    const fits = advanceFront(false);
    preemptionPoint();
    clear = fits && clearAll();
    if (clear) break;
    if (!load<i32>(L.HEADER, L.H_LIST_VALID)) {
      if (halvings < HALVINGS && halveFullest()) halvings++;
      else if (!holdFullest()) break;
    } else {
      countGroups();
      if (!holdChanged()) break;
      store<i32>(L.HEADER, 0, L.H_LIST_VALID);
    }
    keepHeld();
  }
  if (!clear) stopAll();
  releaseHeld();
  if (changedCount) {
    if (load<i32>(L.HEADER, L.H_LIST_VALID)) chainRows();
    updateChanged(h);
  }
  endFront();
}

/** Resolves violations until all rows are clear, also rows that this adds. @returns false if it could not */
function clearAll(): bool {
  enterStage(L.STAGE_VERIFY);
  let found = checkAll();
  forgetPaths();
  for (let n = 0; found; n++) {
    preemptionPoint();
    enterStage(L.STAGE_RESPONSE);
    chainRows();
    if (!resolveViolations()) return true;
    preemptionPoint();
    enterStage(L.STAGE_BROAD_PHASE);
    if (n === FRONTS || !advanceFront(true)) return false;
    enterStage(L.STAGE_VERIFY);
    found = examineNew();
  }
  return true;
}

/**
 * Examines rows added by the last front, in float64: nothing is known of them at x.
 * @returns how many are not clear
 */
function examineNew(): i32 {
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_PAIRS);
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  const edgeBlocks = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  forgetBad(0, load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS));
  forgetBad(capacity - edgeBlocks, capacity);
  return (
    examineRows(pairs, load<i32>(L.HEADER, L.H_VERTEX_PAIRS)) +
    examineRows(pairs + <usize>(load<i32>(L.HEADER, L.H_PAIR_CAPACITY) - edges) * L.PAIR_BYTES, edges)
  );
}

function forgetBad(begin: i32, end: i32): void {
  const zero = i32x4.splat(0);
  for (let n = begin, bad = badOf(begin); n < end; n++, bad += 4) {
    if (!load<i32>(bad)) continue;
    store<i32>(bad, 0);
    v128.store(
      <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) + <usize>n * L.CONTACT_BLOCK_BYTES,
      zero,
      L.CONTACT_BLOCK_BAD,
    );
  }
}

function examineRows(row: usize, count: i32): i32 {
  let found = 0;
  countWork(UNITS_OF_EXAMINE * count);
  for (let n = 0; n < count; n++, row += L.PAIR_BYTES) {
    const pair = load<i32>(row, L.PAIR_COLOR);
    if (pair < 0 || examine(pair) === CLEAR) continue;
    store<i32>(laneOf(pair), -1, L.CONTACT_BLOCK_BAD);
    store<i32>(badOf(pair >> 2), 1);
    found++;
  }
  return found;
}
