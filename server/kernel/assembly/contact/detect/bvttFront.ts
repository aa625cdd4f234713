/**
 * The bvtt front (bounding volume test tree front): finds the primitives of all surfaces that may come within r of each
 * other in this substep. r is the sum of both contact radii. The cost follows the number of near primitives, not the
 * number of moving ones.
 *
 * Separated pair (SEPARATED row): two nodes or leaves of the surfaces' trees. Their boxes, swept from the safe
 * positions S to x, are further apart than r along one axis. Testing that axis takes one comparison a substep. If it no
 * longer separates them, another axis is tried; if none does, the pair is split (separatedPairs.ts).
 *
 * Leaf pair (LEAF_PAIR row): two leaves that no axis separates. A leaf has four triangles, and the vertices and edges
 * that it is the first to have. Each leaf pair is measured once, at S (measureLeaves.ts). Primitives that come near by
 * x become rows (rows.ts). A direction holds all others further apart than r + slack, from S to x. They stay further
 * apart than r until the two leaves have moved against each other by slack. That motion is bounded by sums of the least
 * and greatest displacement of their particles, by axis. When the slack is used up, two cheap tests come before a new
 * measurement: the shape of the leaves, and the direction in which they were nearest (leafPairs.ts, leafShapes.ts).
 *
 * Pairs of leaves that have not moved are not even tested (stirredLeaves.ts).
 *
 * All threads of a room refit boxes of leaves and test LEAF_PAIR rows. Two primitives that have neither a row nor a
 * separation cannot have met on straight paths from S to x. Nothing is predicted, and no margin is added for motion.
 * Only pairs that have used up their slack are tested again. The front outlives ticks, in memory of the pair list:
 * clearing H_LIST_VALID rebuilds it.
 * Tried, slower: pair lists with margins around predicted trajectories (1.4 to 3 times as long a tick), also with
 * copies of measured positions; displacements summed from the start of the substep; boxes that look a substep ahead;
 * one bound of all motion; bounds of motion up to a horizon of several substeps (docs/decisions/moving-contact.md).
 */
import * as L from "../../layout/layout";
import { meetsSurface } from "../../state/filters";
import { growNotes, indexLeafPairs, moveBase, scanLeafPairs, takeOver } from "./leafPairs";
import {
  areWithin,
  holdWithin,
  leafPairRow,
  openSeparated,
  overflow,
  pairMotion,
  separate,
  separateSelf,
  scanSeparated,
} from "./separatedPairs";
import { fitLeaf, isLeftOut, uniteBoxes } from "./boxes";
import { compactRows } from "../prepare/compactRows";
import { growForRows } from "../prepare/growRows";
import { endChains, forgetPacked, forgetRows, placeRows } from "../prepare/rows";
import { noteUsed } from "../prepare/listMemory";
import { preemptionPoint } from "../../scheduler/clock";
import { countWork } from "../../state/work";
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
import { bindNeighbors } from "../../integrate/freeBodies";
import { anyHeld, bothHeld, countGroups, endHolds } from "../verify/heldGroups";
import { forgetListed, noteSurfaces } from "../../state/islands";
import {
  beginStirs,
  displacementNow,
  endRefit,
  endStir,
  endStirs,
  isBelowStir,
  isRestless,
  lengthOf,
  notePath,
  stirredAt,
} from "./stirredLeaves";
import { fitWay, higher, lower } from "./ways";
import { marksOf, numberOf } from "../../state/marks";
import { surfaceAt } from "../../state/owners";

/**
 * Larger motion between ticks, as a part of a surface's greatest sensible margin, is a teleport: the front is rebuilt.
 */
