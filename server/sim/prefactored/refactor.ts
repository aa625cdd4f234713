/**
 * Factors the matrix of a prefactored body again, in its memory: the same columns and entries with other numbers.
 * The elements' rows have everything that the matrix consists of (model.ts). Sums are in float64, in a fixed order, so
 * the same rows give the same bits on any machine.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../kernel/assembly/layout/sizes.ts";
import { ANCHOR, BOUND, weakened } from "./model.ts";

/** Numbers of a group's columns in an entry, and of its entries of L within (GROUP_L10 and on). */
const COLUMNS = 4;
const WITHIN = 6;

/** Lower triangle of the matrix, then L and D, in the form of the groups. */
interface Numbers {
  /** Group of each column, and the group's first column, number of columns, first row. */
  groupOf: Int32Array;
  first: Int32Array;
  columns: Int32Array;
  start: Int32Array;
  /** Columns that the rows of all groups stand for. */
  rows: Int32Array;
  entries: Float64Array;
  within: Float64Array;
  diagonal: Float64Array;
}

function emptyNumbers(view: DataView, row: number): Numbers {
  const factor = row + L.PREFACTORED_FACTOR;
  const groups = view.getInt32(factor + L.FACTOR_GROUPS, true);
  const count = view.getInt32(factor + L.FACTOR_GROUP_COUNT, true);
  const m = view.getInt32(row + L.PREFACTORED_COLUMNS, true);
  const entryCount = view.getInt32(factor + L.FACTOR_ENTRY_COUNT, true);
  const entryRows = new Int32Array(view.buffer, view.getInt32(factor + L.FACTOR_ENTRY_ROWS, true), entryCount);
  const numbers: Numbers = {
    groupOf: new Int32Array(m),
    first: new Int32Array(count),
    columns: new Int32Array(count),
    start: new Int32Array(count + 1),
    rows: entryRows.map((offset) => offset / LANES),
    entries: new Float64Array(COLUMNS * entryCount),
    within: new Float64Array(WITHIN * count),
    diagonal: new Float64Array(m),
  };
  for (let g = 0; g < count; g++) {
    const at = groups + g * L.GROUP_BYTES;
    numbers.first[g] = view.getInt32(at + L.GROUP_FIRST, true) / LANES;
    numbers.columns[g] = view.getInt32(at + L.GROUP_COLUMNS, true);
    numbers.start[g + 1] = numbers.start[g]! + view.getInt32(at + L.GROUP_ROWS, true);
    numbers.groupOf.fill(g, numbers.first[g]!, numbers.first[g]! + numbers.columns[g]!);
  }
  return numbers;
}

/** Index of L(r, c) in a group's entries within. */
const withinAt = (g: number, r: number, c: number): number => WITHIN * g + (r * (r - 1)) / 2 + c;

/** Adds to entry (i, j) of the matrix. Fixed particles have no column. */
function add(
  { groupOf, first, columns, start, rows, entries, within, diagonal }: Numbers,
  i: number,
  j: number,
  by: number,
): void {
  if (i < j || i >= diagonal.length) return;
  if (i === j) return void (diagonal[i]! += by);
  const g = groupOf[j]!;
  const c = j - first[g]!;
  if (i < first[g]! + columns[g]!) return void (within[withinAt(g, i - first[g]!, c)]! += by);
  let low = start[g]!;
  let high = start[g + 1]!;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (rows[middle]! <= i) low = middle;
    else high = middle;
  }
  entries[COLUMNS * low + c]! += by;
}

/** Adds k v v^T of one element. @param v a number for each corner; at its first column in memory */
function addElement(numbers: Numbers, columns: readonly number[], v: readonly number[], k: number): void {
  for (let i = 0; i < v.length; i++)
    for (let j = 0; j < v.length; j++) add(numbers, columns[i]!, columns[j]!, k * (v[i]! * v[j]!));
}

/** Calls `each` with the address of every element in its row's first lane. */
function eachElement(
  view: DataView,
  row: number,
  rows: number,
  pointer: number,
  bytes: number,
  each: (lane: number) => void,
): void {
  const address = view.getInt32(row + pointer, true);
  for (let e = 0; e < 4 * view.getInt32(row + rows, true); e++) each(address + (e >> 2) * bytes + 4 * (e & 3));
}

