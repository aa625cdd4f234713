/**
 * Bounding volume tree over triangles for searches around a point, nearest first. It depends only on the input. It is
 * separate from server/meshing/tetrahedra/triangleTree.ts, because its visiting order decides between equally near
 * triangles. Attachments are part of a topology's hash, by which stored rooms identify their scene, so this order must
 * never change.
 */
import { yieldPoint } from "../yieldPoint.ts";

export interface SearchTree {
  /** uint32[T]: triangles, grouped by node. */
  readonly items: Uint32Array;
  /** Per node: lowest x y z, highest x y z. The left child of node n is n + 1. */
  readonly bounds: Float64Array;
  /** int32[nodes]: right child, or -1 for a leaf. */
  readonly right: Int32Array;
  /** uint32[nodes]: a leaf's range in `items`. */
  readonly first: Uint32Array;
  readonly end: Uint32Array;
}

const LEAF = 4;

/**
 * @param positions float[3*N] m
 * @param triangles uint32[3*T]
 */
export function buildSearchTree(positions: ArrayLike<number>, triangles: ArrayLike<number>): SearchTree {
  const count = triangles.length / 3;
  const boxes = new Float64Array(6 * count);
  for (let t = 0; t < count; t++) {
    for (let r = 0; r < 3; r++) {
      const xs = [0, 1, 2].map((k) => positions[3 * triangles[3 * t + k] + r]);
      boxes[6 * t + r] = Math.min(...xs);
      boxes[6 * t + 3 + r] = Math.max(...xs);
    }
  }
  const items = Uint32Array.from({ length: count }, (_, t) => t);
  const bounds: number[] = [];
  const right: number[] = [];
  const first: number[] = [];
  const end: number[] = [];
  const build = (from: number, to: number): void => {
    const node = right.length;
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let i = from; i < to; i++) {
      for (let r = 0; r < 3; r++) {
        low[r] = Math.min(low[r], boxes[6 * items[i] + r]);
        high[r] = Math.max(high[r], boxes[6 * items[i] + 3 + r]);
      }
    }
    bounds.push(...low, ...high);
    right.push(-1);
    first.push(from);
    end.push(to);
    if (to - from <= LEAF) return;
    // Split at the median of the box centers along the longest side; ties by index, so that the tree is unique.
    const size = high.map((h, r) => h - low[r]);
    const axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
    const middle = (t: number): number => boxes[6 * t + axis] + boxes[6 * t + 3 + axis];
    items.subarray(from, to).sort((s, t) => middle(s) - middle(t) || s - t);
    const half = (from + to) >> 1;
    build(from, half);
    right[node] = right.length;
    build(half, to);
  };
  if (count > 0) build(0, count);
  return {
    items,
    bounds: Float64Array.from(bounds),
    right: Int32Array.from(right),
    first: Uint32Array.from(first),
    end: Uint32Array.from(end),
  };
}

/**
 * Visits triangles whose box is within a shrinking radius of the point x y z, nearer branches first.
 *
 * @param tree
 * @param radius initial radius, m
 * @param visit receives a triangle and the radius, and returns the new radius
 */
export function searchAround(
  tree: SearchTree,
  x: number,
  y: number,
  z: number,
  radius: number,
  visit: (triangle: number, radius: number) => number,
): void {
  let reach = radius;
  const walk = (node: number): void => {
    if (boxDistance(tree.bounds, node, x, y, z) > reach) return;
    const other = tree.right[node];
    if (other < 0) {
      yieldPoint();
      for (let i = tree.first[node]; i < tree.end[node]; i++) reach = visit(tree.items[i], reach);
      return;
    }
    const leftFirst = boxDistance(tree.bounds, node + 1, x, y, z) <= boxDistance(tree.bounds, other, x, y, z);
    walk(leftFirst ? node + 1 : other);
    walk(leftFirst ? other : node + 1);
  };
  if (tree.right.length > 0) walk(0);
}

function boxDistance(bounds: Float64Array, node: number, x: number, y: number, z: number): number {
  const at = 6 * node;
  const dx = Math.max(bounds[at] - x, 0, x - bounds[at + 3]);
  const dy = Math.max(bounds[at + 1] - y, 0, y - bounds[at + 4]);
  const dz = Math.max(bounds[at + 2] - z, 0, z - bounds[at + 5]);
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}
