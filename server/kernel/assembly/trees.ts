/**
 * Refits the bounding volume trees of a surface (topology: sim/memory/trees.ts) to positions: leaves get the coordinates of their four
 * primitives in lanes, nodes the boxes of their four children. From the last node to the first, so children come before their parents.
 * A coordinate that is no number is left out of boxes: what it belongs to touches nothing until the guard has dealt with it.
 */
import {
  TREE_NODES, TREE_NODE_COUNT, TREE_LEAVES, TREE_LEAF_COUNT, TREE_COUNT,
  NODE_LOW, NODE_HIGH, NODE_CHILDREN, NODE_BOX_LOW, NODE_BOX_HIGH, NODE_BYTES, TRIANGLE_LEAF_AT, EDGE_LEAF_AT,
} from "./layout";
import { xs, ys, zs } from "./lanes";

// box of what was gathered last
let low: v128, high: v128;

/** Corner `c` of the leaf's four primitives: coordinates into lanes, and into the box. */
@inline function gather(leaf: usize, c: usize, at: usize, shift: usize): void {
  const from = leaf + (c << 4);
  const p = v128.load(<usize>load<u32>(from) + shift), q = v128.load(<usize>load<u32>(from, 4) + shift), r = v128.load(<usize>load<u32>(from, 8) + shift), s = v128.load(<usize>load<u32>(from, 12) + shift);
  const to = leaf + at + c * 48;
  v128.store(to, xs(p, q, r, s)); v128.store(to, ys(p, q, r, s), 16); v128.store(to, zs(p, q, r, s), 32);
  low = f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(low, p), q), r), s);
  high = f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(high, p), q), r), s);
}

/** @param corners 3: a tree of triangles, 2: of edges; shift bytes from X to the positions */
export function refit(tree: usize, corners: i32, shift: usize): void {
  const first = <usize>load<u32>(tree, TREE_NODES);
  const none = f32x4.splat(Infinity), nothing = f32x4.splat(-Infinity);
  for (let n = load<i32>(tree, TREE_NODE_COUNT) - 1; n >= 0; n--) {
    const node = first + <usize>n * NODE_BYTES;
    let boxLow = none, boxHigh = nothing;
    for (let c: usize = 0; c < 4; c++) {
      const child = <usize>load<u32>(node + (c << 2), NODE_CHILDREN);
      low = none; high = nothing;
      if (child & 1) {
        const leaf = child & ~1;
        if (corners == 3) { gather(leaf, 0, TRIANGLE_LEAF_AT, shift); gather(leaf, 1, TRIANGLE_LEAF_AT, shift); gather(leaf, 2, TRIANGLE_LEAF_AT, shift); }
        else { gather(leaf, 0, EDGE_LEAF_AT, shift); gather(leaf, 1, EDGE_LEAF_AT, shift); }
      } else if (child) { low = v128.load(child, NODE_BOX_LOW); high = v128.load(child, NODE_BOX_HIGH); }
      const lane = node + (c << 2);
      store<f32>(lane, f32x4.extract_lane(low, 0), NODE_LOW); store<f32>(lane, f32x4.extract_lane(low, 1), NODE_LOW + 16); store<f32>(lane, f32x4.extract_lane(low, 2), NODE_LOW + 32);
      store<f32>(lane, f32x4.extract_lane(high, 0), NODE_HIGH); store<f32>(lane, f32x4.extract_lane(high, 1), NODE_HIGH + 16); store<f32>(lane, f32x4.extract_lane(high, 2), NODE_HIGH + 32);
      boxLow = f32x4.pmin(boxLow, low); boxHigh = f32x4.pmax(boxHigh, high);
    }
    v128.store(node, boxLow, NODE_BOX_LOW); v128.store(node, boxHigh, NODE_BOX_HIGH);
  }
}

// ---- the box that is asked for, in all lanes -------------------------------------------------------------------------------------
let lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128;

/** What `overlapping` looks for. */
@inline export function ask(lx: f32, ly: f32, lz: f32, hx: f32, hy: f32, hz: f32): void {
  lowX = f32x4.splat(lx); lowY = f32x4.splat(ly); lowZ = f32x4.splat(lz);
  highX = f32x4.splat(hx); highY = f32x4.splat(hy); highZ = f32x4.splat(hz);
}

/** @returns a bit for each child of the node whose box meets the one asked for */
@inline export function overlapping(node: usize): i32 {
  return v128.bitmask<i32>(v128.and(
    v128.and(v128.and(f32x4.le(v128.load(node, NODE_LOW), highX), f32x4.le(v128.load(node, NODE_LOW + 16), highY)), f32x4.le(v128.load(node, NODE_LOW + 32), highZ)),
    v128.and(v128.and(f32x4.ge(v128.load(node, NODE_HIGH), lowX), f32x4.ge(v128.load(node, NODE_HIGH + 16), lowY)), f32x4.ge(v128.load(node, NODE_HIGH + 32), lowZ))));
}

/** @returns a bit for every lane of the leaf that holds a primitive */
@inline export function lanesOf(tree: usize, leaf: usize, bytes: usize): i32 {
  const last = <usize>load<u32>(tree, TREE_LEAVES) + <usize>(load<i32>(tree, TREE_LEAF_COUNT) - 1) * bytes;
  return leaf == last ? (1 << (((load<i32>(tree, TREE_COUNT) - 1) & 3) + 1)) - 1 : 15;
}

