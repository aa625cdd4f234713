/** Files that strangers drop, as GLB and glTF: what is whole, how it is bent, and what has to hold of the outcome. */
import { EXTMeshoptCompression, KHRDracoMeshCompression } from "@gltf-transform/extensions";
import type { Document } from "@gltf-transform/core";
import { ObjectError, readObjectFile } from "../../server/meshing/objects/readObjectFile.ts";
import { documentOf, glb, gltf, jsonOf } from "../server/meshing/objects/files.ts";
import { box } from "../server/meshing/objects/wildShapes.ts";
import { bent } from "./mutate.ts";
import type { Random } from "./random.ts";

export interface ObjectFormat {
  name: string;
  seeds: readonly Uint8Array[];
  /** Other values in the JSON; undefined where the bytes are to be damaged. */
  mutate: (input: Uint8Array, random: Random) => Uint8Array | undefined;
  /** @returns what became of the bytes @throws whatever is no documented refusal */
  read: (input: Uint8Array) => Promise<"read" | "refused">;
}

/** Small, so that what is bent into something large is refused instead of read for a minute. */
const LIMITS = { bytes: 1e6, decodedBytes: 4e6, vertices: 1e5, triangles: 1e5, nodes: 1000, primitives: 1000 };

/** Bones, morph targets, a texture, two nodes, an animation: whatever a reader has to look at. */
function rich(): Document {
  const made = documentOf(box(1, 1, 1));
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const texture = made.document.createTexture().setImage(Buffer.from(png, "base64")).setMimeType("image/png");
  const material = made.document.createMaterial("skin").setBaseColorTexture(texture).setAlphaMode("MASK");
  const joint = made.document.createNode().setTranslation([0, 1, 0]);
  const skin = made.document.createSkin().addJoint(joint);
  made.document.createAnimation();
  made.primitive
    .setMaterial(material)
    .setAttribute("NORMAL", made.accessor("VEC3", new Float32Array(24).fill(0.577)))
    .setAttribute("TEXCOORD_0", made.accessor("VEC2", new Float32Array(16)))
    .setAttribute("JOINTS_0", made.accessor("VEC4", new Uint8Array(32)))
    .setAttribute("WEIGHTS_0", made.accessor("VEC4", new Float32Array(32).fill(0.25)))
    .addTarget(
      made.document.createPrimitiveTarget().setAttribute("POSITION", made.accessor("VEC3", new Float32Array(24))),
    );
  made.mesh.setWeights([0.5]);
  made.scene.addChild(joint);
  made.scene.addChild(made.document.createNode().setMesh(made.mesh).setSkin(skin).setScale([-1, 2, 1]));
  return made.document;
}

function compressed(extension: typeof KHRDracoMeshCompression | typeof EXTMeshoptCompression): Document {
  const { document } = documentOf(box(1, 1, 1));
  document.createExtension<InstanceType<typeof KHRDracoMeshCompression | typeof EXTMeshoptCompression>>(extension);
  return document;
}

const documents = await Promise.all(
  [rich(), compressed(KHRDracoMeshCompression), compressed(EXTMeshoptCompression)].map(jsonOf),
);
/** With a sparse accessor and instances, which glTF-Transform writes otherwise. */
{
  const { json } = documents[0]!;
  const position = json.meshes[0].primitives[0].attributes.POSITION;
  json.accessors[position].sparse = {
    count: 1,
    indices: { bufferView: json.accessors[json.meshes[0].primitives[0].indices].bufferView, componentType: 5125 },
    values: { bufferView: json.accessors[position].bufferView },
  };
  json.nodes[0].extensions = { EXT_mesh_gpu_instancing: { attributes: { TRANSLATION: position } } };
  json.extensionsUsed = ["EXT_mesh_gpu_instancing"];
}

const read = async (input: Uint8Array): Promise<"read" | "refused"> => {
  try {
    const file = await readObjectFile(input, "a.glb", LIMITS);
    if (!file.surface.positions.every(Number.isFinite)) throw new Error("a position that is no number");
    const vertices = file.surface.positions.length / 3;
    if (!file.surface.triangles.every((v) => v < vertices)) throw new Error("a corner that is none");
    if (!file.surfaceOfPicture.every((v) => v < vertices)) throw new Error("a place that is none");
    return "read";
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    if (!/^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(error.message))
      throw new Error(`a sentence that is none: ${error.message}`);
    return "refused";
  }
};

/** The two chunks of a GLB that is whole enough to have them. */
function chunksOf(input: Uint8Array): { json: unknown; binary: Uint8Array } {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const end = 20 + view.getUint32(12, true);
  return { json: JSON.parse(Buffer.from(input.subarray(20, end)).toString()), binary: input.subarray(end + 8) };
}

const attempt = (make: () => Uint8Array): Uint8Array | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};

export const OBJECT_FORMATS: readonly ObjectFormat[] = [
  {
    name: "glb",
    seeds: documents.map(({ json, binary }) => glb(json, binary)),
    mutate: (input, random) =>
      random.chance(0.3)
        ? undefined
        : attempt(() => {
            const { json, binary } = chunksOf(input);
            return glb(bent(json, random), binary);
          }),
    read,
  },
  {
    name: "gltf",
    seeds: documents.map(({ json, binary }) => gltf(json, binary)),
    mutate: (input, random) =>
      random.chance(0.3)
        ? undefined
        : attempt(() => Buffer.from(JSON.stringify(bent(JSON.parse(Buffer.from(input).toString()), random)))),
    read,
  },
];
