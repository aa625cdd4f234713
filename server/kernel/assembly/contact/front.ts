/**
 * The kinetic front: which primitives of which surfaces may come within r of each other in this substep, r the radii of
 * both. Contact costs what is near, not what moves.
 *   parted   two nodes or leaves of the surfaces' trees whose boxes, swept from the safe positions S to x, one axis
 *            keeps further apart than r: one comparison a substep. What it does not keep apart any more is asked for
 *            another axis, and then split (frontParted.ts).
 *   close    two leaves (four triangles each, with the vertices and edges that they are the first to have) that no axis
 *            parts are measured once, at S (frontMeasure.ts): what comes near by x becomes a row (frontRows.ts), all
 *            else is held further apart than r + slack by a direction of its own, from S to x, and stays further apart
 *            than r while the two leaves have moved against each other by less than slack beyond that: sums of the
 *            least and greatest motion of their particles, by axis. Then the two are asked for less than a measurement,
 *            in this order: does their shape still keep them apart, or the direction in which they were nearest
 *            (frontClose.ts, frontShape.ts)?
 * Boxes of leaves and CLOSE rows are looked at by all threads that a room has.
 * So what is neither a row nor parted cannot have met on straight ways from S to x. Nothing is predicted, and there are
 * no margins that motion leaves: of all pairs only those are looked at again that have used up what they had. The front
 * outlives ticks, in memory of the list of pairs: whoever forgets the list (H_LIST_VALID) has it made from nothing.
 * Tried and lost: lists of all pairs within margins of predicted straight trajectories, kept for some substeps, in
 * which only the pairs of what strayed were looked for again. Median of a tick, one thread, both in one run on a loaded
 * machine, list and front: drape with 3 hands 112 and 78 ms, flag-on-pole 92 and 30, dragon 110 and 46, hundred-bodies
 * 99 and 34. Tried and lost, too: a copy of where a pair's particles were when it was measured, because sums of ways
 * use up twice as much as what things have moved in the end (8.6 and 4.4 mm in drape): half of the measurements go, but
 * 300 bytes a pair do not stay in the cache, and it took as long.
 * And lost: ways that hold the start of the substep, too. Leaves that fly side by side then use up what they both fly:
 * dragon with 3 hands 10.9 instead of 8.2 ms of broad phase a tick, bunny 4.3 and 3.1, flag-on-pole 6.2 and 5.2, drape
 * 19 and 17 (medians, in turns).
 * And lost: boxes and ways that look one substep ahead, so that the front need not be moved on before the solve. What
 * is saved there (half of the calls) goes into rows that are listed too early: drape 32 ms a tick instead of 28, dragon
 * and flag-on-pole the same (means, in turns; margins of half and a quarter no better).
 * And lost: a bound of all motion, so that most pairs need not be looked at: what all particles have moved against each
 * other at most is so much more than what two leaves have that half of the parted and a fifth of the close pairs are
 * passed over, and to ask costs more (dragon with 3 hands 9.9 instead of 7.4 ms of broad phase a tick).
 */
