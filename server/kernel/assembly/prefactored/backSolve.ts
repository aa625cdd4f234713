/**
 * Back-solve with a sparse factor L D L^T for four right sides at once, in lanes: three of them are the coordinates.
 * Up to four consecutive columns with nearly the same rows form a group (sim/prefactored/groups.ts): each row's index
 * and entry of y is then loaded once for all of them, which takes half of the time.
 */
import * as L from "../layout/layout";

/** Counted work of a column, and rows of groups of a unit. */
const UNITS_OF_COLUMN = 4;
const ENTRIES_OF_UNIT = 2;

/** Returns the counted work of a back-solve with the factor of a PREFACTORED row. */
export function unitsOfBackSolve(row: usize): i32 {
  return (
    UNITS_OF_COLUMN * load<i32>(row, L.PREFACTORED_COLUMNS) +
    load<i32>(row, L.PREFACTORED_FACTOR + L.FACTOR_ENTRY_COUNT) / ENTRIES_OF_UNIT
  );
}

/** Solves L D L^T y = y in place, for each lane. @param factor FACTOR; y f32x4 for each of its columns */
export function backSolve(factor: usize, y: usize): void {
  const groups = <usize>load<u32>(factor, L.FACTOR_GROUPS);
  const end = groups + <usize>load<i32>(factor, L.FACTOR_GROUP_COUNT) * L.GROUP_BYTES;
  const rows = <usize>load<u32>(factor, L.FACTOR_ENTRY_ROWS);
  const entries = <usize>load<u32>(factor, L.FACTOR_ENTRIES);
  const last = forward(groups, end, rows, entries, y);
  backward(groups, end, last, rows, entries, y);
}

// @inline
function number(group: usize, field: usize): v128 {
  return v128.load32_splat(group + field);
}

// @inline
function less(a: v128, l: v128, b: v128): v128 {
  return f32x4.sub(a, f32x4.mul(l, b));
}

/** L y = y. @returns number of rows of all groups */
function forward(groups: usize, end: usize, rows: usize, entries: usize, y: usize): i32 {
  let p = 0;
  const zero = f32x4.splat(0);
  for (let group = groups; group < end; group += L.GROUP_BYTES) {
    const at = y + <usize>load<u32>(group, L.GROUP_FIRST);
    const columns = load<i32>(group, L.GROUP_COLUMNS);
    const a = v128.load(at);
    let b = zero;
    let c = zero;
    let d = zero;
    if (columns > 1) {
      b = less(v128.load(at, 16), number(group, L.GROUP_L10), a);
      v128.store(at, b, 16);
    }
    if (columns > 2) {
      c = less(less(v128.load(at, 32), number(group, L.GROUP_L20), a), number(group, L.GROUP_L21), b);
      v128.store(at, c, 32);
    }
    if (columns > 3) {
      d = less(less(v128.load(at, 48), number(group, L.GROUP_L30), a), number(group, L.GROUP_L31), b);
      d = less(d, number(group, L.GROUP_L32), c);
      v128.store(at, d, 48);
    }
    for (const until = p + load<i32>(group, L.GROUP_ROWS); p < until; p++) {
      const to = y + <usize>load<u32>(rows + ((<usize>p) << 2));
      const entry = entries + ((<usize>p) << 4);
      const one = f32x4.add(f32x4.mul(v128.load32_splat(entry), a), f32x4.mul(v128.load32_splat(entry, 4), b));
      const two = f32x4.add(f32x4.mul(v128.load32_splat(entry, 8), c), f32x4.mul(v128.load32_splat(entry, 12), d));
      v128.store(to, f32x4.sub(v128.load(to), f32x4.add(one, two)));
    }
  }
  return p;
}

