/**
 * Leaf pairs (LEAF_PAIR rows) of the bvtt front (bvttFront.ts): two leaves that no axis separates. Pairs that have used
 * up their slack are tested in parts, by several threads. Each row is tested alone, so results do not depend on the
 * thread. Changes of the row list are recorded, and applied afterwards in the order of the front.
 */
import * as L from "../../layout/layout";
import { preemptionPoint, spendWork } from "../../scheduler/clock";
import { countWork } from "../../state/work";
import {
  chunkBegin,
  chunkEnd,
  claimChunk,
  closeShared,
  isHelped,
  openShared,
  partBegins,
  partsOfShared,
} from "../../scheduler/scheduler";
import { dot3, mul, xs, ys, zs } from "../../math/lanes";
import { closeResults, applyResults, missed, openResults } from "./pairResults";
import { keepNormal, measureLeaves, measureOnWay, ROUNDING as PROJECTED_ROUNDING, useScratch } from "./measureLeaves";
import { addSeparated, leafPairRow, overflow, pairLeaves, pairMotion, separatingAxis, sizeOf } from "./separatedPairs";
import { boxOf, fitBox } from "./boxes";
import { measuredPairs } from "./separateLeaves";
import { beginPair, beginRows, dropRows, endPair } from "../prepare/rows";
import { apartAlong, apartByShape } from "./leafShapes";
import { growLists, noteUsed } from "../prepare/listMemory";
import { isRestless, isSteady, playOf, SETTLED, stirredAt, wakeRows } from "./stirredLeaves";
import { fitWay, WAYS_ROUNDING } from "./ways";
import { surfaceAt } from "../../state/owners";

/** Extra distance at which rows are listed, as a part of r: the next solve needs them too. */
const AHEAD: f32 = 0.375;
/** Least value of AHEAD r, as a part of the surfaces' largest useful margin: a core mesh may have no radius. */
const LEAST: f32 = 1.0 / 32;
/**
 * Number of substeps like this one, or of these margins, that a measurement covers. A larger slack delays the next one.
 */
const STEPS: f32 = 6;
/** Primitives without a row are further apart than r at S by this part of the margin, if rounding is less. */
const SURE: f32 = 0.25;
/**
 * The root of the summed squares of two sides of a triangle in a box is at most SIDES times the sum of the box's sides.
 */
const SIDES: f32 = 1.5;
/** Factor that covers the rounding of a comparison with a slack. */
const MORE: f32 = 1.00001;
/** Fewer rows are not shared: waking the helper threads takes a microsecond or two. */
const SHARED = 512;

/** Diagonal of a cube in sides, rounded up. */
const DIAGONAL: f32 = 1.7321;
/** Counted work of a leaf pair that has used up its slack, and of a measured pair of primitives. */
const UNITS_OF_SPENT = 40;
const UNITS_OF_MEASURED = 2;

/** Kinds of pair results. Below 6: the axis that separates the leaves. */
const APART = 6;
const MEASURED = 7;
/** The found rows did not fit into the part's memory. */
const AGAIN = 8;

// each thread has its own instance; true: recorded rows did not fit in this thread's last scan
let again = false;
/** Number of leaf pairs that this thread has tested. */
let testedPairs = 0;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function displacementOf(leaf: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_DISPLACEMENTS) + <usize>leaf * L.DISPLACEMENT_BYTES;
}
/** Address of part `n`'s pair results, whose first row is `row`: their count, then the results. */
// @inline
function verdictsOf(n: i32, row: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_VERDICTS) + <usize>(row + n) * L.VERDICT_BYTES;
}

/** Sets the origin of a pair's displacements. */
// @inline
function setBase(motion: usize, low: v128, high: v128): void {
  const slack = load<f32>(motion, L.PAIR_MOTION_SLACK);
  v128.store(motion, f32x4.replace_lane(low, 3, slack), L.PAIR_MOTION_LOW);
  v128.store(motion, high, L.PAIR_MOTION_HIGH);
}

/**
 * Returns how far the leaves of a pair may have moved against each other since its measurement, at most, by axis. The
 * fourth lane means nothing. @param motion its PAIR_MOTION row; first, second its leaves
 */
