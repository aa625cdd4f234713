/**
 * Separated pairs of the bvtt front (bvttFront.ts): two nodes or leaves whose boxes are further apart than r along one
 * axis. If that axis fails, another axis is tried, then the pair is split. Leaves that no axis separates become CLOSE
 * rows.
 */
import { spendWork } from "../../scheduler/clock";
import * as L from "../../layout/layout";
import { growLists, listFull } from "../prepare/listMemory";
import { BOX_BYTES, fitBox } from "./boxes";

/** Factor that covers the rounding of a sum of two box sides. */
const MORE: f32 = 1.00001;
/** Motion of two boxes against each other over that of one, with rounding. */
const TWICE: f32 = 2.0001;

// each thread has its own instance; only the orchestrator uses the separated pairs
export let overflow = false;
let leafCount = 0;
let boxes: usize = 0;
let children: usize = 0;
/** Rows at the end of the memory, behind FRONT_SEPARATED_CAPACITY, that have to be split. */
let waiting = 0;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
export function leafPairRow(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_LEAF_PAIRS) + <usize>n * L.LEAF_PAIR_BYTES;
}
/** Address of the PAIR_MOTION row of LEAF_PAIR row n. */
// @inline
export function pairMotion(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_PAIR_MOTIONS) + <usize>n * L.PAIR_MOTION_BYTES;
}
/** Address of the leaves of a LEAF_PAIR row, with PAIR_QUIET. */
// @inline
export function pairLeaves(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_PAIR_LEAVES) + <usize>n * L.PAIR_LEAVES_BYTES;
}
// @inline
function separatedRow(n: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_SEPARATED) + <usize>n * L.SEPARATED_BYTES;
}

/** Call before rows are added. */
export function openSeparated(): void {
  overflow = false;
  waiting = 0;
  leafCount = load<i32>(front(), L.FRONT_LEAF_COUNT);
  boxes = <usize>load<u32>(front(), L.FRONT_BOXES);
  children = <usize>load<u32>(front(), L.FRONT_CHILDREN);
}

/**
 * Returns the axis that separates two boxes best, by more than r. 0 .. 2: the first box is below; 3 .. 5: above; -1:
 * none.
 */
export function separatingAxis(A: usize, B: usize, r: f32): i32 {
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

/** Returns the sum of a box's sides. */
// @inline
export function sizeOf(box: usize): f32 {
  return -(
    load<f32>(box) +
    load<f32>(box, 16) +
    (load<f32>(box, 4) + load<f32>(box, 20)) +
    (load<f32>(box, 8) + load<f32>(box, 24))
  );
}

/** Makes room for one more separated pair. @returns false if memory may not grow */
function hasRoom(): bool {
  const capacity = load<i32>(front(), L.FRONT_SEPARATED_CAPACITY);
  if (load<i32>(front(), L.FRONT_SEPARATED_COUNT) < capacity) return true;
  store<i32>(front(), capacity + waiting, L.FRONT_SEPARATED_CAPACITY);
  const grown = growLists(L.LIST_SEPARATED, capacity + waiting + 1, waiting);
  store<i32>(front(), load<i32>(front(), L.FRONT_SEPARATED_CAPACITY) - waiting, L.FRONT_SEPARATED_CAPACITY);
  return grown;
}

function doesNotFit(kind: i32): void {
  overflow = true;
  listFull(kind);
}

export function addSeparated(A: usize, B: usize, axis: i32, r: f32, surfaces: u32): void {
  const n = load<i32>(front(), L.FRONT_SEPARATED_COUNT);
  const k = (<usize>(axis % 3)) << 2;
  if (!hasRoom()) {
    doesNotFit(L.LIST_SEPARATED);
    return;
  }
  store<i32>(front(), n + 1, L.FRONT_SEPARATED_COUNT);
  const row = separatedRow(n);
  const first = axis < 3;
  // low side of one box and high side of the other; the sign bit says that the first box gives the high side
  store<u32>(row, <u32>((first ? B : A) + k), L.SEPARATED_LOW);
  store<u32>(row, <u32>((first ? A : B) + k + 16), L.SEPARATED_HIGH);
  store<f32>(row, r, L.SEPARATED_REACH);
  store<u32>(row, first ? surfaces | 0x80000000 : surfaces, L.SEPARATED_SURFACES);
}

function addClose(a: i32, b: i32, r: f32, surfaces: u32): void {
  const n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT);
  if (n >= load<i32>(front(), L.FRONT_LEAF_PAIR_CAPACITY) && !growLists(L.LIST_LEAF_PAIRS, n + 1, 0)) {
    doesNotFit(L.LIST_LEAF_PAIRS);
    return;
  }
  store<i32>(front(), n + 1, L.FRONT_LEAF_PAIR_COUNT);
  const row = leafPairRow(n);
  store<i32>(row, a, L.LEAF_PAIR_FIRST);
  store<i32>(row, b, L.LEAF_PAIR_SECOND);
  store<i32>(pairLeaves(n), a);
  store<i32>(pairLeaves(n), b, 4);
  store<u32>(row, surfaces, L.LEAF_PAIR_SURFACES);
  store<i32>(row, 0, L.LEAF_PAIR_LANES);
  store<f32>(row, r, L.LEAF_PAIR_REACH);
  store<f32>(pairMotion(n), -1, L.PAIR_MOTION_SLACK);
  store<f32>(row, -1, L.LEAF_PAIR_REST2);
  v128.store(row, f32x4.splat(0), L.LEAF_PAIR_NORMAL);
}

