/**
 * Refits the bounding volume trees of a surface (topology: sim/memory/contact/trees.ts) to positions, and finds the
 * children of a node that overlap a box. A leaf gets the coordinates of its four primitives in lanes, a node the boxes
 * of its four children. The last node is first, so children come before their parents. A coordinate that is not a
 * number stays out of all boxes: its primitives touch nothing until the guard has dealt with them.
 */
import * as L from "../layout/layout";
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

/** Refits all trees of the room. @param positions address of an f32x4 array parallel to X, or X, m */
export function refitTrees(positions: usize): void {
  toPositions = positions - <usize>load<u32>(L.HEADER, L.H_X);
  let surface = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT); n > 0; n--, surface += L.SURFACE_BYTES) {
    refit(<usize>load<u32>(surface, L.SURFACE_TRIANGLE_TREE), 3, L.TRIANGLE_LEAF_AT);
    refit(<usize>load<u32>(surface, L.SURFACE_EDGE_TREE), 2, L.EDGE_LEAF_AT);
  }
}

function refit(tree: usize, corners: usize, at: usize): void {
  const first = <usize>load<u32>(tree, L.TREE_NODES);
  for (let n = load<i32>(tree, L.TREE_NODE_COUNT) - 1; n >= 0; n--) {
    const node = first + <usize>n * L.NODE_BYTES;
    let boxLow = f32x4.splat(Infinity);
    let boxHigh = f32x4.splat(-Infinity);
    for (let c: usize = 0; c < 4; c++) {
      const lane = node + (c << 2);
      const child = <usize>load<u32>(lane, L.NODE_CHILDREN);
      low = f32x4.splat(Infinity);
      high = f32x4.splat(-Infinity);
      if (child & 1) {
        for (let k: usize = 0; k < corners; k++) gather(child & ~1, k, at);
      } else if (child) {
        low = v128.load(child, L.NODE_BOX_LOW);
        high = v128.load(child, L.NODE_BOX_HIGH);
      }
      storeLane(lane, L.NODE_LOW, low);
      storeLane(lane, L.NODE_HIGH, high);
      boxLow = f32x4.pmin(boxLow, low);
      boxHigh = f32x4.pmax(boxHigh, high);
    }
    v128.store(node, boxLow, L.NODE_BOX_LOW);
    v128.store(node, boxHigh, L.NODE_BOX_HIGH);
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
        v128.and(f32x4.le(v128.load(node, L.NODE_LOW), highX), f32x4.le(v128.load(node, L.NODE_LOW + 16), highY)),
        f32x4.le(v128.load(node, L.NODE_LOW + 32), highZ),
      ),
      v128.and(
        v128.and(f32x4.ge(v128.load(node, L.NODE_HIGH), lowX), f32x4.ge(v128.load(node, L.NODE_HIGH + 16), lowY)),
        f32x4.ge(v128.load(node, L.NODE_HIGH + 32), lowZ),
      ),
    ),
  );
}

/** @returns a bit for every lane of the leaf that holds a primitive */
// @inline
export function lanesOf(tree: usize, leaf: usize, bytes: usize): i32 {
  const last = <usize>load<u32>(tree, L.TREE_LEAVES) + <usize>(load<i32>(tree, L.TREE_LEAF_COUNT) - 1) * bytes;
  return leaf === last ? (1 << (((load<i32>(tree, L.TREE_COUNT) - 1) & 3) + 1)) - 1 : 15;
}
