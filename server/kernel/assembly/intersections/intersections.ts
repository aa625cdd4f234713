/**
 * Finds edges that go through triangles, of surfaces that may touch. Used when a scene starts or is reset, and to
 * untangle it. Edges are tested four at a time against the tree of triangles. Boxes that only touch
 * count as meeting, so nothing is rounded. Order: pairs of surfaces, the first's edges, the second's; within them the
 * trees' order.
 */
import * as L from "../layout/layout";
import { APART, CROSSING, meeting } from "../math/segmentTriangle";
import { ask, lanesOf, overlapping, refitTrees } from "./trees";

let shift: usize;
let itself: bool;
let surfaces: i32;
let found: i32;

/**
 * Fills H_INTERSECTIONS with every edge and triangle that meet and share no particle, except fixed ones.
 * @param positions address of an f32x4 array parallel to X, or X; trees are refitted to it
 * @returns number of intersections: if it exceeds H_INTERSECTION_CAPACITY, the list has the first ones
 */
export function findIntersections(positions: usize): i32 {
  const count = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  const rows = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  shift = positions - <usize>load<u32>(L.HEADER, L.H_X);
  found = 0;
  refitTrees(positions);
  for (let a = 0; a < count; a++) {
    const A = rows + <usize>a * L.SURFACE_BYTES;
    const meets = <usize>load<u32>(A, L.SURFACE_MEETS);
    const hard = load<i32>(A, L.SURFACE_SOLID) === L.SOLID_COLLIDER;
    for (let b = a; b < count; b++) {
      const B = rows + <usize>b * L.SURFACE_BYTES;
      const may = load<u8>(meets + b);
      if (
        may === L.MEETS_NEVER ||
        may === L.MEETS_SKIPPED ||
        (hard && load<i32>(B, L.SURFACE_SOLID) === L.SOLID_COLLIDER)
      )
        continue;
      itself = a === b;
      list(A, B, (a << 16) | b);
      if (!itself) list(B, A, (b << 16) | a);
    }
  }
  store<i32>(L.HEADER, min<i32>(found, load<i32>(L.HEADER, L.H_INTERSECTION_CAPACITY)), L.H_INTERSECTION_COUNT);
  return found;
}

/** Tests edges of surface A against triangles of surface B. */
function list(A: usize, B: usize, numbers: i32): void {
  const edges = <usize>load<u32>(A, L.SURFACE_EDGE_TREE);
  const triangles = <usize>load<u32>(B, L.SURFACE_TRIANGLE_TREE);
  if (!load<i32>(edges, L.TREE_NODE_COUNT) || !load<i32>(triangles, L.TREE_NODE_COUNT)) return;
  surfaces = numbers;
  askOwn(edges, <usize>load<u32>(edges, L.TREE_NODES), triangles);
}

/** Finds leaves of edges below `node` whose box meets that of all triangles. */
function askOwn(edges: usize, node: usize, triangles: usize): void {
  const root = <usize>load<u32>(triangles, L.TREE_NODES);
  const low = v128.load(root, L.NODE_BOX_LOW);
  const high = v128.load(root, L.NODE_BOX_HIGH);
  ask(
    f32x4.extract_lane(low, 0),
    f32x4.extract_lane(low, 1),
    f32x4.extract_lane(low, 2),
    f32x4.extract_lane(high, 0),
    f32x4.extract_lane(high, 1),
    f32x4.extract_lane(high, 2),
  );
  for (let bits = overlapping(node); bits; bits &= bits - 1) {
    const at = node + ((<usize>ctz(bits)) << 2);
    const child = <usize>load<u32>(at, L.NODE_CHILDREN);
    if (!(child & 1)) {
      askOwn(edges, child, triangles);
      continue;
    }
    ask(
      load<f32>(at, L.NODE_LOW),
      load<f32>(at, L.NODE_LOW + 16),
      load<f32>(at, L.NODE_LOW + 32),
      load<f32>(at, L.NODE_HIGH),
      load<f32>(at, L.NODE_HIGH + 16),
      load<f32>(at, L.NODE_HIGH + 32),
    );
    askTriangles(edges, child & ~1, triangles, root);
  }
}

function askTriangles(edges: usize, leaf: usize, triangles: usize, node: usize): void {
  for (let bits = overlapping(node); bits; bits &= bits - 1) {
    const child = <usize>load<u32>(node + ((<usize>ctz(bits)) << 2), L.NODE_CHILDREN);
    if (child & 1) leaves(edges, leaf, triangles, child & ~1);
    else askTriangles(edges, leaf, triangles, child);
  }
}