// @inline
function movedDistance(motion: usize, first: i32, second: i32): v128 {
  const A = displacementOf(first);
  const B = displacementOf(second);
  const low = f32x4.sub(
    f32x4.sub(v128.load(A, L.DISPLACEMENT_NOW_LOW), v128.load(B, L.DISPLACEMENT_NOW_HIGH)),
    v128.load(motion, L.PAIR_MOTION_LOW),
  );
  const high = f32x4.sub(
    f32x4.sub(v128.load(A, L.DISPLACEMENT_NOW_HIGH), v128.load(B, L.DISPLACEMENT_NOW_LOW)),
    v128.load(motion, L.PAIR_MOTION_HIGH),
  );
  return f32x4.pmax(f32x4.pmax(f32x4.neg(low), high), f32x4.splat(0));
}

/** Returns the squared length of movedDistance, m^2. */
// @inline
function movedSquared(motion: usize, first: i32, second: i32): f32 {
  const most = movedDistance(motion, first, second);
  const square = f32x4.mul(most, most);
  return f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2);
}

/** Takes a known distance between the leaves as slack, if it suffices. Then they need no measurement. */
function heldApart(row: usize, motion: usize, apart: f32, listed: f32): bool {
  if (!(apart > listed)) return false;
  store<f32>(motion, apart - load<f32>(row, L.LEAF_PAIR_REACH) * MORE, L.PAIR_MOTION_SLACK);
  return true;
}

/** Returns whether there are many rows, or the front is sparse because memory was too small. */
// @inline
function areMany(): bool {
  return (
    load<i32>(front(), L.FRONT_SPARSE) !== 0 ||
    load<i32>(L.HEADER, L.H_CONTACT_BLOCK_COUNT) > load<i32>(L.HEADER, L.H_BLOCKS_MANY)
  );
}

/** Sets S as the origin of a pair's displacements. */
function fromSafe(motion: usize, A: usize, B: usize): void {
  setBase(
    motion,
    f32x4.sub(v128.load(A, L.DISPLACEMENT_LOW), v128.load(B, L.DISPLACEMENT_HIGH)),
    f32x4.sub(v128.load(A, L.DISPLACEMENT_HIGH), v128.load(B, L.DISPLACEMENT_LOW)),
  );
}

/** Least and greatest displacement of the leaf's particles from S to x, by axis. */
// @inline
function leastWay(way: usize): v128 {
  return f32x4.sub(v128.load(way, L.DISPLACEMENT_NOW_LOW), v128.load(way, L.DISPLACEMENT_LOW));
}
// @inline
function mostWay(way: usize): v128 {
  return f32x4.sub(v128.load(way, L.DISPLACEMENT_NOW_HIGH), v128.load(way, L.DISPLACEMENT_HIGH));
}

/**
 * Sets x as the origin of a pair's displacements. Displacements at x are known only between bounds, so the gap between
 * the bounds is taken from the slack.
 */
function fromNow(motion: usize, A: usize, B: usize): void {
  setBase(
    motion,
    f32x4.add(v128.load(motion, L.PAIR_MOTION_LOW), f32x4.sub(mostWay(A), leastWay(B))),
    f32x4.add(v128.load(motion, L.PAIR_MOTION_HIGH), f32x4.sub(leastWay(A), mostWay(B))),
  );
}

/**
 * Shifts the origin of a pair's displacements by `low` and `high`: its slack covers all motion between them,
 * or counting restarts. Rounding is taken from the slack.
 */
export function moveBase(motion: usize, low: v128, high: v128): void {
  const from = v128.load(motion, L.PAIR_MOTION_LOW);
  const to = v128.load(motion, L.PAIR_MOTION_HIGH);
  setBase(motion, f32x4.add(from, low), f32x4.add(to, high));
  const sizes = f32x4.add(f32x4.add(f32x4.abs(low), f32x4.abs(high)), f32x4.add(f32x4.abs(from), f32x4.abs(to)));
  store<f32>(
    motion,
    load<f32>(motion, L.PAIR_MOTION_SLACK) -
      WAYS_ROUNDING * (f32x4.extract_lane(sizes, 0) + f32x4.extract_lane(sizes, 1) + f32x4.extract_lane(sizes, 2)),
    L.PAIR_MOTION_SLACK,
  );
}

