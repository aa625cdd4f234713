/** Broken and hostile files are refused with code, place, value and limit, before they cost time or memory. */
import { gzipSync } from "node:zlib";
import { WebIO } from "@gltf-transform/core";
import { KHRDracoMeshCompression } from "@gltf-transform/extensions";
import { expect, test } from "vitest";
import { ObjectError, readObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";
import { simplifySurface } from "../../../../server/meshing/objects/simplify.ts";
import { documentOf, glb, jsonOf, objOf } from "./files.ts";
import { box } from "./wildShapes.ts";

const cube = box(1, 1, 1);
const { json: SOUND, binary: BINARY } = await jsonOf(documentOf(cube).document);
type Json = Record<string, any>;
const position = SOUND.meshes[0].primitives[0].attributes.POSITION as number;
/** The cube as GLB, with an error in its JSON, or with a text in place of the JSON. */
const bent =
  (bend: (json: Json) => unknown, binary: Uint8Array = BINARY) =>
  (): Uint8Array => {
    const json = structuredClone(SOUND);
    const made = bend(json);
    return glb(typeof made === "string" && made.startsWith("{") ? made : json, binary);
  };
const text = (content: string) => (): Uint8Array => Buffer.from(content);
const nan = Buffer.from(BINARY);
{
  const accessor = SOUND.accessors[position];
  nan.writeFloatLE(
    Number.NaN,
    (SOUND.bufferViews[accessor.bufferView].byteOffset ?? 0) + (accessor.byteOffset ?? 0) + 16,
  );
}
/** A PNG of 65,535 x 65,535 in 33 bytes: only its header. */
const hugePng = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from("IHDR"),
  Buffer.from([0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 8, 6, 0, 0, 0, 0, 0, 0, 0]),
]);
const dataUri = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
const textured = (image: Json, texture: Json = { source: 0 }) =>
  bent((json) => {
    json.images = [image];
    json.textures = [texture];
    json.materials = [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }];
    json.meshes[0].primitives[0].material = 0;
  });
const draco = async (change: (json: Json, binary: Uint8Array) => void): Promise<Uint8Array> => {
  const { document } = documentOf(cube);
  document.createExtension(KHRDracoMeshCompression).setRequired(true);
  const { json, binary } = await jsonOf(document);
  change(json, binary);
  return glb(json, binary);
};
const dracoView = (json: Json): Json =>
  json.bufferViews[json.meshes[0].primitives[0].extensions.KHR_draco_mesh_compression.bufferView];
const plyHead = (vertices: number, faces: number): string =>
  `ply\nformat ascii 1.0\nelement vertex ${vertices}\nproperty float x\nproperty float y\nproperty float z\nelement face ${faces}\nproperty list uchar int vertex_indices\nend_header\n`;

