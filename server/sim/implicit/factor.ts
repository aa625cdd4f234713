/**
 * Block L D L^T of a sparse symmetric positive definite matrix, row by row (the up-looking method: Davis, Direct
 * Methods for Sparse Linear Systems, 2006, section 4.8), in float64; the kernel gets it rounded to float32. All sums
 * follow the elimination order, so the bits are the same on any machine.
 * Tried: leaving out blocks of a norm below 0.003, a third of those of a beam of 8,640 tetrahedra. A tick takes a tenth
 * less at 1 MPa, but two and three times the iterations at 100 MPa and 1 GPa.
 */
import type { Graph } from "./order.ts";

/** Sparse symmetric matrix of size x size blocks over a graph. */
export interface BlockMatrix extends Graph {
  size: 1 | 3;
  /** float64[size^2 * nonzeros], each block row by row */
  values: Float64Array;
}

/** Data of a back-solve (kernel/assembly/implicit/preconditioner.ts). */
export interface Factor {
  size: 1 | 3;
  /** uint32[m] particle of every column */
  order: Uint32Array;
  /** uint32[m + 1] and uint32[start[m]]: rows below the diagonal, ascending in each column */
  start: Uint32Array;
  rows: Uint32Array;
  /** float32: the number of each entry, or its block column by column; and one extra number at the end */
  values: Float32Array;
  /** float32: D^-1 in the same form */
  diagonal: Float32Array;
}

