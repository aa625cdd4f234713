/**
 * The kinetic front: which primitives of which surfaces may come within r of each other in this substep, r the radii of
 * both. Contact costs what is near, not what moves.
 *   parted   two nodes or leaves of the surfaces' trees whose boxes, swept from the safe positions S to x, one axis
 *            keeps further apart than r: one comparison a substep. What it does not keep apart any more is asked for
 *            another axis, and then split.
 *   close    two leaves (four triangles each, with the vertices and edges that they are the first to have) that no axis
 *            parts are measured once, at S (frontMeasure.ts): what comes near becomes a row (frontRows.ts), all else is
 *            further apart than r + slack, and stays further apart than r while the two leaves have moved against each
 *            other by less than slack: sums of the least and greatest motion of their particles, by axis. Then the two
 *            are asked for less than a measurement, in this order: does their shape still keep them apart, or the
 *            direction in which they were nearest (frontShape.ts)?
 * So what is neither a row nor parted cannot have met on straight ways from S to x. Nothing is predicted, and there are
 * no margins that motion leaves: of all pairs only those are looked at again that have used up what they had. The front
 * outlives ticks, in memory of the list of pairs: whoever forgets the list (H_LIST_VALID) has it made from nothing.
 * Tried and lost: lists of all pairs within margins of predicted straight trajectories, kept for some substeps, in
 * which only the pairs of what strayed were looked for again. Median of a tick, one thread, both in one run on a loaded
 * machine, list and front: drape with 3 hands 112 and 78 ms, flag-on-pole 92 and 30, dragon 110 and 46, hundred-bodies
 * 99 and 34. Tried and lost, too: a copy of where a pair's particles were when it was measured, because sums of ways
 * use up twice as much as what things have moved in the end (8.6 and 4.4 mm in drape): half of the measurements go, but
 * 300 bytes a pair do not stay in the cache, and it took as long.
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
  H_COUNT_LISTS,
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
  FRONT_BOXES,
  FRONT_CHILDREN,
  FRONT_CLOSE,
  FRONT_CLOSE_CAPACITY,
  FRONT_CLOSE_COUNT,
  FRONT_LEAVES,
  FRONT_LEAF_COUNT,
  FRONT_NODE_COUNT,
  FRONT_PARTED,
  FRONT_PARTED_CAPACITY,
  FRONT_PARTED_COUNT,
  FRONT_ROOTS,
  FRONT_STAMP,
  FRONT_WAYS,
  FRONT_WAY_BYTES,
  FRONT_WHOLE,
  LEAF_BYTES,
  LEAF_PARTICLE,
  WAY_LOW,
  WAY_HIGH,
  WAY_NOW_LOW,
  WAY_NOW_HIGH,
  PARTED_LOW,
  PARTED_HIGH,
  PARTED_REACH,
  PARTED_SURFACES,
  PARTED_BYTES,
  CLOSE_FIRST,
  CLOSE_SECOND,
  CLOSE_SURFACES,
  CLOSE_LANES,
  CLOSE_REACH,
  CLOSE_SLACK,
  CLOSE_REST2,
  CLOSE_NORMAL,
  CLOSE_LOW,
  CLOSE_HIGH,
  CLOSE_BYTES,
} from "../layout/layout";
import { meetsSurface } from "../state/filters";
import { keepNormal, measureLeaves } from "./frontMeasure";
import { apartAlong, apartByShape } from "./frontShape";
import { beginPair, beginRows, dropRows, endChains, endPair, forgetRows, placeRows } from "./frontRows";
import { bindNeighbors } from "../integrate/freeBodies";
import { forgetListed, noteSurfaces } from "../state/islands";

const BOX_BYTES: usize = 32;
/** Rows are listed this part of r further than they have to be: what is solved next is among them. */
const AHEAD: f32 = 0.375;
/** Or this part of the surfaces' greatest sensible margins: a core mesh may have no radius. */
const LEAST: f32 = 1.0 / 32;
/**
 * And this many times as far as the leaves move against each other in this substep: those need not be measured again in
 * the next one.
 */