/** Measures two leaves at S, or between S and x. @returns APART, or MEASURED if all their rows were found */
function measure(number: i32): i32 {
  spendWork(4);
  const row = leafPairRow(number);
  const motion = pairMotion(number);
  const a = load<i32>(row, L.LEAF_PAIR_FIRST);
  const b = load<i32>(row, L.LEAF_PAIR_SECOND);
  const A = displacementOf(a);
  const B = displacementOf(b);
  fromSafe(motion, A, B);
  const both = load<u32>(row, L.LEAF_PAIR_SURFACES);
  const first = surfaceAt(<i32>(both >> 16));
  const second = surfaceAt(<i32>(both & 0xffff));
  const r = load<f32>(row, L.LEAF_PAIR_REACH);
  const limits = load<f32>(first, L.SURFACE_LIMIT) + load<f32>(second, L.SURFACE_LIMIT);
  const step = Mathf.sqrt(movedSquared(motion, a, b)) * MORE;
  const margin = max<f32>(AHEAD * r, LEAST * limits);
  const clear = r + margin;
  const same = first === second;
  if (heldApart(row, motion, same ? apartByShape(row) : 0, clear + step)) return APART;
  // resolution moves intersecting particles in ways that x does not show: list rows all around
  const around: f32 = load<i32>(L.HEADER, L.H_RESOLUTION) ? step : 0;
  const reach = around > 0 ? step * DIAGONAL : step;
  const low = f32x4.pmin(f32x4.splat(-around), f32x4.sub(leastWay(A), mostWay(B)));
  const high = f32x4.pmax(f32x4.splat(around), f32x4.sub(mostWay(A), leastWay(B)));
  if (a !== b && heldApart(row, motion, apartAlong(row, low, high), clear)) {
    moveBase(motion, low, high);
    return APART;
  }
  const further = max<f32>(limits, STEPS * step);
  const size = clear + reach + further + SIDES * (sizeOf(boxOf(a)) + sizeOf(boxOf(b)));
  const sparse = areMany() && PROJECTED_ROUNDING * size < SURE * margin;
  const apart = sparse
    ? measureOnWay(a, b, clear, r + SURE * margin, step, clear + further, same)
    : measureLeaves(a, b, clear, low, high, reach, clear + further, same);
  keepNormal(row);
  store<f32>(motion, apart - r * MORE, L.PAIR_MOTION_SLACK);
  if (sparse) fromNow(motion, A, B);
  else moveBase(motion, low, high);
  return MEASURED;
}

/**
 * Returns which of four rows must be tested: those that are not quiet. Wakes those of stirred leaves, and their rows.
 * @param leaves address of the leaves of row k, the first of the four; bits STIRRED_* of all leaves, 0: none is stirred
 */
// @inline
function lookedAt(k: i32, leaves: usize, bits: usize, all: i32): i32 {
  const firsts = v128.shuffle<i32>(v128.load(leaves), v128.load(leaves, 16), 0, 2, 4, 6);
  const awake = ~i32x4.bitmask(firsts) & all;
  if (!bits) return awake;
  const a = bitsOf(leaves, bits);
  const b = bitsOf(leaves + 8, bits);
  const c = bitsOf(leaves + 16, bits);
  const d = bitsOf(leaves + 24, bits);
  if (!((a | b | c | d) & L.STIRRED)) return awake;
  // STIRRED is the lowest bit: row k's goes to bit k
  const stirred = ((a & L.STIRRED) | ((b & L.STIRRED) << 1) | ((c & L.STIRRED) << 2) | ((d & L.STIRRED) << 3)) & all;
  for (let left = stirred; left; left &= left - 1) {
    const i = <i32>ctz(left);
    wakeRows(k + i, (bitsOf(leaves + ((<usize>i) << 3), bits) & L.STIRRED_FAR) !== 0);
  }
  return awake | stirred;
}

/** Returns which of four rows have a leaf with a particle that the response has moved. */
// @inline
function movedRows(leaves: usize): i32 {
  const bits = stirredAt(0);
  const a = bitsOf(leaves, bits) & L.STIRRED_BY_RESPONSE;
  const b = bitsOf(leaves + 8, bits) & L.STIRRED_BY_RESPONSE;
  const c = bitsOf(leaves + 16, bits) & L.STIRRED_BY_RESPONSE;
  return (a >> 3) | (b >> 2) | (c >> 1) | (bitsOf(leaves + 24, bits) & L.STIRRED_BY_RESPONSE);
}

/** Returns the STIRRED_* bits of a pair's leaves. */
// @inline
function bitsOf(leaves: usize, bits: usize): i32 {
  const both = load<u64>(leaves);
  return load<u8>(bits + (<usize>both & ~L.PAIR_QUIET)) | load<u8>(bits + <usize>(both >> 32));
}