import {
  HEADER,
  H_X,
  H_SAFE,
  H_FRONT,
  H_LIST_VALID,
  H_REFERENCE,
  H_PARTICLES,
  H_SURFACE,
  H_SURFACE_COUNT,
  H_BLOCKS_MANY,
  H_CONTACT_BLOCK_COUNT,
  H_COUNT_FULL,
  H_COUNT_LISTS,
  H_BODIES,
  H_BODY_COUNT,
  H_LEFT_OUT,
  BODY_BYTES,
  BODY_INACTIVE,
  H_PAIRS,
  H_PAIR_CAPACITY,
  H_VERTEX_PAIRS,
  H_EDGE_PAIRS,
  SURFACE_BYTES,
  SURFACE_COUNT,
  SURFACE_FIRST,
  SURFACE_LIMIT,
  SURFACE_RADIUS,
  SURFACE_SOLID,
  SOLID_COLLIDER,
  PAIR_BYTES,
  PAIR_SURFACES,
  FRONT_CHILDREN,
  FRONT_CLOSE_COUNT,
  FRONT_LEAVES,
  FRONT_LEAF_COUNT,
  FRONT_NODE_COUNT,
  FRONT_PARTED_COUNT,
  FRONT_ROOTS,
  FRONT_SPARSE,
  FRONT_STAMP,
  FRONT_STARTS,
  FRONT_WAYS,
  FRONT_WAY_BYTES,
  FRONT_WHOLE,
  LIST_BLOCKS,
  LIST_PARTED,
  LEAF_BYTES,
  LEAF_PARTICLE,
  WAY_LOW,
  WAY_HIGH,
  WAY_NOW_LOW,
  WAY_NOW_HIGH,
  CLOSE_FIRST,
  CLOSE_SECOND,
  CLOSE_SURFACES,
  CLOSE_LANES,
  CLOSE_BYTES,
  SHARED_REFIT,
} from "../layout/layout";
import { meetsSurface } from "../state/filters";
import { growNotes, indexClose, moveBase, scanClose, takeOver, WAYS_ROUNDING } from "./frontClose";
import { areWithin, boxOf, closeRow, openParted, overflow, part, partSelf, scanParted } from "./frontParted";
import { compactRows } from "./frontCompact";
import { growForRows } from "./frontGrow";
import { endChains, forgetRows, placeRows } from "./frontRows";
import { noteUsed } from "./listMemory";
import { preemptionPoint } from "../scheduler/clock";
import { countWork } from "../state/work";
import {
  chunkBegin,
  chunkEnd,
  claimChunk,
  closeShared,
  isHelped,
  openShared,
  partBegins,
  sharedParts,
} from "../scheduler/scheduler";
import { bindNeighbors } from "../integrate/freeBodies";
import { anyHeld, bothHeld, countGroups, endHolds } from "./hold";
import { forgetListed, noteSurfaces } from "../state/islands";

const BOX_BYTES: usize = 32;
/** What moved further than this part of a surface's greatest sensible margin between ticks was moved by others. */
const LEAST: f32 = 1.0 / 32;
/** The front is thinned when it has grown to twice as many parted pairs, and this many. */
const GROWN = 4096;
/** A front that did not fit has all rows again when they fill less than this part of many blocks. */
const SPARSE_UNTIL = 4;
/** Leaves that are worth the microsecond or two that it takes to share them out. */
const SHARED = 512;

// @inline
function front(): usize {
  return <usize>load<u32>(HEADER, H_FRONT);
}
// @inline
function surfaceAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
}

/** Boxes of everything from S to x, and how far leaves have gone. */
function refit(): void {
  if (isHelped() && load<i32>(front(), FRONT_LEAF_COUNT) >= SHARED) {
    openShared(SHARED_REFIT);
    while (claimChunk()) refitLeaves(chunkBegin, chunkEnd, sharedParts());
    closeShared(SHARED_REFIT);
  } else refitLeaves(0, 1, 1);
  refitNodes();
}

/** Parts begin .. end of `parts` of all leaves. */
export function refitLeaves(begin: i32, end: i32, parts: i32): void {
  const leaves = load<i32>(front(), FRONT_LEAF_COUNT);
  const first = partBegins(leaves, begin, parts);
  const last = partBegins(leaves, end, parts);
  if (isWhole()) {
    refitRange(first, last);
    return;
  }
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  for (let s = 0; s < surfaces; s++) {
    const from = max<i32>(first, startOf(s, 0));
    const to = min<i32>(last, startOf(s + 1, 0));
    if (from < to && !isLeftOut(s)) refitRange(from, to);
  }
}

/** Is nothing left out that has been refitted before? */
// @inline
function isWhole(): bool {
  return !load<i32>(HEADER, H_LIST_VALID) || !load<i32>(HEADER, H_LEFT_OUT);
}

/** Does nothing of the surface move, for its body waits or sleeps? */
// @inline
function isLeftOut(surface: i32): bool {
  return (
    surface < load<i32>(HEADER, H_BODY_COUNT) &&
    load<i32>(<usize>load<u32>(HEADER, H_BODIES) + <usize>surface * BODY_BYTES, BODY_INACTIVE) !== 0
  );
}

