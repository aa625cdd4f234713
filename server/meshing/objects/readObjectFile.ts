/**
 * A file that somebody dropped -> a surface to simulate and a picture of it: GLB, glTF, OBJ, STL, PLY.
 * What a file is says its content; its ending counts only where the content does not say. Nothing outside the file is
 * read.
 */
import { MeshError } from "../mesh.ts";
import { finishObject } from "./finishObject.ts";
import { OBJECT_LIMITS, ObjectError, ofMeshError, shortened } from "./objectFile.ts";
import type { ObjectFile, ObjectLimits, ObjectNote } from "./objectFile.ts";
import { plainDocument, readObj } from "./readText.ts";

export type { ObjectFile, ObjectLimits, ObjectNote } from "./objectFile.ts";
export { ObjectError } from "./objectFile.ts";

type Format = "obj";

function formatOf(bytes: Uint8Array, fileName: string): Format {
  const ending = /\.([^.]*)$/.exec(fileName.toLowerCase())?.[1];
  if (ending === "obj") return "obj";
  throw new ObjectError("FORMAT_UNKNOWN", {
    where: "ending of the file name",
    value: shortened(ending ?? fileName),
    limit: "one of glb, gltf, obj, stl, ply is needed",
    help: `Its first bytes (${[...bytes.subarray(0, 4)].join(" ")}) are of none of these formats either; export the model as GLB`,
  });
}

/**
 * Reads a file of any format that is known.
 * @param bytes the whole file
 * @param fileName for its ending and for sentences
 * @param limits in place of OBJECT_LIMITS
 * @throws ObjectError; anything else is a defect
 */
export async function readObjectFile(
  bytes: Uint8Array,
  fileName: string,
  limits: Partial<ObjectLimits> = {},
): Promise<ObjectFile> {
  const all = { ...OBJECT_LIMITS, ...limits };
  if (bytes.length > all.bytes)
    throw new ObjectError("TOO_LARGE", {
      where: "size of the file in bytes",
      value: bytes.length,
      limit: `at most ${all.bytes} are allowed`,
      help: "Simplify (decimate) the model, make its textures smaller, or compress it (Draco, meshopt)",
    });
  const notes: ObjectNote[] = [];
  const { document, material } = plainDocument();
  formatOf(bytes, fileName);
  try {
    return await finishObject(document, readObj(fileName, bytes, material, notes), all, notes);
  } catch (error) {
    if (error instanceof MeshError) throw ofMeshError(error, "Export the model again, as GLB if you can");
    throw error;
  }
}
