/**
 * Parts -> the GLB that is drawn: one node, one mesh, a primitive for each part. Materials and textures are those of
 * the document that the parts come from; whatever else it holds goes.
 */
import { type Document, ExtensibleProperty, VertexLayout, WebIO } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import type { Part } from "./parts.ts";

const TYPES = { 2: "VEC2", 3: "VEC3", 4: "VEC4" } as const;
/** Extensions that a picture may have: of materials and textures, none of geometry or scene. */
const DRAWN_EXTENSIONS = /^(KHR_materials_(?!variants)|KHR_texture_transform$|EXT_texture_(webp|avif)$)/;
/** Longest name of a material. */
const NAME = 64;

/** A name that may stand anywhere, in a page's HTML too. */
function cleanName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N} ._-]/gu, "")
    .trim()
    .slice(0, NAME);
}

/** @param document of the parts' materials; it is used up */
export async function writePicture(document: Document, parts: readonly Part[]): Promise<Uint8Array> {
  const root = document.getRoot();
  const materials = new Set(parts.map((part) => part.material));
  for (const list of [
    root.listAnimations(),
    root.listSkins(),
    root.listCameras(),
    root.listScenes(),
    root.listNodes(),
    root.listMeshes(),
    root.listAccessors(),
    root.listBuffers(),
  ])
    for (const property of list) property.dispose();
  for (const material of root.listMaterials()) if (!materials.has(material)) material.dispose();
  for (const extension of root.listExtensionsUsed())
    if (!DRAWN_EXTENSIONS.test(extension.extensionName)) extension.dispose();
  for (const texture of root.listTextures())
    if (texture.listParents().every((parent) => parent === root)) texture.dispose();
  nameless(document);

  const buffer = document.createBuffer();
  const mesh = document.createMesh();
  for (const part of parts) {
    const primitive = document
      .createPrimitive()
      .setIndices(document.createAccessor().setType("SCALAR").setArray(indexArray(part)).setBuffer(buffer))
      .setAttribute(
        "POSITION",
        document.createAccessor().setType("VEC3").setArray(Float32Array.from(part.positions)).setBuffer(buffer),
      )
      .setMaterial(part.material);
    for (const [name, { size, values }] of part.attributes)
      primitive.setAttribute(
        name,
        document
          .createAccessor()
          .setType(TYPES[size])
          .setArray(values as Float32Array<ArrayBuffer>)
          .setBuffer(buffer),
      );
    mesh.addPrimitive(primitive);
  }
  const scene = document.createScene().addChild(document.createNode().setMesh(mesh));
  root.setDefaultScene(scene);
  return new WebIO()
    .registerExtensions(ALL_EXTENSIONS)
    .setVertexLayout(VertexLayout.SEPARATE)
    .setLogger(document.getLogger())
    .writeBinary(document);
}

function indexArray(part: Part): Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> {
  return part.positions.length / 3 < 65535 ? Uint16Array.from(part.triangles) : Uint32Array.from(part.triangles);
}

/** Names and extras are strangers' text: materials keep a clean name, nothing else keeps any. */
function nameless(document: Document): void {
  const root = document.getRoot();
  const asset = root.getAsset();
  for (const key of Object.keys(asset)) if (key !== "version") delete asset[key];
  asset.generator = "Pliant";
  root.setExtras({});
  for (const edge of document.getGraph().listEdges()) {
    const property = edge.getChild();
    if (property instanceof ExtensibleProperty) property.setExtras({});
  }
  for (const material of root.listMaterials()) material.setName(cleanName(material.getName()));
  for (const texture of root.listTextures()) texture.setName("").setURI("");
}
