/**
 * Runs the force pass and the check of all pairs on several threads, in parts shared by the scheduler (scheduler.ts).
 *   force pass   color by color: blocks of a color share no free particle, so the thread does not matter, and colors in
 *                order are the order of one thread. The orchestrator alone solves colors of few blocks, and pairs
 *                without a color, behind the last one.
 *   check each block independently
 * If rigid bodies have pairs, the force pass is not shared: these pairs are taken out of the blocks, in order
 * (rigidContact.ts).
 */
import * as L from "../../layout/layout";
import {
  chunkBegin,
  chunkEnd,
  claimChunk,
  closeShared,
  isHelped,
  openShared,
  partBegins,
  sharedParts,
} from "../../scheduler/scheduler";
import { spendWork } from "../../scheduler/clock";
import { hasRigidPairs, solvedAt } from "../../state/solvedBlocks";
import { countWork } from "../../state/work";
import { solveContacts } from "./contactSolver";
import { checkContacts, checkedBlocks, predictContacts, UNITS_OF_CHECK } from "../verify/contactCheck";
import { beginLoads, endLoads } from "./contactLoads";
import { noteLoaded } from "./piles";

/**
 * Fewer blocks are not shared, because waking the helper threads takes a microsecond or two: solved blocks, and blocks
 * in the check, most of which are skipped.
 */
const SOLVED: i32 = 96;
const CHECKED: i32 = 1024;

/** Counted work of a block in a pass of the solve. */
const UNITS_OF_SOLVE = 12;
/** Counted work of a block whose contacts are predicted. */
const UNITS_OF_PREDICT = 2;

/** Most passes over near pairs in a substep. */
const PASSES = 8;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function blockAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) + <usize>n * L.CONTACT_BLOCK_BYTES;
}

/**
 * Solves near pairs: once an iteration, and in the last one of a substep until no pair is pushed far. Bodies pressed
 * together in layers need many passes; the contact response resolves the rest pair by pair (contactResponse.ts), at a
 * hundred times the cost. Only one pass while surfaces are driven apart (resolution.ts): a body pushed back then should
 * not return at once.
 */
export function solveNearContacts(first: bool, last: bool): void {
  const loads = beginLoads(first);
  store<i32>(L.HEADER, 0, L.H_LOADED_NOW);
  let far = solveOnce(false);
  if (first) noteLoaded();
  if (last && !load<i32>(L.HEADER, L.H_DRIVE_COUNT)) for (let n = 1; n < PASSES && far; n++) far = solveOnce(true);
  if (loads) endLoads(last);
}

/** @returns number of blocks that were pushed far */
function solveOnce(again: bool): i32 {
  if (!front()) return 0;
  const vertices = load<i32>(front(), L.FRONT_SOLVED_VERTEX);
  const edges = load<i32>(front(), L.FRONT_SOLVED_EDGE);
  const starts = <usize>load<u32>(L.HEADER, L.H_CONTACT_COLORS);
  const shared = isHelped() && !hasRigidPairs();
  store<i32>(L.HEADER, 0, L.H_SHARED_FOUND);
  store<i32>(L.HEADER, again ? 1 : 0, L.H_SHARED_AGAIN);
  const spares = load<i32>(front(), L.FRONT_EMPTY_BLOCKS) + load<i32>(front(), L.FRONT_EMPTY_BLOCKS + 4);
  countWork(UNITS_OF_SOLVE * (vertices + edges - spares));
  const far =
    solveRange(starts, 0, vertices, shared, again) +
    solveRange(starts + (L.COLOR_ENTRIES << 2), vertices, vertices + edges, shared, again);
  return far + atomic.load<i32>(L.HEADER, L.H_SHARED_FOUND);
}