/** Finds separated and leaf pairs below nodes a and b, which differ. */
export function separate(a: i32, b: i32, r: f32, surfaces: u32): void {
  if (overflow) return;
  spendWork(1);
  const A = boxes + <usize>a * BOX_BYTES;
  const B = boxes + <usize>b * BOX_BYTES;
  const axis = separatingAxis(A, B, r);
  if (axis >= 0) {
    addSeparated(A, B, axis, r, surfaces);
    return;
  }
  if (a < leafCount && b < leafCount) {
    addClose(a, b, r, surfaces);
    return;
  }
  if (b < leafCount || (a >= leafCount && sizeOf(A) > sizeOf(B))) {
    for (let k: usize = 0, child = children + ((<usize>(a - leafCount)) << 4); k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c >= 0) separate(c, b, r, surfaces);
    }
  } else {
    for (let k: usize = 0, child = children + ((<usize>(b - leafCount)) << 4); k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c >= 0) separate(a, c, r, surfaces);
    }
  }
}

/** Returns whether the boxes of a leaf below node a and one below node b come within r. */
export function areWithin(a: i32, b: i32, r: f32): bool {
  const A = boxes + <usize>a * BOX_BYTES;
  const B = boxes + <usize>b * BOX_BYTES;
  if (separatingAxis(A, B, r) >= 0) return false;
  if (a < leafCount && b < leafCount) return true;
  const splits = b < leafCount || (a >= leafCount && sizeOf(A) > sizeOf(B));
  const child = children + ((<usize>((splits ? a : b) - leafCount)) << 4);
  for (let k: usize = 0; k < 16; k += 4) {
    const c = load<i32>(child + k);
    if (c >= 0 && (splits ? areWithin(c, b, r) : areWithin(a, c, r))) return true;
  }
  return false;
}

/** Finds separated and leaf pairs of the tree below node a with itself. */
export function separateSelf(a: i32, r: f32, surfaces: u32): void {
  if (a < leafCount) {
    addClose(a, a, r, surfaces);
    return;
  }
  const child = children + ((<usize>(a - leafCount)) << 4);
  for (let k: usize = 0; k < 16; k += 4) {
    const c = load<i32>(child + k);
    if (c < 0) continue;
    separateSelf(c, r, surfaces);
    for (let l = k + 4; l < 16; l += 4) {
      const d = load<i32>(child + l);
      if (d >= 0) separate(c, d, r, surfaces);
    }
  }
}

/** Lists a separated pair as narrow. @param left distance beyond r, m */
function noteNarrow(row: usize, left: f32): void {
  const n = load<i32>(front(), L.FRONT_NARROW_COUNT);
  if (n > leafCount) return;
  store<i32>(front(), n + 1, L.FRONT_NARROW_COUNT);
  if (n === leafCount) return;
  const at = <usize>load<u32>(front(), L.FRONT_NARROW) + <usize>n * L.NARROW_BYTES;
  store<i32>(at, <i32>((row - separatedRow(0)) / L.SEPARATED_BYTES), L.NARROW_PAIR);
  store<f32>(at, left, L.NARROW_LEFT);
}