const MARGIN: f32 = 1;
/**
 * Leaves are measured as far as they move in so many substeps like this one, or as these margins say: what is looked at
 * is not looked at again for as long.
 */
const STEPS: f32 = 6;
/** Rounding of a sum of ways, a part of it; and of what is compared with a slack. */
const ROUNDING: f32 = 2.384185791015625e-7; // 2^-22
const MORE: f32 = 1.00001;
/** The front is made anew when it has grown to twice as many parted pairs, and this many. */
const GROWN = 4096;

// @inline
function front(): usize {
  return <usize>load<u32>(HEADER, H_FRONT);
}
// @inline
function boxOf(number: i32): usize {
  return <usize>load<u32>(front(), FRONT_BOXES) + <usize>number * BOX_BYTES;
}
// @inline
function closeRow(n: i32): usize {
  return <usize>load<u32>(front(), FRONT_CLOSE) + <usize>n * CLOSE_BYTES;
}
// @inline
function partedRow(n: i32): usize {
  return <usize>load<u32>(front(), FRONT_PARTED) + <usize>n * PARTED_BYTES;
}
// @inline
function surfaceAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
}

// one instance belongs to one thread, and the front to the orchestrating thread
let overflow = false;
let leafCount = 0;
let boxes: usize = 0;
let children: usize = 0;

function open(): void {
  overflow = false;
  leafCount = load<i32>(front(), FRONT_LEAF_COUNT);
  boxes = <usize>load<u32>(front(), FRONT_BOXES);
  children = <usize>load<u32>(front(), FRONT_CHILDREN);
}

/** Boxes of everything from S to x, and how far leaves have gone. */
function refit(): void {
  const X = <usize>load<u32>(HEADER, H_X);
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  const toLast = <usize>load<u32>(HEADER, H_REFERENCE) - X;
  const none = f32x4.splat(Infinity);
  const nothing = f32x4.splat(-Infinity);
  const rounding = f32x4.splat(ROUNDING);
  let leaf = <usize>load<u32>(front(), FRONT_LEAVES);
  let way = <usize>load<u32>(front(), FRONT_WAYS);
  let box = boxes;
  for (let n = leafCount; n > 0; n--, leaf += LEAF_BYTES, way += FRONT_WAY_BYTES, box += BOX_BYTES) {
    let low = none;
    let high = nothing;
    let least = none;
    let most = nothing;
    for (let k = load<i32>(leaf), at = leaf + LEAF_PARTICLE; k > 0; k--, at += 4) {
      const particle = <usize>load<u32>(at);
      const x = v128.load(particle);
      const S = v128.load(particle + toSafe);
      const L = v128.load(particle + toLast);
      const d = f32x4.sub(x, L);
      const e = f32x4.sub(S, L);
      // what is no number is left out
      low = f32x4.pmin(f32x4.pmin(low, x), S);
      high = f32x4.pmax(f32x4.pmax(high, x), S);
      least = f32x4.pmin(f32x4.pmin(least, d), e);
      most = f32x4.pmax(f32x4.pmax(most, d), e);
    }
    v128.store(box, low);
    v128.store(box, f32x4.neg(high), 16);
    const a = v128.load(way, WAY_LOW);
    const b = v128.load(way, WAY_HIGH);
    v128.store(
      way,
      f32x4.sub(f32x4.add(a, least), f32x4.mul(rounding, f32x4.add(f32x4.abs(a), f32x4.abs(least)))),
      WAY_NOW_LOW,
    );
    v128.store(
      way,
      f32x4.add(f32x4.add(b, most), f32x4.mul(rounding, f32x4.add(f32x4.abs(b), f32x4.abs(most)))),
      WAY_NOW_HIGH,
    );
  }
  for (let n = load<i32>(front(), FRONT_NODE_COUNT) - 1; n >= 0; n--) {
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

/** Where leaves are now is where they have gone to; the next substep begins there. */
function keepWays(): void {
  let way = <usize>load<u32>(front(), FRONT_WAYS);
  for (let n = load<i32>(front(), FRONT_LEAF_COUNT); n > 0; n--, way += FRONT_WAY_BYTES) {
    v128.store(way, v128.load(way, WAY_NOW_LOW));
    v128.store(way, v128.load(way, WAY_NOW_HIGH), WAY_HIGH);
  }
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
    const from = v128.load(row, CLOSE_LOW);
    const to = v128.load(row, CLOSE_HIGH);
    v128.store(row, f32x4.sub(from, low), CLOSE_LOW);
    v128.store(row, f32x4.sub(to, high), CLOSE_HIGH);
    const sizes = f32x4.add(f32x4.add(f32x4.abs(low), f32x4.abs(high)), f32x4.add(f32x4.abs(from), f32x4.abs(to)));
    store<f32>(
      row,
      load<f32>(row, CLOSE_SLACK) -
        ROUNDING * (f32x4.extract_lane(sizes, 0) + f32x4.extract_lane(sizes, 1) + f32x4.extract_lane(sizes, 2)),
      CLOSE_SLACK,
    );
  }
  memory.fill(ways, 0, <usize>load<i32>(front(), FRONT_LEAF_COUNT) * FRONT_WAY_BYTES);
}

/** Square of how far the leaves of a CLOSE row may have moved against each other since it was measured, at most. */
// @inline
function gone2(row: usize, A: usize, B: usize): f32 {
  const low = f32x4.sub(f32x4.sub(v128.load(A, WAY_NOW_LOW), v128.load(B, WAY_NOW_HIGH)), v128.load(row, CLOSE_LOW));
  const high = f32x4.sub(f32x4.sub(v128.load(A, WAY_NOW_HIGH), v128.load(B, WAY_NOW_LOW)), v128.load(row, CLOSE_HIGH));
  const most = f32x4.max(f32x4.neg(low), high);
  const square = f32x4.mul(most, most);
  return f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2);
}

