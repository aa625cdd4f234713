/**
 * Mesh types that importers, generators and the tetrahedralizer share, the error they throw, and the limits they hold.
 *
 * Orientation of a tetrahedron (x1 x2 x3 x4), everywhere in the server: det(x1 - x4, x2 - x4, x3 - x4) = 6 volume > 0,
 * which is the D_m of the energy constraints. Its outward faces are then (1 2 3) (2 4 3) (1 3 4) (1 4 2).
 * Surfaces are oriented outwards: counter-clockwise seen from outside.
 */

/** Triangles in space. */
export interface SurfaceMesh {
  /** float64[3*V], in the unit of the file; m once placed. */
  positions: Float64Array;
  /** uint32[3*T], corners of each triangle, counter-clockwise. */
  triangles: Uint32Array;
  /** uint32[V]: the vertex's place (from 0) in the file or mesh it came from. Absent: the same order. */
  origin?: Uint32Array;
}

/** Tetrahedra in space, each with positive volume. */
export interface TetMesh {
  /** float64[3*V] */
  positions: Float64Array;
  /** uint32[4*N] */
  tets: Uint32Array;
  /** uint32[V]: the vertex's place (from 0) in the file or mesh it came from. Absent: the same order. */
  origin?: Uint32Array;
}

/** What a mesh file holds: tetrahedra where it has any, its triangles otherwise. */
export type LoadedMesh = { kind: "surface"; surface: SurfaceMesh } | { kind: "tets"; tets: TetMesh };

/**
 * Most vertices of one mesh. The largest that the server is asked for is about 120,000 (100 armadillos);
 * 4 million vertices are 96 MB of positions, which one hostile file may cost us and no more.
 */
export const MAX_VERTICES = 4_000_000;
/** Most triangles or tetrahedra of one mesh; about two per vertex for a surface, six for a volume. */
export const MAX_ELEMENTS = 8_000_000;
/** Most corners of one polygon; a longer one is a broken count, not a face. */
export const MAX_POLYGON = 1024;
/**
 * Most bytes of one mesh file, after decompression. Level 2 of the dragon is 7 MB; 4 million vertices as text are about
 * 250 MB.
 */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/**
 * A tetrahedron whose volume is at most this part of its longest edge cubed is degenerate; a regular one has 0.118.
 * Rounding of float64 coordinates gives about 1e-16 times the distance from the origin over the edge; 1e-10 leaves room
 * for a body a thousand times further from the origin than its elements are long, and is far below any usable sliver
 * (1e-4).
 */
export const DEGENERATE_VOLUME = 1e-10;
/** The same for a triangle: area over longest edge squared; an equilateral one has 0.433. */
export const DEGENERATE_AREA = 1e-10;

/** What is wrong with a mesh, and where. */
export interface MeshFault {
  /** File name, or what was being made. */
  file: string;
  /** Line of a text file, from 1. */
  line?: number;
  /** Which field is wrong. */
  field: string;
  /** What it holds. */
  value: string | number;
  /** What it may hold. */
  limit: string;
}

/** A mesh that cannot be used. The message names file, line, field, value and limit; `fault` has them one by one. */
export class MeshError extends Error {
  readonly fault: MeshFault;

  /** @param cause a code: of all that an error has beside its message, this alone comes through to another thread */
  constructor(fault: MeshFault, cause?: string) {
    const place = fault.line === undefined ? fault.file : `${fault.file}:${fault.line}`;
    super(`${place}: ${fault.field} is ${fault.value}, ${fault.limit}`, cause === undefined ? undefined : { cause });
    this.name = "MeshError";
    this.fault = fault;
  }
}