/** Solves blocks begin .. end in order. @param starts where the colors of the last whole list begin */
function solveRange(starts: usize, begin: i32, end: i32, shared: bool, again: bool): i32 {
  let at = begin;
  let far = 0;
  if (shared && end - begin >= SOLVED) {
    for (let color = 0; color < L.CONTACT_COLORS && at < end; color++, starts += 4) {
      const first = max<i32>(at, load<i32>(starts));
      const last = min<i32>(end, load<i32>(starts, 4));
      if (last - first < SOLVED) {
        if (last <= first) continue;
        break;
      }
      if (first > at) far += solveContacts(solvedAt(at), first - at, again);
      store<i32>(L.HEADER, first, L.H_SHARED_FIRST);
      store<i32>(L.HEADER, last - first, L.H_SHARED_COUNT);
      openShared(L.SHARED_CONTACTS);
      while (claimChunk()) solveShared(chunkBegin, chunkEnd, sharedParts());
      closeShared(L.SHARED_CONTACTS);
      at = last;
    }
  }
  for (; at < end; at += CHECKED) {
    far += solveContacts(solvedAt(at), min<i32>(CHECKED, end - at), again);
    spendWork(CHECKED);
  }
  return far;
}

/** Solves parts begin .. end of `parts` of the shared color. */
export function solveShared(begin: i32, end: i32, parts: i32): void {
  const first = load<i32>(L.HEADER, L.H_SHARED_FIRST);
  const count = load<i32>(L.HEADER, L.H_SHARED_COUNT);
  const from = partBegins(count, begin, parts);
  const far = solveContacts(
    solvedAt(first + from),
    partBegins(count, end, parts) - from,
    load<i32>(L.HEADER, L.H_SHARED_AGAIN) !== 0,
  );
  if (far) atomic.add<i32>(L.HEADER, far, L.H_SHARED_FOUND);
}

/** Checks all blocks of the list at the end of a substep. @returns number of blocks with a pair that is not cleared */
export function checkAll(): i32 {
  store<i32>(L.HEADER, 0, L.H_SHARED_FOUND);
  shareCheck();
  return atomic.load<i32>(L.HEADER, L.H_SHARED_FOUND);
}

/** Predicts contacts of all blocks. */
export function predictAll(): void {
  shareCheck();
}

function shareCheck(): void {
  const blocks = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_COUNT);
  const before = load<i32>(front(), L.FRONT_CHECKED);
  if (isHelped() && blocks >= CHECKED) {
    openShared(L.SHARED_CHECK);
    while (claimChunk()) checkShared(chunkBegin, chunkEnd, sharedParts());
    closeShared(L.SHARED_CHECK);
  } else checkShared(0, 1, 1);
  const checked = load<i32>(front(), L.FRONT_CHECKED) - before;
  const units = load<i32>(front(), L.FRONT_PREDICTS) ? UNITS_OF_PREDICT : UNITS_OF_CHECK;
  countWork(units * checked + ((blocks - checked) >> 2));
}

/** Checks parts begin .. end of `parts` of all blocks, or predicts their contacts if x is predicted. */
export function checkShared(begin: i32, end: i32, parts: i32): void {
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const v = partBegins(vertices, begin, parts);
  const e = partBegins(edges, begin, parts);
  const first = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY) - edges;
  const found =
    checkInPieces(v, partBegins(vertices, end, parts) - v, true) +
    checkInPieces(first + e, partBegins(edges, end, parts) - e, false);
  if (found) atomic.add<i32>(L.HEADER, found, L.H_SHARED_FOUND);
}

/** checkContacts or predictContacts for `count` blocks from number `first` on, with preemption points. */
function checkInPieces(first: i32, count: i32, vertex: bool): i32 {
  const predicts = load<i32>(front(), L.FRONT_PREDICTS) !== 0;
  const before = checkedBlocks;
  let found = 0;
  for (let n = 0; n < count; n += CHECKED) {
    const block = blockAt(first + n);
    const piece = min<i32>(CHECKED, count - n);
    if (predicts) predictContacts(block, piece, vertex);
    else found += checkContacts(block, piece, vertex);
    spendWork(CHECKED);
  }
  atomic.add<u32>(front(), checkedBlocks - before, L.FRONT_CHECKED);
  return found;
}