/** Fits the ways of the leaves of tested rows. @param leaves address of those of the first of four */
function fitWays(leaves: usize, looks: i32): void {
  for (let bits = looks; bits; bits &= bits - 1) {
    const at = leaves + ((<usize>ctz(bits)) << 3);
    fitWay(<i32>(load<u32>(at) & ~L.PAIR_QUIET));
    fitWay(load<i32>(at, 4));
  }
}

/** Makes tested rows quiet if enough of their slack is left. @param used squares of the used slack */
function settle(k: i32, looks: i32, slack: v128, used: v128): void {
  for (let bits = looks; bits; bits &= bits - 1) {
    const i = <i32>ctz(bits);
    const leaves = pairLeaves(k + i);
    const first = <i32>(load<u32>(leaves) & ~L.PAIR_QUIET);
    const second = load<i32>(leaves, 4);
    const left = laneOf4(slack, i) - SETTLED * (playOf(first) + playOf(second));
    const quiet = left > 0 && laneOf4(used, i) < left * left && isSteady(first) && isSteady(second);
    store<u32>(leaves, quiet ? <u32>first | L.PAIR_QUIET : <u32>first);
  }
}

// @inline
function laneOf4(a: v128, i: i32): f32 {
  if (i < 2) return i ? f32x4.extract_lane(a, 1) : f32x4.extract_lane(a, 0);
  return i === 2 ? f32x4.extract_lane(a, 2) : f32x4.extract_lane(a, 3);
}

/** Returns movedDistance of pair k of those at `motion` and `leaves`. */
// @inline
function movedAt(motion: usize, leaves: usize, k: usize): v128 {
  const at = leaves + k * L.PAIR_LEAVES_BYTES;
  return movedDistance(motion + k * L.PAIR_MOTION_BYTES, <i32>(load<u32>(at) & ~L.PAIR_QUIET), load<i32>(at, 4));
}

/** Lists rows first .. last that have used up their slack from `at` on, the place of their results. @returns the end */
function listSpent(first: i32, last: i32, at: usize): usize {
  const zero = f32x4.splat(0);
  const more = f32x4.splat(MORE);
  const restless = isRestless();
  const steady = load<i32>(front(), L.FRONT_STEADY) !== 0;
  const known = load<i32>(front(), L.FRONT_KNOWN);
  const stirred = atomic.load<i32>(front(), L.FRONT_STIRRED_COUNT) ? stirredAt(0) : 0;
  let leaves = pairLeaves(first);
  // up to three rows behind the last one are tested, but not listed
  for (
    let k = first, motion = pairMotion(first);
    k < last;
    k += 4, motion += 4 * L.PAIR_MOTION_BYTES, leaves += 4 * L.PAIR_LEAVES_BYTES
  ) {
    let all = last - k < 4 ? (1 << (last - k)) - 1 : 15;
    if (k + 4 <= known) all &= movedRows(leaves);
    if (!all) continue;
    const looks = restless ? all : lookedAt(k, leaves, stirred, all);
    if (!looks) continue;
    if (steady) fitWays(leaves, looks);
    testedPairs += popcnt(looks);
    const a = movedAt(motion, leaves, 0);
    const b = movedAt(motion, leaves, 1);
    const c = movedAt(motion, leaves, 2);
    const d = movedAt(motion, leaves, 3);
    const x = xs(a, b, c, d);
    const y = ys(a, b, c, d);
    const z = zs(a, b, c, d);
    const slack = f32x4(
      load<f32>(motion, L.PAIR_MOTION_SLACK),
      load<f32>(motion + L.PAIR_MOTION_BYTES, L.PAIR_MOTION_SLACK),
      load<f32>(motion + 2 * L.PAIR_MOTION_BYTES, L.PAIR_MOTION_SLACK),
      load<f32>(motion + 3 * L.PAIR_MOTION_BYTES, L.PAIR_MOTION_SLACK),
    );
    const used = mul(dot3(x, x, y, y, z, z), more);
    const left = v128.and(f32x4.gt(slack, zero), f32x4.lt(used, mul(slack, slack)));
    if (!restless) settle(k, looks, slack, used);
    for (let spent = ~v128.bitmask<i32>(left) & looks; spent; spent &= spent - 1) {
      const spentRow = k + <i32>ctz(spent);
      store<u32>(pairLeaves(spentRow), load<u32>(pairLeaves(spentRow)) & ~L.PAIR_QUIET);
      store<i32>(at, spentRow, L.VERDICT_ROW);
      at += L.VERDICT_BYTES;
    }
  }
  return at;
}