const LEAST: f32 = 1.0 / 32;
/** The front is thinned when its separated pairs have doubled and grown by this number. */
const GROWN = 4096;
/** A sparse front lists all rows again when 1/SPARSE_UNTIL of H_BLOCKS_MANY would hold them. */
const SPARSE_UNTIL = 4;
/** Motion within which boxes are not fitted, as a part of the largest contact radius in the room. */
const MARGIN: f32 = 0.5;
/** Factor that covers the rounding of a sum of motions. */
const ROUNDED: f32 = 1.000001;
/** Fewer leaves are not shared: waking the helper threads takes a microsecond or two. */
const SHARED = 512;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
/** Refits the displacements of leaves, and all boxes if `fits`. */
function refit(fits: bool): void {
  store<i32>(front(), fits ? 1 : 0, L.FRONT_FITS);
  atomic.store<i32>(front(), 0, L.FRONT_STIRRED_COUNT);
  atomic.store<i32>(front(), 0, L.FRONT_FARTHEST);
  const steady = !fits && load<i32>(front(), L.FRONT_PREDICTS) !== 0 && !isRestless() && staysSteady();
  store<i32>(front(), steady ? 1 : 0, L.FRONT_STEADY);
  if (steady) {
    endRefit();
    return;
  }
  if (isHelped() && load<i32>(front(), L.FRONT_LEAF_COUNT) >= SHARED) {
    openShared(L.SHARED_REFIT);
    while (claimChunk()) refitLeaves(chunkBegin, chunkEnd, sharedParts());
    closeShared(L.SHARED_REFIT);
  } else refitLeaves(0, 1, 1);
  if (fits) refitNodes();
  endRefit();
}

/** Refits parts begin .. end of `parts` of all leaves. */
export function refitLeaves(begin: i32, end: i32, parts: i32): void {
  const leaves = load<i32>(front(), L.FRONT_LEAF_COUNT);
  const first = partBegins(leaves, begin, parts);
  const last = partBegins(leaves, end, parts);
  if (isWhole()) {
    refitRange(first, last);
    return;
  }
  const surfaces = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  for (let s = 0; s < surfaces; s++) {
    const from = max<i32>(first, startOf(s, 0));
    const to = min<i32>(last, startOf(s + 1, 0));
    if (from < to && !isLeftOut(s)) refitRange(from, to);
  }
}

/** Returns whether all leaves need a refit, those of fixed colliders and of inactive and sleeping bodies too. */
// @inline
function isWhole(): bool {
  return !load<i32>(L.HEADER, L.H_LIST_VALID);
}

/** @param field 0: first leaf of a surface, 4: first node less the leaves */
// @inline
function startOf(surface: i32, field: usize): i32 {
  return load<i32>(<usize>load<u32>(front(), L.FRONT_STARTS) + ((<usize>surface) << 3) + field);
}

function refitRange(first: i32, last: i32): void {
  const fits = load<i32>(front(), L.FRONT_FITS) !== 0;
  const known = load<i32>(front(), L.FRONT_KNOWN) !== 0;
  let stirred = 0;
  let farthest: f32 = 0;
  for (let n = first; n < last; n++) {
    if (fits) fitLeaf(n);
    if (fitWay(n)) stirred++;
    if (known && isChanged(n)) store<u8>(stirredAt(n), load<u8>(stirredAt(n)) | L.STIRRED_BY_RESPONSE);
    farthest = max<f32>(farthest, displacementNow(n));
  }
  if (stirred) atomic.add<i32>(front(), stirred, L.FRONT_STIRRED_COUNT);
  noteFarthest(farthest);
}

/** Returns whether the response has moved a particle of a leaf in this substep. */
function isChanged(number: i32): bool {
  const leaf = <usize>load<u32>(front(), L.FRONT_LEAVES) + <usize>number * L.LEAF_BYTES;
  for (let k = load<i32>(leaf), at = leaf + L.LEAF_PARTICLE; k > 0; k--, at += 4)
    if (marksOf(numberOf(<usize>load<u32>(at))) & L.MARK_CHANGED) return true;
  return false;
}

/**
 * Returns whether no leaf can be stirred by the predicted x, because no particle goes far enough. Then ways are fitted
 * only for leaf pairs that are looked at.
 */
function staysSteady(): bool {
  const far = load<f32>(front(), L.FRONT_PATH);
  let farthest: f32 = 0;
  for (let s = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; s >= 0; s--) {
    if (isLeftOut(s) || startOf(s, 0) === startOf(s + 1, 0)) continue;
    const goes = farthestOf(surfaceAt(s));
    if (!isBelowStir(startOf(s, 0), goes, far + goes)) return false;
    farthest = max<f32>(farthest, goes);
  }
  noteFarthest(farthest);
  return true;
}