const CASES: [string, string, () => Uint8Array | Promise<Uint8Array>, string, RegExp][] = [
  ["an unknown ending", "a.fbx", text("Kaydara FBX Binary"), "FORMAT_UNKNOWN", /extension of the file name is fbx/],
  ["no ending", "model", text("hello"), "FORMAT_UNKNOWN", /missing/],
  ["an empty file", "a.glb", text(""), "FILE_DAMAGED", /JSON/],
  ["a file above the limit", "a.obj", () => new Uint8Array(1_000_001), "TOO_LARGE", /1000001, at most 1000000/],
  ["a gzip bomb", "a.obj.gz", () => gzipSync(new Uint8Array(2_000_000)), "TOO_LARGE", /gzip/],
  ["half a gzip file", "a.obj.gz", () => gzipSync(objOf(cube)).subarray(0, 60), "FILE_DAMAGED", /gzip/],
  [
    "a GLB that ends early",
    "a.glb",
    () => bent(() => {})().subarray(0, 400),
    "FILE_DAMAGED",
    /length in the GLB's header/,
  ],
  [
    "a GLB of version 1",
    "a.glb",
    () => Buffer.from(Uint32Array.of(0x46546c67, 1, 20, 0, 0).buffer),
    "NOT_SUPPORTED",
    /version/,
  ],
  ["glTF 1.0", "a.glb", bent((json) => (json.asset.version = "1.0")), "NOT_SUPPORTED", /\/asset\/version/],
  ["deep JSON", "a.gltf", text(`{"asset":${"[".repeat(90_000)}${"]".repeat(90_000)}}`), "TOO_LARGE", /nesting/],
  ["invalid JSON", "a.gltf", text('{"asset":'), "FILE_DAMAGED", /JSON/],
  ["a list for an object", "a.gltf", text("[]"), "FILE_DAMAGED", /object is needed/],
  [
    "an attribute with the name of a prototype",
    "a.glb",
    bent((json) => {
      json.meshes[0].primitives[0].attributes = JSON.parse('{"__proto__":0,"POSITION":0}');
    }),
    "FILE_DAMAGED",
    /\/meshes\/0\/primitives\/0\/attributes is __proto__/,
  ],
  [
    "an external buffer",
    "a.gltf",
    bent((json) => (json.buffers[0].uri = "../../etc/passwd")),
    "EXTERNAL_URI",
    /\/buffers\/0\/uri is ..\/..\/etc\/passwd/,
  ],
  ["an external image", "a.glb", textured({ uri: "http://169.254.169.254/x.png" }), "EXTERNAL_URI", /\/images\/0\/uri/],
  [
    "an unknown required extension",
    "a.glb",
    bent((json) => (json.extensionsRequired = ["EVIL_mesh"])),
    "NOT_SUPPORTED",
    /EVIL_mesh/,
  ],
  [
    "a buffer longer than the file",
    "a.glb",
    bent((json) => (json.buffers[0].byteLength = 1e6)),
    "FILE_DAMAGED",
    /\/buffers\/0\/byteLength is 1000000/,
  ],
  [
    "a view past its buffer",
    "a.glb",
    bent((json) => (json.bufferViews[0].byteOffset = 1e5)),
    "FILE_DAMAGED",
    /\/bufferViews\/0\/byteOffset/,
  ],
  [
    "an accessor past its view",
    "a.glb",
    bent((json) => (json.accessors[position].count = 1000)),
    "FILE_DAMAGED",
    /\/count is 1000, it ends at byte/,
  ],
  [
    "an accessor of 10^9",
    "a.glb",
    bent((json) => json.accessors.push({ componentType: 5126, type: "VEC3", count: 1e9 })),
    "TOO_LARGE",
    /\/accessors\/\d+ once decoded/,
  ],
  [
    "many accessors without content",
    "a.glb",
    bent((json) =>
      json.accessors.push(...Array.from({ length: 100 }, () => ({ componentType: 5126, type: "MAT4", count: 1e5 }))),
    ),
    "TOO_LARGE",
    /once decoded/,
  ],
  [
    "a sparse accessor that points out of its view",
    "a.glb",
    bent(
      (json) =>
        (json.accessors[position].sparse = {
          count: 8,
          indices: { bufferView: 0, componentType: 5125, byteOffset: 1e4 },
          values: { bufferView: 0 },
        }),
    ),
    "FILE_DAMAGED",
    /sparse\/indices/,
  ],
  ["a negative count", "a.glb", bent((json) => (json.accessors[position].count = -1)), "FILE_DAMAGED", /count is -1/],
  [
    "an unknown component type",
    "a.glb",
    bent((json) => (json.accessors[position].componentType = 9)),
    "FILE_DAMAGED",
    /componentType is 9/,
  ],
  [
    "a type with the name of an object property",
    "a.glb",
    bent((json) => (json.accessors[position].type = "constructor")),
    "FILE_DAMAGED",
    /\/type/,
  ],
  [
    "an index without a vertex",
    "a.glb",
    bent((json) => (json.accessors[position].count = 4)),
    "FILE_DAMAGED",
    /indices is [4-7], the primitive has 4 vertices/,
  ],
  [
    "positions of two numbers",
    "a.glb",
    bent((json) => (json.accessors[position].type = "VEC2")),
    "FILE_DAMAGED",
    /POSITION/,
  ],
  ["NaN in a vertex", "a.glb", bent(() => {}, nan), "GEOMETRY_INVALID", /of a vertex is NaN/],
  [
    "a node that is its own child",
    "a.glb",
    bent((json) => (json.nodes[0].children = [0])),
    "FILE_DAMAGED",
    /its own child/,
  ],
  [
    "a cycle of nodes",
    "a.glb",
    bent((json) => json.nodes.push({ children: [2] }, { children: [1] })),
    "FILE_DAMAGED",
    /its own ancestor/,
  ],
  [
    "a node with two parents",
    "a.glb",
    bent((json) => json.nodes.push({ children: [0] }, { children: [0] })),
    "FILE_DAMAGED",
    /already/,
  ],
  [
    "a chain of nodes",
    "a.glb",
    bent(
      (json) => (json.nodes = Array.from({ length: 5000 }, (_, i) => (i < 4999 ? { children: [i + 1] } : { mesh: 0 }))),
    ),
    "TOO_LARGE",
    /depth/,
  ],
  ["a missing mesh", "a.glb", bent((json) => (json.nodes[0].mesh = 7)), "FILE_DAMAGED", /\/nodes\/0\/mesh is 7/],
  [
    "an infinite matrix",
    "a.glb",
    bent((json) =>
      JSON.stringify({ ...json, nodes: [{ mesh: 0, scale: [1, 1, 2] }] }).replace("[1,1,2]", "[1,1,1e999]"),
    ),
    "GEOMETRY_INVALID",
    /of a vertex/,
  ],
  [
    "a scale that is a text",
    "a.glb",
    bent((json) => (json.nodes[0].scale = ["1", 1, 1])),
    "FILE_DAMAGED",
    /\/nodes\/0\/scale\/0/,
  ],
  ["a flat world", "a.glb", bent((json) => (json.nodes[0].scale = [0, 0, 0])), "GEOMETRY_INVALID", /size of the model/],
  [
    "a mesh drawn too often",
    "a.glb",
    bent((json) => Object.assign(json, { nodes: Array.from({ length: 5000 }, () => ({ mesh: 0 })), scenes: [] })),
    "TOO_LARGE",
    /count of primitives/,
  ],
  [
    "instances that multiply",
    "a.glb",
    bent((json) => {
      const TRANSLATION = json.accessors.push({ componentType: 5121, type: "VEC3", count: 2e6 }) - 1;
      json.nodes[0].extensions = { EXT_mesh_gpu_instancing: { attributes: { TRANSLATION } } };
    }),
    "TOO_LARGE",
    /count of (vertices|triangles|primitives)/,
  ],
  [
    "a texture of 65,535 x 65,535",
    "a.glb",
    textured({ uri: dataUri("image/png", hugePng) }),
    "TOO_LARGE",
    /65535 x 65535/,
  ],
  [
    "an invalid image",
    "a.glb",
    textured({ uri: dataUri("image/png", Buffer.from("GIF89a")) }),
    "NOT_SUPPORTED",
    /71 73 70 56/,
  ],
  [
    "an image that ends in its header",
    "a.glb",
    textured({ uri: dataUri("image/png", hugePng.subarray(0, 18)) }),
    "FILE_DAMAGED",
    /\/images\/0/,
  ],
  [
    "a texture in Basis only",
    "a.glb",
    textured({ bufferView: 0 }, { extensions: { KHR_texture_basisu: { source: 0 } } }),
    "NOT_SUPPORTED",
    /KHR_texture_basisu/,
  ],
  [
    "a texture without an image",
    "a.glb",
    textured({ bufferView: 0 }, { source: 3 }),
    "FILE_DAMAGED",
    /\/textures\/0\/source/,
  ],
  [
    "a factor that is a text",
    "a.glb",
    bent((json) => (json.materials = [{ pbrMetallicRoughness: { baseColorFactor: "red" } }])),
    "FILE_DAMAGED",
    /baseColorFactor/,
  ],
  ["no node", "a.glb", bent((json) => (json.nodes = json.scenes = [])), "NO_TRIANGLES", /0, at least 1/],
  ["points only", "a.glb", bent((json) => (json.meshes[0].primitives[0].mode = 0)), "NO_TRIANGLES", /at least 1/],
  [
    "a skin whose joints are missing",
    "a.glb",
    bent((json) => (json.skins = [{ joints: [55] }])),
    "FILE_DAMAGED",
    /\/skins\/0\/joints\/0/,
  ],
  [
    "invalid Draco data",
    "a.glb",
    () => draco((json, binary) => binary.fill(7, dracoView(json).byteOffset ?? 0, 20)),
    "FILE_DAMAGED",
    /Draco data of/,
  ],
  [
    "Draco data with more triangles than stated",
    "a.glb",
    () => draco((json) => (json.accessors[json.meshes[0].primitives[0].indices].count = 3)),
    "FILE_DAMAGED",
    /12 triangles/,
  ],
  [
    "Draco data that end early",
    "a.glb",
    () => draco((json) => (dracoView(json).byteLength = 40)),
    "FILE_DAMAGED",
    /can be decoded/,
  ],
  [
    "meshopt that unpacks to 10^12 bytes",
    "a.glb",
    bent((json) => {
      json.bufferViews[0].extensions = {
        EXT_meshopt_compression: { buffer: 0, byteLength: 8, byteStride: 256, count: 4e9, mode: "ATTRIBUTES" },
      };
    }),
    "TOO_LARGE",
    /EXT_meshopt_compression once decoded/,
  ],
  ["OBJ with an invalid corner", "a.obj", text("v 0 0 0\nv 1 0 0\nf 1 2 3\n"), "FILE_DAMAGED", /line 3/],
  ["OBJ without faces", "a.obj", text("v 0 0 0\n"), "NO_TRIANGLES", /at least 1/],
  [
    "OBJ whose triangles have no area",
    "a.obj",
    text("v 0 0 0\nv 1 0 0\nf 1 2 1\nf 2 2 1\n"),
    "NO_TRIANGLES",
    /three different/,
  ],
  [
    "OBJ whose vertices are in one place",
    "a.obj",
    text("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n"),
    "GEOMETRY_INVALID",
    /size of the model/,
  ],
  ["OBJ with a number beyond float64", "a.obj", text("v 1e999 0 0\n"), "FILE_DAMAGED", /line 1: v x is 1e999/],
  [
    "OBJ a light year wide",
    "a.obj",
    text("v 0 0 0\nv 1e20 0 0\nv 0 1 0\nf 1 2 3\n"),
    "GEOMETRY_INVALID",
    /1000000000000000/,
  ],
  [
    "PLY with fewer elements than stated",
    "a.ply",
    text(`${plyHead(3_000_000, 1)}0 0 0\n`),
    "FILE_DAMAGED",
    /count of element vertex is 3000000/,
  ],
  [
    "PLY of points",
    "a.ply",
    text(
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n",
    ),
    "NO_TRIANGLES",
    /face or tristrips is needed/,
  ],
  [
    "PLY with endless empty elements",
    "a.ply",
    text(plyHead(1, 1).replace("end_header", `${"element nothing 8000000\n".repeat(2000)}end_header`)),
    "FILE_DAMAGED",
    /vertex 0/,
  ],
  [
    "STL with fewer triangles than stated",
    "a.stl",
    () => {
      const bytes = Buffer.alloc(134);
      bytes.writeUInt32LE(4e9, 80);
      return bytes;
    },
    "FILE_DAMAGED",
    /facet count is 4000000000/,
  ],
  [
    "STL that ends within a facet",
    "a.stl",
    text("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"),
    "FILE_DAMAGED",
    /last facet is 1/,
  ],
];