/** D L^T y = y. @param p number of rows of all groups */
function backward(groups: usize, end: usize, p: i32, rows: usize, entries: usize, y: usize): void {
  for (let group = end; group > groups; ) {
    group -= L.GROUP_BYTES;
    const at = y + <usize>load<u32>(group, L.GROUP_FIRST);
    const columns = load<i32>(group, L.GROUP_COLUMNS);
    let a = f32x4.mul(number(group, L.GROUP_D0), v128.load(at));
    let b = f32x4.splat(0);
    let c = b;
    let d = b;
    if (columns > 1) b = f32x4.mul(number(group, L.GROUP_D1), v128.load(at, 16));
    if (columns > 2) c = f32x4.mul(number(group, L.GROUP_D2), v128.load(at, 32));
    if (columns > 3) d = f32x4.mul(number(group, L.GROUP_D3), v128.load(at, 48));
    for (const until = p - load<i32>(group, L.GROUP_ROWS); p > until; ) {
      p--;
      const there = v128.load(y + <usize>load<u32>(rows + ((<usize>p) << 2)));
      const entry = entries + ((<usize>p) << 4);
      a = less(a, v128.load32_splat(entry), there);
      b = less(b, v128.load32_splat(entry, 4), there);
      c = less(c, v128.load32_splat(entry, 8), there);
      d = less(d, v128.load32_splat(entry, 12), there);
    }
    if (columns > 3) {
      v128.store(at, d, 48);
      c = less(c, number(group, L.GROUP_L32), d);
      b = less(b, number(group, L.GROUP_L31), d);
      a = less(a, number(group, L.GROUP_L30), d);
    }
    if (columns > 2) {
      v128.store(at, c, 32);
      b = less(b, number(group, L.GROUP_L21), c);
      a = less(a, number(group, L.GROUP_L20), c);
    }
    if (columns > 1) {
      v128.store(at, b, 16);
      a = less(a, number(group, L.GROUP_L10), b);
    }
    v128.store(at, a);
  }
}

/** Returns y^T L D L^T y, of three lanes. Overwrites y. */
export function quadraticForm(factor: usize, y: usize): f64 {
  const rows = <usize>load<u32>(factor, L.FACTOR_ENTRY_ROWS);
  const entries = <usize>load<u32>(factor, L.FACTOR_ENTRIES);
  const groups = <usize>load<u32>(factor, L.FACTOR_GROUPS);
  const end = groups + <usize>load<i32>(factor, L.FACTOR_GROUP_COUNT) * L.GROUP_BYTES;
  let p = 0;
  let sum: f64 = 0;
  for (let group = groups; group < end; group += L.GROUP_BYTES) {
    const at = y + <usize>load<u32>(group, L.GROUP_FIRST);
    const columns = load<i32>(group, L.GROUP_COLUMNS);
    const none = f32x4.splat(0);
    let a = v128.load(at);
    let b = columns > 1 ? v128.load(at, 16) : none;
    let c = columns > 2 ? v128.load(at, 32) : none;
    const d = columns > 3 ? v128.load(at, 48) : none;
    // L^T y, from the first column on: each needs only later ones
    a = more(
      more(more(a, number(group, L.GROUP_L10), b), number(group, L.GROUP_L20), c),
      number(group, L.GROUP_L30),
      d,
    );
    b = more(more(b, number(group, L.GROUP_L21), c), number(group, L.GROUP_L31), d);
    c = more(c, number(group, L.GROUP_L32), d);
    let e = d;
    for (const until = p + load<i32>(group, L.GROUP_ROWS); p < until; p++) {
      const there = v128.load(y + <usize>load<u32>(rows + ((<usize>p) << 2)));
      const entry = entries + ((<usize>p) << 4);
      a = more(a, v128.load32_splat(entry), there);
      b = more(b, v128.load32_splat(entry, 4), there);
      c = more(c, v128.load32_splat(entry, 8), there);
      e = more(e, v128.load32_splat(entry, 12), there);
    }
    sum += squareOver(a, load<f32>(group, L.GROUP_D0));
    if (columns > 1) sum += squareOver(b, load<f32>(group, L.GROUP_D1));
    if (columns > 2) sum += squareOver(c, load<f32>(group, L.GROUP_D2));
    if (columns > 3) sum += squareOver(e, load<f32>(group, L.GROUP_D3));
  }
  return sum;
}

// @inline
function more(a: v128, l: v128, b: v128): v128 {
  return f32x4.add(a, f32x4.mul(l, b));
}

// @inline
function squareOver(a: v128, inverse: f32): f64 {
  const square = f32x4.mul(a, a);
  return (
    <f64>(f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2)) / <f64>inverse
  );
}
