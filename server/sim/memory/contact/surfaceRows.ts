/**
 * Plans one SURFACE row for every body and, after them, for every collider's core mesh, with its triangles, edges and
 * contact partners. Undeformed positions distinguish a fold from a fine mesh.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { Allocator } from "../memoryMap.ts";
import { centersOf, planTree, shapeTree, type PlannedTree } from "./trees.ts";

/**
 * Rows of the list of intersections: a layer that passes through another everywhere crosses it at most once per edge,
 * which is 3 times per particle.
 */
const INTERSECTIONS_PER_PARTICLE = 3;
const LEAST_INTERSECTIONS = 4096;

/** SURFACE_SOLID by kind. */
export const SOLID = {
  cloth: L.SOLID_CLOTH,
  soft: L.SOLID_SOFT,
  ball: L.SOLID_BALL,
  // Points have no triangles, so nothing is inside of them.
  points: L.SOLID_SOFT,
  collider: L.SOLID_COLLIDER,
} as const;

/** One surface, in particle numbers of the room. */
export interface SurfaceSource {
  /** First particle, and number of particles. Particles after these may belong to the body but not to the surface. */
  first: number;
  count: number;
  /** uint32[3T] */
  triangles: Uint32Array;
  /** uint32[2E]; absent: all edges of the triangles. */
  edges?: Uint32Array;
  /** Contact thickness: this surface's part of the contact distance, m. */
  radius: number;
  solid: (typeof SOLID)[keyof typeof SOLID];
  /** True for the core mesh of an analytic collider: particles meet the exact shape. */
  shaped?: boolean;
  /**
   * True if the collider is also large and round compared with the bodies' edges: its core then pushes nothing
   * (colliders/smooth.ts).
   */
  smooth?: boolean;
  /** True for the core mesh of a collider without motion. */
  still?: boolean;
  /** Coulomb coefficients and the coefficient of restitution; a pair uses the geometric mean. */
  staticFriction: number;
  friction: number;
  restitution: number;
  /** float64[3N], N >= count: undeformed positions from `first` on, as placed, m. */
  rest: Float64Array;
  /** False if its own primitives never come near each other: a rigid body, a core mesh. */
  touchesItself: boolean;
}

/** Whether two surfaces, by number, may touch. Called for a < b. */
export type Meets = (a: number, b: number) => boolean;

export interface PlannedSurfaces {
  /** Address of the first row, and number of rows. */
  rows: number;
  count: number;
  /** Edges of each surface, uint32[2E]. */
  edges: Uint32Array[];
  /** Whether any two of them, or one with itself, may ever meet. */
  anyMeet: boolean;
  /**
   * Writes rows, tables and the header's fields.
   * @param x address of the room's positions
   */
  write: (buffer: ArrayBufferLike, x: number) => void;
}

/**
 * A body's surface.
 * @param first its first particle in the room
 */
export function bodySurface(body: BodyTemplate, first: number): SurfaceSource {
  return {
    first,
    count: body.streamedCount,
    triangles: body.triangles.map((p) => first + p),
    radius: body.contactRadius,
    solid: SOLID[body.kind],
    staticFriction: body.touch.staticFriction,
    friction: body.friction,
    restitution: body.touch.restitution,
    rest: body.positions,
    touchesItself: body.touch.self,
  };
}

/**
 * Every edge of the triangles, once.
 * @returns uint32[2E], lower particle number first, sorted by the lower, then the higher one: the same for any order of
 * the triangles
 */
export function uniqueEdges(triangles: Uint32Array): Uint32Array {
  const keys = new Float64Array(triangles.length);
  for (let i = 0; i < triangles.length; i++) {
    const a = triangles[i]!;
    const b = triangles[i % 3 === 2 ? i - 2 : i + 1]!;
    keys[i] = Math.min(a, b) * 2 ** 26 + Math.max(a, b); // 2 GiB hold fewer than 2^26 particles of 5 rows
  }
  keys.sort();
  const edges = new Uint32Array(2 * keys.length);
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 && keys[i] === keys[i - 1]) continue;
    edges[2 * count] = Math.floor(keys[i]! / 2 ** 26);
    edges[2 * count + 1] = keys[i]! % 2 ** 26;
    count++;
  }
  return edges.slice(0, 2 * count);
}

function planTrees(
  { first, triangles, rest: exact }: SurfaceSource,
  edges: Uint32Array,
  allocator: Allocator,
): [PlannedTree, PlannedTree] {
  // float32 as in memory: a scene's origin must not decide a tie
  const rest = exact.map(Math.fround);
  const ofTriangles = { primitives: triangles, corners: 3, rest, first } as const;
  const ofEdges = { primitives: edges, corners: 2, rest, first } as const;
  const triangleShape = shapeTree(centersOf(ofTriangles));
  const edgeShape = shapeTree(centersOf(ofEdges));
  return [planTree(ofTriangles, triangleShape, allocator), planTree(ofEdges, edgeShape, allocator)];
}

