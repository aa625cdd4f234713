/**
 * The broad phase of contact: lists every vertex-triangle and edge-edge pair of surfaces that may touch, if it may come
 * closer than its reach
 *   R = r + m,  r the radii of both, m their margins (a surface with itself: twice its margin)
 * while every particle follows its trajectory p + t d, t from 0 to 1. So neighbors that move together are not listed,
 * however fast they are. Vertices and edges are tested four at a time, sorted by neighborhood, against the other
 * surface's tree. Pairs with near boxes go through a float32 test of four lanes, which passes everything within R
 * (pairLeaves.ts). Then they are measured exactly (closestPoints.ts, trajectories.ts). Order: pairs of surfaces, the
 * first's vertices, the second's, edges; within them the trees' order. A part is a range of blocks of four.
 * Tried, slower: one drift for a whole surface, and margins for its particles' motion relative to it (a cloth that
 * swings at 1 m/s lists millions of pairs of neighbors in one tick).
 */
import {
  HEADER,
  H_SURFACE,
  H_SURFACE_COUNT,
  H_PAIRS,
  H_PAIR_CAPACITY,
  H_VERTEX_PAIRS,
  H_EDGE_PAIRS,
  H_X,
  SURFACE_RADIUS,
  SURFACE_SOLID,
  SOLID_COLLIDER,
  SURFACE_TRIANGLE_TREE,
  SURFACE_EDGE_TREE,
  SURFACE_MARGIN,
  SURFACE_BYTES,
  PAIR_BYTES,
  TREE_NODES,
  TREE_NODE_COUNT,
  TREE_LEAVES,
  TREE_LEAF_COUNT,
  TREE_LONGEST,
  TREE_VERTICES,
  TREE_VERTEX_COUNT,
  NODE_LOW,
  NODE_HIGH,
  NODE_CHILDREN,
  NODE_ENDS,
  NODE_BOX_LOW,
  NODE_BOX_HIGH,
  NODE_LATER_LOW,
  NODE_LATER_HIGH,
  NODE_LATER_BOX_LOW,
  NODE_LATER_BOX_HIGH,
  EDGE_LEAF_BYTES,
} from "../layout/layout";
import { edgeRowsBegin, full, openRegion, openSurfaces, turnSurfaces, vertexRowsEnd } from "./pairList";
import { meetsSurface } from "../state/filters";
import { edgeLeaves, openLeaves, vertexLeaf } from "./pairLeaves";
import { askFast, askMoving, column, passing, refit } from "./trees";

/**
 * Rounding of a coordinate plus or minus the reach: half a unit (2^-24) each for both ends p + d and the sum, and six
 * for the operations between them.
 */
const BOX_ROUNDING: f32 = 5.9604644775390625e-7; // 2^-24 x 10
/**
 * Factor that covers the rounding of a surface's longest sides and of rest positions. Its size is not critical: it only
 * saves work.
 */
const SIDES: f32 = 1.001;

// @inline
function surface(n: i32): usize {
  return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
}
// @inline
function triangleTree(surface: usize): usize {
  return <usize>load<u32>(surface, SURFACE_TRIANGLE_TREE);
}
// @inline
function edgeTree(surface: usize): usize {
  return <usize>load<u32>(surface, SURFACE_EDGE_TREE);
}

/** R of two surfaces, m, in float64: sums of float32 numbers. */
function reachOf(A: usize, B: usize): f64 {
  return (
    <f64>load<f32>(A, SURFACE_RADIUS) +
    <f64>load<f32>(B, SURFACE_RADIUS) +
    (<f64>load<f32>(A, SURFACE_MARGIN) + <f64>load<f32>(B, SURFACE_MARGIN))
  );
}

// the current pair of surfaces
let itself: bool;
let boxReach: f32;
let shift: usize;
let toTrajectories: usize;