/**
 * Of two boxes' axes the one that keeps them apart best by more than r: 0 .. 2 the first is below, 3 .. 5 above, -1:
 * none.
 */
function parting(A: usize, B: usize, r: f32): i32 {
  let best = r * MORE;
  let axis = -1;
  for (let k: usize = 0; k < 3; k++) {
    const below = load<f32>(B + (k << 2)) + load<f32>(A + (k << 2), 16);
    const above = load<f32>(A + (k << 2)) + load<f32>(B + (k << 2), 16);
    if (below > best) {
      best = below;
      axis = <i32>k;
    }
    if (above > best) {
      best = above;
      axis = <i32>k + 3;
    }
  }
  return axis;
}

/** Sum of a box's sides. */
// @inline
function sizeOf(box: usize): f32 {
  return -(
    load<f32>(box) +
    load<f32>(box, 16) +
    (load<f32>(box, 4) + load<f32>(box, 20)) +
    (load<f32>(box, 8) + load<f32>(box, 24))
  );
}

function addParted(A: usize, B: usize, axis: i32, r: f32, surfaces: u32): void {
  const n = load<i32>(front(), FRONT_PARTED_COUNT);
  const k = (<usize>(axis % 3)) << 2;
  if (n >= load<i32>(front(), FRONT_PARTED_CAPACITY)) {
    overflow = true;
    return;
  }
  store<i32>(front(), n + 1, FRONT_PARTED_COUNT);
  const row = partedRow(n);
  const first = axis < 3;
  // the low side of the one and the high side of the other; the first's address comes first if its low side is asked
  store<u32>(row, <u32>((first ? B : A) + k), PARTED_LOW);
  store<u32>(row, <u32>((first ? A : B) + k + 16), PARTED_HIGH);
  store<f32>(row, r, PARTED_REACH);
  store<u32>(row, first ? surfaces | 0x80000000 : surfaces, PARTED_SURFACES);
}

