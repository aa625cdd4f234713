/**
 * The broad phase of contact: every vertex-triangle and edge-edge pair of surfaces that may touch, closer than their reach
 *   R = r + m,  r the radii of both, m their margins and the difference of their drifts (a surface with itself: twice its margin)
 * Vertices and edges are asked four at a time, neighbors together, against the other surface's tree; what their boxes leave is thinned out by a
 * float32 test of four lanes that lets everything within R pass (distance limits widened as below), and then measured exactly (distances.ts).
 * Order: pairs of surfaces, the first's vertices, the second's, edges; within them the trees' order. A part is a range of blocks of four.
 */
import {
  HEADER, H_SURFACE, H_SURFACE_COUNT, H_PAIRS, H_PAIR_CAPACITY, H_VERTEX_PAIRS, H_EDGE_PAIRS, H_X,
  SURFACE_RADIUS, SURFACE_SOLID, SURFACE_TRIANGLE_TREE, SURFACE_EDGE_TREE, SURFACE_MEETS, SURFACE_MARGIN, SURFACE_DRIFT, SURFACE_BYTES, PAIR_BYTES,
  TREE_NODES, TREE_NODE_COUNT, TREE_LEAVES, TREE_LEAF_COUNT, TREE_LONGEST, TREE_VERTICES, TREE_VERTEX_COUNT, NODE_CHILDREN, NODE_ENDS, NODE_BOX_LOW, NODE_BOX_HIGH,
  EDGE_LEAF_BYTES,
} from "./layout";
import { edgeRowsBegin, full, openRegion, openSurfaces, turnSurfaces, vertexRowsEnd } from "./pairList";
import { edgeLeaves, openLeaves, vertexLeaf } from "./pairLeaves";
import { ask, overlapping, refit } from "./trees";

/** Rounding of a coordinate plus or minus the reach: half a unit (2^-24) each of box and sum, doubled. */
const BOX_ROUNDING: f32 = 2.384185791015625e-7; // 2^-22
/** What a surface's longest triangle side and edge may round to, and rest positions besides: any small share, it only saves work. */
const SIDES: f32 = 1.001;

@inline function surface(n: i32): usize { return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES; }
@inline function triangleTree(surface: usize): usize { return <usize>load<u32>(surface, SURFACE_TRIANGLE_TREE); }
@inline function edgeTree(surface: usize): usize { return <usize>load<u32>(surface, SURFACE_EDGE_TREE); }

/** R of two surfaces, m, in float64: sums of float32 numbers. */
function reachOf(A: usize, B: usize): f64 {
  const sum = <f64>load<f32>(A, SURFACE_RADIUS) + <f64>load<f32>(B, SURFACE_RADIUS) + (<f64>load<f32>(A, SURFACE_MARGIN) + <f64>load<f32>(B, SURFACE_MARGIN));
  const x = <f64>load<f32>(A, SURFACE_DRIFT) - <f64>load<f32>(B, SURFACE_DRIFT), y = <f64>load<f32>(A, SURFACE_DRIFT + 4) - <f64>load<f32>(B, SURFACE_DRIFT + 4), z = <f64>load<f32>(A, SURFACE_DRIFT + 8) - <f64>load<f32>(B, SURFACE_DRIFT + 8);
  return sum + Math.sqrt(x * x + y * y + z * z);
}

// ---- the surfaces that are asked now ---------------------------------------------------------------------------------------------
let itself: bool, boxReach: f32, shift: usize;

/** Largest coordinate of a surface's box in `tree`, 0 without primitives. */
function farthest(tree: usize): f32 {
  if (!load<i32>(tree, TREE_NODE_COUNT)) return 0;
  const root = <usize>load<u32>(tree, TREE_NODES), most = f32x4.max(f32x4.abs(v128.load(root, NODE_BOX_LOW)), f32x4.abs(v128.load(root, NODE_BOX_HIGH)));
  return max<f32>(f32x4.extract_lane(most, 0), max<f32>(f32x4.extract_lane(most, 1), f32x4.extract_lane(most, 2)));
}

/**
 * Readies a pair of surfaces by number, a <= b, in any thread that lists a part of it.
 * @param positions as for listPairs; trees are refitted to them
 * @returns false: they may not meet, or cannot: both fixed, or blown up to infinity, which the guard deals with
 */