/** Largest coordinate of a surface's boxes in `tree`, 0 without primitives. */
function farthest(tree: usize): f32 {
  if (!load<i32>(tree, TREE_NODE_COUNT)) return 0;
  const root = <usize>load<u32>(tree, TREE_NODES);
  const most = f32x4.max(
    f32x4.max(f32x4.abs(v128.load(root, NODE_BOX_LOW)), f32x4.abs(v128.load(root, NODE_BOX_HIGH))),
    f32x4.max(f32x4.abs(v128.load(root, NODE_LATER_BOX_LOW)), f32x4.abs(v128.load(root, NODE_LATER_BOX_HIGH))),
  );
  return max<f32>(f32x4.extract_lane(most, 0), max<f32>(f32x4.extract_lane(most, 1), f32x4.extract_lane(most, 2)));
}

/** Returns twice the displacement of the center of a surface's edges. */
// @inline
function way(A: usize): v128 {
  if (!load<i32>(edgeTree(A), TREE_NODE_COUNT)) return f32x4.splat(0);
  const root = <usize>load<u32>(edgeTree(A), TREE_NODES);
  return f32x4.sub(
    f32x4.add(v128.load(root, NODE_LATER_BOX_LOW), v128.load(root, NODE_LATER_BOX_HIGH)),
    f32x4.add(v128.load(root, NODE_BOX_LOW), v128.load(root, NODE_BOX_HIGH)),
  );
}

/** Returns twice the largest coordinate of the difference of two surfaces' displacements. */
function apartness(A: usize, B: usize): f32 {
  const d = f32x4.abs(f32x4.sub(way(A), way(B)));
  return max<f32>(f32x4.extract_lane(d, 0), max<f32>(f32x4.extract_lane(d, 1), f32x4.extract_lane(d, 2)));
}

/**
 * Prepares a pair of surfaces by number, a <= b, in any thread that lists a part of it.
 * @param positions, trajectories as for listPairs; trees are refitted to them
 * @returns false if they may not meet, are tangled all over, are both fixed, or have infinite positions, which the
 * guard handles
 */
export function openPair(a: i32, b: i32, positions: usize, trajectories: usize): bool {
  const A = surface(a);
  const B = surface(b);
  if (
    !meetsSurface(A, b) ||
    (load<i32>(A, SURFACE_SOLID) === SOLID_COLLIDER && load<i32>(B, SURFACE_SOLID) === SOLID_COLLIDER)
  )
    return false;
  const reach = reachOf(A, B);
  itself = a === b;
  shift = positions - <usize>load<u32>(HEADER, H_X);
  toTrajectories = trajectories - <usize>load<u32>(HEADER, H_X);
  // a vertex near a box is no further away than the box, but for the reach
  const far = max<f32>(
    max<f32>(farthest(edgeTree(A)), farthest(edgeTree(B))),
    max<f32>(farthest(triangleTree(A)), farthest(triangleTree(B))),
  );
  boxReach = <f32>reach * (1 + BOX_ROUNDING) + BOX_ROUNDING * (far + <f32>reach);
  if (!(boxReach < Infinity)) return false;
  const sides =
    SIDES *
    max<f32>(
      load<f32>(triangleTree(A), TREE_LONGEST),
      max<f32>(load<f32>(edgeTree(A), TREE_LONGEST), load<f32>(edgeTree(B), TREE_LONGEST)),
    );
  openSurfaces(a, b, reach, load<f32>(A, SURFACE_RADIUS) + load<f32>(B, SURFACE_RADIUS), sides);
  // separating boxes across their displacements only helps if those are longer than the primitives
  askFast(!itself && apartness(A, B) > 2 * sides, far + boxReach);
  openLeaves(<f32>(reach * reach), boxReach, itself, shift, toTrajectories);
  return true;
}

/** Blocks of four particles of a surface, and of four edges. */
export function vertexBlocks(n: i32): i32 {
  return (load<i32>(triangleTree(surface(n)), TREE_VERTEX_COUNT) + 3) >> 2;
}
export function edgeBlocks(n: i32): i32 {
  return load<i32>(edgeTree(surface(n)), TREE_LEAF_COUNT);
}

// pmin and pmax ignore NaN
// @inline
function least(a: v128, b: v128, c: v128, d: v128): v128 {
  return f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.splat(Infinity), a), b), c), d);
}
// @inline
function most(a: v128, b: v128, c: v128, d: v128): v128 {
  return f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.splat(-Infinity), a), b), c), d);
}

