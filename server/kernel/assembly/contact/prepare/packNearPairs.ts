/**
 * Packs near rows of the bvtt front for the solve: no lane of a block is empty, except in the last block of a color.
 * Pairs of a color share no free particle; colors are given greedily, in the order of the rows. Pairs beyond the last
 * color get blocks of their own. Done once a substep, before the first contact solve, when the predicted positions are
 * known: a tick of hundred bodies then needs 120 impulses after the solve instead of 2,396.
 */
import { spendWork } from "../../scheduler/clock";
import { countWork } from "../../state/work";
import * as L from "../../layout/layout";
import { nearOf, NEVER, packedOf } from "./blockStatus";
import { predictAll } from "../solve/contactPasses";
import { addPressed, beginPressed, endPressed, notePressed } from "../solve/piles";
import { laneOf } from "../verify/contactPair";
import { growLists, listFull, noteUsed } from "./listMemory";
import { isCalm } from "../detect/stirredLeaves";
import { bodyOf, rigidRow } from "../../state/owners";
import { hasLoads } from "../../state/islands";

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function pickedAt(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_PICKED) + ((<usize>n) << 3);
}
// @inline
function listedAt(n: i32): usize {
  return pickedAt(load<i32>(front(), L.FRONT_PICKED_CAPACITY) + n);
}
// @inline
function startOf(table: i32, color: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_CONTACT_COLORS) + ((<usize>(table + color)) << 2);
}

/** Spare blocks: a number, and one for so many packed pairs. */
const LEAST_SPARES = 4;
const SPARE = 128;

/** Counted work of a packed pair. */
const UNITS_OF_PACK = 10;

/** Predicts contacts, and packs all near pairs for this substep. */
export function packNear(): void {
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const first = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY) - edges;
  // Where surfaces intersect, a predicted contact may be on the wrong side: a jelly in a cloth came out of it in 8 to
  // 10 of 12 heights with prediction, in 12 without, in 11 with lists.
  if (!load<i32>(L.HEADER, L.H_RESOLUTION)) predictAll();
  const last = first + edges;
  if (arePacked(0, vertices, 0) && arePacked(first, last, 4)) {
    refresh(0, vertices, 0);
    refresh(first, last, 4);
    endPressed();
    return;
  }
  store<i32>(front(), 1, L.FRONT_PACKED);
  store<i32>(front(), 0, L.FRONT_RIGID_PAIRS);
  beginPressed();
  const ofVertices = packKind(0, vertices, 0, 0);
  const ofEdges = packKind(first, last, ofVertices, L.COLOR_ENTRIES);
  endPressed();
  notePacked(0, vertices);
  notePacked(first, last);
  store<i32>(front(), ofVertices, L.FRONT_SOLVED_VERTEX);
  store<i32>(front(), ofEdges, L.FRONT_SOLVED_EDGE);
  noteUsed(L.LIST_SOLVED, ofVertices + ofEdges);
  memory.fill(headOf(0), 255, (<usize>(ofVertices + ofEdges)) << 2);
  emptySpares(ofVertices, 0);
  emptySpares(ofVertices + ofEdges, 4);
}

// @inline
function headOf(block: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_SOLVED_HEADS) + ((<usize>block) << 2);
}

/** Marks the spare blocks in front of `end` as empty. @param kind 0: of vertices, 4: of edges */
function emptySpares(end: i32, kind: usize): void {
  const spares = load<i32>(front() + kind, L.FRONT_EMPTY_BLOCKS);
  memory.fill(headOf(end - spares), 0, (<usize>spares) << 2);
}

/** Takes a spare block. @returns its number */
function takeSpare(kind: usize): i32 {
  const spares = load<i32>(front() + kind, L.FRONT_EMPTY_BLOCKS);
  const vertices = load<i32>(front(), L.FRONT_SOLVED_VERTEX);
  const end = kind ? vertices + load<i32>(front(), L.FRONT_SOLVED_EDGE) : vertices;
  store<i32>(front() + kind, spares - 1, L.FRONT_EMPTY_BLOCKS);
  store<i32>(headOf(end - spares), -1);
  return end - spares;
}

/**
 * Returns whether packed blocks may stay, for near lanes of blocks begin .. end. In a calm room, lanes may go, and as
 * many may come as there are spare blocks. In other rooms they stay only if packing would give the same blocks. A
 * pile's pairs are packed with their pushes, and rigid bodies' pairs are taken out of the blocks.
 */
