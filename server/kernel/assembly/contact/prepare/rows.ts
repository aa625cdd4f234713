/**
 * Rows of the bvtt front (bvttFront.ts): lanes of the list's blocks. The rows of a leaf pair form a chain. Each has a
 * name, unique among all rows that the two leaves may have. When the pair is measured again, a row that is found again
 * keeps its lane, its direction and its state. Other rows are freed. New rows take free lanes first, then new ones.
 * Serial, in the order of the front.
 * Only the response needs the pairs of a particle. It builds chains at its first use in a substep; new rows join them
 * until the substep ends. Lanes freed meanwhile are not reused, so that no chain leads into another one.
 * Tried, slower: searching for a row among the lanes of its pair, particle by particle (4 to 11 % of a tick).
 */
import { spendWork } from "../../scheduler/clock";
import * as L from "../../layout/layout";
import { forgetFar, nearBits, NEVER, putNearBits, quietOf } from "./blockStatus";
import { enchain } from "../verify/movedParticles";
import {
  addEdges,
  addVertexTriangle,
  edgeRowsBegin,
  full,
  openRegion,
  openSurfaces,
  turnSurfaces,
  vertexRowsEnd,
  widenRegion,
} from "./newRows";
import { clearBlock, fillLane, leftOut, longest } from "./contactList";
import { laneOf } from "../verify/contactPair";
import { growLists, listFull } from "./listMemory";
import { surfaceAt } from "../../state/owners";
import { countWork } from "../../state/work";

/** A lane's word in its chain: next lane plus one, and its name. */
export const NEXT_MASK: u32 = 0xffffff;
const NAME_SHIFT: u32 = 24;

/** Counted work of a block whose lanes join the chains of their particles. */
const UNITS_OF_CHAIN = 4;
/** Factor that covers the rounding of a surface's longest sides. */
const SIDES: f32 = 1.001;

// LEAF_PAIR row of the leaf pair that is measured
let close: usize = 0;
let number = 0;
let opened: u32 = 0xffffffff;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
/** Address of a lane's word. For a free lane it holds the next free one. */
// @inline
export function nextOf(pair: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_NEXT) + ((<usize>pair) << 2);
}
/** Address of the lane with this name in the chain, plus one; 0: there is none, or it has been found again. */
// @inline
function named(name: u32): usize {
  return <usize>load<u32>(front(), L.FRONT_NAMED) + ((<usize>name) << 2);
}
/** Call before measurements: clears the new rows. */
export function beginRows(): void {
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  openRegion(
    pairs,
    pairs + <usize>load<i32>(L.HEADER, L.H_PAIR_CAPACITY) * L.PAIR_BYTES,
    <usize>load<u32>(L.HEADER, L.H_SAFE),
  );
  opened = 0xffffffff;
}

/** Call before a leaf pair is measured. */
export function beginPair(row: usize): void {
  const surfaces = load<u32>(row, L.LEAF_PAIR_SURFACES);
  close = row;
  number = <i32>((row - <usize>load<u32>(front(), L.FRONT_LEAF_PAIRS)) / L.LEAF_PAIR_BYTES);
  for (let entry = load<u32>(row, L.LEAF_PAIR_LANES); entry; ) {
    const word = load<u32>(nextOf(entry - 1));
    store<u32>(named(word >> NAME_SHIFT), entry);
    entry = word & NEXT_MASK;
  }
  if (surfaces === opened) return;
  opened = surfaces;
  const a = surfaces >> 16;
  const b = surfaces & 0xffff;
  const A = surfaceAt(a);
  const B = surfaceAt(b);
  openSurfaces(
    a,
    b,
    load<f32>(A, L.SURFACE_RADIUS) + load<f32>(B, L.SURFACE_RADIUS),
    SIDES * max<f32>(longest(A), longest(B)),
  );
}

/** Returns whether the pair already has this row, and marks the row as found again. */
// @inline
function isOld(name: u32): bool {
  const at = named(name);
  if (!load<u32>(at)) return false;
  store<u32>(at, 0);
  return true;
}

/** Makes room for one more new row if memory may grow. */
// @inline
function makeRoom(): void {
  if (vertexRowsEnd() + L.PAIR_BYTES > edgeRowsBegin()) growRows();
}

function growRows(): void {
  const before = load<i32>(L.HEADER, L.H_PAIR_CAPACITY);
  const end = <usize>load<u32>(L.HEADER, L.H_PAIRS) + <usize>before * L.PAIR_BYTES;
  if (!growLists(L.LIST_ROWS, before + 1, <i32>((end - edgeRowsBegin()) / L.PAIR_BYTES))) return;
  widenRegion(<usize>(load<i32>(L.HEADER, L.H_PAIR_CAPACITY) - before) * L.PAIR_BYTES);
}

