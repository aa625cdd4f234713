/**
 * Converts an uploaded file to a shape to simulate and a picture to draw, each named by its content. Runs in a builder
 * thread, so a harmful file affects no other thread.
 */
import { createHash } from "node:crypto";
import { Logger, WebIO } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import { ObjectError } from "../../meshing/objects/objectFile.ts";
import { readObjectFile } from "../../meshing/objects/readObjectFile.ts";
import { encodeShape } from "../../meshing/objectShape.ts";
import type { ObjectRefusal, ReadObjectResult, ReadObjectTask } from "../../workers/messages.ts";

/** Largest number of reported notes about one file. */
const MOST_NOTES = 32;

/** @throws any error that is our own defect */
export async function readObject({ bytes, name, beganMs }: ReadObjectTask): Promise<ReadObjectResult | ObjectRefusal> {
  if (beganMs) {
    const { user, system } = process.threadCpuUsage();
    beganMs[0] = (user + system) / 1000;
  }
  const startMs = performance.now();
  try {
    const { surface, picture, surfaceOfPicture, notes } = await readObjectFile(bytes, name);
    const { pictureTriangles, materials, textures } = await lookAt(picture);
    const shape = encodeShape({ surface, surfaceOfPicture, pictureTriangles });
    return {
      id: createHash("sha256").update(shape).update(picture).digest("hex"),
      shape: shared(shape),
      picture: shared(picture),
      about: {
        triangles: surface.triangles.length / 3,
        drawnTriangles: pictureTriangles.length / 3,
        materials,
        textures,
        box: boxOf(surface.positions),
        notes: notes.slice(0, MOST_NOTES),
      },
      seconds: (performance.now() - startMs) / 1000,
    };
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    const { code, fault, message } = error;
    return { refused: { code, message, ...fault } };
  }
}

/**
 * Copies bytes into memory that all threads share: the main thread passes it to the store and to builders without a
 * copy.
 */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

/** Triangles of a picture, as vertex numbers, and its numbers of materials and textures. */
async function lookAt(
  picture: Uint8Array,
): Promise<{ pictureTriangles: Uint32Array; materials: number; textures: number }> {
  const io = new WebIO().registerExtensions(ALL_EXTENSIONS).setLogger(new Logger(Logger.Verbosity.SILENT));
  const root = (await io.readBinary(picture)).getRoot();
  const primitives = root.listMeshes().flatMap((mesh) => mesh.listPrimitives());
  const corners = primitives.map((primitive) => primitive.getIndices()!.getArray()!);
  const pictureTriangles = new Uint32Array(corners.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let first = 0;
  for (const [p, primitive] of primitives.entries()) {
    for (const vertex of corners[p]!) pictureTriangles[at++] = first + vertex;
    first += primitive.getAttribute("POSITION")!.getCount();
  }
  return { pictureTriangles, materials: root.listMaterials().length, textures: root.listTextures().length };
}

function boxOf(positions: Float64Array): [number, number, number] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
    high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
  }
  return [0, 1, 2].map((r) => high[r]! - low[r]!) as [number, number, number];
}