interface Triangle {
  weft: readonly number[];
  warp: readonly number[];
  /** Bounds of the stiffness times volume, N m. */
  kWeft: number;
  kWarp: number;
}

function triangleAt(view: DataView, lane: number): Triangle {
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => view.getFloat32(lane + L.PREFACTORED_TRIANGLE_DM + LANES * k, true)) as [
    number,
    number,
    number,
    number,
  ];
  const [c00, c01, c11, c22] = [0, 1, 2, 3].map((k) =>
    view.getFloat32(lane + L.PREFACTORED_TRIANGLE_C + LANES * k, true),
  ) as [number, number, number, number];
  return {
    weft: [a, c, -a - c],
    warp: [b, d, -b - d],
    kWeft: Math.max(c00 + Math.abs(c01), 2 * c22),
    kWarp: Math.max(c11 + Math.abs(c01), 2 * c22),
  };
}

const columnsAt = (view: DataView, row: number, at: number, corners: number): number[] => {
  const residual = view.getUint32(row + L.PREFACTORED_RESIDUAL, true);
  return Array.from({ length: corners }, (_, k) => (view.getUint32(at + LANES * k, true) - residual) / LANES);
};

const squares = (v: readonly number[]): number => v.reduce((sum, x) => sum + x * x, 0);

type EachTriangle = (triangle: Triangle, lane: number) => void;
const eachTriangle = (view: DataView, row: number, each: EachTriangle): void =>
  eachElement(view, row, L.PREFACTORED_TRIANGLE_ROWS, L.PREFACTORED_TRIANGLES, L.PREFACTORED_TRIANGLE_BYTES, (lane) =>
    each(triangleAt(view, lane), lane),
  );

type EachBend = (K: readonly number[], stiffness: number, lane: number) => void;
const eachBend = (view: DataView, row: number, each: EachBend): void =>
  eachElement(view, row, L.PREFACTORED_BEND_ROWS, L.PREFACTORED_BENDS, L.PREFACTORED_BEND_BYTES, (lane) =>
    each(
      [0, 1, 2, 3].map((k) => view.getFloat32(lane + L.PREFACTORED_BEND_K + LANES * k, true)),
      view.getFloat32(lane + L.PREFACTORED_BEND_STIFFNESS, true),
      lane,
    ),
  );

function addTetrahedra(view: DataView, row: number, numbers: Numbers): void {
  eachElement(view, row, L.PREFACTORED_TET_ROWS, L.PREFACTORED_TETS, L.PREFACTORED_TET_BYTES, (lane) => {
    const at = (offset: number, k = 0): number => view.getFloat32(lane + offset + LANES * k, true);
    const k = BOUND * (3 * at(L.PREFACTORED_TET_LAMBDA) + 2 * at(L.PREFACTORED_TET_MU));
    const columns = columnsAt(view, row, lane + L.PREFACTORED_TET_COLUMN, 4);
    for (let axis = 0; axis < 3; axis++) {
      const [a, b, c] = [0, 3, 6].map((corner) => at(L.PREFACTORED_TET_DM, corner + axis)) as [number, number, number];
      addElement(numbers, columns, [a, b, c, -a - b - c], k);
    }
  });
}

/** Trace of the bending stiffness over the membrane's. */
function shareOf(view: DataView, row: number): number {
  let membrane = 0;
  let bending = 0;
  eachTriangle(
    view,
    row,
    ({ weft, warp, kWeft, kWarp }) => (membrane += kWeft * squares(weft) + kWarp * squares(warp)),
  );
  eachBend(view, row, (K, k) => (bending += k * squares(K)));
  return bending && bending / membrane;
}

/**
 * @param row address of the PREFACTORED row
 * @param weak whether the matrix has no entries for bending
 * @param anchors columns that rigid attachments hold in space
 */
