/**
 * Refits the bounding volume trees of a surface (topology: sim/memory/trees.ts) to positions and trajectories. Leaves
 * get the coordinates of their four primitives in lanes, nodes the boxes of their four children. Both are for the start
 * (t = 0) and the end (t = 1) of straight trajectories p + t d. From the last node to the first, so children come
 * before their parents.
 * Moving boxes are apart at all times if at both ends one lies beyond the other on the same side: the highest of
 * linearly moving points is a convex function of time, the lowest a concave one. Boxes that pass each other, on
 * opposite sides at the two ends, count as meeting. Boxes ignore NaN coordinates: such primitives touch nothing until
 * the guard has reset their body.
 */
import {
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
  NODE_LATER_LOW,
  NODE_LATER_HIGH,
  NODE_LATER_BOX_LOW,
  NODE_LATER_BOX_HIGH,
  NODE_BYTES,
  TRIANGLE_LEAF_AT,
  TRIANGLE_LEAF_TRAJECTORIES,
  EDGE_LEAF_AT,
  EDGE_LEAF_TRAJECTORIES,
} from "../layout/layout";
import { xs, ys, zs } from "../math/lanes";

// offsets from X to the arrays that are read
let toPositions: usize;
let toTrajectories: usize;
let moving: bool;
// boxes of the last gathered corners
let low: v128;
let high: v128;
let laterLow: v128;
let laterHigh: v128;

/** Gathers corner `c` of the leaf's four primitives: coordinates and trajectories into lanes, and into the boxes. */
// @inline
function gather(leaf: usize, c: usize, at: usize, trajectories: usize): void {
  const from = leaf + (c << 4);
  const to = leaf + at + c * 48;
  const toTrajectory = leaf + trajectories + c * 48;
  const i = <usize>load<u32>(from);
  const j = <usize>load<u32>(from, 4);
  const k = <usize>load<u32>(from, 8);
  const l = <usize>load<u32>(from, 12);
  const p = v128.load(i + toPositions);
  const q = v128.load(j + toPositions);
  const r = v128.load(k + toPositions);
  const s = v128.load(l + toPositions);
  v128.store(to, xs(p, q, r, s));
  v128.store(to, ys(p, q, r, s), 16);
  v128.store(to, zs(p, q, r, s), 32);
  low = f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(low, p), q), r), s);
  high = f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(high, p), q), r), s);
  if (!moving) {
    const zero = f32x4.splat(0);
    v128.store(toTrajectory, zero);
    v128.store(toTrajectory, zero, 16);
    v128.store(toTrajectory, zero, 32);
    laterLow = low;
    laterHigh = high;
    return;
  }
  const dp = v128.load(i + toTrajectories);
  const dq = v128.load(j + toTrajectories);
  const dr = v128.load(k + toTrajectories);
  const ds = v128.load(l + toTrajectories);
  v128.store(toTrajectory, xs(dp, dq, dr, ds));
  v128.store(toTrajectory, ys(dp, dq, dr, ds), 16);
  v128.store(toTrajectory, zs(dp, dq, dr, ds), 32);
  const a = f32x4.add(p, dp);
  const b = f32x4.add(q, dq);
  const e = f32x4.add(r, dr);
  const f = f32x4.add(s, ds);
  laterLow = f32x4.pmin(f32x4.pmin(f32x4.pmin(f32x4.pmin(laterLow, a), b), e), f);
  laterHigh = f32x4.pmax(f32x4.pmax(f32x4.pmax(f32x4.pmax(laterHigh, a), b), e), f);
}

/** Loads a box column written by storeLane: x y z, and 0. */
// @inline
export function column(at: usize): v128 {
  return f32x4.replace_lane(f32x4.replace_lane(v128.load32_zero(at), 1, load<f32>(at, 16)), 2, load<f32>(at, 32));
}

// @inline
function storeLane(lane: usize, offset: usize, box: v128): void {
  store<f32>(lane + offset, f32x4.extract_lane(box, 0));
  store<f32>(lane + offset, f32x4.extract_lane(box, 1), 16);
  store<f32>(lane + offset, f32x4.extract_lane(box, 2), 32);
}

/**
 * @param corners 3: a tree of triangles, 2: of edges; positions, trajectories addresses of f32x4 arrays parallel to X
 *   (m); no trajectories (0): nothing moves
 * @param x address of X
 */