/** Lists vertices of surface a, blocks [from, to), with triangles of surface b. The row's surfaces: a, b. */
export function listVertices(a: i32, b: i32, from: i32, to: i32): void {
  const vertices = triangleTree(surface(a));
  const tree = triangleTree(surface(b));
  if (!load<i32>(tree, TREE_NODE_COUNT)) return;
  const root = <usize>load<u32>(tree, TREE_NODES);
  const reach = f32x4.splat(boxReach);
  const count = load<i32>(vertices, TREE_VERTEX_COUNT);
  const rootLow = f32x4.sub(v128.load(root, NODE_BOX_LOW), reach);
  const rootHigh = f32x4.add(v128.load(root, NODE_BOX_HIGH), reach);
  const rootLaterLow = f32x4.sub(v128.load(root, NODE_LATER_BOX_LOW), reach);
  const rootLaterHigh = f32x4.add(v128.load(root, NODE_LATER_BOX_HIGH), reach);
  for (
    let n = from, block = <usize>load<u32>(vertices, TREE_VERTICES) + ((<usize>from) << 4);
    n < to;
    n++, block += 16
  ) {
    const i = <usize>load<u32>(block);
    const j = <usize>load<u32>(block, 4);
    const k = <usize>load<u32>(block, 8);
    const l = <usize>load<u32>(block, 12);
    const p = v128.load(i + shift);
    const q = v128.load(j + shift);
    const r = v128.load(k + shift);
    const s = v128.load(l + shift);
    const P = f32x4.add(p, v128.load(i + toTrajectories));
    const Q = f32x4.add(q, v128.load(j + toTrajectories));
    const R = f32x4.add(r, v128.load(k + toTrajectories));
    const S = f32x4.add(s, v128.load(l + toTrajectories));
    const low = least(p, q, r, s);
    const high = most(p, q, r, s);
    const laterLow = least(P, Q, R, S);
    const laterHigh = most(P, Q, R, S);
    const above = v128.or(f32x4.ge(high, rootLow), f32x4.ge(laterHigh, rootLaterLow));
    const below = v128.or(f32x4.le(low, rootHigh), f32x4.le(laterLow, rootLaterHigh));
    if ((v128.bitmask<i32>(v128.and(above, below)) & 7) !== 7) continue;
    askAround(low, high, laterLow, laterHigh);
    askTriangles(tree, root, block, min<i32>(4, count - 4 * n));
  }
}

// @inline
function askAround(low: v128, high: v128, laterLow: v128, laterHigh: v128): void {
  const reach = f32x4.splat(boxReach);
  askMoving(f32x4.sub(low, reach), f32x4.add(high, reach), f32x4.sub(laterLow, reach), f32x4.add(laterHigh, reach));
}

function askTriangles(tree: usize, node: usize, block: usize, count: i32): void {
  for (let bits = passing(node); bits; bits &= bits - 1) {
    const child = <usize>load<u32>(node + ((<usize>ctz(bits)) << 2), NODE_CHILDREN);
    if (child & 1) vertexLeaf(tree, child & ~1, block, count);
    else askTriangles(tree, child, block, count);
  }
}

/** Lists edges of surface a, leaves [from, to) of its tree, with edges of surface b; each pair of one surface once. */
export function listEdges(a: i32, b: i32, from: i32, to: i32): void {
  const own = edgeTree(surface(a));
  const tree = edgeTree(surface(b));
  if (!load<i32>(own, TREE_NODE_COUNT) || !load<i32>(tree, TREE_NODE_COUNT)) return;
  const leaves = <usize>load<u32>(own, TREE_LEAVES);
  const begin = leaves + <usize>from * EDGE_LEAF_BYTES;
  const end = leaves + <usize>to * EDGE_LEAF_BYTES;
  askOwn(own, <usize>load<u32>(own, TREE_NODES), tree, begin, end);
}