/** Returns the greatest displacement of a surface's particles from S to x, m. Ignores NaN, as leaves do. */
function farthestOf(surface: usize): f32 {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  let at = <usize>load<u32>(surface, L.SURFACE_FIRST);
  const end = at + ((<usize>load<i32>(surface, L.SURFACE_COUNT)) << 4);
  let most = f32x4.splat(0);
  for (; at < end; at += 16) most = f32x4.pmax(most, f32x4.abs(f32x4.sub(v128.load(at), v128.load(at + toSafe))));
  return lengthOf(most);
}

/** Raises FRONT_FARTHEST to a distance. Positive floats, and NaN, are in the order of their bits. */
function noteFarthest(distance: f32): void {
  const bits = reinterpret<i32>(abs<f32>(distance));
  let seen = atomic.load<i32>(front(), L.FRONT_FARTHEST);
  while (bits > seen) {
    const before = atomic.cmpxchg<i32>(front(), seen, bits, L.FRONT_FARTHEST);
    if (before === seen) return;
    seen = before;
  }
}

function refitNodes(): void {
  if (isWhole()) {
    uniteBoxes(0, load<i32>(front(), L.FRONT_NODE_COUNT));
    return;
  }
  for (let s = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; s >= 0; s--)
    if (!isLeftOut(s)) uniteBoxes(startOf(s, 4), startOf(s + 1, 4));
}

/** Fits all boxes if the refit has not. */
function fitRest(): void {
  if (load<i32>(front(), L.FRONT_FITS)) return;
  store<i32>(front(), 1, L.FRONT_FITS);
  for (let s = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; s >= 0; s--)
    if (!isLeftOut(s)) for (let n = startOf(s, 0); n < startOf(s + 1, 0); n++) fitLeaf(n);
  refitNodes();
}

/** Returns the greatest motion of a particle since separated pairs were last scanned, m. */
// @inline
function goneSoFar(): f32 {
  return load<f32>(front(), L.FRONT_GONE) + load<f32>(front(), L.FRONT_FARTHEST);
}