/** The limits in use, but lower where a test would need a large file. */
const LIMITS = { bytes: 1_000_000, primitives: 2000 };

test.each(CASES)("%s", async (_, name, bytes, code, message) => {
  const content = await bytes();
  const before = process.cpuUsage();
  const error = await readObjectFile(content, name, LIMITS).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error !== undefined && !(error instanceof ObjectError)) throw error;
  expect(error?.message).toMatch(message);
  expect(error?.code).toBe(code);
  for (const part of [error!.fault.where, String(error!.fault.value), error!.fault.limit, error!.fault.help])
    expect(part).not.toBe("");
  // Unpacking the whole bomb would take minutes.
  const { user, system } = process.cpuUsage(before);
  expect(user + system, "CPU time in µs").toBeLessThan(10e6);
});

test("the cube that all of these modify is read", async () => {
  expect((await readObjectFile(bent(() => {})(), "a.glb")).surface.triangles).toHaveLength(36);
});

test("text of the file appears in messages only as plain text of one line", async () => {
  const name = `x.${"\n\u0000\u202e".repeat(20)}${"a".repeat(500)}`;
  const error = await readObjectFile(Buffer.from("zzz"), name).catch((thrown: unknown) => thrown);
  expect((error as ObjectError).message).toMatch(/^[\p{L}\p{N}\p{P}\p{S} ]{20,300}$/u);
});

