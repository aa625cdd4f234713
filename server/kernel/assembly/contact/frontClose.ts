/**
 * CLOSE rows of the front (front.ts): two leaves that no axis parts. Those that have used up their slack are looked at
 * in parts, by several threads where there are some: each row by itself, so who looks at it makes no difference. What
 * that does to the rows of the list is noted and done afterwards, in the order of the front.
 */
import {
  HEADER,
  H_BLOCKS_MANY,
  H_CONTACT_BLOCK_COUNT,
  H_FRONT,
  H_RESOLUTION,
  H_SURFACE,
  FRONT_CLOSE_COUNT,
  FRONT_FOUND,
  FRONT_FOUND_CAPACITY,
  FRONT_LEAF_COUNT,
  FRONT_SPARSE,
  FRONT_VERDICTS,
  FRONT_WAYS,
  FRONT_WAY_BYTES,
  LIST_CLOSE,
  LIST_NOTES,
  SURFACE_BYTES,
  SURFACE_LIMIT,
  WAY_LOW,
  WAY_HIGH,
  WAY_NOW_LOW,
  WAY_NOW_HIGH,
  CLOSE_FIRST,
  CLOSE_SECOND,
  CLOSE_SURFACES,
  CLOSE_LANES,
  CLOSE_REACH,
  CLOSE_SLACK,
  CLOSE_LOW,
  CLOSE_HIGH,
  CLOSE_NORMAL,
  CLOSE_BYTES,
  SHARED_CLOSE,
  VERDICT_ROW,
  VERDICT_KIND,
  VERDICT_FROM,
  VERDICT_TO,
  VERDICT_BYTES,
} from "../layout/layout";
import { preemptionPoint, spendWork } from "../scheduler/clock";
import { countWork } from "../state/work";
import {
  chunkBegin,
  chunkEnd,
  claimChunk,
  closeShared,
  isHelped,
  openShared,
  partBegins,
  partsOfShared,
} from "../scheduler/scheduler";
import { dot3, mul, xs, ys, zs } from "../math/lanes";
import { closeFound, giveFound, missed, openFound } from "./frontFound";
import { keepNormal, measureLeaves, measureOnWay, ROUNDING as PROJECTED_ROUNDING, useScratch } from "./frontMeasure";
import { addParted, boxOf, closeRow, overflow, parting, sizeOf } from "./frontParted";
import { measuredPairs } from "./frontPairs";
import { beginPair, beginRows, dropRows, endPair } from "./frontRows";
import { apartAlong, apartByShape } from "./frontShape";
import { growLists, noteUsed } from "./listMemory";

/** Rows are listed this part of r further apart than they have to be at x: what is solved next is among them. */
const AHEAD: f32 = 0.375;
/** Or this part of the surfaces' greatest sensible margins: a core mesh may have no radius. */
const LEAST: f32 = 1.0 / 32;
/**
 * Leaves are measured as far as they move in so many substeps like this one, or as these margins say: what is looked at
 * is not looked at again for as long.
 */
const STEPS: f32 = 6;
/** What is no row is at S further apart than r by this part of the margin, if rounding is less. */
const SURE: f32 = 0.25;
/** Two sides of a triangle in a box, squared, added and rooted, are at most so many sums of its sides. */
const SIDES: f32 = 1.5;
/** Rounding of what is compared with a slack, a part of it. */
const MORE: f32 = 1.00001;
/** Rows that are worth the microsecond or two that it takes to share them out. */
const SHARED = 512;

/** Of a cube, in its sides, rounded up. */
const DIAGONAL: f32 = 1.7321;
/** Rounding of a sum of ways, a part of it. */
export const WAYS_ROUNDING: f32 = 2.384185791015625e-7; // 2^-22

/** Counted work of a row that has used up its slack, and of a pair of primitives that is measured. */
const UNITS_OF_SPENT = 30;
const UNITS_OF_MEASURED = 2;

/** Kinds of verdicts: below 6 the axis that parts the leaves. */
const APART = 6;
const MEASURED = 7;
/** What was found did not fit into the memory of the part. */
const AGAIN = 8;

