/**
 * Stored form of an object for the simulation: one block of bytes, restored bit for bit. Little-endian:
 *
 *     "PLOB", uint32 version, uint32 vertices, uint32 triangles, uint32 picture vertices, uint32 picture triangles,
 *     float64[3 vertices] surface positions, uint32[3 triangles], uint32[picture vertices] index of the surface
 *     vertex of each picture vertex, uint32[3 picture triangles] of picture vertices
 */
import type { SurfaceMesh } from "./mesh.ts";
import type { ObjectFile } from "./objects/objectFile.ts";

export interface ObjectShape {
  /** Surface in the file's unit of length. */
  surface: SurfaceMesh;
  /** uint32[picture vertices]: the surface vertex at the same position. */
  surfaceOfPicture: Uint32Array;
  /** uint32[3 picture triangles] of picture vertices, primitive after primitive. */
  pictureTriangles: Uint32Array;
}

const MAGIC = Buffer.from("PLOB");
const VERSION = 1;
const HEADER = 24;

const bytesOf = (array: Float64Array | Uint32Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

export function encodeShape({ surface, surfaceOfPicture, pictureTriangles }: ObjectShape): Uint8Array {
  const header = Buffer.alloc(HEADER);
  MAGIC.copy(header);
  const counts = [
    surface.positions.length / 3,
    surface.triangles.length / 3,
    surfaceOfPicture.length,
    pictureTriangles.length / 3,
  ];
  [VERSION, ...counts].forEach((n, i) => header.writeUInt32LE(n, 4 + 4 * i));
  return Buffer.concat([
    header,
    bytesOf(surface.positions),
    bytesOf(surface.triangles),
    bytesOf(surfaceOfPicture),
    bytesOf(pictureTriangles),
  ]);
}

/** @throws Error if the bytes have another format, or refer to a missing vertex */
export function decodeShape(bytes: Uint8Array): ObjectShape {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < HEADER || !file.subarray(0, 4).equals(MAGIC) || file.readUInt32LE(4) !== VERSION)
    throw new Error("the object's shape has an unknown format, or is damaged");
  const [vertices, triangles, pictured, drawn] = [8, 12, 16, 20].map((at) => file.readUInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ];
  if (file.length !== HEADER + 24 * vertices + 12 * triangles + 4 * pictured + 12 * drawn)
    throw new Error("the object's shape is incomplete");
  let at = HEADER;
  // Copies: a Buffer's memory may be unaligned for typed arrays.
  const take = <T extends Float64Array | Uint32Array>(array: T): T => {
    file.copy(bytesOf(array), 0, at, at + array.byteLength);
    at += array.byteLength;
    return array;
  };
  const shape = {
    surface: { positions: take(new Float64Array(3 * vertices)), triangles: take(new Uint32Array(3 * triangles)) },
    surfaceOfPicture: take(new Uint32Array(pictured)),
    pictureTriangles: take(new Uint32Array(3 * drawn)),
  };
  const within = (indices: Uint32Array, count: number): boolean => indices.every((index) => index < count);
  if (
    !within(shape.surface.triangles, vertices) ||
    !within(shape.surfaceOfPicture, vertices) ||
    !within(shape.pictureTriangles, pictured)
  )
    throw new Error("the object's shape refers to a missing vertex");
  return shape;
}

/** Converts to the file reader's result; the drawable data stays in the stored picture. */
export const fileOf = ({ surface, surfaceOfPicture }: ObjectShape): ObjectFile => ({
  surface,
  surfaceOfPicture,
  picture: new Uint8Array(0),
  origin: [0, 0, 0],
  notes: [],
});