test.each([
  // Edge collapses alone would take ten minutes for this one.
  ["all triangles on the same three vertices", 400_000, "v 0 0 0\nv 1 0 0\nv 0 1 0\n", () => "f 1 2 3\n"],
  [
    "all triangles on one edge",
    40_000,
    "v 0 0 0\nv 0 1 0\n",
    (i: number) => `v ${Math.cos(i)} ${i / 40_000} ${Math.sin(i)}\nf 1 2 -1\n`,
  ],
  ["three vertices of its own for each triangle", 40_000, "", () => "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n"],
])("the picture of %s keeps its limit, and the work is linear", async (_what, triangles, head, face) => {
  const text = head + Array.from({ length: triangles }, (_, i) => face(i)).join("");
  const file = await readObjectFile(Buffer.from(text), "crowd.obj", { pictureTriangles: 5000 });
  expect(file.surface.triangles.length).toBe(3 * triangles);
  const { json } = await jsonOf(await new WebIO().readBinary(file.picture));
  const drawn = json.accessors[json.meshes[0].primitives[0].indices].count / 3;
  expect(drawn).toBeGreaterThan(0);
  expect(drawn).toBeLessThanOrEqual(1.25 * 5000);
  // The number of simulated triangles is limited, too.
  const few = await simplifySurface(file.surface, 5000, Infinity);
  expect(few.triangles.length / 3).toBeLessThanOrEqual(5000);
});