export function refit(tree: usize, corners: i32, positions: usize, trajectories: usize, x: usize): void {
  const first = <usize>load<u32>(tree, TREE_NODES);
  const none = f32x4.splat(Infinity);
  const nothing = f32x4.splat(-Infinity);
  toPositions = positions - x;
  toTrajectories = trajectories - x;
  moving = trajectories !== 0;
  for (let n = load<i32>(tree, TREE_NODE_COUNT) - 1; n >= 0; n--) {
    const node = first + <usize>n * NODE_BYTES;
    let boxLow = none;
    let boxHigh = nothing;
    let laterBoxLow = none;
    let laterBoxHigh = nothing;
    for (let c: usize = 0; c < 4; c++) {
      const child = <usize>load<u32>(node + (c << 2), NODE_CHILDREN);
      const lane = node + (c << 2);
      low = none;
      high = nothing;
      laterLow = none;
      laterHigh = nothing;
      if (child & 1) {
        const leaf = child & ~1;
        if (corners === 3)
          for (let k: usize = 0; k < 3; k++) gather(leaf, k, TRIANGLE_LEAF_AT, TRIANGLE_LEAF_TRAJECTORIES);
        else {
          gather(leaf, 0, EDGE_LEAF_AT, EDGE_LEAF_TRAJECTORIES);
          gather(leaf, 1, EDGE_LEAF_AT, EDGE_LEAF_TRAJECTORIES);
        }
      } else if (child) {
        low = v128.load(child, NODE_BOX_LOW);
        high = v128.load(child, NODE_BOX_HIGH);
        laterLow = v128.load(child, NODE_LATER_BOX_LOW);
        laterHigh = v128.load(child, NODE_LATER_BOX_HIGH);
      }
      storeLane(lane, NODE_LOW, low);
      storeLane(lane, NODE_HIGH, high);
      storeLane(lane, NODE_LATER_LOW, laterLow);
      storeLane(lane, NODE_LATER_HIGH, laterHigh);
      boxLow = f32x4.pmin(boxLow, low);
      boxHigh = f32x4.pmax(boxHigh, high);
      laterBoxLow = f32x4.pmin(laterBoxLow, laterLow);
      laterBoxHigh = f32x4.pmax(laterBoxHigh, laterHigh);
    }
    v128.store(node, boxLow, NODE_BOX_LOW);
    v128.store(node, boxHigh, NODE_BOX_HIGH);
    v128.store(node, laterBoxLow, NODE_LATER_BOX_LOW);
    v128.store(node, laterBoxHigh, NODE_LATER_BOX_HIGH);
  }
}

// the query box, in all lanes
let lowX: v128;
let lowY: v128;
let lowZ: v128;
let highX: v128;
let highY: v128;
let highZ: v128;
let laterLowX: v128;
let laterLowY: v128;
let laterLowZ: v128;
let laterHighX: v128;
let laterHighY: v128;
let laterHighZ: v128;

// @inline
function splatX(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 0, 0, 0, 0);
}
// @inline
function splatY(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 1, 1, 1, 1);
}
// @inline
function splatZ(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 2, 2, 2, 2);
}

/** Sets the query box of `overlapping`. */
// @inline
export function ask(lx: f32, ly: f32, lz: f32, hx: f32, hy: f32, hz: f32): void {
  lowX = f32x4.splat(lx);
  lowY = f32x4.splat(ly);
  lowZ = f32x4.splat(lz);
  highX = f32x4.splat(hx);
  highY = f32x4.splat(hy);
  highZ = f32x4.splat(hz);
}

/** @returns a bit for each child of the node whose box, at the start, meets the query */
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

let fast: bool;
let farthest: f32;

/**
 * Sets for all later queries whether the two trees move in different directions (then boxes can be separated across
 * them), and the largest coordinate, m.
 */
export function askFast(different: bool, far: f32): void {
  fast = different;
  farthest = far;
}

/** Sets the query box of `passing` (x y z), at the start and at the end. */
// @inline
export function askMoving(low: v128, high: v128, laterLow: v128, laterHigh: v128): void {
  lowX = splatX(low);
  lowY = splatY(low);
  lowZ = splatZ(low);
  highX = splatX(high);
  highY = splatY(high);
  highZ = splatZ(high);
  laterLowX = splatX(laterLow);
  laterLowY = splatY(laterLow);
  laterLowZ = splatZ(laterLow);
  laterHighX = splatX(laterHigh);
  laterHighY = splatY(laterHigh);
  laterHighZ = splatZ(laterHigh);
}

// @inline
function below(node: usize, row: usize, limit: v128, laterLimit: v128): v128 {
  return v128.or(
    f32x4.le(v128.load(node + row, NODE_LOW), limit),
    f32x4.le(v128.load(node + row, NODE_LATER_LOW), laterLimit),
  );
}
// @inline
function above(node: usize, row: usize, limit: v128, laterLimit: v128): v128 {
  return v128.or(
    f32x4.ge(v128.load(node + row, NODE_HIGH), limit),
    f32x4.ge(v128.load(node + row, NODE_LATER_HIGH), laterLimit),
  );
}

