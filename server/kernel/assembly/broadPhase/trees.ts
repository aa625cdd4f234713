/**
 * Refits the bounding volume trees of a surface (topology: sim/memory/trees.ts) to positions, and finds the children of
 * a node that overlap a box. A leaf gets the coordinates of its four primitives in lanes, a node the boxes of its four
 * children. The last node is first, so children come before their parents. A coordinate that is not a number stays out
 * of all boxes: its primitives touch nothing until the guard has dealt with them.
 */
import {
  HEADER,
  H_SURFACE,
  H_SURFACE_COUNT,
  H_X,
  SURFACE_BYTES,
  SURFACE_EDGE_TREE,
  SURFACE_TRIANGLE_TREE,
  TREE_NODES,
  TREE_NODE_COUNT,
  TREE_LEAVES,
  TREE_LEAF_COUNT,
  TREE_COUNT,
  NODE_LOW,
  NODE_HIGH,
  NODE_CHILDREN,
  NODE_BOX_LOW,
  NODE_BOX_HIGH,
  NODE_BYTES,
  TRIANGLE_LEAF_AT,
  EDGE_LEAF_AT,
} from "../layout/layout";
import { xs, ys, zs } from "../math/lanes";

/** Bytes from X to the positions that are read. */
let toPositions: usize;
/** Box of the primitives that were gathered last. */
let low: v128;
let high: v128;

/** Corner `c` of the leaf's four primitives: coordinates into lanes, and into the box. */
// @inline
function gather(leaf: usize, c: usize, at: usize): void {
  const from = leaf + (c << 4);
  const to = leaf + at + c * 48;
  const p = v128.load(<usize>load<u32>(from) + toPositions);
  const q = v128.load(<usize>load<u32>(from, 4) + toPositions);
  const r = v128.load(<usize>load<u32>(from, 8) + toPositions);
  const s = v128.load(<usize>load<u32>(from, 12) + toPositions);
  v128.store(to, xs(p, q, r, s));
  v128.store(to, ys(p, q, r, s), 16);
  v128.store(to, zs(p, q, r, s), 32);
  low = f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(low, p), q), r), s);
  high = f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(high, p), q), r), s);
}

// @inline
function storeLane(lane: usize, offset: usize, box: v128): void {
  store<f32>(lane + offset, f32x4.extract_lane(box, 0));
  store<f32>(lane + offset, f32x4.extract_lane(box, 1), 16);
  store<f32>(lane + offset, f32x4.extract_lane(box, 2), 32);
}

/** All trees of the room. @param positions address of an f32x4 array parallel to X, or X, m */
export function refitTrees(positions: usize): void {
  toPositions = positions - <usize>load<u32>(HEADER, H_X);
  let surface = <usize>load<u32>(HEADER, H_SURFACE);
  for (let n = load<i32>(HEADER, H_SURFACE_COUNT); n > 0; n--, surface += SURFACE_BYTES) {
    refit(<usize>load<u32>(surface, SURFACE_TRIANGLE_TREE), 3, TRIANGLE_LEAF_AT);
    refit(<usize>load<u32>(surface, SURFACE_EDGE_TREE), 2, EDGE_LEAF_AT);
  }
}

function refit(tree: usize, corners: usize, at: usize): void {
  const first = <usize>load<u32>(tree, TREE_NODES);
  for (let n = load<i32>(tree, TREE_NODE_COUNT) - 1; n >= 0; n--) {
    const node = first + <usize>n * NODE_BYTES;
    let boxLow = f32x4.splat(Infinity);
    let boxHigh = f32x4.splat(-Infinity);
    for (let c: usize = 0; c < 4; c++) {
      const lane = node + (c << 2);
      const child = <usize>load<u32>(lane, NODE_CHILDREN);
      low = f32x4.splat(Infinity);
      high = f32x4.splat(-Infinity);
      if (child & 1) {
        for (let k: usize = 0; k < corners; k++) gather(child & ~1, k, at);
      } else if (child) {
        low = v128.load(child, NODE_BOX_LOW);
        high = v128.load(child, NODE_BOX_HIGH);
      }
      storeLane(lane, NODE_LOW, low);
      storeLane(lane, NODE_HIGH, high);
      boxLow = f32x4.pmin(boxLow, low);
      boxHigh = f32x4.pmax(boxHigh, high);
    }
    v128.store(node, boxLow, NODE_BOX_LOW);
    v128.store(node, boxHigh, NODE_BOX_HIGH);
  }
}

/** The box that `overlapping` compares with, in all lanes. */
let lowX: v128;
let lowY: v128;
let lowZ: v128;
let highX: v128;
let highY: v128;
let highZ: v128;

/** Sets the box of `overlapping`. */
// @inline
export function ask(lx: f32, ly: f32, lz: f32, hx: f32, hy: f32, hz: f32): void {
  lowX = f32x4.splat(lx);
  lowY = f32x4.splat(ly);
  lowZ = f32x4.splat(lz);
  highX = f32x4.splat(hx);
  highY = f32x4.splat(hy);
  highZ = f32x4.splat(hz);
}

/** @returns one bit for each child of the node whose box overlaps the box of `ask` */
// @inline
export function overlapping(node: usize): i32 {
  return v128.bitmask<i32>(
    v128.and(
      v128.and(
        v128.and(f32x4.le(v128.load(node, NODE_LOW), highX), f32x4.le(v128.load(node, NODE_LOW + 16), highY)),
        f32x4.le(v128.load(node, NODE_LOW + 32), highZ),
      ),
      v128.and(
        v128.and(f32x4.ge(v128.load(node, NODE_HIGH), lowX), f32x4.ge(v128.load(node, NODE_HIGH + 16), lowY)),
        f32x4.ge(v128.load(node, NODE_HIGH + 32), lowZ),
      ),
    ),
  );
}

/** @returns a bit for every lane of the leaf that holds a primitive */
// @inline
export function lanesOf(tree: usize, leaf: usize, bytes: usize): i32 {
  const last = <usize>load<u32>(tree, TREE_LEAVES) + <usize>(load<i32>(tree, TREE_LEAF_COUNT) - 1) * bytes;
  return leaf === last ? (1 << (((load<i32>(tree, TREE_COUNT) - 1) & 3) + 1)) - 1 : 15;
}
