/**
 * Mesh types, limits and errors shared by importers, generators and the tetrahedralizer.
 *
 * Orientation of a tetrahedron (x1 x2 x3 x4), everywhere in the server: det(x1 - x4, x2 - x4, x3 - x4) = 6 volume > 0.
 * The matrix is the D_m of the energy constraints. The outward faces are then (1 2 3) (2 4 3) (1 3 4) (1 4 2). Surfaces
 * are oriented outwards: counter-clockwise seen from outside.
 */

import type { MeshNote } from "./meshNotes.ts";

/** Triangles in space. */
export interface SurfaceMesh {
  /** float64[3*V], in the unit of the file; m once placed. */
  positions: Float64Array;
  /** uint32[3*T], corners of each triangle, counter-clockwise. */
  triangles: Uint32Array;
  /** uint32[V]: the vertex's index (from 0) in the file or mesh it came from. Absent: the same order. */
  origin?: Uint32Array;
  /** Indices in the file of vertices that became part of another one: from each to that one. Absent: none. */
  merged?: ReadonlyMap<number, number>;
}

/** A surface as a file has it. */
export interface ReadSurface extends SurfaceMesh {
  /** Largest rounding error of a position in the file, in its unit. */
  precision: number;
  notes: MeshNote[];
}

/** Tetrahedra in space, each with positive volume. */
export interface TetMesh {
  /** float64[3*V] */
  positions: Float64Array;
  /** uint32[4*N] */
  tets: Uint32Array;
  /** uint32[V]: the vertex's index (from 0) in the file or mesh it came from. Absent: the same order. */
  origin?: Uint32Array;
}

/** Content of a mesh file: tetrahedra if it has any, its triangles otherwise. */
export type LoadedMesh = { kind: "surface"; surface: SurfaceMesh } | { kind: "tets"; tets: TetMesh };

/**
 * Limit of vertices of one mesh. The largest supported scene has about 120,000 (100 armadillos); 4 million vertices are
 * 96 MB of positions, the most that one hostile file may cost.
 */
export const MAX_VERTICES = 4_000_000;
/** Limit of triangles or tetrahedra of one mesh; about two per vertex for a surface, six for a volume. */
export const MAX_ELEMENTS = 8_000_000;
/** Limit of corners of one polygon; a larger count indicates a broken file. */
export const MAX_POLYGON = 1024;
/**
 * Limit of a mesh file's size after decompression, bytes. Level 2 of the dragon is 7 MB; 4 million vertices as text are
 * about 250 MB.
 */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/**
 * Threshold for degenerate tetrahedra: volume over longest edge cubed. A regular one has 0.118. Rounding of float64
 * coordinates gives about 1e-16 times the distance from the origin over the edge. 1e-10 allows bodies a thousand times
 * further from the origin than their elements are long, and is far below any usable sliver (1e-4).
 */
export const DEGENERATE_VOLUME = 1e-10;
/** Least shape of a triangle: area over longest edge squared; an equilateral one has 0.433. */
export const DEGENERATE_AREA = 1e-10;

/** Details of a mesh error. */
export interface MeshFault {
  /** File name, or name of the generator. */
  file: string;
  /** Line of a text file, from 1. */
  line?: number;
  /** Name of the invalid field. */
  field: string;
  /** Its value. */
  value: string | number;
  /** Its allowed values. */
  limit: string;
}

/** An unusable mesh. The message names file, line, field, value and limit; `fault` has them as fields. */
export class MeshError extends Error {
  readonly fault: MeshFault;

  /** @param cause a code; apart from the message it is the only part of the error that reaches other threads */
  constructor(fault: MeshFault, cause?: string) {
    const place = fault.line === undefined ? fault.file : `${fault.file}:${fault.line}`;
    super(`${place}: ${fault.field} is ${fault.value}, ${fault.limit}`, cause === undefined ? undefined : { cause });
    this.name = "MeshError";
    this.fault = fault;
  }
}