/**
 * Relative rounding of projections in `across`, of coordinates and of distances: about thirty roundings of 2^-24 each.
 */
const ACROSS_ROUNDING: f32 = 3.814697265625e-6; // 2^-18

// @inline
function sum(a: v128, b: v128): v128 {
  return f32x4.add(a, b);
}
// @inline
function difference(a: v128, b: v128): v128 {
  return f32x4.sub(a, b);
}
// @inline
function dot(ax: v128, bx: v128, ay: v128, by: v128, az: v128, bz: v128): v128 {
  return f32x4.add(f32x4.mul(ax, bx), f32x4.add(f32x4.mul(ay, by), f32x4.mul(az, bz)));
}

// @inline
function reaches(o: v128, p: v128): v128 {
  return f32x4.add(f32x4.splat(farthest), f32x4.add(f32x4.abs(o), f32x4.abs(p)));
}

/**
 * For fast boxes: a bit for each child that is not separated from the query across their relative displacement. The
 * direction leads from center to center, without its part along that displacement. All lengths are doubled.
 */
function across(node: usize): i32 {
  const ax = v128.load(node, NODE_LOW);
  const ay = v128.load(node, NODE_LOW + 16);
  const az = v128.load(node, NODE_LOW + 32);
  const bx = v128.load(node, NODE_HIGH);
  const by = v128.load(node, NODE_HIGH + 16);
  const bz = v128.load(node, NODE_HIGH + 32);
  const cx = v128.load(node, NODE_LATER_LOW);
  const cy = v128.load(node, NODE_LATER_LOW + 16);
  const cz = v128.load(node, NODE_LATER_LOW + 32);
  const dx = v128.load(node, NODE_LATER_HIGH);
  const dy = v128.load(node, NODE_LATER_HIGH + 16);
  const dz = v128.load(node, NODE_LATER_HIGH + 32);
  const ox = difference(sum(lowX, highX), sum(ax, bx));
  const oy = difference(sum(lowY, highY), sum(ay, by));
  const oz = difference(sum(lowZ, highZ), sum(az, bz));
  const px = difference(sum(laterLowX, laterHighX), sum(cx, dx));
  const py = difference(sum(laterLowY, laterHighY), sum(cy, dy));
  const pz = difference(sum(laterLowZ, laterHighZ), sum(cz, dz));
  const rx = difference(px, ox);
  const ry = difference(py, oy);
  const rz = difference(pz, oz);
  const along = f32x4.div(dot(ox, rx, oy, ry, oz, rz), dot(rx, rx, ry, ry, rz, rz));
  const nx = difference(ox, f32x4.mul(along, rx));
  const ny = difference(oy, f32x4.mul(along, ry));
  const nz = difference(oz, f32x4.mul(along, rz));
  const mx = f32x4.abs(nx);
  const my = f32x4.abs(ny);
  const mz = f32x4.abs(nz);
  const half = dot(
    mx,
    sum(difference(highX, lowX), difference(bx, ax)),
    my,
    sum(difference(highY, lowY), difference(by, ay)),
    mz,
    sum(difference(highZ, lowZ), difference(bz, az)),
  );
  const laterHalf = dot(
    mx,
    sum(difference(laterHighX, laterLowX), difference(dx, cx)),
    my,
    sum(difference(laterHighY, laterLowY), difference(dy, cy)),
    mz,
    sum(difference(laterHighZ, laterLowZ), difference(dz, cz)),
  );
  const slack = f32x4.mul(
    f32x4.splat(ACROSS_ROUNDING),
    dot(mx, reaches(ox, px), my, reaches(oy, py), mz, reaches(oz, pz)),
  );
  const start = dot(nx, ox, ny, oy, nz, oz);
  const end = dot(nx, px, ny, py, nz, pz);
  return 15 ^ v128.bitmask<i32>(v128.and(f32x4.gt(start, sum(half, slack)), f32x4.gt(end, sum(laterHalf, slack))));
}

/** @returns a bit for each child of the node whose box may meet the query on their way */
// @inline
export function passing(node: usize): i32 {
  const bits = meeting(node);
  return fast && bits ? bits & across(node) : bits;
}

// @inline
function meeting(node: usize): i32 {
  return v128.bitmask<i32>(
    v128.and(
      v128.and(
        v128.and(below(node, 0, highX, laterHighX), below(node, 16, highY, laterHighY)),
        below(node, 32, highZ, laterHighZ),
      ),
      v128.and(
        v128.and(above(node, 0, lowX, laterLowX), above(node, 16, lowY, laterLowY)),
        above(node, 32, lowZ, laterLowZ),
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