export function openPair(a: i32, b: i32, positions: usize): bool {
  const A = surface(a), B = surface(b);
  if (!load<u8>(<usize>load<u32>(A, SURFACE_MEETS) + b) || (load<i32>(A, SURFACE_SOLID) == 3 && load<i32>(B, SURFACE_SOLID) == 3)) return false;
  const reach = reachOf(A, B);
  itself = a == b;
  shift = positions - <usize>load<u32>(HEADER, H_X);
  // a vertex that is near a box is no further away than the box, but for the reach
  const far = max<f32>(max<f32>(farthest(edgeTree(A)), farthest(edgeTree(B))), max<f32>(farthest(triangleTree(A)), farthest(triangleTree(B))));
  boxReach = <f32>reach * (1 + BOX_ROUNDING) + BOX_ROUNDING * (far + <f32>reach);
  if (!(boxReach < Infinity)) return false;
  const sides = SIDES * max<f32>(load<f32>(triangleTree(A), TREE_LONGEST), max<f32>(load<f32>(edgeTree(A), TREE_LONGEST), load<f32>(edgeTree(B), TREE_LONGEST)));
  openSurfaces(a, b, reach, load<f32>(A, SURFACE_RADIUS) + load<f32>(B, SURFACE_RADIUS), sides);
  openLeaves(<f32>(reach * reach), boxReach, itself);
  return true;
}

/** Blocks of four particles of a surface, and of four edges. */
export function vertexBlocks(n: i32): i32 { return (load<i32>(triangleTree(surface(n)), TREE_VERTEX_COUNT) + 3) >> 2; }
export function edgeBlocks(n: i32): i32 { return load<i32>(edgeTree(surface(n)), TREE_LEAF_COUNT); }

// what is no number is left out
@inline function least(a: v128, b: v128, c: v128, d: v128): v128 { return f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.splat(Infinity), a), b), c), d); }
@inline function most(a: v128, b: v128, c: v128, d: v128): v128 { return f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.splat(-Infinity), a), b), c), d); }

/** Vertices of surface a, blocks [from, to), against the triangles of surface b. Row's surfaces: a, b. */
export function listVertices(a: i32, b: i32, from: i32, to: i32): void {
  const vertices = triangleTree(surface(a)), tree = triangleTree(surface(b));
  if (!load<i32>(tree, TREE_NODE_COUNT)) return;
  const root = <usize>load<u32>(tree, TREE_NODES), reach = f32x4.splat(boxReach), count = load<i32>(vertices, TREE_VERTEX_COUNT);
  const rootLow = f32x4.sub(v128.load(root, NODE_BOX_LOW), reach), rootHigh = f32x4.add(v128.load(root, NODE_BOX_HIGH), reach);
  for (let n = from, block = <usize>load<u32>(vertices, TREE_VERTICES) + (<usize>from << 4); n < to; n++, block += 16) {
    const p = v128.load(<usize>load<u32>(block) + shift), q = v128.load(<usize>load<u32>(block, 4) + shift), r = v128.load(<usize>load<u32>(block, 8) + shift), s = v128.load(<usize>load<u32>(block, 12) + shift);
    const low = least(p, q, r, s), high = most(p, q, r, s);
    if ((v128.bitmask<i32>(v128.and(f32x4.le(low, rootHigh), f32x4.ge(high, rootLow))) & 7) != 7) continue;
    askAround(low, high);
    askTriangles(tree, root, block, min<i32>(4, count - 4 * n));
  }
}

@inline function askAround(low: v128, high: v128): void {
  const reach = f32x4.splat(boxReach), l = f32x4.sub(low, reach), h = f32x4.add(high, reach);
  ask(f32x4.extract_lane(l, 0), f32x4.extract_lane(l, 1), f32x4.extract_lane(l, 2), f32x4.extract_lane(h, 0), f32x4.extract_lane(h, 1), f32x4.extract_lane(h, 2));
}

function askTriangles(tree: usize, node: usize, block: usize, count: i32): void {
  for (let bits = overlapping(node); bits; bits &= bits - 1) {
    const child = <usize>load<u32>(node + (<usize>ctz(bits) << 2), NODE_CHILDREN);
    if (child & 1) vertexLeaf(tree, child & ~1, block, count, shift);
    else askTriangles(tree, child, block, count);
  }
}

