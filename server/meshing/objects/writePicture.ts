/**
 * Writes the drawable GLB: one node, one mesh, one primitive per part. Keeps materials and textures of the parts'
 * document; drops everything else.
 */
import { type Document, ExtensibleProperty, VertexLayout, WebIO } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import type { Part } from "./parts.ts";

const TYPES = { 2: "VEC2", 3: "VEC3", 4: "VEC4" } as const;
/** Extensions allowed in a picture: for materials and textures, not for geometry or scene. */
const DRAWN_EXTENSIONS = /^(KHR_materials_(?!variants)|KHR_texture_transform$|EXT_texture_(webp|avif)$)/;
/** Longest name of a material. */
const NAME = 64;

/** Makes a name safe everywhere, including a page's HTML. */
function cleanName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N} ._-]/gu, "")
    .trim()
    .slice(0, NAME);
}

/** @param document holds the parts' materials; it is consumed */
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

/** Removes names and extras, because they are text from strangers; only materials keep a cleaned name. */
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