// @inline
function row(leaf: usize, at: usize): v128 {
  return v128.load(leaf + at);
}
// @inline
function least(leaf: usize, at: usize): v128 {
  return f32x4.pmin(f32x4.pmin(row(leaf, at), row(leaf, at + 48)), row(leaf, at + 96));
}
// @inline
function most(leaf: usize, at: usize): v128 {
  return f32x4.pmax(f32x4.pmax(row(leaf, at), row(leaf, at + 48)), row(leaf, at + 96));
}

/** Tests four edges against four triangles: boxes first, then exactly. */
function leaves(edges: usize, E: usize, triangles: usize, T: usize): void {
  const lx = least(T, L.TRIANGLE_LEAF_AT);
  const ly = least(T, L.TRIANGLE_LEAF_AT + 16);
  const lz = least(T, L.TRIANGLE_LEAF_AT + 32);
  const hx = most(T, L.TRIANGLE_LEAF_AT);
  const hy = most(T, L.TRIANGLE_LEAF_AT + 16);
  const hz = most(T, L.TRIANGLE_LEAF_AT + 32);
  const validE = lanesOf(edges, E, L.EDGE_LEAF_BYTES);
  const validT = lanesOf(triangles, T, L.TRIANGLE_LEAF_BYTES);
  for (let i = 0; validE >> i; i++) {
    const edge = E + ((<usize>i) << 2);
    const at = edge + L.EDGE_LEAF_AT;
    const ax = v128.load32_splat(at);
    const ay = v128.load32_splat(at, 16);
    const az = v128.load32_splat(at, 32);
    const bx = v128.load32_splat(at, 48);
    const by = v128.load32_splat(at, 64);
    const bz = v128.load32_splat(at, 80);
    const hit = v128.and(
      v128.and(
        v128.and(f32x4.ge(f32x4.pmax(ax, bx), lx), f32x4.le(f32x4.pmin(ax, bx), hx)),
        v128.and(f32x4.ge(f32x4.pmax(ay, by), ly), f32x4.le(f32x4.pmin(ay, by), hy)),
      ),
      v128.and(f32x4.ge(f32x4.pmax(az, bz), lz), f32x4.le(f32x4.pmin(az, bz), hz)),
    );
    for (let bits = v128.bitmask<i32>(hit) & validT; bits; bits &= bits - 1) {
      const triangle = T + ((<usize>ctz(bits)) << 2);
      test(load<u32>(edge), load<u32>(edge, 16), load<u32>(triangle), load<u32>(triangle, 16), load<u32>(triangle, 32));
    }
  }
}

// @inline
function fixed(address: u32): bool {
  return load<f32>(<usize>address, 12) === 0;
}
// @inline
function shares(particle: u32, c: u32, d: u32, e: u32): bool {
  return particle === c || particle === d || particle === e;
}

function test(a: u32, b: u32, c: u32, d: u32, e: u32): void {
  if (itself && (shares(a, c, d, e) || shares(b, c, d, e))) return;
  const answer = meeting(<usize>a + shift, <usize>b + shift, <usize>c + shift, <usize>d + shift, <usize>e + shift);
  if (answer === APART || (fixed(a) && fixed(b) && fixed(c) && fixed(d) && fixed(e))) return;
  if (found < load<i32>(L.HEADER, L.H_INTERSECTION_CAPACITY)) {
    const to = <usize>load<u32>(L.HEADER, L.H_INTERSECTIONS) + <usize>found * L.INTERSECTION_BYTES;
    store<u32>(to, a, L.INTERSECTION_ADDRESS);
    store<u32>(to, b, L.INTERSECTION_ADDRESS + 4);
    store<u32>(to, c, L.INTERSECTION_ADDRESS + 8);
    store<u32>(to, d, L.INTERSECTION_ADDRESS + 12);
    store<u32>(to, e, L.INTERSECTION_ADDRESS + 16);
    store<i32>(to, surfaces, L.INTERSECTION_SURFACES);
    store<i32>(to, answer === CROSSING ? 1 : 0, L.INTERSECTION_CROSSES);
    store<f32>(to, 0, L.INTERSECTION_DRIVE);
  }
  found++;
}