export function refactor(view: DataView, row: number, weak: boolean, anchors: Iterable<number>): void {
  const numbers = emptyNumbers(view, row);
  const { diagonal } = numbers;
  const inertia = new Float32Array(view.buffer, view.getInt32(row + L.PREFACTORED_INERTIA, true), diagonal.length);
  diagonal.set(inertia);
  const factor = view.getFloat32(row + L.PREFACTORED_BOUND, true) * (weak ? weakened(shareOf(view, row)) : 1);
  eachTriangle(view, row, ({ weft, warp, kWeft, kWarp }, lane) => {
    const columns = columnsAt(view, row, lane + L.PREFACTORED_TRIANGLE_COLUMN, 3);
    addElement(numbers, columns, weft, factor * kWeft);
    addElement(numbers, columns, warp, factor * kWarp);
  });
  if (!weak)
    eachBend(view, row, (K, k, lane) =>
      addElement(numbers, columnsAt(view, row, lane + L.PREFACTORED_BEND_COLUMN, 4), K, k),
    );
  addTetrahedra(view, row, numbers);
  for (const k of anchors) diagonal[k]! *= 1 + ANCHOR;
  const stiffer = diagonal.reduce((sum, value, k) => sum + value / inertia[k]!, 0) / Math.max(1, diagonal.length);
  view.setFloat32(row + L.PREFACTORED_STIFFER, stiffer, true);
  for (let g = 0; g < numbers.first.length; g++) eliminate(numbers, g);
  writeNumbers(view, row, numbers);
}

/** Computes L and D of a group's columns, and subtracts L D L^T from all later columns. */
function eliminate(numbers: Numbers, g: number): void {
  const { first, columns, start, entries, within, diagonal } = numbers;
  const from = first[g]!;
  const count = columns[g]!;
  for (let c = 0; c < count; c++) {
    const d = diagonal[from + c]!;
    for (let r = c + 1; r < count; r++) {
      const raw = within[withinAt(g, r, c)]!;
      const l = raw / d;
      diagonal[from + r]! -= l * raw;
      for (let s = r + 1; s < count; s++) within[withinAt(g, s, r)]! -= l * within[withinAt(g, s, c)]!;
      for (let p = start[g]!; p < start[g + 1]!; p++) entries[COLUMNS * p + r]! -= l * entries[COLUMNS * p + c]!;
      within[withinAt(g, r, c)] = l;
    }
    for (let p = start[g]!; p < start[g + 1]!; p++) entries[COLUMNS * p + c]! /= d;
  }
  for (let p = start[g]!; p < start[g + 1]!; p++) takeFrom(numbers, g, p);
}

/** Subtracts L D L^T of a group from the column of its row p, in that row and those below. */
function takeFrom(
  { groupOf, first, columns, start, rows, entries, within, diagonal }: Numbers,
  g: number,
  p: number,
): void {
  const column = rows[p]!;
  const to = groupOf[column]!;
  const c = column - first[to]!;
  const end = first[to]! + columns[to]!;
  const at = first[g]!;
  const scaled = [0, 1, 2, 3].map((k) => (k < columns[g]! ? entries[COLUMNS * p + k]! * diagonal[at + k]! : 0));
  const [a, b, d, e] = scaled as [number, number, number, number];
  let into = start[to]!;
  for (let q = p; q < start[g + 1]!; q++) {
    const r = rows[q]!;
    const f = COLUMNS * q;
    const by = a * entries[f]! + b * entries[f + 1]! + d * entries[f + 2]! + e * entries[f + 3]!;
    if (r === column) diagonal[column]! -= by;
    else if (r < end) within[withinAt(to, r - first[to]!, c)]! -= by;
    else {
      // entries that the column lacks are 0
      while (into < start[to + 1]! && rows[into]! < r) into++;
      if (rows[into] === r && into < start[to + 1]!) entries[COLUMNS * into + c]! -= by;
    }
  }
}

function writeNumbers(view: DataView, row: number, { first, columns, entries, within, diagonal }: Numbers): void {
  const factor = row + L.PREFACTORED_FACTOR;
  new Float32Array(view.buffer, view.getInt32(factor + L.FACTOR_ENTRIES, true), entries.length).set(entries);
  const groups = view.getInt32(factor + L.FACTOR_GROUPS, true);
  first.forEach((from, g) => {
    const at = groups + g * L.GROUP_BYTES;
    for (let k = 0; k < WITHIN; k++) view.setFloat32(at + L.GROUP_L10 + 4 * k, within[WITHIN * g + k]!, true);
    for (let c = 0; c < columns[g]!; c++) view.setFloat32(at + L.GROUP_D0 + 4 * c, 1 / diagonal[from + c]!, true);
  });
}
