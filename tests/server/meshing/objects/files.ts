/** Surfaces as bytes of every format, and glTF documents for tests: written here, not by the reader's code. */
import { Document, WebIO } from "@gltf-transform/core";
import type { JSONDocument } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import draco3d from "draco3dgltf";
import { MeshoptEncoder } from "meshoptimizer/encoder";
import { MeshoptDecoder } from "meshoptimizer/decoder";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";

const text = (content: string): Uint8Array => Buffer.from(content);
const rows = (values: ArrayLike<number>): number[][] =>
  Array.from({ length: values.length / 3 }, (_, i) => [values[3 * i]!, values[3 * i + 1]!, values[3 * i + 2]!]);

export const objOf = ({ positions, triangles }: SurfaceMesh): Uint8Array =>
  text(
    `${rows(positions)
      .map((p) => `v ${p.join(" ")}`)
      .join("\n")}\n${rows(triangles)
      .map((t) => `f ${t.map((v) => v + 1).join(" ")}`)
      .join("\n")}\n`,
  );

export function stlOf({ positions, triangles }: SurfaceMesh, binary: boolean): Uint8Array {
  const corner = (v: number): number[] => [...positions.subarray(3 * v, 3 * v + 3)];
  if (!binary)
    return text(
      `solid a\n${rows(triangles)
        .map(
          (t) =>
            `facet normal 0 0 0\nouter loop\n${t.map((v) => `vertex ${corner(v).map(Math.fround).join(" ")}`).join("\n")}\nendloop\nendfacet`,
        )
        .join("\n")}\nendsolid a\n`,
    );
  const bytes = new DataView(new ArrayBuffer(84 + (50 * triangles.length) / 3));
  // Many programs begin binary files with this word.
  [...Buffer.from("solid")].forEach((byte, i) => bytes.setUint8(i, byte));
  bytes.setUint32(80, triangles.length / 3, true);
  rows(triangles).forEach((t, f) =>
    t.forEach((v, k) => corner(v).forEach((x, r) => bytes.setFloat32(84 + 50 * f + 12 + 12 * k + 4 * r, x, true))),
  );
  return new Uint8Array(bytes.buffer);
}

export function plyOf(
  { positions, triangles }: SurfaceMesh,
  format: "ascii" | "binary_little_endian" | "binary_big_endian",
): Uint8Array {
  const vertices = positions.length / 3;
  const head = `ply\nformat ${format} 1.0\nelement vertex ${vertices}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nelement face ${triangles.length / 3}\nproperty list uchar int vertex_indices\nend_header\n`;
  const color = (v: number): number[] => [v % 256, 255 - (v % 256), 128];
  if (format === "ascii")
    return text(
      `${head}${rows(positions)
        .map((p, v) => [...p.map(Math.fround), ...color(v)].join(" "))
        .join("\n")}\n${rows(triangles)
        .map((t) => `3 ${t.join(" ")}`)
        .join("\n")}\n`,
    );
  const little = format === "binary_little_endian";
  const body = new DataView(new ArrayBuffer(15 * vertices + (13 * triangles.length) / 3));
  rows(positions).forEach((p, v) => {
    p.forEach((x, k) => body.setFloat32(15 * v + 4 * k, x, little));
    color(v).forEach((c, k) => body.setUint8(15 * v + 12 + k, c));
  });
  rows(triangles).forEach((t, f) => {
    const at = 15 * vertices + 13 * f;
    body.setUint8(at, 3);
    t.forEach((v, k) => body.setInt32(at + 1 + 4 * k, v, little));
  });
  return Buffer.concat([text(head), new Uint8Array(body.buffer)]);
}

export const io = async (): Promise<WebIO> => {
  await Promise.all([MeshoptEncoder.ready, MeshoptDecoder.ready]);
  return new WebIO().registerExtensions(ALL_EXTENSIONS).registerDependencies({
    "draco3d.encoder": await draco3d.createEncoderModule(),
    "draco3d.decoder": await draco3d.createDecoderModule(),
    "meshopt.encoder": MeshoptEncoder,
    "meshopt.decoder": MeshoptDecoder,
  });
};

/** A document with one node of one primitive; tests add their features. */
export function documentOf({ positions, triangles }: SurfaceMesh) {
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (
    type: "SCALAR" | "VEC2" | "VEC3" | "VEC4" | "MAT4",
    array: Float32Array | Uint32Array | Uint8Array,
  ) =>
    document
      .createAccessor()
      .setType(type)
      .setArray(array as Float32Array<ArrayBuffer>)
      .setBuffer(buffer);
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", accessor("VEC3", Float32Array.from(positions)))
    .setIndices(accessor("SCALAR", triangles.slice()));
  const mesh = document.createMesh("a").addPrimitive(primitive);
  const node = document.createNode("a").setMesh(mesh);
  const scene = document.createScene().addChild(node);
  document.getRoot().setDefaultScene(scene);
  return { document, buffer, accessor, primitive, mesh, node, scene };
}

export const glbOf = async (surface: SurfaceMesh): Promise<Uint8Array> =>
  (await io()).writeBinary(documentOf(surface).document);

/** The JSON and the binary chunk of a document, for tests that change them. */
export async function jsonOf(document: Document): Promise<{ json: Record<string, any>; binary: Uint8Array }> {
  const { json, resources }: JSONDocument = await (await io()).writeJSON(document, {
    format: "GLB" as never,
  });
  return { json: json as Record<string, any>, binary: Object.values(resources)[0] ?? new Uint8Array(0) };
}

/** A GLB of any JSON, or of bytes in its place. */
export function glb(json: unknown, binary?: Uint8Array): Uint8Array {
  const padded = (bytes: Uint8Array, fill: number): Uint8Array =>
    Buffer.concat([bytes, new Uint8Array((4 - (bytes.length % 4)) % 4).fill(fill)]);
  const chunk = (type: number, bytes: Uint8Array): Uint8Array =>
    Buffer.concat([new Uint8Array(Uint32Array.of(bytes.length, type).buffer), bytes]);
  const content = json instanceof Uint8Array ? json : text(typeof json === "string" ? json : JSON.stringify(json));
  const head = chunk(0x4e4f534a, padded(content, 0x20));
  const body = binary ? chunk(0x004e4942, padded(binary, 0)) : new Uint8Array(0);
  return Buffer.concat([
    new Uint8Array(Uint32Array.of(0x46546c67, 2, 12 + head.length + body.length).buffer),
    head,
    body,
  ]);
}

/** A glTF with its buffer as a data URI. */
export function gltf(json: Record<string, any>, binary: Uint8Array): Uint8Array {
  const uri = `data:application/octet-stream;base64,${Buffer.from(binary).toString("base64")}`;
  return text(
    JSON.stringify({
      ...json,
      buffers: [{ ...json.buffers[0], byteLength: binary.length, uri }, ...json.buffers.slice(1)],
    }),
  );
}