/** Refits all boxes at x. Called between ticks, for reachesSurface. */
export function refitHere(): void {
  if (!load<u32>(L.HEADER, L.H_SAFE)) return;
  memory.copy(
    <usize>load<u32>(L.HEADER, L.H_SAFE),
    <usize>load<u32>(L.HEADER, L.H_X),
    (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4,
  );
  store<i32>(front(), 1, L.FRONT_FITS);
  refitLeaves(0, 1, 1);
  refitNodes();
}

/** Returns 1 if the boxes of leaves of two surfaces come within `reach`, m. A 1 may be false, a 0 is certain. */
export function reachesSurface(a: i32, b: i32, reach: f32): i32 {
  if (!front()) return 0;
  openSeparated();
  const roots = <usize>load<u32>(front(), L.FRONT_ROOTS);
  const first = load<i32>(roots + ((<usize>a) << 2));
  const second = load<i32>(roots + ((<usize>b) << 2));
  return first >= 0 && second >= 0 && areWithin(first, second, reach) ? 1 : 0;
}

/** Ends a substep: displacements up to x become those up to the last substep. */
function keepWays(): void {
  for (let s = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; s >= 0; s--) {
    if (load<i32>(surfaceAt(s), L.SURFACE_STILL)) continue;
    const last = startOf(s + 1, 0);
    let n = startOf(s, 0);
    let way = <usize>load<u32>(front(), L.FRONT_DISPLACEMENTS) + <usize>n * L.DISPLACEMENT_BYTES;
    for (; n < last; n++, way += L.DISPLACEMENT_BYTES) {
      endStir(n);
      v128.store(way, v128.load(way, L.DISPLACEMENT_NOW_LOW));
      v128.store(way, v128.load(way, L.DISPLACEMENT_NOW_HIGH), L.DISPLACEMENT_HIGH);
    }
  }
  endStirs();
  const farthest = load<f32>(front(), L.FRONT_FARTHEST);
  store<f32>(front(), ROUNDED * (load<f32>(front(), L.FRONT_GONE) + farthest), L.FRONT_GONE);
  store<f32>(front(), ROUNDED * (load<f32>(front(), L.FRONT_PATH) + farthest), L.FRONT_PATH);
  keepReference();
}

/**
 * Returns whether any particle moved after the last substep ended. Changes between ticks may move particles a little.
 */
function hasMoved(): bool {
  let at = <usize>load<u32>(L.HEADER, L.H_X);
  const toLast = <usize>load<u32>(L.HEADER, L.H_REFERENCE) - at;
  const end = at + ((<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4);
  let moved = i32x4(0, 0, 0, 0);
  for (; at < end; at += 16) moved = v128.or(moved, f32x4.ne(v128.load(at), v128.load(at + toLast)));
  return v128.any_true(moved);
}

/** Adds motion since the last substep to the displacements of leaves. */
function takeMoves(): void {
  forgetPacked();
  store<f32>(front(), Infinity, L.FRONT_GONE);
  store<f32>(front(), Infinity, L.FRONT_PATH);
  const toLast = <usize>load<u32>(L.HEADER, L.H_REFERENCE) - <usize>load<u32>(L.HEADER, L.H_X);
  let leaf = <usize>load<u32>(front(), L.FRONT_LEAVES);
  let way = <usize>load<u32>(front(), L.FRONT_DISPLACEMENTS);
  const leaves = load<i32>(front(), L.FRONT_LEAF_COUNT);
  for (let n = 0; n < leaves; n++, leaf += L.LEAF_BYTES, way += L.DISPLACEMENT_BYTES) {
    let least = f32x4.splat(Infinity);
    let most = f32x4.splat(-Infinity);
    for (let k = load<i32>(leaf), at = leaf + L.LEAF_PARTICLE; k > 0; k--, at += 4) {
      const particle = <usize>load<u32>(at);
      const d = f32x4.sub(v128.load(particle), v128.load(particle + toLast));
      least = f32x4.pmin(least, d);
      most = f32x4.pmax(most, d);
    }
    notePath(n, least, most);
    v128.store(way, lower(v128.load(way, L.DISPLACEMENT_LOW), least), L.DISPLACEMENT_LOW);
    v128.store(way, higher(v128.load(way, L.DISPLACEMENT_HIGH), most), L.DISPLACEMENT_HIGH);
  }
  keepReference();
}

function keepReference(): void {
  memory.copy(
    <usize>load<u32>(L.HEADER, L.H_REFERENCE),
    <usize>load<u32>(L.HEADER, L.H_X),
    (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4,
  );
}

/** Restarts displacements at 0, so that they stay short and exact. */
function restWays(): void {
  const ways = <usize>load<u32>(front(), L.FRONT_DISPLACEMENTS);
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) - 1; n >= 0; n--) {
    const row = leafPairRow(n);
    const A = ways + <usize>load<i32>(row, L.LEAF_PAIR_FIRST) * L.DISPLACEMENT_BYTES;
    const B = ways + <usize>load<i32>(row, L.LEAF_PAIR_SECOND) * L.DISPLACEMENT_BYTES;
    const low = f32x4.sub(v128.load(A, L.DISPLACEMENT_LOW), v128.load(B, L.DISPLACEMENT_HIGH));
    const high = f32x4.sub(v128.load(A, L.DISPLACEMENT_HIGH), v128.load(B, L.DISPLACEMENT_LOW));
    moveBase(pairMotion(n), f32x4.neg(low), f32x4.neg(high));
  }
  memory.fill(ways, 0, <usize>load<i32>(front(), L.FRONT_LEAF_COUNT) * L.DISPLACEMENT_BYTES);
  store<f32>(front(), 0, L.FRONT_PATH);
}

/** Begins to track the motion of leaves, before a front is built from nothing. */
function beginMotion(): void {
  store<i32>(front(), 0, L.FRONT_QUIETED);
  store<i32>(front(), 0, L.FRONT_CALM);
  store<i32>(front(), 0, L.FRONT_PACKED);
  let widest: f32 = 0;
  for (let s = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; s >= 0; s--) {
    const radius = load<f32>(surfaceAt(s), L.SURFACE_RADIUS);
    widest = max<f32>(widest, radius);
    beginStirs(startOf(s, 0), startOf(s + 1, 0), radius);
  }
  store<f32>(front(), MARGIN * widest, L.FRONT_MARGIN);
}

/** Builds the front from nothing, for the current boxes. */
function makeFront(): void {
  store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_COUNT_LISTS) + 1, L.H_COUNT_LISTS);
  store<i32>(front(), 0, L.FRONT_LEAF_PAIR_COUNT);
  forgetRows();
  forgetListed();
  descend();
}