/** @param swapped whether the vertex is of the second leaf; name of the row in this leaf pair, 0 .. 255 */
export function vertexRow(p: u32, a: u32, b: u32, c: u32, swapped: bool, name: u32): void {
  if (isOld(name)) return;
  makeRoom();
  const at = vertexRowsEnd();
  const both = load<u32>(close, L.LEAF_PAIR_SURFACES);
  if (swapped) turnSurfaces(both & 0xffff, both >> 16);
  else turnSurfaces(both >> 16, both & 0xffff);
  addVertexTriangle(p, a, b, c);
  if (vertexRowsEnd() !== at) store<u32>(at, ((<u32>number) << 8) | name, L.PAIR_COLOR);
}

export function edgeRow(a0: u32, a1: u32, b0: u32, b1: u32, name: u32): void {
  if (isOld(name)) return;
  makeRoom();
  const at = edgeRowsBegin();
  const both = load<u32>(close, L.LEAF_PAIR_SURFACES);
  turnSurfaces(both >> 16, both & 0xffff);
  addEdges(a0, a1, b0, b1);
  if (edgeRowsBegin() !== at) store<u32>(edgeRowsBegin(), ((<u32>number) << 8) | name, L.PAIR_COLOR);
}

/** Call after a leaf pair is measured: frees lanes of rows that were not found again. */
export function endPair(): void {
  let before: usize = close + L.LEAF_PAIR_LANES;
  let keep: u32 = 0;
  for (let entry = load<u32>(before); entry; ) {
    const at = nextOf(entry - 1);
    const word = load<u32>(at);
    const table = named(word >> NAME_SHIFT);
    const next = word & NEXT_MASK;
    if (load<u32>(table)) {
      store<u32>(table, 0);
      store<u32>(before, keep | next);
      giveBack(entry - 1);
    } else {
      before = at;
      keep = word & ~NEXT_MASK;
    }
    entry = next;
  }
}

/** Frees all rows of a leaf pair. */
export function dropRows(row: usize): void {
  for (let entry = load<u32>(row, L.LEAF_PAIR_LANES); entry; ) {
    const next = load<u32>(nextOf(entry - 1)) & NEXT_MASK;
    giveBack(entry - 1);
    entry = next;
  }
  store<i32>(row, 0, L.LEAF_PAIR_LANES);
}

/** Call when near lanes, their ranks or their numbers change. */
// @inline
export function forgetPacked(): void {
  store<i32>(front(), 0, L.FRONT_PACKED);
}

/** Frees a lane. */
export function giveBack(pair: i32): void {
  if (nearBits(pair)) {
    putNearBits(pair, 0);
    forgetPacked();
  } else forgetFar(pair);
  store<i32>(front(), 1, L.FRONT_FREED);
  const dummies = load<i32>(L.HEADER, L.H_DUMMIES);
  const lane = laneOf(pair);
  const vertex = pair < load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) << 2;
  const free =
    front() + <usize>(vertex ? L.FRONT_FREE_VERTEX : L.FRONT_FREE_EDGE) + (isChained() ? L.FRONT_WAITING : 0);
  for (let k = 0; k < 4; k++) store<i32>(lane + ((<usize>k) << 4), dummies + (k << 4));
  store<f32>(lane, NEVER, L.CONTACT_BLOCK_KEEP);
  store<f32>(lane, NEVER, L.CONTACT_BLOCK_THICKNESS);
  store<i32>(lane, 0, L.CONTACT_BLOCK_NEAR);
  store<i32>(lane, 0, L.CONTACT_BLOCK_BAD);
  for (let row: usize = 0; row < 48; row += 16) store<f32>(lane + row, 0, L.CONTACT_BLOCK_PUSH);
  store<i32>(nextOf(pair), load<i32>(free));
  store<i32>(free, pair + 1);
}

/** Removes all rows. */
export function forgetRows(): void {
  store<i32>(L.HEADER, 0, L.H_VERTEX_CONTACT_BLOCKS);
  store<i32>(L.HEADER, 0, L.H_EDGE_CONTACT_BLOCKS);
  store<i32>(L.HEADER, 0, L.H_CONTACT_BLOCK_COUNT);
  store<i32>(front(), 0, L.FRONT_FREE_VERTEX);
  store<i32>(front(), 0, L.FRONT_FREE_EDGE);
  store<i32>(front(), 0, L.FRONT_FREE_VERTEX + L.FRONT_WAITING);
  store<i32>(front(), 0, L.FRONT_FREE_EDGE + L.FRONT_WAITING);
  store<i32>(front(), 0, L.FRONT_CHAINED);
}

// @inline
function isChained(): bool {
  return load<i32>(front(), L.FRONT_CHAINED) !== 0;
}

/** Forgets the chains, and frees lanes that were freed while chains existed. */
export function endChains(): void {
  if (!isChained()) return;
  store<i32>(front(), 0, L.FRONT_CHAINED);
  release(front() + L.FRONT_FREE_VERTEX);
  release(front() + L.FRONT_FREE_EDGE);
}