// one instance belongs to one thread: did notes not fit in the scan that it has led last?
let again = false;

// @inline
function front(): usize {
  return <usize>load<u32>(HEADER, H_FRONT);
}
// @inline
function surfaceAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
}
// @inline
function wayOf(leaf: i32): usize {
  return <usize>load<u32>(front(), FRONT_WAYS) + <usize>leaf * FRONT_WAY_BYTES;
}
/** Verdicts of part `n`, whose first row is `row`: their number, and behind it they themselves. */
// @inline
function verdictsOf(n: i32, row: i32): usize {
  return <usize>load<u32>(front(), FRONT_VERDICTS) + <usize>(row + n) * VERDICT_BYTES;
}

/** How far the leaves of a CLOSE row may have moved against each other since it was measured, at most, by axis. */
// @inline
function goneOf(row: usize): v128 {
  const A = wayOf(load<i32>(row, CLOSE_FIRST));
  const B = wayOf(load<i32>(row, CLOSE_SECOND));
  const low = f32x4.sub(f32x4.sub(v128.load(A, WAY_NOW_LOW), v128.load(B, WAY_NOW_HIGH)), v128.load(row, CLOSE_LOW));
  const high = f32x4.sub(f32x4.sub(v128.load(A, WAY_NOW_HIGH), v128.load(B, WAY_NOW_LOW)), v128.load(row, CLOSE_HIGH));
  return f32x4.max(f32x4.splat(0), f32x4.max(f32x4.neg(low), high));
}

/** Square of the same. */
// @inline
function gone2(row: usize): f32 {
  const most = goneOf(row);
  const square = f32x4.mul(most, most);
  return f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2);
}

/** Leaves that are known to be apart this far, if that is enough, need not be measured. */
function heldApart(row: usize, apart: f32, listed: f32): bool {
  if (!(apart > listed)) return false;
  store<f32>(row, apart - load<f32>(row, CLOSE_REACH) * MORE, CLOSE_SLACK);
  return true;
}

/** Are there many rows, or has memory been too small for them? */
// @inline
function areMany(): bool {
  return (
    load<i32>(front(), FRONT_SPARSE) !== 0 ||
    load<i32>(HEADER, H_CONTACT_BLOCK_COUNT) > load<i32>(HEADER, H_BLOCKS_MANY)
  );
}

/** Ways are counted from S on. */
function fromSafe(row: usize, A: usize, B: usize): void {
  v128.store(row, f32x4.sub(v128.load(A, WAY_LOW), v128.load(B, WAY_HIGH)), CLOSE_LOW);
  v128.store(row, f32x4.sub(v128.load(A, WAY_HIGH), v128.load(B, WAY_LOW)), CLOSE_HIGH);
}

/** The least and the most that its particles go from S to x, by axis. */
// @inline
function leastWay(way: usize): v128 {
  return f32x4.sub(v128.load(way, WAY_NOW_LOW), v128.load(way, WAY_LOW));
}
// @inline
function mostWay(way: usize): v128 {
  return f32x4.sub(v128.load(way, WAY_NOW_HIGH), v128.load(way, WAY_HIGH));
}

/**
 * Ways are counted from x on. How far particles have gone there is known between bounds, so at once they may have moved
 * against each other by what is between these.
 */
function fromNow(row: usize, A: usize, B: usize): void {
  v128.store(row, f32x4.add(v128.load(row, CLOSE_LOW), f32x4.sub(mostWay(A), leastWay(B))), CLOSE_LOW);
  v128.store(row, f32x4.add(v128.load(row, CLOSE_HIGH), f32x4.sub(leastWay(A), mostWay(B))), CLOSE_HIGH);
}

/**
 * Ways of a CLOSE row are counted from `low` and `high` further on: where its slack is for all between them, or where
 * counting begins anew. Rounding is taken from the slack.
 */
