/**
 * What a file that somebody dropped becomes, the errors that say why it does not, and the limits that one file is held
 * to.
 */
import type { FILE_NOTES, REFUSALS, SURFACE_NOTES } from "../../../shared/objectCodes.ts";
import type { ObjectRole } from "../../../shared/objectRoles.ts";
import type { MeshError } from "../mesh.ts";
import type { SurfaceMesh } from "../mesh.ts";

/** What was ignored or mended; `code` for programs, `text` a sentence for people. */
export interface ObjectNote {
  code: ObjectNoteCode;
  text: string;
  /** Where, of a surface: x, y, z in parts of its size from the middle of what it stands on. */
  at?: [number, number, number];
}

type ObjectNoteCode = (typeof FILE_NOTES | typeof SURFACE_NOTES)[number];

/** A vertex as notes name its place, to whole percents of the size. @param positions of a surface that stands, m */
export function placeOf(positions: Float64Array, vertex: number, size: number): [number, number, number] {
  const part = (k: number): number => Math.round((100 * positions[3 * vertex + k]!) / size) / 100;
  return [part(0), part(1), part(2)];
}

export const percent = (at: readonly number[]): string =>
  `x, y, z = ${at.map((part) => `${Math.round(100 * part)} %`).join(", ")} of its size`;

export interface ObjectChoice {
  role: ObjectRole;
  /** Longest side of the box around the object, m: 0.02 to 20. */
  size: number;
  /** Most particles of the mesh (of a collider: vertices), 50 to 50,000. */
  particles: number;
}

/** An object's surface, what is drawn of it, and how the two hang together. */
export interface ObjectFile {
  /**
   * The simulation's surface, in the file's unit, y up: float64[3n] positions, one for each place, and uint32[3m]
   * triangles with three different corners. As the file has it otherwise: open, flipped, in pieces; prepareSurface.ts
   * mends it.
   */
  surface: SurfaceMesh;
  /**
   * A GLB of one node with one mesh, without transform, animation, skin, camera, light or external URI; textures are
   * inside, names are clean. The POSITIONs of its primitives, one primitive after another, are the vertices of what is
   * drawn: float32, in the coordinates of `surface`.
   */
  picture: Uint8Array;
  /** uint32[vertices of the picture]: the vertex of the surface at the same place. */
  surfaceOfPicture: Uint32Array;
  /** Added to a position here, it is the file's; not zero only where a file is far from its own origin. */
  origin: [number, number, number];
  notes: ObjectNote[];
}

/** What one file may hold; the defaults let through what a page can draw and a builder can read in its deadline. */
export interface ObjectLimits {
  /** Of the file. */
  bytes: number;
  /** Of all accessors once decoded, and of all that is baked. */
  decodedBytes: number;
  /** Of a glTF's JSON. */
  jsonBytes: number;
  jsonDepth: number;
  /** Vertices and triangles of all that is drawn. */
  vertices: number;
  triangles: number;
  nodes: number;
  nodeDepth: number;
  /** Primitives, after nodes and instances are multiplied out. */
  primitives: number;
  materials: number;
  images: number;
  /** Pixels of one image, and of all. */
  imagePixels: number;
  allPixels: number;
  /** Triangles of the picture: more are simplified. */
  pictureTriangles: number;
}

export const OBJECT_LIMITS: Readonly<ObjectLimits> = {
  bytes: 64 * 1024 * 1024,
  decodedBytes: 256 * 1024 * 1024,
  jsonBytes: 16 * 1024 * 1024,
  jsonDepth: 64,
  vertices: 4_000_000,
  triangles: 4_000_000,
  nodes: 20_000,
  nodeDepth: 256,
  primitives: 10_000,
  materials: 256,
  images: 64,
  imagePixels: 4096 * 4096,
  allPixels: 4 * 4096 * 4096,
  pictureTriangles: 200_000,
};

export type ObjectErrorCode = Exclude<(typeof REFUSALS)[number], "NOT_READ">;

export interface ObjectFault {
  /** Where in the file: a JSON pointer, a line, a byte, a triangle. */
  where: string;
  value: string | number;
  /** What it may be. */
  limit: string;
  /** What the author can do. */
  help: string;
}

/** Why a file is refused. `message` is a sentence for people: where, value, limit, and what helps. */
export class ObjectError extends Error {
  readonly code: ObjectErrorCode;
  readonly fault: ObjectFault;

  constructor(code: ObjectErrorCode, fault: ObjectFault) {
    const value = shortened(String(fault.value));
    // A place may hold a name that stands in the file.
    const where = printable(fault.where);
    super(`${where} is ${value}, ${fault.limit}. ${fault.help}`);
    this.name = "ObjectError";
    this.code = code;
    this.fault = { ...fault, where, value: typeof fault.value === "number" ? fault.value : value };
  }
}

const SHOWN = 80;

const printable = (text: string): string => text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "?");

/** A string of the file as it may stand in a sentence: printable, not long. */
export function shortened(text: string): string {
  const plain = printable(text);
  const cut = [...plain.slice(0, SHOWN)].join("");
  return plain.length > SHOWN ? `${cut}...` : plain;
}

/** An importer's error as an object's. */
export function ofMeshError(error: MeshError, help: string): ObjectError {
  const { line, field, value, limit } = error.fault;
  const where = line === undefined ? field : `line ${line}: ${field}`;
  const code = /^at most /.test(limit)
    ? "TOO_LARGE"
    : /triangle count|triangles with three|^elements$/.test(field)
      ? "NO_TRIANGLES"
      : "FILE_DAMAGED";
  return new ObjectError(code, { where, value, limit, help });
}
