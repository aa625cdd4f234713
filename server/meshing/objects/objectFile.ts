/** Result of reading an uploaded file, its errors, and the limits for one file. */
import type { REFUSALS } from "../../../shared/scene/objectCodes.ts";
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import type { MeshError } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import type { SurfaceMesh } from "../mesh.ts";

export interface ObjectChoice {
  role: ObjectRole;
  /** Longest side of the object's bounding box, m: 0.02 to 20. */
  size: number;
  /** Limit of particles of the mesh (of vertices for a collider), 50 to 50,000. */
  particles: number;
}

/** An object's surface, its drawable mesh, and the map between them. */
export interface ObjectFile {
  /**
   * Surface for the simulation, in the file's unit, y up: float64[3n] distinct positions, and uint32[3m] triangles with
   * three different corners. It may still be open, flipped or in pieces, as in the file; prepareSurface.ts repairs it.
   */
  surface: SurfaceMesh;
  /**
   * A GLB of one node with one mesh, without transform, animation, skin, camera, light or external URI; textures are
   * embedded, names are cleaned. The POSITIONs of its primitives, in sequence, are the vertices to draw: float32, in
   * the coordinates of `surface`.
   */
  picture: Uint8Array;
  /** uint32[vertices of the picture]: the surface vertex at the same position. */
  surfaceOfPicture: Uint32Array;
  /**
   * Add it to a position here to get the position in the file; nonzero only if the model is far from the file's origin.
   */
  origin: [number, number, number];
  notes: MeshNote[];
}

/**
 * Limits of one file. The defaults allow everything that a page can draw and a builder can read within its deadline.
 */
export interface ObjectLimits {
  /** Size of the file, bytes. */
  bytes: number;
  /** Total size of all accessors after decoding, and of all baked data, bytes. */
  decodedBytes: number;
  /** Size of a glTF's JSON, bytes. */
  jsonBytes: number;
  jsonDepth: number;
  /** Vertices and triangles of all drawn meshes. */
  vertices: number;
  triangles: number;
  nodes: number;
  nodeDepth: number;
  /** Primitives, counting each instance. */
  primitives: number;
  materials: number;
  images: number;
  /** Pixels of one image, and of all. */
  imagePixels: number;
  allPixels: number;
  /** Triangles of the picture; above this it is simplified. */
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
  /** Position in the file: a JSON pointer, a line, a byte, a triangle. */
  where: string;
  value: string | number;
  /** Allowed values. */
  limit: string;
  /** Advice for the author. */
  help: string;
}

/** A refused file. `message` is a sentence for people: position, value, limit and advice. */
export class ObjectError extends Error {
  readonly code: ObjectErrorCode;
  readonly fault: ObjectFault;

  constructor(code: ObjectErrorCode, fault: ObjectFault) {
    const value = shortened(String(fault.value));
    // The position may contain a name from the file.
    const where = printable(fault.where);
    super(`${where} is ${value}, ${fault.limit}. ${fault.help}`);
    this.name = "ObjectError";
    this.code = code;
    this.fault = { ...fault, where, value: typeof fault.value === "number" ? fault.value : value };
  }
}

const SHOWN = 80;

const printable = (text: string): string => text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "?");

/** Makes a string from the file safe for a sentence: printable and short. */
export function shortened(text: string): string {
  const plain = printable(text);
  const cut = [...plain.slice(0, SHOWN)].join("");
  return plain.length > SHOWN ? `${cut}...` : plain;
}

/** Converts an importer's error to an object error. */
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