/**
 * Rebuilds separated pairs from the roots, because splits only ever add to them. Leaf pairs keep their rows, slack and
 * direction. (A full rebuild of drape's front took 40 ms every 50 ticks.)
 */
function thinFront(): void {
  const before = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
  indexLeafPairs(before);
  descend();
  if (!overflow) takeOver(before);
}

/** Finds separated and leaf pairs of all surfaces, for the current boxes. */
function descend(): void {
  store<f32>(front(), Infinity, L.FRONT_GONE);
  const count = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  const roots = <usize>load<u32>(front(), L.FRONT_ROOTS);
  const held = anyHeld();
  store<i32>(front(), 0, L.FRONT_SEPARATED_COUNT);
  for (let a = 0; a < count; a++) {
    const A = surfaceAt(a);
    const ofA = load<i32>(roots + ((<usize>a) << 2));
    const fixed = load<i32>(A, L.SURFACE_SOLID) === L.SOLID_COLLIDER;
    if (ofA < 0) continue;
    for (let b = a; b < count; b++) {
      const B = surfaceAt(b);
      const ofB = load<i32>(roots + ((<usize>b) << 2));
      if (held && bothHeld(a, b)) continue;
      if (ofB < 0 || !meetsSurface(A, b) || (fixed && load<i32>(B, L.SURFACE_SOLID) === L.SOLID_COLLIDER)) continue;
      const r = load<f32>(A, L.SURFACE_RADIUS) + load<f32>(B, L.SURFACE_RADIUS);
      const surfaces = ((<u32>a) << 16) | <u32>b;
      if (a === b) separateSelf(ofA, r, surfaces);
      else separate(ofA, ofB, r, surfaces);
    }
  }
  store<i32>(front(), load<i32>(front(), L.FRONT_SEPARATED_COUNT), L.FRONT_WHOLE);
  countWork(4 * (load<i32>(front(), L.FRONT_SEPARATED_COUNT) + load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT)));
}

/**
 * Records which bodies have rows with each other: they exchange momentum. @returns whether any pair of bodies is new
 */
function noteNew(row: usize, count: i32): bool {
  let more = false;
  let before: u32 = 0;
  for (let n = 0; n < count; n++, row += L.PAIR_BYTES) {
    const both = load<u32>(row, L.PAIR_SURFACES);
    if (both === before) continue;
    before = both;
    if (both >> 16 !== (both & 0xffff)) more = noteSurfaces(both) || more;
  }
  return more;
}

/**
 * Updates the front for straight paths from S to x. New rows have directions that separate them at S. Call it again
 * when x has changed: it only adds. If memory cannot hold all rows, the front is rebuilt with rows only for pairs that
 * come near on the way (FRONT_SPARSE).
 * @param again whether only the response (movedParticles.ts) has moved particles since the last call
 * @returns false if memory cannot hold the rows of the sparse front either. Then H_LIST_VALID is 0 and the front is
 * empty
 */
export function advanceFront(again: bool): bool {
  if (advance(again)) return true;
  if (load<i32>(front(), L.FRONT_SPARSE)) return false;
  store<i32>(front(), 1, L.FRONT_SPARSE);
  return advance(false);
}

