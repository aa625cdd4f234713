/**
 * Groups of consecutive columns of a factor, up to four, with the union of their rows
 * (kernel/assembly/prefactored/backSolve.ts). A missing entry is 0. Dynamic programming finds the cheapest groups.
 */
import type { Factor } from "../implicit/factor.ts";

/** Costs of a group, of a row, and of a column of a row, relative to each other. */
const COST = { group: 4, row: 1.5, entry: 0.75 } as const;
const MOST_COLUMNS = 4;

interface Group {
  first: number;
  columns: number;
  /** Number of rows below the group. */
  rows: number;
  /** L10 L20 L21 L30 L31 L32 within the group. */
  within: number[];
  /** D^-1 of its columns. */
  diagonal: number[];
}

export interface Groups {
  groups: Group[];
  /** uint32: rows of all groups, ascending in each; float32: four entries for each of them, one a column */
  rows: Uint32Array;
  entries: Float32Array;
}

/** Rows of `columns` columns from `first` on that are below all of them, ascending. */
function rowsBelow({ start, rows }: Factor, first: number, columns: number): number[] {
  const below = new Set<number>();
  for (let p = start[first]!; p < start[first + columns]!; p++) if (rows[p]! >= first + columns) below.add(rows[p]!);
  return [...below].sort((a, b) => a - b);
}

export function groupColumns(factor: Factor): Groups {
  const { order, start, rows, values, diagonal } = factor;
  const sizes = cheapestSizes(factor);
  const groups: Group[] = [];
  const allRows: number[] = [];
  const entries: number[] = [];
  for (let first = 0; first < order.length; first += sizes[first]!) {
    const columns = sizes[first]!;
    const below = rowsBelow(factor, first, columns);
    const within = [0, 0, 0, 0, 0, 0];
    const from = entries.length;
    for (let n = 0; n < MOST_COLUMNS * below.length; n++) entries.push(0);
    for (let c = 0; c < columns; c++) {
      for (let p = start[first + c]!, at = 0; p < start[first + c + 1]!; p++) {
        const r = rows[p]! - first;
        if (r < columns) within[(r * (r - 1)) / 2 + c] = values[p]!;
        else {
          while (below[at] !== rows[p]!) at++;
          entries[from + MOST_COLUMNS * at + c] = values[p]!;
        }
      }
    }
    groups.push({
      first,
      columns,
      rows: below.length,
      within,
      diagonal: [...diagonal.subarray(first, first + columns)],
    });
    for (const r of below) allRows.push(r);
  }
  return { groups, rows: Uint32Array.from(allRows), entries: Float32Array.from(entries) };
}

/** Number of columns of the cheapest group that begins at each column. */
function cheapestSizes(factor: Factor): Uint8Array {
  const m = factor.order.length;
  const cost = new Float64Array(m + 1);
  const sizes = new Uint8Array(m);
  for (let first = m - 1; first >= 0; first--) {
    cost[first] = Infinity;
    for (let columns = 1; columns <= MOST_COLUMNS && first + columns <= m; columns++) {
      const below = rowsBelow(factor, first, columns).length;
      const total = COST.group + below * (COST.row + columns * COST.entry) + cost[first + columns]!;
      if (total < cost[first]!) [cost[first], sizes[first]] = [total, columns];
    }
  }
  return sizes;
}