function addClose(a: i32, b: i32, r: f32, surfaces: u32): void {
  const n = load<i32>(front(), FRONT_CLOSE_COUNT);
  if (n >= load<i32>(front(), FRONT_CLOSE_CAPACITY)) {
    overflow = true;
    return;
  }
  store<i32>(front(), n + 1, FRONT_CLOSE_COUNT);
  const row = closeRow(n);
  store<i32>(row, a, CLOSE_FIRST);
  store<i32>(row, b, CLOSE_SECOND);
  store<u32>(row, surfaces, CLOSE_SURFACES);
  store<i32>(row, 0, CLOSE_LANES);
  store<f32>(row, r, CLOSE_REACH);
  store<f32>(row, -1, CLOSE_SLACK);
  store<f32>(row, -1, CLOSE_REST2);
  v128.store(row, f32x4.splat(0), CLOSE_NORMAL);
}

/** What is below numbers a and b, of different places. */
function part(a: i32, b: i32, r: f32, surfaces: u32): void {
  if (overflow) return;
  const A = boxes + <usize>a * BOX_BYTES;
  const B = boxes + <usize>b * BOX_BYTES;
  const axis = parting(A, B, r);
  if (axis >= 0) {
    addParted(A, B, axis, r, surfaces);
    return;
  }
  if (a < leafCount && b < leafCount) {
    addClose(a, b, r, surfaces);
    return;
  }
  if (b < leafCount || (a >= leafCount && sizeOf(A) > sizeOf(B))) {
    for (let k: usize = 0, child = children + ((<usize>(a - leafCount)) << 4); k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c >= 0) part(c, b, r, surfaces);
    }
  } else {
    for (let k: usize = 0, child = children + ((<usize>(b - leafCount)) << 4); k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c >= 0) part(a, c, r, surfaces);
    }
  }
}

/** What is below number a, against itself. */
function partSelf(a: i32, r: f32, surfaces: u32): void {
  if (a < leafCount) {
    addClose(a, a, r, surfaces);
    return;
  }
  const child = children + ((<usize>(a - leafCount)) << 4);
  for (let k: usize = 0; k < 16; k += 4) {
    const c = load<i32>(child + k);
    if (c < 0) continue;
    partSelf(c, r, surfaces);
    for (let l = k + 4; l < 16; l += 4) {
      const d = load<i32>(child + l);
      if (d >= 0) part(c, d, r, surfaces);
    }
  }
}

/** The front from nothing, for the boxes that there are. */
function makeFront(): void {
  const count = load<i32>(HEADER, H_SURFACE_COUNT);
  const roots = <usize>load<u32>(front(), FRONT_ROOTS);
  store<u32>(HEADER, load<u32>(HEADER, H_COUNT_LISTS) + 1, H_COUNT_LISTS);
  store<i32>(front(), 0, FRONT_PARTED_COUNT);
  store<i32>(front(), 0, FRONT_CLOSE_COUNT);
  forgetRows();
  forgetListed();
  for (let a = 0; a < count; a++) {
    const A = surfaceAt(a);
    const ofA = load<i32>(roots + ((<usize>a) << 2));
    const fixed = load<i32>(A, SURFACE_SOLID) === SOLID_COLLIDER;
    if (ofA < 0) continue;
    for (let b = a; b < count; b++) {
      const B = surfaceAt(b);
      const ofB = load<i32>(roots + ((<usize>b) << 2));
      if (ofB < 0 || !meetsSurface(A, b) || (fixed && load<i32>(B, SURFACE_SOLID) === SOLID_COLLIDER)) continue;
      const r = load<f32>(A, SURFACE_RADIUS) + load<f32>(B, SURFACE_RADIUS);
      const surfaces = ((<u32>a) << 16) | <u32>b;
      if (a === b) partSelf(ofA, r, surfaces);
      else part(ofA, ofB, r, surfaces);
    }
  }
  store<i32>(front(), load<i32>(front(), FRONT_PARTED_COUNT), FRONT_WHOLE);
}