/**
 * Returns whether all separated pairs hold without new boxes. Particles have moved by `way` at most since the last
 * scan, so only pairs with no more than twice that left, and later pairs, are tested, with boxes of their own.
 */
export function holdWithin(way: f32): bool {
  const count = load<i32>(front(), L.FRONT_NARROW_COUNT);
  if (!(way <= load<f32>(front(), L.FRONT_MARGIN)) || count > leafCount) return false;
  let at = <usize>load<u32>(front(), L.FRONT_NARROW);
  for (let n = 0; n < count; n++, at += L.NARROW_BYTES)
    if (!(load<f32>(at, L.NARROW_LEFT) > TWICE * way) && !holds(separatedRow(load<i32>(at, L.NARROW_PAIR))))
      return false;
  const rows = load<i32>(front(), L.FRONT_SEPARATED_COUNT);
  for (let n = load<i32>(front(), L.FRONT_SCANNED); n < rows; n++) if (!holds(separatedRow(n))) return false;
  return true;
}

/** Returns whether a separated pair holds, after fitting its boxes. */
function holds(row: usize): bool {
  const low = <usize>load<u32>(row, L.SEPARATED_LOW);
  const high = <usize>load<u32>(row, L.SEPARATED_HIGH);
  const both = load<u32>(row, L.SEPARATED_SURFACES);
  const first = (both >> 16) & 0x7fff;
  const second = both & 0xffff;
  const isFirst = (both & 0x80000000) !== 0;
  fitBox(<i32>((low - boxes) / BOX_BYTES), isFirst ? second : first);
  fitBox(<i32>((high - boxes) / BOX_BYTES), isFirst ? first : second);
  return load<f32>(low) + load<f32>(high) > load<f32>(row, L.SEPARATED_REACH);
}

/** Tests all separated pairs. Those that still hold close up; the others are split. */
export function scanSeparated(): void {
  const rows = separatedRow(0);
  const margin = TWICE * load<f32>(front(), L.FRONT_MARGIN);
  store<i32>(front(), 0, L.FRONT_NARROW_COUNT);
  store<f32>(front(), 0, L.FRONT_GONE);
  const last = separatedRow(load<i32>(front(), L.FRONT_SEPARATED_COUNT));
  let to = rows;
  // pairs to split are copied to the end of the memory, from its end on
  for (let row = rows; row < last; row += L.SEPARATED_BYTES) {
    const all = v128.load(row);
    const reach = f32x4.extract_lane(all, 2);
    const apart = load<f32>(<usize>i32x4.extract_lane(all, 0)) + load<f32>(<usize>i32x4.extract_lane(all, 1));
    if (apart > reach) {
      if (to !== row) v128.store(to, all);
      const left = apart - MORE * reach;
      if (left <= margin) noteNarrow(to, left);
      to += L.SEPARATED_BYTES;
      continue;
    }
    if (!hasRoom()) {
      doesNotFit(L.LIST_SEPARATED);
      break;
    }
    waiting++;
    const left = load<i32>(front(), L.FRONT_SEPARATED_CAPACITY) - 1;
    store<i32>(front(), left, L.FRONT_SEPARATED_CAPACITY);
    v128.store(separatedRow(left), all);
  }
  const scanned = <i32>((to - rows) / L.SEPARATED_BYTES);
  store<i32>(front(), scanned, L.FRONT_SEPARATED_COUNT);
  store<i32>(front(), scanned, L.FRONT_SCANNED);
  for (let n = 1; n <= waiting && !overflow; n++) {
    // splitting may grow the lists
    const row = separatedRow(load<i32>(front(), L.FRONT_SEPARATED_CAPACITY) + waiting - n);
    const both = load<u32>(row, L.SEPARATED_SURFACES);
    const first = (both & 0x80000000) !== 0;
    const high = <i32>((<usize>load<u32>(row, L.SEPARATED_HIGH) - boxes) / BOX_BYTES);
    const low = <i32>((<usize>load<u32>(row, L.SEPARATED_LOW) - boxes) / BOX_BYTES);
    separate(first ? high : low, first ? low : high, load<f32>(row, L.SEPARATED_REACH), both & 0x7fffffff);
  }
  store<i32>(front(), load<i32>(front(), L.FRONT_SEPARATED_CAPACITY) + waiting, L.FRONT_SEPARATED_CAPACITY);
  waiting = 0;
}