/** @param field 0: first leaf of a surface, 4: first node less the leaves */
// @inline
function startOf(surface: i32, field: usize): i32 {
  return load<i32>(<usize>load<u32>(front(), FRONT_STARTS) + ((<usize>surface) << 3) + field);
}

function refitRange(first: i32, last: i32): void {
  const X = <usize>load<u32>(HEADER, H_X);
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  const none = f32x4.splat(Infinity);
  const nothing = f32x4.splat(-Infinity);
  let leaf = <usize>load<u32>(front(), FRONT_LEAVES) + <usize>first * LEAF_BYTES;
  let way = <usize>load<u32>(front(), FRONT_WAYS) + <usize>first * FRONT_WAY_BYTES;
  let box = boxOf(first);
  for (let n = last - first; n > 0; n--, leaf += LEAF_BYTES, way += FRONT_WAY_BYTES, box += BOX_BYTES) {
    let low = none;
    let high = nothing;
    let least = none;
    let most = nothing;
    for (let k = load<i32>(leaf), at = leaf + LEAF_PARTICLE; k > 0; k--, at += 4) {
      const particle = <usize>load<u32>(at);
      const x = v128.load(particle);
      const S = v128.load(particle + toSafe);
      const d = f32x4.sub(x, S);
      // what is no number is left out
      low = f32x4.pmin(f32x4.pmin(low, x), S);
      high = f32x4.pmax(f32x4.pmax(high, x), S);
      least = f32x4.pmin(least, d);
      most = f32x4.pmax(most, d);
    }
    v128.store(box, low);
    v128.store(box, f32x4.neg(high), 16);
    v128.store(way, lower(v128.load(way, WAY_LOW), least), WAY_NOW_LOW);
    v128.store(way, higher(v128.load(way, WAY_HIGH), most), WAY_NOW_HIGH);
  }
}

/** a + b, rounded down. */
// @inline
function lower(a: v128, b: v128): v128 {
  return f32x4.sub(f32x4.add(a, b), f32x4.mul(f32x4.splat(WAYS_ROUNDING), f32x4.add(f32x4.abs(a), f32x4.abs(b))));
}

/** And up. */
// @inline
function higher(a: v128, b: v128): v128 {
  return f32x4.add(f32x4.add(a, b), f32x4.mul(f32x4.splat(WAYS_ROUNDING), f32x4.add(f32x4.abs(a), f32x4.abs(b))));
}

function refitNodes(): void {
  if (isWhole()) {
    refitNodeRange(0, load<i32>(front(), FRONT_NODE_COUNT));
    return;
  }
  for (let s = load<i32>(HEADER, H_SURFACE_COUNT) - 1; s >= 0; s--)
    if (!isLeftOut(s)) refitNodeRange(startOf(s, 4), startOf(s + 1, 4));
}

function refitNodeRange(first: i32, last: i32): void {
  const none = f32x4.splat(Infinity);
  const leafCount = load<i32>(front(), FRONT_LEAF_COUNT);
  const boxes = boxOf(0);
  const children = <usize>load<u32>(front(), FRONT_CHILDREN);
  for (let n = last - 1; n >= first; n--) {
    const child = children + ((<usize>n) << 4);
    let low = none;
    let high = none;
    for (let k: usize = 0; k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c < 0) continue;
      const box = boxes + <usize>c * BOX_BYTES;
      low = f32x4.pmin(low, v128.load(box));
      high = f32x4.pmin(high, v128.load(box, 16));
    }
    const at = boxes + <usize>(leafCount + n) * BOX_BYTES;
    v128.store(at, low);
    v128.store(at, high, 16);
  }
}

/** Boxes of everything at x: between ticks, for reachesSurface. */
export function refitHere(): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  memory.copy(
    <usize>load<u32>(HEADER, H_SAFE),
    <usize>load<u32>(HEADER, H_X),
    (<usize>load<i32>(HEADER, H_PARTICLES)) << 4,
  );
  refitLeaves(0, 1, 1);
  refitNodes();
}