export function moveBase(row: usize, low: v128, high: v128): void {
  const from = v128.load(row, CLOSE_LOW);
  const to = v128.load(row, CLOSE_HIGH);
  v128.store(row, f32x4.add(from, low), CLOSE_LOW);
  v128.store(row, f32x4.add(to, high), CLOSE_HIGH);
  const sizes = f32x4.add(f32x4.add(f32x4.abs(low), f32x4.abs(high)), f32x4.add(f32x4.abs(from), f32x4.abs(to)));
  store<f32>(
    row,
    load<f32>(row, CLOSE_SLACK) -
      WAYS_ROUNDING * (f32x4.extract_lane(sizes, 0) + f32x4.extract_lane(sizes, 1) + f32x4.extract_lane(sizes, 2)),
    CLOSE_SLACK,
  );
}

/** Two leaves at S, or on the way to x. @returns APART or MEASURED: what was found are all their rows */
function measure(row: usize): i32 {
  spendWork(4);
  const a = load<i32>(row, CLOSE_FIRST);
  const b = load<i32>(row, CLOSE_SECOND);
  const A = wayOf(a);
  const B = wayOf(b);
  fromSafe(row, A, B);
  const both = load<u32>(row, CLOSE_SURFACES);
  const first = surfaceAt(<i32>(both >> 16));
  const second = surfaceAt(<i32>(both & 0xffff));
  const r = load<f32>(row, CLOSE_REACH);
  const limits = load<f32>(first, SURFACE_LIMIT) + load<f32>(second, SURFACE_LIMIT);
  const step = Mathf.sqrt(gone2(row)) * MORE;
  const margin = max<f32>(AHEAD * r, LEAST * limits);
  const clear = r + margin;
  const same = first === second;
  if (heldApart(row, same ? apartByShape(row) : 0, clear + step)) return APART;
  // what intersects is driven apart in ways that the substep does not foretell: rows all around
  const around: f32 = load<i32>(HEADER, H_RESOLUTION) ? step : 0;
  const reach = around > 0 ? step * DIAGONAL : step;
  const low = f32x4.pmin(f32x4.splat(-around), f32x4.sub(leastWay(A), mostWay(B)));
  const high = f32x4.pmax(f32x4.splat(around), f32x4.sub(mostWay(A), leastWay(B)));
  if (a !== b && heldApart(row, apartAlong(row, low, high), clear)) {
    moveBase(row, low, high);
    return APART;
  }
  const further = max<f32>(limits, STEPS * step);
  const size = clear + reach + further + SIDES * (sizeOf(boxOf(a)) + sizeOf(boxOf(b)));
  const sparse = areMany() && PROJECTED_ROUNDING * size < SURE * margin;
  const apart = sparse
    ? measureOnWay(a, b, clear, r + SURE * margin, step, clear + further, same)
    : measureLeaves(a, b, clear, low, high, reach, clear + further, same);
  keepNormal(row);
  store<f32>(row, apart - r * MORE, CLOSE_SLACK);
  if (sparse) fromNow(row, A, B);
  else moveBase(row, low, high);
  return MEASURED;
}

/** Rows first .. last that have used up their slack -> from `at` on, where verdicts will be. @returns behind them */
function listSpent(first: i32, last: i32, at: usize): usize {
  const zero = f32x4.splat(0);
  const more = f32x4.splat(MORE);
  // up to three behind the last one are looked at, too, but not listed
  for (let k = first, row = closeRow(first); k < last; k += 4, row += 4 * CLOSE_BYTES) {
    const a = goneOf(row);
    const b = goneOf(row + CLOSE_BYTES);
    const c = goneOf(row + 2 * CLOSE_BYTES);
    const d = goneOf(row + 3 * CLOSE_BYTES);
    const x = xs(a, b, c, d);
    const y = ys(a, b, c, d);
    const z = zs(a, b, c, d);
    const slack = f32x4(
      load<f32>(row, CLOSE_SLACK),
      load<f32>(row + CLOSE_BYTES, CLOSE_SLACK),
      load<f32>(row + 2 * CLOSE_BYTES, CLOSE_SLACK),
      load<f32>(row + 3 * CLOSE_BYTES, CLOSE_SLACK),
    );
    const used = mul(dot3(x, x, y, y, z, z), more);
    const left = v128.and(f32x4.gt(slack, zero), f32x4.lt(used, mul(slack, slack)));
    const all = last - k < 4 ? (1 << (last - k)) - 1 : 15;
    for (let spent = ~v128.bitmask<i32>(left) & all; spent; spent &= spent - 1) {
      store<i32>(at, k + <i32>ctz(spent), VERDICT_ROW);
      at += VERDICT_BYTES;
    }
  }
  return at;
}