function release(free: usize): void {
  for (let entry = load<i32>(free, L.FRONT_WAITING); entry; ) {
    const at = nextOf(entry - 1);
    const next = load<i32>(at);
    store<i32>(at, load<i32>(free));
    store<i32>(free, entry);
    entry = next;
  }
  store<i32>(free, 0, L.FRONT_WAITING);
}

/** Takes a free or new lane of one kind. @returns -1 if there is no room */
function takeLane(vertex: bool): i32 {
  const free = front() + <usize>(vertex ? L.FRONT_FREE_VERTEX : L.FRONT_FREE_EDGE);
  const first = load<i32>(free);
  if (first) {
    store<i32>(free, load<i32>(nextOf(first - 1)));
    return first - 1;
  }
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  if (vertices + edges >= capacity) {
    listFull(L.LIST_BLOCKS);
    return -1;
  }
  const block = vertex ? vertices : capacity - edges - 1;
  if (vertex) store<i32>(L.HEADER, vertices + 1, L.H_VERTEX_CONTACT_BLOCKS);
  else store<i32>(L.HEADER, edges + 1, L.H_EDGE_CONTACT_BLOCKS);
  store<i32>(L.HEADER, vertices + edges + 1, L.H_CONTACT_BLOCK_COUNT);
  clearBlock(<usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) + <usize>block * L.CONTACT_BLOCK_BYTES);
  // the other three lanes are free; the first of them is taken next
  for (let k = 3; k > 0; k--) {
    const pair = (block << 2) + k;
    store<i32>(nextOf(pair), load<i32>(free));
    store<i32>(free, pair + 1);
  }
  return block << 2;
}

/** Gives lanes to the new rows. @returns false if they do not fit */
export function placeRows(): bool {
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  const capacity = load<i32>(L.HEADER, L.H_PAIR_CAPACITY);
  const end = pairs + <usize>capacity * L.PAIR_BYTES;
  const vertices = <i32>(vertexRowsEnd() - pairs) / L.PAIR_BYTES;
  const edges = <i32>(end - edgeRowsBegin()) / L.PAIR_BYTES;
  store<i32>(L.HEADER, vertices, L.H_VERTEX_PAIRS);
  store<i32>(L.HEADER, edges, L.H_EDGE_PAIRS);
  if (full) {
    listFull(L.LIST_ROWS);
    return false;
  }
  for (let n = 0, row = pairs; n < vertices; n++, row += L.PAIR_BYTES) if (!place(row, true)) return false;
  for (let n = 0, row = end - L.PAIR_BYTES; n < edges; n++, row -= L.PAIR_BYTES) if (!place(row, false)) return false;
  return true;
}

function place(row: usize, vertex: bool): bool {
  spendWork(1);
  const pair = leftOut(row, vertex) ? -2 : takeLane(vertex);
  if (pair < 0) {
    store<i32>(row, -1, L.PAIR_COLOR);
    return pair === -2;
  }
  const word = load<u32>(row, L.PAIR_COLOR);
  const owner = <usize>load<u32>(front(), L.FRONT_LEAF_PAIRS) + <usize>(word >> 8) * L.LEAF_PAIR_BYTES;
  fillLane(laneOf(pair), row, vertex);
  store<i32>(quietOf(pair >> 2), 0);
  forgetPacked();
  store<u32>(nextOf(pair), load<u32>(owner, L.LEAF_PAIR_LANES) | ((word & 0xff) << NAME_SHIFT));
  store<u32>(owner, pair + 1, L.LEAF_PAIR_LANES);
  if (isChained()) chainLane(pair);
  // examineNew (pipeline.ts) finds the lane of a new row by it
  store<i32>(row, pair, L.PAIR_COLOR);
  return true;
}

/** Builds the chains of pairs of every particle for the response, unless they exist. */
export function chainRows(): void {
  if (isChained()) return;
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  memory.fill(<usize>load<u32>(L.HEADER, L.H_INCIDENT), 0, (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 2);
  chainRange(0, load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS));
  chainRange(capacity - load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS), capacity);
  store<i32>(front(), 1, L.FRONT_CHAINED);
}

function chainRange(begin: i32, end: i32): void {
  countWork(UNITS_OF_CHAIN * (end - begin));
  const dummies = load<u32>(L.HEADER, L.H_DUMMIES);
  for (let n = begin; n < end; n++) {
    for (let pair = n << 2; pair < (n + 1) << 2; pair++) if (load<u32>(laneOf(pair)) !== dummies) chainLane(pair);
    spendWork(1);
  }
}

// @inline
function chainLane(pair: i32): void {
  const lane = laneOf(pair);
  for (let k = 0; k < 4; k++) enchain(pair, k, <usize>load<u32>(lane + ((<usize>k) << 4)));
}