/** Does the first surface come within `reach` of the second, m? Boxes of leaves decide; true may be false. */
export function reachesSurface(a: i32, b: i32, reach: f32): i32 {
  if (!front()) return 0;
  openParted();
  const roots = <usize>load<u32>(front(), FRONT_ROOTS);
  const first = load<i32>(roots + ((<usize>a) << 2));
  const second = load<i32>(roots + ((<usize>b) << 2));
  return first >= 0 && second >= 0 && areWithin(first, second, reach) ? 1 : 0;
}

/** Where leaves are now is where they have gone to; the next substep begins there. */
function keepWays(): void {
  let way = <usize>load<u32>(front(), FRONT_WAYS);
  for (let n = load<i32>(front(), FRONT_LEAF_COUNT); n > 0; n--, way += FRONT_WAY_BYTES) {
    v128.store(way, v128.load(way, WAY_NOW_LOW));
    v128.store(way, v128.load(way, WAY_NOW_HIGH), WAY_HIGH);
  }
  keepReference();
}

/** Has anything moved since the last substep ended? What is done between ticks may move particles a little. */
function hasMoved(): bool {
  let at = <usize>load<u32>(HEADER, H_X);
  const toLast = <usize>load<u32>(HEADER, H_REFERENCE) - at;
  const end = at + ((<usize>load<i32>(HEADER, H_PARTICLES)) << 4);
  let moved = i32x4(0, 0, 0, 0);
  for (; at < end; at += 16) moved = v128.or(moved, f32x4.ne(v128.load(at), v128.load(at + toLast)));
  return v128.any_true(moved);
}

/** What has moved since then is part of its way, too. */
function takeMoves(): void {
  const toLast = <usize>load<u32>(HEADER, H_REFERENCE) - <usize>load<u32>(HEADER, H_X);
  let leaf = <usize>load<u32>(front(), FRONT_LEAVES);
  let way = <usize>load<u32>(front(), FRONT_WAYS);
  for (let n = load<i32>(front(), FRONT_LEAF_COUNT); n > 0; n--, leaf += LEAF_BYTES, way += FRONT_WAY_BYTES) {
    let least = f32x4.splat(Infinity);
    let most = f32x4.splat(-Infinity);
    for (let k = load<i32>(leaf), at = leaf + LEAF_PARTICLE; k > 0; k--, at += 4) {
      const particle = <usize>load<u32>(at);
      const d = f32x4.sub(v128.load(particle), v128.load(particle + toLast));
      least = f32x4.pmin(least, d);
      most = f32x4.pmax(most, d);
    }
    v128.store(way, lower(v128.load(way, WAY_LOW), least), WAY_LOW);
    v128.store(way, higher(v128.load(way, WAY_HIGH), most), WAY_HIGH);
  }
  keepReference();
}

function keepReference(): void {
  memory.copy(
    <usize>load<u32>(HEADER, H_REFERENCE),
    <usize>load<u32>(HEADER, H_X),
    (<usize>load<i32>(HEADER, H_PARTICLES)) << 4,
  );
}

/** Ways are counted from 0 again, so that they stay short and exact. */
function restWays(): void {
  const ways = <usize>load<u32>(front(), FRONT_WAYS);
  for (let n = load<i32>(front(), FRONT_CLOSE_COUNT) - 1; n >= 0; n--) {
    const row = closeRow(n);
    const A = ways + <usize>load<i32>(row, CLOSE_FIRST) * FRONT_WAY_BYTES;
    const B = ways + <usize>load<i32>(row, CLOSE_SECOND) * FRONT_WAY_BYTES;
    const low = f32x4.sub(v128.load(A, WAY_LOW), v128.load(B, WAY_HIGH));
    const high = f32x4.sub(v128.load(A, WAY_HIGH), v128.load(B, WAY_LOW));
    moveBase(row, f32x4.neg(low), f32x4.neg(high));
  }
  memory.fill(ways, 0, <usize>load<i32>(front(), FRONT_LEAF_COUNT) * FRONT_WAY_BYTES);
}

