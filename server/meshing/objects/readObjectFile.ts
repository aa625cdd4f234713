/**
 * Reads an uploaded file into a surface for the simulation and a picture: GLB, glTF, OBJ, STL, PLY. The content
 * determines the format; the extension counts only if the content is ambiguous. Nothing outside the file is read.
 */
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { MeshError } from "../mesh.ts";
import type { ReadSurface } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { inUtf8 } from "../importers/textMesh.ts";
import { finishObject, surfaceOfParts } from "./finishObject.ts";
import { isGlb } from "./gltf/gltfContainer.ts";
import { OBJECT_LIMITS, ObjectError, ofMeshError, shortened } from "./objectFile.ts";
import type { ObjectFile, ObjectLimits } from "./objectFile.ts";
import { readGltf } from "./gltf/readGltf.ts";
import { plainDocument, readObj, readPly, readStl } from "./readText.ts";

export type { ObjectFile, ObjectLimits } from "./objectFile.ts";
export { ObjectError } from "./objectFile.ts";

type Format = "gltf" | "obj" | "stl" | "ply";
const ENDINGS: Record<string, Format> = { glb: "gltf", gltf: "gltf", obj: "obj", stl: "stl", ply: "ply" };

function formatOf(bytes: Uint8Array, fileName: string): Format {
  if (isGlb(bytes)) return "gltf";
  const head = Buffer.from(inUtf8(bytes.subarray(0, 256))).toString("latin1");
  if (/^ply\s/.test(head)) return "ply";
  const ending = /\.([^.]*)$/.exec(fileName.toLowerCase())?.[1] ?? "";
  if (Object.hasOwn(ENDINGS, ending)) return ENDINGS[ending]!;
  if (/^\s*\{/.test(head)) return "gltf";
  if (/^\s*solid\s/i.test(head)) return "stl";
  throw new ObjectError("FORMAT_UNKNOWN", {
    where: "extension of the file name",
    value: shortened(ending) || "missing",
    limit: "one of glb, gltf, obj, stl, ply is needed",
    help: "Export the model as GLB",
  });
}

/** Unpacks a gzip file, up to the size limit of plain files. */
function unpacked(bytes: Uint8Array, limits: ObjectLimits): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.bytes });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new ObjectError(tooLarge ? "TOO_LARGE" : "FILE_DAMAGED", {
      where: "content of the gzip file",
      value: tooLarge ? "larger when unpacked" : shortened((error as Error).message),
      limit: tooLarge ? `at most ${limits.bytes} bytes are allowed` : "a complete gzip file is needed",
      help: "Simplify the model, or upload it without gzip",
    });
  }
}

/**
 * Reads a file of any supported format.
 * @param bytes the whole file
 * @param fileName for its extension and for messages
 * @param limits replace those of OBJECT_LIMITS
 * @throws ObjectError; any other error is a defect
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
  const content = unpacked(bytes, all);
  const notes: MeshNote[] = [];
  const format = formatOf(content, fileName.replace(/\.gz$/i, ""));
  try {
    if (format === "gltf") {
      const { document, parts } = await readGltf(content, all, notes);
      return await finishObject(document, parts, all, notes);
    }
    const { document, material } = plainDocument();
    const parts =
      format === "obj"
        ? readObj(fileName, content, material, notes)
        : format === "stl"
          ? readStl(fileName, content, material, notes)
          : readPly(fileName, content, material, notes);
    return await finishObject(document, parts, all, notes);
  } catch (error) {
    if (error instanceof MeshError) throw ofMeshError(error, "Export the model again, as GLB if you can");
    throw error;
  }
}

/** Reads only the surface of a glTF. @throws ObjectError */
export async function readGltfSurface(bytes: Uint8Array): Promise<ReadSurface> {
  const notes: MeshNote[] = [];
  const { parts } = await readGltf(bytes, OBJECT_LIMITS, notes);
  return { ...surfaceOfParts(parts, OBJECT_LIMITS, notes), precision: 0, notes };
}