/** Tests parts begin .. end of `parts` of all LEAF_PAIR rows: separated by an axis, apart, or measured. */
export function judgeLeafPairs(begin: i32, end: i32, parts: i32): void {
  const count = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
  const capacity = load<i32>(front(), L.FRONT_RESULT_CAPACITY);
  const found = <usize>load<u32>(front(), L.FRONT_RESULTS);
  for (let n = begin; n < end; n++) {
    const to = found + ((<usize>partBegins(capacity, n + 1, parts)) << 2);
    let from = found + ((<usize>partBegins(capacity, n, parts)) << 2);
    const last = partBegins(count, n + 1, parts);
    const first = partBegins(count, n, parts);
    const verdicts = verdictsOf(n, first);
    let at = verdicts + L.VERDICT_BYTES;
    useScratch(n);
    const before = measuredPairs;
    const testedBefore = testedPairs;
    const end = listSpent(first, last, at);
    for (let spent = at; spent < end; spent += L.VERDICT_BYTES) {
      const k = load<i32>(spent, L.VERDICT_ROW);
      const row = leafPairRow(k);
      const normal = v128.load(row, L.LEAF_PAIR_NORMAL);
      openResults(from, to);
      const kind = judge(k);
      const ends = closeResults();
      // restored, so that a second measurement gives the same
      if (missed) v128.store(row, normal, L.LEAF_PAIR_NORMAL);
      if (kind >= APART && ends === from && !missed && !load<i32>(row, L.LEAF_PAIR_LANES)) continue;
      store<i32>(at, k, L.VERDICT_ROW);
      store<i32>(at, missed ? AGAIN : kind, L.VERDICT_KIND);
      store<u32>(at, <u32>from, L.VERDICT_FROM);
      store<u32>(at, <u32>ends, L.VERDICT_TO);
      at += L.VERDICT_BYTES;
      from = ends;
    }
    store<i32>(verdicts, <i32>((at - verdicts) / L.VERDICT_BYTES) - 1);
    const spent = <i32>((end - verdicts) / L.VERDICT_BYTES) - 1;
    const tested = testedPairs - testedBefore;
    atomic.add<u32>(front(), tested, L.FRONT_TESTED);
    countWork(
      ((3 * tested) >> 2) +
        ((last - first - tested) >> 4) +
        UNITS_OF_SPENT * spent +
        UNITS_OF_MEASURED * (measuredPairs - before),
    );
  }
}

/** @returns the axis that separates the leaves, APART or MEASURED */
function judge(number: i32): i32 {
  const row = leafPairRow(number);
  const a = load<i32>(row);
  const b = load<i32>(row, L.LEAF_PAIR_SECOND);
  if (!load<i32>(front(), L.FRONT_FITS)) {
    const both = load<u32>(row, L.LEAF_PAIR_SURFACES);
    fitBox(a, both >> 16);
    fitBox(b, both & 0xffff);
  }
  const axis = a === b ? -1 : separatingAxis(boxOf(a), boxOf(b), load<f32>(row, L.LEAF_PAIR_REACH));
  return axis >= 0 ? axis : measure(number);
}

/** Tests all leaf pairs. Those that have used up their slack are measured again, or become separated pairs. */
export function scanLeafPairs(): void {
  const parts = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) >= SHARED ? partsOfShared(L.SHARED_CLOSE) : 1;
  if (parts > 1 && isHelped()) {
    openShared(L.SHARED_CLOSE);
    while (claimChunk()) judgeLeafPairs(chunkBegin, chunkEnd, parts);
    closeShared(L.SHARED_CLOSE);
  } else
    for (let n = 0; n < parts; n++) {
      judgeLeafPairs(n, n + 1, parts);
      preemptionPoint();
    }
  beginRows();
  const count = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
  noteUsed(L.LIST_LEAF_PAIRS, count);
  again = false;
  // compaction: rows in front of `from` have been moved down and end at `to`
  let from = 0;
  let to = 0;
  let notes: u32 = 0;
  for (let n = 0; n < parts; n++) {
    const verdicts = verdictsOf(n, partBegins(count, n, parts));
    const first = load<u32>(verdicts + L.VERDICT_BYTES, L.VERDICT_FROM);
    for (let k = load<i32>(verdicts), at = verdicts + L.VERDICT_BYTES; k > 0; k--, at += L.VERDICT_BYTES) {
      const row = load<i32>(at, L.VERDICT_ROW);
      to = moveClose(from, to, row);
      from = row + 1;
      if (load<i32>(at, L.VERDICT_KIND) === AGAIN) again = true;
      notes = max<u32>(notes, load<u32>(at, L.VERDICT_TO) - first);
      if (carryOut(at, row, to)) to++;
    }
  }
  store<i32>(front(), moveClose(from, to, count), L.FRONT_LEAF_PAIR_COUNT);
  noteUsed(L.LIST_PAIR_RESULTS, parts * <i32>(notes >> 2));
}