/** The front from nothing, for the boxes that there are. */
function makeFront(): void {
  store<u32>(HEADER, load<u32>(HEADER, H_COUNT_LISTS) + 1, H_COUNT_LISTS);
  store<i32>(front(), 0, FRONT_CLOSE_COUNT);
  forgetRows();
  forgetListed();
  descend();
}

/**
 * Parted pairs are only ever split: now and then they are found anew, from the roots, so that there are few again.
 * Close pairs keep all that is known of them. (Made from nothing instead, the front of drape took 40 ms every 50
 * ticks.)
 */
function thinFront(): void {
  const before = load<i32>(front(), FRONT_CLOSE_COUNT);
  indexClose(before);
  descend();
  if (!overflow) takeOver(before);
}

/** Parted and close pairs of all surfaces, for the boxes that there are. */
function descend(): void {
  const count = load<i32>(HEADER, H_SURFACE_COUNT);
  const roots = <usize>load<u32>(front(), FRONT_ROOTS);
  const held = anyHeld();
  store<i32>(front(), 0, FRONT_PARTED_COUNT);
  for (let a = 0; a < count; a++) {
    const A = surfaceAt(a);
    const ofA = load<i32>(roots + ((<usize>a) << 2));
    const fixed = load<i32>(A, SURFACE_SOLID) === SOLID_COLLIDER;
    if (ofA < 0) continue;
    for (let b = a; b < count; b++) {
      const B = surfaceAt(b);
      const ofB = load<i32>(roots + ((<usize>b) << 2));
      if (held && bothHeld(a, b)) continue;
      if (ofB < 0 || !meetsSurface(A, b) || (fixed && load<i32>(B, SURFACE_SOLID) === SOLID_COLLIDER)) continue;
      const r = load<f32>(A, SURFACE_RADIUS) + load<f32>(B, SURFACE_RADIUS);
      const surfaces = ((<u32>a) << 16) | <u32>b;
      if (a === b) partSelf(ofA, r, surfaces);
      else part(ofA, ofB, r, surfaces);
    }
  }
  store<i32>(front(), load<i32>(front(), FRONT_PARTED_COUNT), FRONT_WHOLE);
  countWork(4 * (load<i32>(front(), FRONT_PARTED_COUNT) + load<i32>(front(), FRONT_CLOSE_COUNT)));
}

/** Bodies that have rows with each other from now on exchange momentum. @returns whether there are any that had none */
function noteNew(row: usize, count: i32): bool {
  let more = false;
  let before: u32 = 0;
  for (let n = 0; n < count; n++, row += PAIR_BYTES) {
    const both = load<u32>(row, PAIR_SURFACES);
    if (both === before) continue;
    before = both;
    if (both >> 16 !== (both & 0xffff)) more = noteSurfaces(both) || more;
  }
  return more;
}

/**
 * The front for the way from S to x; new rows have directions that hold them apart at S. To be called again where x has
 * changed: it adds what has to be added. If memory does not hold all that is near at S and by as much as it moves, it
 * is made again with rows of what comes near only.
 * @returns false where memory does not hold that either: then nothing is known, and H_LIST_VALID is 0
 */
export function advanceFront(): bool {
  if (advance()) return true;
  if (load<i32>(front(), FRONT_SPARSE)) return false;
  store<i32>(front(), 1, FRONT_SPARSE);
  return advance();
}

