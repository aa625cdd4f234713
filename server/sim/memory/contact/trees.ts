/**
 * Topology of the bounding volume trees over a surface's triangles and edges (kernel/assembly/intersections/trees.ts
 * refits them). They are built once, from the undeformed positions, because neighbors in the mesh stay neighbors. Nodes
 * have four children, for one test with four lanes, and leaves have four primitives; only the last ones may have fewer.
 * A node of n leaves is cut into pieces of the largest power of four below n, along the longest side of the box of
 * centers, at the median. The same positions give the same tree on any machine, also when scaled by a power of two.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "../memoryMap.ts";

/**
 * A tree's nodes: the root first, every node before its children. Leaves are numbered in the order of `order`, four
 * primitives each.
 */
export interface TreeShape {
  /** uint32[n] primitives in execution order */
  order: Uint32Array;
  nodes: { children: { leaf: boolean; index: number }[] }[];
}

/** @param centers float64[3n] m, one for each primitive */
export function shapeTree(centers: Float64Array): TreeShape {
  const n = centers.length / 3;
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  const nodes: TreeShape["nodes"] = [];
  const build = (begin: number, end: number): number => {
    const index = nodes.length;
    const node: TreeShape["nodes"][number] = { children: [] };
    nodes.push(node);
    const leaves = Math.ceil((end - begin) / 4);
    let piece = 1;
    while (4 * piece < leaves) piece *= 4;
    cut(order, centers, begin, end, 4 * piece);
    for (let from = begin; from < end; from += 4 * piece) {
      const to = Math.min(end, from + 4 * piece);
      const leaf = to - from <= 4;
      node.children.push({ leaf, index: leaf ? from / 4 : build(from, to) });
    }
    return index;
  };
  if (n) build(0, n);
  return { order, nodes };
}

/**
 * Sorts order[begin..end) into pieces of `size` primitives each, the last one smaller, by repeated halving at the
 * median.
 */
function cut(order: Uint32Array, centers: Float64Array, begin: number, end: number, size: number): void {
  const pieces = Math.ceil((end - begin) / size);
  if (pieces < 2) return;
  const middle = begin + (pieces >> 1) * size;
  select(order, centers, longestAxis(order, centers, begin, end), begin, end, middle);
  cut(order, centers, begin, middle, size);
  cut(order, centers, middle, end, size);
}

function longestAxis(order: Uint32Array, centers: Float64Array, begin: number, end: number): number {
  let longest = -1;
  let axis = 0;
  for (let r = 0; r < 3; r++) {
    let low = Infinity;
    let high = -Infinity;
    for (let i = begin; i < end; i++) {
      const value = centers[3 * order[i]! + r]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low > longest) {
      longest = high - low;
      axis = r;
    }
  }
  return axis;
}

/**
 * Quickselect: moves the element of rank `middle` to order[middle], and smaller ones before it. Equal centers are
 * ordered by number, so the result is unique.
 */
function select(
  order: Uint32Array,
  centers: Float64Array,
  axis: number,
  begin: number,
  end: number,
  middle: number,
): void {
  const before = (a: number, b: number): boolean => {
    const x = centers[3 * a + axis]!;
    const y = centers[3 * b + axis]!;
    return x < y || (x === y && a < b);
  };
  let low = begin;
  let high = end - 1;
  while (low < high) {
    const pivot = order[(low + high) >> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (before(order[i]!, pivot)) i++;
      while (before(pivot, order[j]!)) j--;
      if (i > j) break;
      const swap = order[i]!;
      order[i++] = order[j]!;
      order[j--] = swap;
    }
    if (middle <= j) high = j;
    else if (middle >= i) low = i;
    else break;
  }
}

export interface PlannedTree {
  /** Address of the TREE row. */
  row: number;
  write: (buffer: ArrayBufferLike, x: number) => void;
}

/** Primitives of one surface, and data of its particles. */
export interface TreeSource {
  /** uint32[corners n] particle numbers of the room */
  primitives: Uint32Array;
  corners: 2 | 3;
  /** float64[3N] m, undeformed positions from particle `first` on */
  rest: Float64Array;
  first: number;
}

/**
 * Allocates memory for a tree; the result's `write` fills it later.
 * @param shape of the same primitives
 */
export function planTree(
  { primitives, corners, rest, first }: TreeSource,
  { order, nodes }: TreeShape,
  allocator: Allocator,
): PlannedTree {
  const bytes = corners === 3 ? L.TRIANGLE_LEAF_BYTES : L.EDGE_LEAF_BYTES;
  const leafCount = Math.ceil(order.length / 4);
  const row = allocator.take(L.TREE_BYTES);
  const nodeRows = allocator.takeForList(nodes.length * L.NODE_BYTES);
  const leaves = allocator.takeForList(leafCount * bytes);
  return {
    row,
    write(buffer, x) {
      const i32 = new Int32Array(buffer);
      const f32 = new Float32Array(buffer);
      i32.set([nodeRows, nodes.length, leaves, leafCount, order.length], row / 4);
      f32[(row + L.TREE_LONGEST) / 4] = longest(primitives, corners, rest, first);
      nodes.forEach(({ children }, n) => {
        const at = (nodeRows + n * L.NODE_BYTES) / 4;
        children.forEach(({ leaf, index }, c) => {
          i32[at + L.NODE_CHILDREN / 4 + c] = leaf ? (leaves + index * bytes) | 1 : nodeRows + index * L.NODE_BYTES;
        });
      });
      // unused lanes repeat the last primitive
      for (let i = 0; i < 4 * leafCount; i++) {
        const primitive = order[Math.min(i, order.length - 1)]!;
        for (let c = 0; c < corners; c++)
          i32[(leaves + Math.floor(i / 4) * bytes) / 4 + 4 * c + (i % 4)] =
            x + 16 * primitives[corners * primitive + c]!;
      }
    },
  };
}

/** Centers of the primitives' corners, float64[3n]. */
export function centersOf({ primitives, corners, rest, first }: TreeSource): Float64Array {
  const centers = new Float64Array((3 * primitives.length) / corners);
  for (let i = 0; i < primitives.length; i++)
    for (let r = 0; r < 3; r++) centers[3 * Math.floor(i / corners) + r]! += rest[3 * (primitives[i]! - first) + r]!;
  return centers;
}

function longest(primitives: Uint32Array, corners: number, rest: Float64Array, first: number): number {
  let most = 0;
  for (let i = 0; i < primitives.length; i += corners) {
    for (let a = 0; a < corners; a++) {
      for (let b = 0; b < a; b++) {
        let square = 0;
        for (let r = 0; r < 3; r++)
          square += (rest[3 * (primitives[i + a]! - first) + r]! - rest[3 * (primitives[i + b]! - first) + r]!) ** 2;
        most = Math.max(most, square);
      }
    }
  }
  return Math.sqrt(most);
}