/** Parts begin .. end of `parts` of all CLOSE rows: which of them are parted, apart, or have been measured. */
export function judgeClose(begin: i32, end: i32, parts: i32): void {
  const count = load<i32>(front(), FRONT_CLOSE_COUNT);
  const capacity = load<i32>(front(), FRONT_FOUND_CAPACITY);
  const found = <usize>load<u32>(front(), FRONT_FOUND);
  for (let n = begin; n < end; n++) {
    const to = found + ((<usize>partBegins(capacity, n + 1, parts)) << 2);
    let from = found + ((<usize>partBegins(capacity, n, parts)) << 2);
    const last = partBegins(count, n + 1, parts);
    const first = partBegins(count, n, parts);
    const verdicts = verdictsOf(n, first);
    let at = verdicts + VERDICT_BYTES;
    useScratch(n);
    const before = measuredPairs;
    const end = listSpent(first, last, at);
    for (let spent = at; spent < end; spent += VERDICT_BYTES) {
      const k = load<i32>(spent, VERDICT_ROW);
      const row = closeRow(k);
      const normal = v128.load(row, CLOSE_NORMAL);
      openFound(from, to);
      const kind = judge(row);
      const ends = closeFound();
      // measured again, it is the same
      if (missed) v128.store(row, normal, CLOSE_NORMAL);
      if (kind >= APART && ends === from && !missed && !load<i32>(row, CLOSE_LANES)) continue;
      store<i32>(at, k, VERDICT_ROW);
      store<i32>(at, missed ? AGAIN : kind, VERDICT_KIND);
      store<u32>(at, <u32>from, VERDICT_FROM);
      store<u32>(at, <u32>ends, VERDICT_TO);
      at += VERDICT_BYTES;
      from = ends;
    }
    store<i32>(verdicts, <i32>((at - verdicts) / VERDICT_BYTES) - 1);
    const spent = <i32>((end - verdicts) / VERDICT_BYTES) - 1;
    countWork(((last - first) >> 1) + UNITS_OF_SPENT * spent + UNITS_OF_MEASURED * (measuredPairs - before));
  }
}

/** @returns the axis that parts the leaves, APART or MEASURED */
function judge(row: usize): i32 {
  const a = load<i32>(row);
  const b = load<i32>(row, CLOSE_SECOND);
  const axis = a === b ? -1 : parting(boxOf(a), boxOf(b), load<f32>(row, CLOSE_REACH));
  return axis >= 0 ? axis : measure(row);
}

/** Close pairs that have used up their slack are measured again, or parted. */
export function scanClose(): void {
  const parts = load<i32>(front(), FRONT_CLOSE_COUNT) >= SHARED ? partsOfShared(SHARED_CLOSE) : 1;
  if (parts > 1 && isHelped()) {
    openShared(SHARED_CLOSE);
    while (claimChunk()) judgeClose(chunkBegin, chunkEnd, parts);
    closeShared(SHARED_CLOSE);
  } else
    for (let n = 0; n < parts; n++) {
      judgeClose(n, n + 1, parts);
      preemptionPoint();
    }
  beginRows();
  const count = load<i32>(front(), FRONT_CLOSE_COUNT);
  noteUsed(LIST_CLOSE, count);
  again = false;
  // rows before `from` have been moved to before `to`
  let from = 0;
  let to = 0;
  let notes: u32 = 0;
  for (let n = 0; n < parts; n++) {
    const verdicts = verdictsOf(n, partBegins(count, n, parts));
    const first = load<u32>(verdicts + VERDICT_BYTES, VERDICT_FROM);
    for (let k = load<i32>(verdicts), at = verdicts + VERDICT_BYTES; k > 0; k--, at += VERDICT_BYTES) {
      const row = load<i32>(at, VERDICT_ROW);
      to = moveClose(from, to, row);
      from = row + 1;
      if (load<i32>(at, VERDICT_KIND) === AGAIN) again = true;
      notes = max<u32>(notes, load<u32>(at, VERDICT_TO) - first);
      if (carryOut(at, row, to)) to++;
    }
  }
  store<i32>(front(), moveClose(from, to, count), FRONT_CLOSE_COUNT);
  noteUsed(LIST_NOTES, parts * <i32>(notes >> 2));
}

