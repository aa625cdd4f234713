/**
 * Plans memory and topology of the BVTT front (kernel/assembly/contact/detect/bvttFront.ts). A leaf has four triangles
 * of a surface, and the particles, vertices and edges that no leaf before it has. Nodes above the leaves follow from
 * the undeformed positions. Particles in no triangle have leaves without triangles.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "../memoryMap.ts";
import type { SurfaceSource } from "./surfaceRows.ts";
import { shapeTree } from "./trees.ts";

/** Largest number of rows of two leaves, rounded up: 4 x 12 vertices and triangles both ways, 12 x 12 edges. */
const NAMES = 256;
const NOTHING = -1;

/** A leaf, in particle numbers of the room. */
interface Leaf {
  particles: number[];
  vertices: number[];
  edges: [number, number][];
  /** At most four, three corners each. */
  triangles: number[][];
}

interface SurfaceFront {
  leaves: Leaf[];
  /** Children of each node, by number in the surface: a leaf's number, or the number of leaves plus a node's. */
  nodes: number[][];
}

export interface PlannedFront {
  /** Address of the FRONT row. */
  row: number;
  /** Number of leaves by surface. */
  leaves: number[];
  write: (buffer: ArrayBufferLike, x: number) => void;
}

/**
 * @param edges of each surface, uint32[2E]
 * @param particles number in the room
 */
export function planFront(
  sources: readonly SurfaceSource[],
  edges: readonly Uint32Array[],
  particles: number,
  allocator: Allocator,
): PlannedFront {
  const surfaces = sources.map((source, n) => frontOf(source, edges[n]!));
  const leaves = surfaces.reduce((n, s) => n + s.leaves.length, 0);
  const nodes = surfaces.reduce((n, s) => n + s.nodes.length, 0);
  const row = allocator.take(L.FRONT_BYTES);
  const places: FrontPlaces = {
    leaves,
    leafRows: allocator.take(leaves * L.LEAF_BYTES),
    children: allocator.take(16 * nodes),
    roots: allocator.take(4 * sources.length),
    starts: allocator.take(8 * (sources.length + 1)),
    rest: allocator.take(16 * particles),
  };
  const fields: [number, number][] = [
    [L.FRONT_LEAVES, places.leafRows],
    [L.FRONT_LEAF_COUNT, leaves],
    [L.FRONT_CHILDREN, places.children],
    [L.FRONT_NODE_COUNT, nodes],
    [L.FRONT_ROOTS, places.roots],
    [L.FRONT_STARTS, places.starts],
    [L.FRONT_REST, places.rest],
    [L.FRONT_HOLDS, allocator.take(sources.length * L.HOLD_BYTES)],
    ...takeLists(leaves, nodes, allocator),
  ];
  return {
    row,
    leaves: surfaces.map((s) => s.leaves.length),
    write(buffer, x) {
      const i32 = new Int32Array(buffer);
      i32[(L.HEADER + L.H_FRONT) / 4] = row;
      for (const [offset, value] of fields) i32[(row + offset) / 4] = value;
      writeSurfaces(buffer, x, sources, surfaces, places);
    },
  };
}

/**
 * Addresses of the front's tables; `leaves` is the number of all surfaces' leaves, and nodes are numbered after them.
 */
interface FrontPlaces {
  leaves: number;
  leafRows: number;
  children: number;
  roots: number;
  starts: number;
  rest: number;
}

/**
 * Allocates arrays that are rebuilt with the front.
 * @returns pairs of an offset in the FRONT row and the address stored there
 */
function takeLists(leaves: number, nodes: number, allocator: Allocator): [number, number][] {
  const list = (bytes: number): number => allocator.takeForList(bytes);
  return [
    [L.FRONT_BOXES, list(32 * (leaves + nodes))],
    [L.FRONT_DISPLACEMENTS, list(leaves * L.DISPLACEMENT_BYTES)],
    [L.FRONT_GATHERED, list(leaves * L.GATHERED_BYTES)],
    [L.FRONT_SHAPES, list(leaves * L.PATCH_BYTES)],
    [L.FRONT_SCRATCH, list(L.SHARED_PARTS * L.FRONT_SCRATCH_BYTES)],
    [L.FRONT_NAMED, list(4 * NAMES)],
    [L.FRONT_STIRS, list(leaves * L.STIR_BYTES)],
    [L.FRONT_STIRRED, list(leaves)],
    [L.FRONT_NARROW, list(leaves * L.NARROW_BYTES)],
  ];
}