/** Edges of surface a, leaves [from, to) of its tree, against the edges of surface b; each pair of one surface once. */
export function listEdges(a: i32, b: i32, from: i32, to: i32): void {
  const own = edgeTree(surface(a)), tree = edgeTree(surface(b));
  if (!load<i32>(own, TREE_NODE_COUNT) || !load<i32>(tree, TREE_NODE_COUNT)) return;
  const leaves = <usize>load<u32>(own, TREE_LEAVES), begin = leaves + <usize>from * EDGE_LEAF_BYTES, end = leaves + <usize>to * EDGE_LEAF_BYTES;
  askOwn(own, <usize>load<u32>(own, TREE_NODES), tree, begin, end);
}

/** Leaves of the tree `own` below `node`, of those in [begin, end), whose box meets the whole of `tree`. */
function askOwn(own: usize, node: usize, tree: usize, begin: usize, end: usize): void {
  const root = <usize>load<u32>(tree, TREE_NODES);
  askAround(v128.load(root, NODE_BOX_LOW), v128.load(root, NODE_BOX_HIGH));
  for (let bits = overlapping(node); bits; bits &= bits - 1) {
    const lane = node + (<usize>ctz(bits) << 2), child = <usize>load<u32>(lane, NODE_CHILDREN);
    if (<usize>load<u32>(lane, NODE_ENDS) <= begin) continue;
    if (!(child & 1)) { askOwn(own, child, tree, begin, end); continue; }
    const leaf = child & ~1;
    if (leaf >= end) return;
    askLane(lane);
    askEdges(own, leaf, tree, root);
  }
}

/** Asks for the box of one child. */
@inline function askLane(lane: usize): void {
  ask(load<f32>(lane) - boxReach, load<f32>(lane, 16) - boxReach, load<f32>(lane, 32) - boxReach, load<f32>(lane, 48) + boxReach, load<f32>(lane, 64) + boxReach, load<f32>(lane, 80) + boxReach);
}

function askEdges(own: usize, leaf: usize, tree: usize, node: usize): void {
  let bits = overlapping(node);
  // of one surface's pairs of leaves, those whose first comes first; with itself, too
  if (itself) bits &= i32x4.bitmask(i32x4.gt_s(v128.load(node, NODE_ENDS), i32x4.splat(<i32>leaf)));
  for (; bits; bits &= bits - 1) {
    const child = <usize>load<u32>(node + (<usize>ctz(bits) << 2), NODE_CHILDREN);
    if (child & 1) edgeLeaves(own, leaf, tree, child & ~1);
    else askEdges(own, leaf, tree, child);
  }
}

/**
 * Fills H_PAIRS. Serial, and the same for any number of threads.
 * @param positions address of an f32x4 array parallel to X, or X: coordinates are read there, rows hold addresses in X
 * @returns rows, or -1 where they do not fit: then the list is empty
 */
export function listPairs(positions: usize): i32 {
  const count = load<i32>(HEADER, H_SURFACE_COUNT), pairs = <usize>load<u32>(HEADER, H_PAIRS), end = pairs + <usize>load<i32>(HEADER, H_PAIR_CAPACITY) * PAIR_BYTES;
  refitTrees(positions);
  openRegion(pairs, end, positions);
  for (let a = 0; a < count && !full; a++) {
    for (let b = a; b < count && !full; b++) {
      if (!openPair(a, b, positions)) continue;
      listVertices(a, b, 0, vertexBlocks(a));
      if (a != b) { turnSurfaces(b, a); listVertices(b, a, 0, vertexBlocks(b)); turnSurfaces(a, b); }
      listEdges(a, b, 0, edgeBlocks(a));
    }
  }
  const vertexPairs = full ? 0 : <i32>(vertexRowsEnd() - pairs) / PAIR_BYTES, edgePairs = full ? 0 : <i32>(end - edgeRowsBegin()) / PAIR_BYTES;
  store<i32>(HEADER, vertexPairs, H_VERTEX_PAIRS); store<i32>(HEADER, edgePairs, H_EDGE_PAIRS);
  return full ? -1 : vertexPairs + edgePairs;
}

/** All trees to the positions, as for listPairs. */
export function refitTrees(positions: usize): void {
  const by = positions - <usize>load<u32>(HEADER, H_X);
  for (let n = 0; n < load<i32>(HEADER, H_SURFACE_COUNT); n++) {
    refit(triangleTree(surface(n)), 3, by);
    refit(edgeTree(surface(n)), 2, by);
  }
}