/** What one thread had to measure again in the last scan, several can the next time. Once new rows have their lanes. */
export function growNotes(): void {
  if (again) growLists(LIST_NOTES, load<i32>(front(), FRONT_FOUND_CAPACITY) + 1, 0);
}

/** Rows from .. end -> from `to` on. @returns behind the last of them */
function moveClose(from: i32, to: i32, end: i32): i32 {
  if (to !== from) memory.copy(closeRow(to), closeRow(from), <usize>(end - from) * CLOSE_BYTES);
  return to + end - from;
}

/** @param to where the row goes, if it stays. @returns whether it does */
function carryOut(verdict: usize, number: i32, to: i32): bool {
  const kind = load<i32>(verdict, VERDICT_KIND);
  const row = closeRow(number);
  if (kind < APART) {
    dropRows(row);
    if (!overflow)
      addParted(
        boxOf(load<i32>(row)),
        boxOf(load<i32>(row, CLOSE_SECOND)),
        kind,
        load<f32>(row, CLOSE_REACH),
        load<u32>(row, CLOSE_SURFACES),
      );
    return false;
  }
  const at = closeRow(to);
  moveClose(number, to, number + 1);
  beginPair(at);
  if (kind === AGAIN) measure(at);
  else giveFound(<usize>load<u32>(verdict, VERDICT_FROM), <usize>load<u32>(verdict, VERDICT_TO));
  endPair();
  return true;
}

/** First of the rows of leaf n, plus one, while they are indexed. */
// @inline
function headOf(leaf: i32): usize {
  return <usize>load<u32>(front(), FRONT_VERDICTS) + ((<usize>leaf) << 2);
}
/** Behind the heads: of each row the next one of its first leaf, plus one. */
// @inline
function linkOf(row: i32): usize {
  return headOf(load<i32>(front(), FRONT_LEAF_COUNT) + row);
}

/** The first `count` rows can be found by their leaves. The index lies where verdicts will be. */
export function indexClose(count: i32): void {
  memory.fill(headOf(0), 0, (<usize>load<i32>(front(), FRONT_LEAF_COUNT)) << 2);
  for (let n = 0; n < count; n++) {
    const head = headOf(load<i32>(closeRow(n)));
    store<i32>(linkOf(n), load<i32>(head));
    store<i32>(head, n + 1);
  }
}

/**
 * Rows from `before` on take over what the indexed ones before them know, and are all that there are. Those that are
 * not among them any more have been parted.
 */
export function takeOver(before: i32): void {
  const end = load<i32>(front(), FRONT_CLOSE_COUNT);
  for (let n = before; n < end; n++) {
    const row = closeRow(n);
    const old = indexed(load<i32>(row), load<i32>(row, CLOSE_SECOND));
    if (old < 0) continue;
    memory.copy(row, closeRow(old), CLOSE_BYTES);
    store<i32>(closeRow(old), 0, CLOSE_LANES);
  }
  for (let n = 0; n < before; n++) dropRows(closeRow(n));
  store<i32>(front(), moveClose(before, 0, end), FRONT_CLOSE_COUNT);
}

/** Number of the indexed row of these leaves, -1: there is none. */
function indexed(first: i32, second: i32): i32 {
  for (let entry = load<i32>(headOf(first)); entry; entry = load<i32>(linkOf(entry - 1)))
    if (load<i32>(closeRow(entry - 1), CLOSE_SECOND) === second) return entry - 1;
  return -1;
}