/** Finds leaves of the tree `own` below `node`, in [begin, end), whose box may meet the box of all of `tree`. */
function askOwn(own: usize, node: usize, tree: usize, begin: usize, end: usize): void {
  const root = <usize>load<u32>(tree, TREE_NODES);
  askAround(
    v128.load(root, NODE_BOX_LOW),
    v128.load(root, NODE_BOX_HIGH),
    v128.load(root, NODE_LATER_BOX_LOW),
    v128.load(root, NODE_LATER_BOX_HIGH),
  );
  for (let bits = passing(node); bits; bits &= bits - 1) {
    const lane = node + ((<usize>ctz(bits)) << 2);
    const child = <usize>load<u32>(lane, NODE_CHILDREN);
    if (<usize>load<u32>(lane, NODE_ENDS) <= begin) continue;
    if (!(child & 1)) {
      askOwn(own, child, tree, begin, end);
      continue;
    }
    const leaf = child & ~1;
    if (leaf >= end) return;
    askLane(lane);
    askEdges(own, leaf, tree, root);
  }
}

/** Sets the box of one child as the query. */
// @inline
function askLane(lane: usize): void {
  askAround(
    column(lane + NODE_LOW),
    column(lane + NODE_HIGH),
    column(lane + NODE_LATER_LOW),
    column(lane + NODE_LATER_HIGH),
  );
}

function askEdges(own: usize, leaf: usize, tree: usize, node: usize): void {
  let bits = passing(node);
  // within one surface each pair of leaves once, the earlier one first; also a leaf with itself
  if (itself) bits &= i32x4.bitmask(i32x4.gt_s(v128.load(node, NODE_ENDS), i32x4.splat(<i32>leaf)));
  for (; bits; bits &= bits - 1) {
    const child = <usize>load<u32>(node + ((<usize>ctz(bits)) << 2), NODE_CHILDREN);
    if (child & 1) edgeLeaves(own, leaf, tree, child & ~1);
    else askEdges(own, leaf, tree, child);
  }
}

/**
 * Fills H_PAIRS. Serial, and the same for any number of threads.
 * @param positions address of an f32x4 array parallel to X, or X: coordinates are read there, rows hold addresses in X
 * (m)
 * @param trajectories address of an f32x4 array parallel to X: displacement of every particle while the list is valid
 * (m); all zero: pairs within R now
 * @returns number of rows, or -1 if they do not fit: then the list is empty
 */
export function listPairs(positions: usize, trajectories: usize): i32 {
  const count = load<i32>(HEADER, H_SURFACE_COUNT);
  const pairs = <usize>load<u32>(HEADER, H_PAIRS);
  const end = pairs + <usize>load<i32>(HEADER, H_PAIR_CAPACITY) * PAIR_BYTES;
  refitTrees(positions, trajectories);
  openRegion(pairs, end, positions, trajectories);
  listAll(count, positions, trajectories);
  return counted(pairs, end);
}

function listAll(count: i32, positions: usize, trajectories: usize): void {
  for (let a = 0; a < count && !full; a++) {
    for (let b = a; b < count && !full; b++) {
      if (!openPair(a, b, positions, trajectories)) continue;
      listVertices(a, b, 0, vertexBlocks(a));
      if (a !== b) {
        turnSurfaces(b, a);
        listVertices(b, a, 0, vertexBlocks(b));
        turnSurfaces(a, b);
      }
      listEdges(a, b, 0, edgeBlocks(a));
    }
  }
}

/** @returns number of rows in H_PAIRS, or -1 if they did not fit */
function counted(pairs: usize, end: usize): i32 {
  const vertexPairs = full ? 0 : <i32>(vertexRowsEnd() - pairs) / PAIR_BYTES;
  const edgePairs = full ? 0 : <i32>(end - edgeRowsBegin()) / PAIR_BYTES;
  store<i32>(HEADER, vertexPairs, H_VERTEX_PAIRS);
  store<i32>(HEADER, edgePairs, H_EDGE_PAIRS);
  return full ? -1 : vertexPairs + edgePairs;
}

/** Refits all trees to positions and trajectories, as for listPairs; no trajectories (0): nothing moves. */
export function refitTrees(positions: usize, trajectories: usize): void {
  const x = <usize>load<u32>(HEADER, H_X);
  for (let n = 0; n < load<i32>(HEADER, H_SURFACE_COUNT); n++) {
    refit(triangleTree(surface(n)), 3, positions, trajectories, x);
    refit(edgeTree(surface(n)), 2, positions, trajectories, x);
  }
}