function arePacked(begin: i32, end: i32, kind: usize): bool {
  if (!load<i32>(front(), L.FRONT_PACKED) || hasLoads() || load<u32>(L.HEADER, L.H_RIGID_CONTACTS)) return false;
  if (!isCalm()) return samePacked(begin, end);
  const lanes = i32x4.splat(L.NEAR_LANES);
  let more = 0;
  let n = begin;
  for (; n + 4 <= end; n += 4) {
    const words = v128.and(v128.andnot(v128.load(nearOf(n)), v128.load(packedOf(n))), lanes);
    if (!v128.any_true(words)) continue;
    for (let k = n; k < n + 4; k++) more += unpacked(k);
  }
  for (; n < end; n++) more += unpacked(n);
  return more <= load<i32>(front() + kind, L.FRONT_EMPTY_BLOCKS);
}

/** Returns whether near lanes and their ranks are as they were packed. */
function samePacked(begin: i32, end: i32): bool {
  for (let n = begin; n < end; n++) if ((load<i32>(nearOf(n)) ^ load<i32>(packedOf(n))) & L.NEAR_KEY) return false;
  return true;
}

/** Returns the number of a block's near lanes that are not packed. */
// @inline
function unpacked(n: i32): i32 {
  return popcnt(load<i32>(nearOf(n)) & ~load<i32>(packedOf(n)) & L.NEAR_LANES);
}

/** Notes that near lanes of blocks begin .. end are packed. */
function notePacked(begin: i32, end: i32): void {
  for (let n = begin; n < end; n++) {
    const word = load<i32>(nearOf(n)) & ~L.NEAR_FRESH;
    store<i32>(nearOf(n), word);
    store<i32>(packedOf(n), word);
  }
}

/**
 * Updates packed lanes of blocks begin .. end that have new directions, or are no longer near. New near lanes get spare
 * blocks, which are solved after all colors.
 */
function refresh(begin: i32, end: i32, kind: usize): void {
  const fresh = i32x4.splat(L.NEAR_FRESH);
  for (let n = begin, near = nearOf(begin); n < end; n++, near += 4) {
    if (n + 4 <= end && !v128.any_true(v128.and(v128.load(near), fresh))) {
      n += 3;
      near += 12;
      continue;
    }
    const word = load<i32>(near);
    if (!(word & L.NEAR_FRESH)) continue;
    const packed = load<i32>(packedOf(n));
    store<i32>(near, word & ~L.NEAR_FRESH);
    store<i32>(packedOf(n), (packed & L.NEAR_LANES) | (word & L.NEAR_KEY));
    addPressed(popcnt(word & L.NEAR_PRESSED_LANES) - popcnt(packed & L.NEAR_PRESSED_LANES));
    spendWork(1);
    for (let bits = packed & L.NEAR_LANES; bits; bits &= bits - 1)
      refreshLane(laneOf((n << 2) + <i32>ctz(bits)), ((word >> <i32>ctz(bits)) & 1) !== 0);
    for (let bits = word & ~packed & L.NEAR_LANES; bits; bits &= bits - 1) {
      const lane = laneOf((n << 2) + <i32>ctz(bits));
      const place = takeSpare(kind) << 2;
      notePlace(lane, place);
      store<i32>(packedLane(place), 0, L.CONTACT_BLOCK_PAIR);
      copyLane(packedLane(place), lane);
    }
  }
}

/** Updates the packed lane of a pair. */
function refreshLane(lane: usize, isNear: bool): void {
  const to = packedLane(load<i32>(lane, L.CONTACT_BLOCK_OWNS) >> L.OWNS_PLACE);
  store<i32>(to, isNear ? -1 : 0, L.CONTACT_BLOCK_NEAR);
  if (isNear) copyDirection(to, lane);
}

// @inline
function packedLane(place: i32): usize {
  const solved = <usize>load<u32>(front(), L.FRONT_SOLVED);
  return solved + <usize>(place >> 2) * L.CONTACT_BLOCK_BYTES + ((<usize>(place & 3)) << 2);
}

/** Notes the place of a pair in the packed blocks. */
// @inline
function notePlace(lane: usize, place: i32): void {
  const owns = load<i32>(lane, L.CONTACT_BLOCK_OWNS) & ((1 << L.OWNS_PLACE) - 1);
  store<i32>(lane, (place << L.OWNS_PLACE) | owns, L.CONTACT_BLOCK_OWNS);
}

/**
 * Packs near lanes of blocks begin .. end into blocks from `at` on.
 * @param table place of the first color in H_CONTACT_COLORS
 * @returns number of blocks
 */