/** Parted pairs that are not parted any more are split; the others close up. */
function scanParted(): void {
  const rows = <usize>load<u32>(front(), FRONT_PARTED);
  const count = load<i32>(front(), FRONT_PARTED_COUNT);
  const last = rows + <usize>count * PARTED_BYTES;
  // what has to be split goes to the end of the memory for now, from its end on
  const back = rows + <usize>load<i32>(front(), FRONT_PARTED_CAPACITY) * PARTED_BYTES;
  let to = rows;
  let failed = back;
  for (let row = rows; row < last; row += PARTED_BYTES) {
    const all = v128.load(row);
    if (
      load<f32>(<usize>i32x4.extract_lane(all, 0)) + load<f32>(<usize>i32x4.extract_lane(all, 1)) >
      f32x4.extract_lane(all, 2)
    ) {
      if (to !== row) v128.store(to, all);
      to += PARTED_BYTES;
      continue;
    }
    failed -= PARTED_BYTES;
    if (failed < last) {
      overflow = true;
      return;
    }
    v128.store(failed, all);
  }
  store<i32>(front(), <i32>((to - rows) / PARTED_BYTES), FRONT_PARTED_COUNT);
  const capacity = load<i32>(front(), FRONT_PARTED_CAPACITY);
  const left = <i32>((failed - rows) / PARTED_BYTES);
  store<i32>(front(), left, FRONT_PARTED_CAPACITY);
  for (let row = back - PARTED_BYTES; row >= failed && !overflow; row -= PARTED_BYTES) {
    const both = load<u32>(row, PARTED_SURFACES);
    const first = (both & 0x80000000) !== 0;
    const high = <i32>((<usize>load<u32>(row, PARTED_HIGH) - boxes) / BOX_BYTES);
    const low = <i32>((<usize>load<u32>(row, PARTED_LOW) - boxes) / BOX_BYTES);
    part(first ? high : low, first ? low : high, load<f32>(row, PARTED_REACH), both & 0x7fffffff);
  }
  store<i32>(front(), capacity, FRONT_PARTED_CAPACITY);
}

// @inline
function copyClose(to: usize, from: usize): void {
  for (let k: usize = 0; k < <usize>CLOSE_BYTES; k += 16) v128.store(to + k, v128.load(from + k));
}

/** Close pairs that have used up their slack are measured again, or parted. */
function scanClose(): void {
  const ways = <usize>load<u32>(front(), FRONT_WAYS);
  const count = load<i32>(front(), FRONT_CLOSE_COUNT);
  const rows = <usize>load<u32>(front(), FRONT_CLOSE);
  const last = rows + <usize>count * CLOSE_BYTES;
  let to = rows;
  beginRows();
  for (let row = rows; row < last; row += CLOSE_BYTES) {
    const A = ways + <usize>load<i32>(row) * FRONT_WAY_BYTES;
    const B = ways + <usize>load<i32>(row, CLOSE_SECOND) * FRONT_WAY_BYTES;
    const slack = load<f32>(row, CLOSE_SLACK);
    if (!(slack > 0 && gone2(row, A, B) * MORE < slack * slack)) {
      const a = load<i32>(row);
      const b = load<i32>(row, CLOSE_SECOND);
      if (a !== b && !overflow) {
        const r = load<f32>(row, CLOSE_REACH);
        const axis = parting(boxOf(a), boxOf(b), r);
        if (axis >= 0) {
          dropRows(row);
          addParted(boxOf(a), boxOf(b), axis, r, load<u32>(row, CLOSE_SURFACES));
          continue;
        }
      }
      if (to !== row) copyClose(to, row);
      measure(to, A, B);
    } else if (to !== row) copyClose(to, row);
    to += CLOSE_BYTES;
  }
  store<i32>(front(), <i32>((to - rows) / CLOSE_BYTES), FRONT_CLOSE_COUNT);
}