/** Writes leaves, children, roots and rest positions of all surfaces, one surface after another. */
function writeSurfaces(
  buffer: ArrayBufferLike,
  x: number,
  sources: readonly SurfaceSource[],
  surfaces: readonly SurfaceFront[],
  { leaves, leafRows, children, roots, starts, rest }: FrontPlaces,
): void {
  const i32 = new Int32Array(buffer);
  const f32 = new Float32Array(buffer);
  const address = (particle: number): number => x + 16 * particle;
  let leaf = 0;
  let node = 0;
  surfaces.forEach((surface, s) => {
    const number = (n: number): number =>
      n < surface.leaves.length ? leaf + n : leaves + node + n - surface.leaves.length;
    i32.set([leaf, node], starts / 4 + 2 * s);
    i32[roots / 4 + s] = surface.nodes.length ? leaves + node : surface.leaves.length ? leaf : NOTHING;
    const source = sources[s]!;
    for (let p = 0; p < source.count; p++)
      for (let r = 0; r < 3; r++) f32[rest / 4 + 4 * (source.first + p) + r] = source.rest[3 * p + r]!;
    surface.leaves.forEach((of, n) => {
      const at = (leafRows + (leaf + n) * L.LEAF_BYTES) / 4;
      writeLeaf(i32, at, of, address);
      f32[at + L.LEAF_SIDE2 / 4] = longestSide2(of, source);
    });
    surface.nodes.forEach((of, n) => {
      for (let k = 0; k < 4; k++) i32[children / 4 + 4 * (node + n) + k] = k < of.length ? number(of[k]!) : NOTHING;
    });
    leaf += surface.leaves.length;
    node += surface.nodes.length;
  });
  i32.set([leaf, node], starts / 4 + 2 * surfaces.length);
}

/** Square of a leaf's longest triangle side, m^2, rounded up. */
function longestSide2({ triangles }: Leaf, { first, rest }: SurfaceSource): number {
  const at = (p: number, r: number): number => Math.fround(rest[3 * (p - first) + r]!);
  let longest = 0;
  for (const corners of triangles)
    corners.forEach((p, k) => {
      const q = corners[(k + 1) % 3]!;
      longest = Math.max(longest, (at(p, 0) - at(q, 0)) ** 2 + (at(p, 1) - at(q, 1)) ** 2 + (at(p, 2) - at(q, 2)) ** 2);
    });
  return longest * (1 + 2 ** -20);
}

function writeLeaf(
  i32: Int32Array,
  at: number,
  { particles, vertices, edges, triangles }: Leaf,
  address: (particle: number) => number,
): void {
  i32.set([particles.length, vertices.length, edges.length, triangles.length], at);
  for (let k = 0; k < 12; k++) i32[at + L.LEAF_PARTICLE / 4 + k] = address(particles[k] ?? particles[0]!);
  vertices.forEach((p, k) => (i32[at + L.LEAF_VERTEX / 4 + k] = address(p)));
  // unused lanes repeat the last primitive
  const lastEdge = edges.at(-1) ?? [particles[0]!, particles[0]!];
  const lastTriangle = triangles.at(-1) ?? [particles[0]!, particles[0]!, particles[0]!];
  for (let k = 0; k < 12; k++)
    for (let c = 0; c < 2; c++) i32[at + L.LEAF_EDGE / 4 + 2 * k + c] = address((edges[k] ?? lastEdge)[c]!);
  for (let k = 0; k < 4; k++)
    for (let c = 0; c < 3; c++) i32[at + L.LEAF_TRIANGLE / 4 + 4 * c + k] = address((triangles[k] ?? lastTriangle)[c]!);
}

function frontOf({ first, count, triangles, rest }: SurfaceSource, edges: Uint32Array): SurfaceFront {
  const primitives: number[][] = [];
  const used = new Uint8Array(count);
  for (let t = 0; t < triangles.length; t += 3) primitives.push([triangles[t]!, triangles[t + 1]!, triangles[t + 2]!]);
  for (const p of triangles) used[p - first] = 1;
  for (let p = 0; p < count; p++) if (!used[p]) primitives.push([first + p]);
  const centers = new Float64Array(3 * primitives.length);
  primitives.forEach((corners, n) => {
    for (const p of corners)
      for (let r = 0; r < 3; r++) centers[3 * n + r]! += Math.fround(rest[3 * (p - first) + r]!) / corners.length;
  });
  const { order, nodes } = shapeTree(centers);
  const leaves = Math.ceil(order.length / 4);
  const wanted = new Set<number>();
  const key = (a: number, b: number): number => Math.min(a, b) * 2 ** 26 + Math.max(a, b);
  for (let e = 0; e < edges.length; e += 2) wanted.add(key(edges[e]!, edges[e + 1]!));
  const taken = new Uint8Array(count);
  const leafAt = (n: number): Leaf => {
    const leaf: Leaf = { particles: [], vertices: [], edges: [], triangles: [] };
    for (const primitive of order.subarray(4 * n, 4 * n + 4)) {
      const corners = primitives[primitive]!;
      if (corners.length === 3) leaf.triangles.push(corners);
      corners.forEach((p, k) => {
        if (!leaf.particles.includes(p)) leaf.particles.push(p);
        if (!taken[p - first]) leaf.vertices.push(p);
        taken[p - first] = 1;
        const q = corners[(k + 1) % corners.length]!;
        if (wanted.delete(key(p, q))) leaf.edges.push([Math.min(p, q), Math.max(p, q)]);
      });
    }
    return leaf;
  };
  const made = Array.from({ length: leaves }, (_, n) => leafAt(n));
  // one leaf needs no node above it
  return {
    leaves: made,
    nodes:
      leaves < 2 ? [] : nodes.map(({ children }) => children.map(({ leaf, index }) => (leaf ? index : leaves + index))),
  };
}