function packKind(begin: i32, end: i32, at: i32, table: i32): i32 {
  let seeksRigid = load<u32>(L.HEADER, L.H_RIGID_CONTACTS) !== 0;
  const wanted = countNear(begin, end);
  const most = makeRoom(wanted);
  const near = listNear(begin, end, most, table);
  let count = pickAll(near, most, table);
  let spares = sparesFor(count);
  if (!growLists(L.LIST_SOLVED, at + countBlocks(table) + spares, 0)) spares = 0;
  if (!growLists(L.LIST_SOLVED, at + countBlocks(table), 0)) {
    listFull(L.LIST_SOLVED);
    // a pair needs at most one block; the contact response resolves pairs that are left out
    count = pickAll(near, (load<i32>(front(), L.FRONT_SOLVED_CAPACITY) - at) >> 1, table);
  }
  let blocks = at;
  for (let color = 0; color <= L.CONTACT_COLORS; color++) {
    const start = startOf(table, color);
    const pairs = load<i32>(start);
    store<i32>(start, blocks);
    blocks += color === L.CONTACT_COLORS ? pairs : (pairs + 3) >> 2;
  }
  const behind = blocks + spares;
  placePicked(near, count, table);
  // blocks that have empty lanes
  for (let color = 0; color < L.CONTACT_COLORS; color++) {
    const next = load<i32>(startOf(table, color + 1));
    if (next > load<i32>(startOf(table, color))) clear(load<i32>(headOf(next - 1)));
  }
  for (let k = load<i32>(startOf(table, L.CONTACT_COLORS)); k < behind; k++) clear(k);
  store<i32>(front() + (table ? 4 : 0), spares, L.FRONT_EMPTY_BLOCKS);
  countWork(UNITS_OF_PACK * count);
  for (let n = 0, picked = pickedAt(0); n < count; n++, picked += 8) {
    spendWork(1);
    const pair = load<i32>(picked);
    const from = laneOf(pair);
    const lane = load<i32>(picked, 4);
    const goes = (load<i32>(headOf(lane >> 2)) << 2) | (lane & 3);
    const to = packedLane(goes);
    notePlace(from, goes);
    store<i32>(to, notePressed(from) ? pair + 1 : 0, L.CONTACT_BLOCK_PAIR);
    copyLane(to, from);
    if (!seeksRigid || !ofRigid(from)) continue;
    store<i32>(front(), 1, L.FRONT_RIGID_PAIRS);
    seeksRigid = false;
  }
  if (most < wanted || count < near) store<i32>(front(), 0, L.FRONT_PACKED);
  return behind - at;
}

/**
 * Gives lanes to the picked pairs: four of a color share a block, in the order in which they were picked. Blocks of a
 * color share no particle, so their order has no effect; in the order of the rows, which is one in space, a thread has
 * the same region in each color. (In the order of picking, two threads handed each cache line to each other 13 times in
 * a pass.) Blocks of rigid bodies' pairs, and of pairs without a color, keep their order.
 */
function placePicked(near: i32, count: i32, table: i32): void {
  const keeps = load<u32>(L.HEADER, L.H_RIGID_CONTACTS) !== 0;
  // number of pairs placed of each color, then of blocks
  const places = startOf(4 * L.COLOR_ENTRIES, 0);
  memory.fill(places, 0, L.COLOR_ENTRIES << 2);
  for (let n = 0; n < count; n++) {
    const color = load<i32>(pickedAt(n), 4);
    const start = load<i32>(startOf(table, color));
    const k = countOne(places, color);
    const lane = color === L.CONTACT_COLORS ? (start + k) << 2 : (start << 2) + k;
    store<i32>(pickedAt(n), lane, 4);
    // the block's place, or its color until that is known
    if (!(lane & 3)) store<i32>(headOf(lane >> 2), keeps || color === L.CONTACT_COLORS ? lane >> 2 : -1 - color);
  }
  if (keeps) return;
  memory.fill(places, 0, L.COLOR_ENTRIES << 2);
  for (let n = 0; n < near; n++) {
    const taken = (load<i32>(listedAt(n), 4) >> TAKEN) - 1;
    const lane = taken < 0 ? 1 : load<i32>(pickedAt(taken), 4);
    if (lane & 3) continue;
    const color = -1 - load<i32>(headOf(lane >> 2));
    if (color >= 0) store<i32>(headOf(lane >> 2), load<i32>(startOf(table, color)) + countOne(places, color));
  }
}