/** Leaves that are known to be apart this far, if that is enough, have no rows. */
function heldApart(row: usize, apart: f32, listed: f32): bool {
  if (!(apart > listed)) return false;
  dropRows(row);
  store<f32>(row, apart - load<f32>(row, CLOSE_REACH) * MORE, CLOSE_SLACK);
  return true;
}

/** Two leaves at S, where they had gone to by then. */
function measure(row: usize, A: usize, B: usize): void {
  v128.store(row, f32x4.sub(v128.load(A, WAY_LOW), v128.load(B, WAY_HIGH)), CLOSE_LOW);
  v128.store(row, f32x4.sub(v128.load(A, WAY_HIGH), v128.load(B, WAY_LOW)), CLOSE_HIGH);
  const both = load<u32>(row, CLOSE_SURFACES);
  const first = surfaceAt(<i32>(both >> 16));
  const second = surfaceAt(<i32>(both & 0xffff));
  const r = load<f32>(row, CLOSE_REACH);
  const limits = load<f32>(first, SURFACE_LIMIT) + load<f32>(second, SURFACE_LIMIT);
  const step = Mathf.sqrt(gone2(row, A, B)) * MORE;
  const listed = r + max<f32>(AHEAD * r, LEAST * limits) + MARGIN * step;
  const same = first === second;
  if (heldApart(row, same ? apartByShape(row) : 0, listed)) return;
  if (load<i32>(row, CLOSE_FIRST) !== load<i32>(row, CLOSE_SECOND) && heldApart(row, apartAlong(row), listed)) return;
  beginPair(row);
  const apart = measureLeaves(
    load<i32>(row),
    load<i32>(row, CLOSE_SECOND),
    listed,
    listed + max<f32>(limits, STEPS * step),
    same,
  );
  endPair();
  keepNormal(row);
  store<f32>(row, apart - r * MORE, CLOSE_SLACK);
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
 * changed: it adds what has to be added.
 * @returns false where memory does not hold it: then nothing is known, and H_LIST_VALID is 0
 */
export function advanceFront(): bool {
  open();
  const anew =
    !load<i32>(HEADER, H_LIST_VALID) ||
    load<i32>(front(), FRONT_PARTED_COUNT) > 2 * load<i32>(front(), FRONT_WHOLE) + GROWN;
  if (anew) {
    memory.copy(
      <usize>load<u32>(HEADER, H_REFERENCE),
      <usize>load<u32>(HEADER, H_SAFE),
      (<usize>load<i32>(HEADER, H_PARTICLES)) << 4,
    );
    memory.fill(<usize>load<u32>(front(), FRONT_WAYS), 0, <usize>leafCount * FRONT_WAY_BYTES);
    nextStamp();
  }
  refit();
  if (anew) makeFront();
  else scanParted();
  if (!overflow) scanClose();
  if (overflow || !placeRows()) {
    forgetRows();
    store<i32>(HEADER, 0, H_LIST_VALID);
    return false;
  }
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
  nextStamp();
  endChains();
}

/**
 * At the start of a tick: has anything moved otherwise than in a substep? Then nothing is known. Else whose rows are
 * there, and ways from 0.
 */
export function beginTick(): void {
  if (!load<i32>(HEADER, H_LIST_VALID)) return;
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
  forgetListed();
  let before: u32 = 0;
  for (let n = 0, row = closeRow(0); n < load<i32>(front(), FRONT_CLOSE_COUNT); n++, row += CLOSE_BYTES) {
    const both = load<u32>(row, CLOSE_SURFACES);
    if (both === before || !load<i32>(row, CLOSE_LANES) || both >> 16 === (both & 0xffff)) continue;
    before = both;
    noteSurfaces(both);
  }
}