function advance(): bool {
  const leaves = load<i32>(front(), FRONT_LEAF_COUNT);
  countWork(3 * leaves + (load<i32>(front(), FRONT_PARTED_COUNT) >> 2));
  openParted();
  const anew = !load<i32>(HEADER, H_LIST_VALID);
  if (anew) {
    memory.copy(
      <usize>load<u32>(HEADER, H_REFERENCE),
      <usize>load<u32>(HEADER, H_SAFE),
      (<usize>load<i32>(HEADER, H_PARTICLES)) << 4,
    );
    memory.fill(<usize>load<u32>(front(), FRONT_WAYS), 0, <usize>leaves * FRONT_WAY_BYTES);
    nextStamp();
  }
  refit();
  preemptionPoint();
  if (anew) makeFront();
  else if (load<i32>(front(), FRONT_PARTED_COUNT) > 2 * load<i32>(front(), FRONT_WHOLE) + GROWN) thinFront();
  else scanParted();
  preemptionPoint();
  if (!overflow) {
    scanClose();
    growForRows();
  }
  preemptionPoint();
  if (overflow || !placeRows()) {
    countGroups();
    forgetRows();
    store<i32>(HEADER, 0, H_LIST_VALID);
    store<u32>(HEADER, load<u32>(HEADER, H_COUNT_FULL) + 1, H_COUNT_FULL);
    return false;
  }
  growNotes();
  noteUsed(LIST_PARTED, load<i32>(front(), FRONT_PARTED_COUNT));
  noteUsed(LIST_BLOCKS, load<i32>(HEADER, H_CONTACT_BLOCK_COUNT));
  store<i32>(HEADER, 1, H_LIST_VALID);
  const pairs = <usize>load<u32>(HEADER, H_PAIRS);
  const edges = load<i32>(HEADER, H_EDGE_PAIRS);
  const vertices = load<i32>(HEADER, H_VERTEX_PAIRS);
  const ofVertices = noteNew(pairs, vertices);
  const ofEdges = noteNew(pairs + <usize>(load<i32>(HEADER, H_PAIR_CAPACITY) - edges) * PAIR_BYTES, edges);
  if (ofVertices || ofEdges || anew) bindNeighbors();
  return true;
}

// @inline
function nextStamp(): void {
  store<i32>(front(), load<i32>(front(), FRONT_STAMP) + 1, FRONT_STAMP);
}

/** S is x from here on, and nothing else has changed. */
export function endFront(): void {
  if (load<i32>(HEADER, H_LIST_VALID)) keepWays();
}

/** A substep begins: what was gathered was gathered elsewhere. */
export function beginFront(): void {
  if (load<i32>(HEADER, H_LIST_VALID) && hasMoved()) takeMoves();
  nextStamp();
  endChains();
}

/**
 * At the start of a tick: has anything moved otherwise than in a substep? Then nothing is known. Else whose rows are
 * there, and ways from 0.
 */
export function beginTick(): void {
  endHolds();
  const valid = load<i32>(HEADER, H_LIST_VALID);
  if (!valid || SPARSE_UNTIL * load<i32>(HEADER, H_CONTACT_BLOCK_COUNT) < load<i32>(HEADER, H_BLOCKS_MANY))
    store<i32>(front(), 0, FRONT_SPARSE);
  if (!valid) return;
  const X = <usize>load<u32>(HEADER, H_X);
  const toLast = <usize>load<u32>(HEADER, H_REFERENCE) - X;
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  for (let s = 0; s < surfaces; s++) {
    const surface = surfaceAt(s);
    const limit = LEAST * load<f32>(surface, SURFACE_LIMIT);
    const limit2 = limit * limit;
    for (
      let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST);
      i > 0;
      i--, at += 16
    ) {
      const d = f32x4.sub(v128.load(at), v128.load(at + toLast));
      const dd = f32x4.mul(d, d);
      if (f32x4.extract_lane(dd, 0) + f32x4.extract_lane(dd, 1) + f32x4.extract_lane(dd, 2) > limit2) {
        store<i32>(HEADER, 0, H_LIST_VALID);
        return;
      }
    }
  }
  restWays();
  compactRows();
  forgetListed();
  let before: u32 = 0;
  for (let n = 0, row = closeRow(0); n < load<i32>(front(), FRONT_CLOSE_COUNT); n++, row += CLOSE_BYTES) {
    const both = load<u32>(row, CLOSE_SURFACES);
    if (both === before || !load<i32>(row, CLOSE_LANES) || both >> 16 === (both & 0xffff)) continue;
    before = both;
    noteSurfaces(both);
  }
}
