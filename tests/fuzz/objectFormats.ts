/**
 * Object files that visitors upload, in every format: intact samples, their mutations, and the checks of the outcome.
 */
import { EXTMeshoptCompression, KHRDracoMeshCompression } from "@gltf-transform/extensions";
import type { Document } from "@gltf-transform/core";
import { ObjectError, readObjectFile } from "../../server/meshing/objects/readObjectFile.ts";
import { documentOf, glb, gltf, jsonOf, stlOf } from "../server/meshing/objects/files.ts";
import { box } from "../server/meshing/objects/wildShapes.ts";
import { bent } from "./mutate.ts";
import type { Random } from "./random.ts";

export interface ObjectFormat {
  name: string;
  seeds: readonly Uint8Array[];
  /** Changes values in the JSON; undefined if the bytes have to be damaged instead. */
  mutate: (input: Uint8Array, random: Random) => Uint8Array | undefined;
  /** @returns outcome of the bytes @throws errors other than documented refusals */
  read: (input: Uint8Array) => Promise<"read" | "refused">;
}

/** Small, so that a mutation with a huge count is refused instead of read for a minute. */
const LIMITS = { bytes: 1e6, decodedBytes: 4e6, vertices: 1e5, triangles: 1e5, nodes: 1000, primitives: 1000 };

/** Bones, morph targets, a texture, two nodes, an animation: every feature that a reader has to handle. */
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
/** With a sparse accessor and instances, which glTF-Transform does not write as they are. */
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

const readAs =
  (name: string) =>
  async (input: Uint8Array): Promise<"read" | "refused"> => {
    try {
      const file = await readObjectFile(input, name, LIMITS);
      if (!file.surface.positions.every(Number.isFinite)) throw new Error("a position is not a number");
      const vertices = file.surface.positions.length / 3;
      if (!file.surface.triangles.every((v) => v < vertices)) throw new Error("a corner is not a vertex");
      if (!file.surfaceOfPicture.every((v) => v < vertices)) throw new Error("a picture vertex has no surface vertex");
      return "read";
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error;
      if (!/^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(error.message))
        throw new Error(`the message is not a sentence: ${error.message}`);
      return "refused";
    }
  };

/** The two chunks of a GLB that is intact enough to have them. */
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

/** Parts of such files beside their triangles: texture coordinates, normals, colors, several groups. */
const OBJ =
  "mtllib a.mtl\no one\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 0 0 1 1 1 1\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 -1\n" +
  "usemtl skin\nf 1/1/1 3/3/1 2/2/1\ng two\ns 1\nf 1/1 2/2 4/3\nf -4//-1 -1//-1 -2//-1\nf 2 3 4\n";
const PLY =
  "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\nproperty float ny\n" +
  "property float nz\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float s\nproperty float t\nelement face 4\n" +
  "property list uchar int vertex_indices\nend_header\n0 0 0 0 0 1 255 0 0 0 0\n1 0 0 0 0 1 0 255 0 1 0\n0 1 0 0 0 1 0 0 255 0 1\n" +
  "0 0 1 0 0 1 9 9 9 1 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
const tetrahedron = {
  positions: Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1),
  triangles: Uint32Array.of(0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3),
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
    read: readAs("a.glb"),
  },
  {
    name: "gltf",
    seeds: documents.map(({ json, binary }) => gltf(json, binary)),
    mutate: (input, random) =>
      random.chance(0.3)
        ? undefined
        : attempt(() => Buffer.from(JSON.stringify(bent(JSON.parse(Buffer.from(input).toString()), random)))),
    read: readAs("a.glb"),
  },
  { name: "obj", seeds: [Buffer.from(OBJ)], mutate: () => undefined, read: readAs("a.obj") },
  { name: "ply", seeds: [Buffer.from(PLY)], mutate: () => undefined, read: readAs("a.ply") },
  {
    name: "stl",
    seeds: [stlOf(tetrahedron, false), stlOf(tetrahedron, true)],
    mutate: () => undefined,
    read: readAs("a.stl"),
  },
];
