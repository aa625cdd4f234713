/**
 * Bounding volume tree over triangles: finds the distance to the nearest triangle, and provides the boxes for
 * windingNumber.ts. Median split along the longest side of the centroids' box. The tree, and so every result, depends
 * only on the input.
 */
import { yieldPoint } from "../../../shared/yieldPoint.ts";

/** Nodes in depth-first order: the left child of node n is n + 1. */
export interface TriangleTree {
  positions: Float64Array;
  /** uint32[3*T], sorted so that each node's triangles are contiguous. */
  triangles: Uint32Array;
  /** uint32[T]: input index of each sorted triangle. */
  order: Uint32Array;
  nodes: number;
  /** float64[6*nodes]: lowest x y z, highest x y z. */
  bounds: Float64Array;
  /** First triangle and count of each node, leaf or not. */
  first: Uint32Array;
  count: Uint32Array;
  /** Right child; 0 for a leaf. */
  right: Uint32Array;
}

/** Triangles per leaf. On the dragon 4 and 8 differ by less than the noise; 16 takes about a third longer. */
const LEAF = 8;

/**
 * Moves the `k` lowest of keys[order[low..high)] to the front (Hoare's selection; ties by triangle number, so the
 * result is unique).
 */
function select(order: Uint32Array, keys: Float64Array, low: number, high: number, k: number): void {
  const before = (a: number, b: number): boolean => keys[a]! < keys[b]! || (keys[a]! === keys[b]! && a < b);
  let left = low;
  let right = high - 1;
  while (left < right) {
    const pivot = order[(left + right) >> 1]!;
    let i = left;
    let j = right;
    while (i <= j) {
      while (before(order[i]!, pivot)) i++;
      while (before(pivot, order[j]!)) j--;
      if (i <= j) {
        const swap = order[i]!;
        order[i] = order[j]!;
        order[j] = swap;
        i++;
        j--;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else return;
  }
}

/**
 * Builds the tree in O(T log T).
 * @param positions float64[3*V] m, in; kept, not copied
 * @param triangles uint32[3*T], in; at least one
 */
export function buildTriangleTree(positions: Float64Array, triangles: Uint32Array): TriangleTree {
  const total = triangles.length / 3;
  const centroids = [0, 1, 2].map((axis) => {
    const keys = new Float64Array(total);
    for (let t = 0; t < total; t++) {
      keys[t] =
        positions[3 * triangles[3 * t]! + axis]! +
        positions[3 * triangles[3 * t + 1]! + axis]! +
        positions[3 * triangles[3 * t + 2]! + axis]!;
    }
    return keys;
  });
  const order = Uint32Array.from({ length: total }, (_, t) => t);
  // A median split halves the count until a leaf is reached, so leaves hold more than LEAF / 2 triangles.
  const capacity = 2 * Math.ceil((2 * total) / LEAF) + 1;
  const tree: TriangleTree = {
    positions,
    triangles: new Uint32Array(triangles.length),
    order,
    nodes: 0,
    bounds: new Float64Array(6 * capacity),
    first: new Uint32Array(capacity),
    count: new Uint32Array(capacity),
    right: new Uint32Array(capacity),
  };
  const build = (low: number, high: number): number => {
    yieldPoint();
    const node = tree.nodes++;
    tree.first[node] = low;
    tree.count[node] = high - low;
    if (high - low > LEAF) {
      let axis = 0;
      let widest = -1;
      for (let k = 0; k < 3; k++) {
        let min = Infinity;
        let max = -Infinity;
        for (let i = low; i < high; i++) {
          const key = centroids[k]![order[i]!]!;
          if (key < min) min = key;
          if (key > max) max = key;
        }
        if (max - min > widest) {
          widest = max - min;
          axis = k;
        }
      }
      const middle = (low + high) >> 1;
      select(order, centroids[axis]!, low, high, middle);
      build(low, middle);
      tree.right[node] = build(middle, high);
    }
    return node;
  };
  build(0, total);
  for (let t = 0; t < total; t++) for (let c = 0; c < 3; c++) tree.triangles[3 * t + c] = triangles[3 * order[t]! + c]!;
  fitBounds(tree);
  return tree;
}

/** Computes boxes bottom-up; children come after their parent, so one backward pass suffices. */
function fitBounds(tree: TriangleTree): void {
  const { bounds, positions, triangles } = tree;
  for (let node = tree.nodes - 1; node >= 0; node--) {
    yieldPoint();
    const right = tree.right[node]!;
    for (let k = 0; k < 3; k++) {
      let min = Infinity;
      let max = -Infinity;
      if (right !== 0) {
        min = Math.min(bounds[6 * (node + 1) + k]!, bounds[6 * right + k]!);
        max = Math.max(bounds[6 * (node + 1) + 3 + k]!, bounds[6 * right + 3 + k]!);
      } else {
        const end = 3 * (tree.first[node]! + tree.count[node]!);
        for (let i = 3 * tree.first[node]!; i < end; i++) {
          const value = positions[3 * triangles[i]! + k]!;
          if (value < min) min = value;
          if (value > max) max = value;
        }
      }
      bounds[6 * node + k] = min;
      bounds[6 * node + 3 + k] = max;
    }
  }
}

function boxDistance2(bounds: Float64Array, node: number, x: number, y: number, z: number): number {
  const at = 6 * node;
  const dx = Math.max(bounds[at]! - x, 0, x - bounds[at + 3]!);
  const dy = Math.max(bounds[at + 1]! - y, 0, y - bounds[at + 4]!);
  const dz = Math.max(bounds[at + 2]! - z, 0, z - bounds[at + 5]!);
  return dx * dx + dy * dy + dz * dz;
}

/** Traversal stack; a tree of 2^32 triangles is 32 deep, and each level leaves one pending node. */
const stack = new Uint32Array(128);

/**
 * Distance from a point to the nearest triangle.
 * @param x,y,z point, m
 * @param within m; only triangles nearer than this count
 * @returns m, or `within` if none is nearer
 */
export function distanceToSurface(tree: TriangleTree, x: number, y: number, z: number, within = Infinity): number {
  yieldPoint();
  let best = within * within;
  let depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const node = stack[--depth]!;
    if (boxDistance2(tree.bounds, node, x, y, z) >= best) continue;
    const right = tree.right[node]!;
    if (right === 0) {
      const end = tree.first[node]! + tree.count[node]!;
      for (let t = tree.first[node]!; t < end; t++) {
        const d = triangleDistance2(tree.positions, tree.triangles, t, x, y, z);
        if (d < best) best = d;
      }
      continue;
    }
    // The nearer child goes on top.
    const leftNearer = boxDistance2(tree.bounds, node + 1, x, y, z) <= boxDistance2(tree.bounds, right, x, y, z);
    stack[depth++] = leftNearer ? right : node + 1;
    stack[depth++] = leftNearer ? node + 1 : right;
  }
  return Math.sqrt(best);
}

/**
 * Squared distance from a point to a triangle, by the Voronoi region that contains the point. Source: C. Ericson,
 * Real-Time Collision Detection (2005), section 5.1.5. A degenerate triangle counts as its edges.
 */
export function triangleDistance2(
  x: Float64Array,
  triangles: Uint32Array,
  t: number,
  px: number,
  py: number,
  pz: number,
): number {
  const a = 3 * triangles[3 * t]!;
  const b = 3 * triangles[3 * t + 1]!;
  const c = 3 * triangles[3 * t + 2]!;
  const ux = x[b]! - x[a]!;
  const uy = x[b + 1]! - x[a + 1]!;
  const uz = x[b + 2]! - x[a + 2]!;
  const vx = x[c]! - x[a]!;
  const vy = x[c + 1]! - x[a + 1]!;
  const vz = x[c + 2]! - x[a + 2]!;
  const wx = px - x[a]!;
  const wy = py - x[a + 1]!;
  const wz = pz - x[a + 2]!;
  const uu = ux * ux + uy * uy + uz * uz;
  const uv = ux * vx + uy * vy + uz * vz;
  const vv = vx * vx + vy * vy + vz * vz;
  const d1 = ux * wx + uy * wy + uz * wz;
  const d2 = vx * wx + vy * wy + vz * wz;
  const ww = wx * wx + wy * wy + wz * wz;
  const along = (s: number, r: number): number => {
    // Distance to a + s u + r v.
    const ex = wx - s * ux - r * vx;
    const ey = wy - s * uy - r * vy;
    const ez = wz - s * uz - r * vz;
    return ex * ex + ey * ey + ez * ez;
  };
  if (d1 <= 0 && d2 <= 0) return ww;
  const d3 = d1 - uu;
  const d4 = d2 - uv;
  if (d3 >= 0 && d4 <= d3) return along(1, 0);
  const vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return along(uu > 0 ? d1 / uu : 0, 0);
  const d5 = d1 - uv;
  const d6 = d2 - vv;
  if (d6 >= 0 && d5 <= d6) return along(0, 1);
  const vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return along(0, vv > 0 ? d2 / vv : 0);
  const va = d3 * d6 - d5 * d4;
  const s4 = d4 - d3;
  const s5 = d5 - d6;
  if (va <= 0 && s4 >= 0 && s5 >= 0) {
    const r = s4 + s5 > 0 ? s4 / (s4 + s5) : 0;
    return along(1 - r, r);
  }
  const sum = va + vb + vc;
  return along(vb / sum, vc / sum);
}

/**
 * Whether a ray meets the box of a node (slab test). If the direction is zero along an axis, the start must lie within
 * the slab.
 */
function rayMeetsBox(bounds: Float64Array, node: number, start: readonly number[], along: readonly number[]): boolean {
  let near = 0;
  let far = Infinity;
  for (let k = 0; k < 3; k++) {
    const low = bounds[6 * node + k]! - start[k]!;
    const high = bounds[6 * node + 3 + k]! - start[k]!;
    if (along[k] === 0) {
      if (low > 0 || high < 0) return false;
      continue;
    }
    const [a, b] = [low / along[k]!, high / along[k]!];
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
  }
  return near <= far;
}

/** Source: T. Moeller, B. Trumbore, Fast, Minimum Storage Ray/Triangle Intersection (1997). */
function rayMeetsTriangle(tree: TriangleTree, t: number, start: readonly number[], along: readonly number[]): boolean {
  const { positions: x, triangles } = tree;
  const [a, b, c] = [3 * triangles[3 * t]!, 3 * triangles[3 * t + 1]!, 3 * triangles[3 * t + 2]!];
  const e = [0, 1, 2].map((k) => x[b + k]! - x[a + k]!) as [number, number, number];
  const f = [0, 1, 2].map((k) => x[c + k]! - x[a + k]!) as [number, number, number];
  const s = [0, 1, 2].map((k) => start[k]! - x[a + k]!) as [number, number, number];
  const d = along as [number, number, number];
  const p = [d[1] * f[2] - d[2] * f[1], d[2] * f[0] - d[0] * f[2], d[0] * f[1] - d[1] * f[0]] as const;
  const determinant = e[0] * p[0] + e[1] * p[1] + e[2] * p[2];
  if (determinant === 0) return false;
  const u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / determinant;
  if (!(u >= 0 && u <= 1)) return false;
  const q = [s[1] * e[2] - s[2] * e[1], s[2] * e[0] - s[0] * e[2], s[0] * e[1] - s[1] * e[0]] as const;
  const v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / determinant;
  if (!(v >= 0 && u + v <= 1)) return false;
  return (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / determinant >= 0;
}

/**
 * Whether a ray meets any triangle, up to rounding at edges.
 * @param start m
 * @param along direction, of any length
 */
export function rayMeets(tree: TriangleTree, start: readonly number[], along: readonly number[]): boolean {
  let depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const node = stack[--depth]!;
    if (!rayMeetsBox(tree.bounds, node, start, along)) continue;
    const right = tree.right[node]!;
    if (right !== 0) {
      stack[depth++] = node + 1;
      stack[depth++] = right;
      continue;
    }
    const end = tree.first[node]! + tree.count[node]!;
    for (let t = tree.first[node]!; t < end; t++) if (rayMeetsTriangle(tree, t, start, along)) return true;
  }
  return false;
}