/** Counts one more of a color. @returns how many there were */
// @inline
function countOne(counts: usize, color: i32): i32 {
  const at = counts + ((<usize>color) << 2);
  const count = load<i32>(at);
  store<i32>(at, count + 1);
  return count;
}

/** Returns the number of spare blocks behind `count` packed pairs. Packed blocks stay only in a calm room. */
// @inline
function sparesFor(count: i32): i32 {
  const stays = isCalm() && !hasLoads() && !load<u32>(L.HEADER, L.H_RIGID_CONTACTS);
  return stays && count ? LEAST_SPARES + count / SPARE : 0;
}

function countNear(begin: i32, end: i32): i32 {
  let count = 0;
  for (let n = begin, near = nearOf(begin); n < end; n++, near += 4) count += popcnt(load<i32>(near) & L.NEAR_LANES);
  return count;
}

/** @returns number of near lanes for which there is memory */
function makeRoom(near: i32): i32 {
  noteUsed(L.LIST_PICKED, near);
  if (growLists(L.LIST_PICKED, near, 0)) return near;
  listFull(L.LIST_PICKED);
  return load<i32>(front(), L.FRONT_PICKED_CAPACITY);
}

/** Returns the number of blocks for lanes with these colors. */
function countBlocks(table: i32): i32 {
  let blocks = load<i32>(startOf(table, L.CONTACT_COLORS));
  for (let color = 0; color < L.CONTACT_COLORS; color++) blocks += (load<i32>(startOf(table, color)) + 3) >> 2;
  return blocks;
}

/**
 * Order of vertex-triangle pairs: the vertex of the first surface in memory before that of the second, and pairs above
 * a face before those beside one. A body that falls flat on a mesh is then turned back by its own vertices, straight
 * up. If a triangle beside them came first, they would glide away.
 */
const RANKS = 4;
/** A listed pair's second word: its rank, and from bit TAKEN on its place among the picked ones plus one, 0: none. */
const RANK = 3;
const TAKEN = 2;

/** @param beside 1 if the vertex is beside the face, else 0 */
// @inline
function rankOf(lane: usize, beside: i32): i32 {
  return (load<u32>(lane) < load<u32>(lane, 16) ? 0 : 2) + beside;
}

/**
 * Lists near lanes of blocks begin .. end with their ranks, at most `most`, behind the picked ones.
 * @returns their number
 */
function listNear(begin: i32, end: i32, most: i32, table: i32): i32 {
  const together = load<u32>(L.HEADER, L.H_TOGETHER) !== 0;
  let count = 0;
  for (let n = begin, near = nearOf(begin); n < end; n++, near += 4) {
    const word = load<i32>(near);
    for (let bits = word & L.NEAR_LANES; bits && count < most; bits &= bits - 1) {
      const k = <i32>ctz(bits);
      const pair = (n << 2) + k;
      const lane = laneOf(pair);
      if (together && ofImplicit(lane)) continue;
      const place = listedAt(count);
      store<i32>(place, pair);
      store<i32>(place, table ? 0 : rankOf(lane, (word >> (L.NEAR_BESIDE + k)) & 1), 4);
      count++;
    }
  }
  return count;
}

/** Picks at most `most` of the listed lanes and gives them colors. @returns number of picked lanes */
function pickAll(near: i32, most: i32, table: i32): i32 {
  memory.fill(startOf(table, 0), 0, L.COLOR_ENTRIES << 2);
  for (let n = 0; n < near; n++) store<i32>(listedAt(n), load<i32>(listedAt(n), 4) & RANK, 4);
  const ranks = table ? 1 : RANKS;
  let count = 0;
  for (let rank = 0; rank < ranks; rank++) count = pick(near, count, most, table, rank);
  for (let n = 0; n < count; n++) forgetColors(laneOf(load<i32>(pickedAt(n))));
  return count;
}

/**
 * Picks the lanes of this rank among the `near` listed ones, with their colors. @param count lanes picked so far
 * @returns number of picked lanes
 */
function pick(near: i32, count: i32, most: i32, table: i32, rank: i32): i32 {
  let taken = count;
  let place = pickedAt(count);
  const end = listedAt(near);
  for (let listed = listedAt(0); listed < end && taken < most; listed += 8) {
    if ((load<i32>(listed, 4) & RANK) !== rank) continue;
    spendWork(1);
    const pair = load<i32>(listed);
    const color = colorOf(laneOf(pair));
    const start = startOf(table, color);
    store<i32>(place, pair);
    store<i32>(place, color, 4);
    store<i32>(listed, rank | ((taken + 1) << TAKEN), 4);
    store<i32>(start, load<i32>(start) + 1);
    place += 8;
    taken++;
  }
  return taken;
}