/** A surface and its addresses. */
interface PlannedSurface {
  source: SurfaceSource;
  edges: Uint32Array;
  triangleTable: number;
  edgeTable: number;
  meetsTable: number;
  /** Trees of triangles and of edges; absent if nothing ever meets. */
  trees?: [PlannedTree, PlannedTree];
}

function planSurface(source: SurfaceSource, count: number, anyMeet: boolean, allocator: Allocator): PlannedSurface {
  const edges = source.edges ?? uniqueEdges(source.triangles);
  return {
    source,
    edges,
    triangleTable: allocator.take(4 * source.triangles.length),
    edgeTable: allocator.take(4 * edges.length),
    meetsTable: allocator.take(count),
    ...(anyMeet && { trees: planTrees(source, edges, allocator) }),
  };
}

/**
 * Allocates memory for all surfaces; the result's `write` fills it later.
 * @param sources bodies first, in body order, then core meshes
 * @param particles number in the room, padding included
 * @param meets the scene's filters; default: everything meets everything
 */
export function planSurfaces(
  sources: readonly SurfaceSource[],
  particles: number,
  allocator: Allocator,
  meets: Meets = () => true,
): PlannedSurfaces {
  const count = sources.length;
  const rows = allocator.take(count * L.SURFACE_BYTES);
  const rest = allocator.take(16 * particles);
  const numbers = sources.map((_, n) => n);
  const ofCollider = (n: number): boolean => sources[n]!.solid === SOLID.collider;
  const mayMeet = (a: number, b: number): boolean =>
    a === b ? sources[a]!.touchesItself : meets(Math.min(a, b), Math.max(a, b));
  const anyMeet = numbers.some((a) => !ofCollider(a) && numbers.some((b) => mayMeet(a, b)));
  const planned = sources.map((source) => planSurface(source, count, anyMeet, allocator));
  const intersections = anyMeet
    ? INTERSECTIONS_PER_PARTICLE * sources.reduce((n, s) => n + s.count, 0) + LEAST_INTERSECTIONS
    : 0;
  const header: [number, number][] = [
    [L.H_SURFACE, rows],
    [L.H_SURFACE_COUNT, count],
    [L.H_REST, rest],
    [L.H_INTERSECTIONS, allocator.take(intersections * L.INTERSECTION_BYTES)],
    [L.H_INTERSECTION_CAPACITY, intersections],
    [L.H_SEPARATIONS, allocator.take(L.SEPARATION_COUNT * L.SEPARATION_BYTES)],
  ];
  return {
    rows,
    count,
    edges: planned.map((p) => p.edges),
    anyMeet,
    write(buffer, x) {
      const i32 = new Int32Array(buffer);
      for (const [offset, value] of header) i32[(L.HEADER + offset) / 4] = value;
      planned.forEach((surface, n) => {
        writeSurface(buffer, x, rows + n * L.SURFACE_BYTES, rest, surface);
        const flags = new Uint8Array(buffer, surface.meetsTable, count);
        for (let m = 0; m < count; m++) flags[m] = mayMeet(n, m) ? 1 : 0;
      });
    },
  };
}

/** Writes the row of a surface, its tables and trees, and its particles at rest. */
function writeSurface(
  buffer: ArrayBufferLike,
  x: number,
  row: number,
  rest: number,
  { source, edges, triangleTable, edgeTable, meetsTable, trees }: PlannedSurface,
): void {
  const i32 = new Int32Array(buffer);
  const f32 = new Float32Array(buffer);
  const address = (particle: number): number => x + 16 * particle;
  const at = row / 4;
  i32.set([address(source.first), source.count, triangleTable, source.triangles.length / 3], at);
  i32.set([source.solid, edgeTable, edges.length / 2], at + L.SURFACE_SOLID / 4);
  i32.set([trees?.[0].row ?? 0, trees?.[1].row ?? 0, meetsTable], at + L.SURFACE_TRIANGLE_TREE / 4);
  for (const tree of trees ?? []) tree.write(buffer, x);
  i32[at + L.SURFACE_SHAPED / 4] = source.smooth ? L.SHAPED_SMOOTH : source.shaped ? L.SHAPED : 0;
  i32[at + L.SURFACE_STILL / 4] = source.still ? 1 : 0;
  f32[at + L.SURFACE_RADIUS / 4] = source.radius;
  f32[at + L.SURFACE_STATIC / 4] = Math.sqrt(source.staticFriction);
  f32[at + L.SURFACE_DYNAMIC / 4] = Math.sqrt(source.friction);
  f32[at + L.SURFACE_RESTITUTION / 4] = Math.sqrt(source.restitution);
  i32.set(source.triangles.map(address), triangleTable / 4);
  i32.set(edges.map(address), edgeTable / 4);
  for (let k = 0; k < source.rest.length; k++)
    f32[rest / 4 + 4 * (source.first + Math.floor(k / 3)) + (k % 3)] = source.rest[k]!;
}