/** Lets memory grow for recorded rows if one thread had to measure again. Call it when new rows have their lanes. */
export function growNotes(): void {
  if (again) growLists(L.LIST_PAIR_RESULTS, load<i32>(front(), L.FRONT_RESULT_CAPACITY) + 1, 0);
}

/** Moves rows from .. end to `to`. @returns the new end */
function moveClose(from: i32, to: i32, end: i32): i32 {
  if (to !== from) {
    memory.copy(leafPairRow(to), leafPairRow(from), <usize>(end - from) * L.LEAF_PAIR_BYTES);
    memory.copy(pairLeaves(to), pairLeaves(from), <usize>(end - from) * L.PAIR_LEAVES_BYTES);
    memory.copy(pairMotion(to), pairMotion(from), <usize>(end - from) * L.PAIR_MOTION_BYTES);
  }
  return to + end - from;
}

/** Applies a pair result. @param to where the row goes if it stays. @returns whether it stays */
function carryOut(verdict: usize, number: i32, to: i32): bool {
  const kind = load<i32>(verdict, L.VERDICT_KIND);
  const row = leafPairRow(number);
  if (kind < APART) {
    dropRows(row);
    if (!overflow)
      addSeparated(
        boxOf(load<i32>(row)),
        boxOf(load<i32>(row, L.LEAF_PAIR_SECOND)),
        kind,
        load<f32>(row, L.LEAF_PAIR_REACH),
        load<u32>(row, L.LEAF_PAIR_SURFACES),
      );
    return false;
  }
  const at = leafPairRow(to);
  moveClose(number, to, number + 1);
  beginPair(at);
  if (kind === AGAIN) measure(to);
  else applyResults(<usize>load<u32>(verdict, L.VERDICT_FROM), <usize>load<u32>(verdict, L.VERDICT_TO));
  endPair();
  return true;
}

/** Address of leaf n's first row plus one, while rows are indexed. */
// @inline
function headOf(leaf: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_VERDICTS) + ((<usize>leaf) << 2);
}
/** Address behind the heads: for each row the next row of the same first leaf, plus one. */
// @inline
function linkOf(row: i32): usize {
  return headOf(load<i32>(front(), L.FRONT_LEAF_COUNT) + row);
}

/** Indexes the first `count` rows by their leaves. The index uses the memory of pair results. */
export function indexLeafPairs(count: i32): void {
  memory.fill(headOf(0), 0, (<usize>load<i32>(front(), L.FRONT_LEAF_COUNT)) << 2);
  for (let n = 0; n < count; n++) {
    const head = headOf(load<i32>(leafPairRow(n)));
    store<i32>(linkOf(n), load<i32>(head));
    store<i32>(head, n + 1);
  }
}

/**
 * Copies the data of the indexed rows to the rows from `before` on, and drops the old ones. Old rows without a new one
 * are separated now.
 */
export function takeOver(before: i32): void {
  const end = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
  for (let n = before; n < end; n++) {
    const row = leafPairRow(n);
    const old = indexed(load<i32>(row), load<i32>(row, L.LEAF_PAIR_SECOND));
    if (old < 0) continue;
    memory.copy(row, leafPairRow(old), L.LEAF_PAIR_BYTES);
    memory.copy(pairMotion(n), pairMotion(old), L.PAIR_MOTION_BYTES);
    store<i32>(leafPairRow(old), 0, L.LEAF_PAIR_LANES);
  }
  for (let n = 0; n < before; n++) dropRows(leafPairRow(n));
  store<i32>(front(), moveClose(before, 0, end), L.FRONT_LEAF_PAIR_COUNT);
}

/** Returns the indexed row of these leaves, or -1. */
function indexed(first: i32, second: i32): i32 {
  for (let entry = load<i32>(headOf(first)); entry; entry = load<i32>(linkOf(entry - 1)))
    if (load<i32>(leafPairRow(entry - 1), L.LEAF_PAIR_SECOND) === second) return entry - 1;
  return -1;
}