/**
 * Returns whether a particle belongs to an implicit body. Then the pair is solved in that body's step
 * (implicit/contacts.ts).
 */
function ofImplicit(lane: usize): bool {
  for (let k: usize = 0; k < 64; k += 16) {
    const particle = <usize>load<u32>(lane + k);
    if (load<f32>(particle, 12) !== 0 && load<i32>(bodyOf(particle), L.BODY_IMPLICIT)) return true;
  }
  return false;
}

/** Returns whether a particle of a pair belongs to a rigid body. */
function ofRigid(lane: usize): bool {
  for (let k: usize = 0; k < 64; k += 16) if (rigidRow(<usize>load<u32>(lane + k))) return true;
  return false;
}

/** Returns the first color that none of a pair's free particles has, and gives it to them. */
function colorOf(lane: usize): i32 {
  const toMask = <usize>load<u32>(L.HEADER, L.H_COLOR_MASKS) - <usize>load<u32>(L.HEADER, L.H_X);
  let low: u64 = 0;
  let high: u64 = 0;
  for (let k: usize = 0; k < 64; k += 16) {
    const at = <usize>load<u32>(lane + k);
    if (load<f32>(at, 12) !== 0) {
      low |= load<u64>(at + toMask);
      high |= load<u64>(at + toMask, 8);
    }
  }
  const color = ~low ? <i32>ctz<u64>(~low) : 64 + <i32>ctz<u64>(~high);
  if (color < L.CONTACT_COLORS) {
    const word: usize = (color >> 6) << 3;
    const bit = (<u64>1) << (color & 63);
    for (let k: usize = 0; k < 64; k += 16) {
      const at = <usize>load<u32>(lane + k);
      const mask = at + toMask + word;
      if (load<f32>(at, 12) !== 0) store<u64>(mask, load<u64>(mask) | bit);
    }
  }
  return color;
}

/** Clears the color masks of a pair, which are 0 between substeps. */
function forgetColors(lane: usize): void {
  const toMask = <usize>load<u32>(L.HEADER, L.H_COLOR_MASKS) - <usize>load<u32>(L.HEADER, L.H_X);
  const zero = i64x2(0, 0);
  for (let k: usize = 0; k < 64; k += 16) v128.store(<usize>load<u32>(lane + k) + toMask, zero);
}

/** Resets four lanes: they refer to the dummies. */
function clear(n: i32): void {
  const block = <usize>load<u32>(front(), L.FRONT_SOLVED) + <usize>n * L.CONTACT_BLOCK_BYTES;
  const dummies = load<i32>(L.HEADER, L.H_DUMMIES);
  const zero = f32x4.splat(0);
  for (let row: usize = 64; row < <usize>L.CONTACT_BLOCK_BYTES; row += 16) v128.store(block + row, zero);
  for (let k = 0; k < 4; k++) v128.store(block + ((<usize>k) << 4), i32x4.splat(dummies + (k << 4)));
  v128.store(block, f32x4.splat(NEVER), L.CONTACT_BLOCK_THICKNESS);
}

/** Copies everything that the solve reads of a pair. */
function copyLane(to: usize, from: usize): void {
  for (let row: usize = 0; row < 64; row += 16) store<i32>(to + row, load<i32>(from + row));
  copyDirection(to, from);
  store<i32>(to, load<i32>(from, L.CONTACT_BLOCK_THICKNESS), L.CONTACT_BLOCK_THICKNESS);
  store<i32>(to, -1, L.CONTACT_BLOCK_NEAR);
  for (let row: usize = 0; row < 48; row += 16) {
    store<i32>(to + row, load<i32>(from + row, L.CONTACT_BLOCK_STATIC), L.CONTACT_BLOCK_STATIC);
    store<i32>(to + row, load<i32>(from + row, L.CONTACT_BLOCK_PUSH), L.CONTACT_BLOCK_PUSH);
  }
}

/** Copies a pair's direction and weights. */
// @inline
function copyDirection(to: usize, from: usize): void {
  for (let row: usize = 0; row < 48; row += 16)
    store<i32>(to + row, load<i32>(from + row, L.CONTACT_BLOCK_NORMAL), L.CONTACT_BLOCK_NORMAL);
  for (let row: usize = 0; row < 64; row += 16)
    store<i32>(to + row, load<i32>(from + row, L.CONTACT_BLOCK_WEIGHT), L.CONTACT_BLOCK_WEIGHT);
}