function advance(again: bool): bool {
  const leaves = load<i32>(front(), L.FRONT_LEAF_COUNT);
  countWork(3 * leaves);
  openSeparated();
  const anew = !load<i32>(L.HEADER, L.H_LIST_VALID);
  if (anew) {
    memory.copy(
      <usize>load<u32>(L.HEADER, L.H_REFERENCE),
      <usize>load<u32>(L.HEADER, L.H_SAFE),
      (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4,
    );
    memory.fill(<usize>load<u32>(front(), L.FRONT_DISPLACEMENTS), 0, <usize>leaves * L.DISPLACEMENT_BYTES);
    store<f32>(front(), 0, L.FRONT_PATH);
    nextStamp();
    beginMotion();
  }
  const separated = load<i32>(front(), L.FRONT_SEPARATED_COUNT);
  const isLarge = separated > 2 * load<i32>(front(), L.FRONT_WHOLE) + GROWN;
  store<i32>(front(), again && !anew && !isLarge ? load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) : 0, L.FRONT_KNOWN);
  // a body may fall asleep after the tick: its boxes then stay
  const last =
    !load<i32>(front(), L.FRONT_PREDICTS) && load<i32>(L.HEADER, L.H_SUBSTEP) === load<i32>(L.HEADER, L.H_SUBSTEPS) - 1;
  refit(anew || isLarge || last || !(goneSoFar() <= load<f32>(front(), L.FRONT_MARGIN)));
  preemptionPoint();
  if (anew) makeFront();
  else if (isLarge) thinFront();
  else if (load<i32>(front(), L.FRONT_FITS) || !holdWithin(goneSoFar())) {
    fitRest();
    countWork(separated >> 2);
    scanSeparated();
  }
  preemptionPoint();
  if (!overflow) {
    scanLeafPairs();
    growForRows();
  }
  preemptionPoint();
  if (overflow || !placeRows()) {
    countGroups();
    forgetRows();
    store<i32>(L.HEADER, 0, L.H_LIST_VALID);
    store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_COUNT_FULL) + 1, L.H_COUNT_FULL);
    return false;
  }
  growNotes();
  noteUsed(L.LIST_SEPARATED, load<i32>(front(), L.FRONT_SEPARATED_COUNT));
  noteUsed(L.LIST_BLOCKS, load<i32>(L.HEADER, L.H_CONTACT_BLOCK_COUNT));
  store<i32>(L.HEADER, 1, L.H_LIST_VALID);
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_PAIRS);
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_PAIRS);
  const ofVertices = noteNew(pairs, vertices);
  const ofEdges = noteNew(pairs + <usize>(load<i32>(L.HEADER, L.H_PAIR_CAPACITY) - edges) * L.PAIR_BYTES, edges);
  if (ofVertices || ofEdges || anew) bindNeighbors();
  return true;
}

// @inline
function nextStamp(): void {
  store<i32>(front(), load<i32>(front(), L.FRONT_STAMP) + 1, L.FRONT_STAMP);
}

/** Call when S becomes x and nothing else has changed. */
export function endFront(): void {
  if (load<i32>(L.HEADER, L.H_LIST_VALID)) keepWays();
}

/** Begins a substep: invalidates gathered leaves and the chains of the response. */
export function beginFront(): void {
  if (load<i32>(L.HEADER, L.H_LIST_VALID) && hasMoved()) takeMoves();
  nextStamp();
  endChains();
}

/**
 * Begins a tick. If particles were moved outside of a substep, the front is forgotten. Otherwise displacements restart
 * at 0 and bodies with rows are recorded again.
 */
export function beginTick(): void {
  endHolds();
  const valid = load<i32>(L.HEADER, L.H_LIST_VALID);
  if (!valid || SPARSE_UNTIL * load<i32>(L.HEADER, L.H_CONTACT_BLOCK_COUNT) < load<i32>(L.HEADER, L.H_BLOCKS_MANY))
    store<i32>(front(), 0, L.FRONT_SPARSE);
  if (!valid) return;
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toLast = <usize>load<u32>(L.HEADER, L.H_REFERENCE) - X;
  const surfaces = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  for (let s = 0; s < surfaces; s++) {
    const surface = surfaceAt(s);
    const limit = LEAST * load<f32>(surface, L.SURFACE_LIMIT);
    const limit2 = limit * limit;
    for (
      let i = load<i32>(surface, L.SURFACE_COUNT), at = <usize>load<u32>(surface, L.SURFACE_FIRST);
      i > 0;
      i--, at += 16
    ) {
      const d = f32x4.sub(v128.load(at), v128.load(at + toLast));
      const dd = f32x4.mul(d, d);
      if (f32x4.extract_lane(dd, 0) + f32x4.extract_lane(dd, 1) + f32x4.extract_lane(dd, 2) > limit2) {
        store<i32>(L.HEADER, 0, L.H_LIST_VALID);
        return;
      }
      // a particle was fixed or freed: colors depend on it
      if (f32x4.extract_lane(d, 3) !== 0) forgetPacked();
    }
  }
  restWays();
  compactRows();
  forgetListed();
  let before: u32 = 0;
  for (
    let n = 0, row = leafPairRow(0);
    n < load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
    n++, row += L.LEAF_PAIR_BYTES
  ) {
    const both = load<u32>(row, L.LEAF_PAIR_SURFACES);
    if (both === before || !load<i32>(row, L.LEAF_PAIR_LANES) || both >> 16 === (both & 0xffff)) continue;
    before = both;
    noteSurfaces(both);
  }
}