/** Index of block (i, j), which must be in the graph. */
export function blockAt({ start, columns }: Graph, i: number, j: number): number {
  let low = start[i]!;
  let high = start[i + 1]!;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (columns[middle]! <= j) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Parents in the elimination tree, -1 at a root.
 * @param place column of each particle, -1 for fixed ones
 */
function eliminationTree(graph: Graph, order: Uint32Array, place: Int32Array): Int32Array {
  const parent = new Int32Array(order.length).fill(-1);
  const ancestor = new Int32Array(order.length).fill(-1);
  order.forEach((particle, k) => {
    for (let p = graph.start[particle]!; p < graph.start[particle + 1]!; p++) {
      let i = place[graph.columns[p]!]!;
      while (i >= 0 && i < k) {
        const next = ancestor[i]!;
        ancestor[i] = k;
        if (next < 0) parent[i] = k;
        i = next;
      }
    }
  });
  return parent;
}

/** Columns with an entry in row k, ascending: those that the elimination tree reaches from row k of the matrix. */
function reachOf(
  graph: Graph,
  particle: number,
  k: number,
  place: Int32Array,
  parent: Int32Array,
  mark: Int32Array,
): Int32Array {
  const found: number[] = [];
  mark[k] = k;
  for (let p = graph.start[particle]!; p < graph.start[particle + 1]!; p++) {
    for (let i = place[graph.columns[p]!]!; i >= 0 && i < k && mark[i] !== k; i = parent[i]!) {
      found.push(i);
      mark[i] = k;
    }
  }
  return Int32Array.from(found).sort();
}

/** @param order of the particles to solve for; the rows and columns of all others are left out */
export function factorize(matrix: BlockMatrix, order: Uint32Array): Factor {
  const m = order.length;
  const { size } = matrix;
  const area = size * size;
  const place = new Int32Array(matrix.start.length - 1).fill(-1);
  order.forEach((particle, k) => (place[particle] = k));
  const parent = eliminationTree(matrix, order, place);
  const mark = new Int32Array(m).fill(-1);
  const start = new Uint32Array(m + 1);
  order.forEach((particle, k) => reachOf(matrix, particle, k, place, parent, mark).forEach((i) => start[i + 1]!++));
  for (let i = 0; i < m; i++) start[i + 1]! += start[i]!;
  const rows = new Uint32Array(start[m]!);
  const L = new Float64Array(area * start[m]!);
  const inverse = new Float64Array(area * m);
  const used = start.slice(0, m);
  const work = new Float64Array(area * m);
  const below = size === 3 ? subtractBlocks : subtractNumbers;
  const finish = size === 3 ? finishBlock : finishNumber;
  mark.fill(-1);
  order.forEach((particle, k) => {
    const reach = reachOf(matrix, particle, k, place, parent, mark);
    for (let p = matrix.start[particle]!; p < matrix.start[particle + 1]!; p++) {
      const i = place[matrix.columns[p]!]!;
      if (i >= 0 && i <= k) work.set(matrix.values.subarray(area * p, area * p + area), area * i);
    }
    for (const i of reach) {
      below(work, L, rows, i, start[i]!, used[i]!);
      const at = used[i]!++;
      rows[at] = k;
      finish(work, L, inverse, i, k, at);
    }
    invert(work, inverse, k, size);
    work.fill(0, area * k, area * k + area);
  });
  return { size, order, start, rows, values: packed(L, size), diagonal: packed(inverse, size) };
}

/** work_r -= work_i L_ri^T for the rows r that column i has so far. */
function subtractNumbers(
  work: Float64Array,
  L: Float64Array,
  rows: Uint32Array,
  i: number,
  from: number,
  to: number,
): void {
  const y = work[i]!;
  for (let p = from; p < to; p++) work[rows[p]!]! -= y * L[p]!;
}

function subtractBlocks(
  work: Float64Array,
  L: Float64Array,
  rows: Uint32Array,
  i: number,
  from: number,
  to: number,
): void {
  for (let row = 0; row < 3; row++) {
    const a = work[9 * i + 3 * row]!;
    const b = work[9 * i + 3 * row + 1]!;
    const c = work[9 * i + 3 * row + 2]!;
    for (let p = from; p < to; p++) {
      const at = 9 * rows[p]! + 3 * row;
      const l = 9 * p;
      work[at]! -= a * L[l]! + b * L[l + 1]! + c * L[l + 2]!;
      work[at + 1]! -= a * L[l + 3]! + b * L[l + 4]! + c * L[l + 5]!;
      work[at + 2]! -= a * L[l + 6]! + b * L[l + 7]! + c * L[l + 8]!;
    }
  }
}

/** L_ki = work_i D_i^-1, D_k -= L_ki work_i^T, work_i = 0. */
function finishNumber(
  work: Float64Array,
  L: Float64Array,
  inverse: Float64Array,
  i: number,
  k: number,
  at: number,
): void {
  const y = work[i]!;
  L[at] = y * inverse[i]!;
  work[k]! -= L[at]! * y;
  work[i] = 0;
}

function finishBlock(
  work: Float64Array,
  L: Float64Array,
  inverse: Float64Array,
  i: number,
  k: number,
  at: number,
): void {
  const y = 9 * i;
  const d = 9 * i;
  const l = 9 * at;
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) {
      L[l + 3 * r + c] =
        work[y + 3 * r]! * inverse[d + c]! +
        work[y + 3 * r + 1]! * inverse[d + 3 + c]! +
        work[y + 3 * r + 2]! * inverse[d + 6 + c]!;
    }
  }
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) {
      work[9 * k + 3 * r + c]! -=
        L[l + 3 * r]! * work[y + 3 * c]! +
        L[l + 3 * r + 1]! * work[y + 3 * c + 1]! +
        L[l + 3 * r + 2]! * work[y + 3 * c + 2]!;
    }
  }
  work.fill(0, y, y + 9);
}

/** D_k^-1. */
function invert(work: Float64Array, inverse: Float64Array, k: number, size: 1 | 3): void {
  if (size === 1) return void (inverse[k] = 1 / work[k]!);
  const [a, b, c, , f, g, , , j] = work.subarray(9 * k, 9 * k + 9) as unknown as number[];
  // symmetric: (a b c; b f g; c g j)
  const cofactors = [
    f! * j! - g! * g!,
    c! * g! - b! * j!,
    b! * g! - c! * f!,
    a! * j! - c! * c!,
    b! * c! - a! * g!,
    a! * f! - b! * b!,
  ];
  const scale = 1 / (a! * cofactors[0]! + b! * cofactors[1]! + c! * cofactors[2]!);
  [0, 1, 2, 1, 3, 4, 2, 4, 5].forEach((from, to) => (inverse[9 * k + to] = cofactors[from]! * scale));
}

/**
 * Packs numbers unchanged, and blocks column by column. One extra number lets readers load three values as four lanes.
 */
function packed(values: Float64Array, size: 1 | 3): Float32Array {
  if (size === 1) return Float32Array.from(values);
  const out = new Float32Array(values.length + 1);
  for (let at = 0; at < values.length; at += 9) {
    for (let c = 0; c < 3; c++) for (let r = 0; r < 3; r++) out[at + 3 * c + r] = values[at + 3 * r + c]!;
  }
  return out;
}
