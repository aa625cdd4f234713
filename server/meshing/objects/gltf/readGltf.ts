/**
 * Reads glTF and GLB: the scene's meshes with their transforms, in the stored pose, without animation. glTF-Transform
 * decodes (quantization, sparse accessors, Draco, meshopt). Validation (gltfGuard.ts, gltfNodes.ts) and instancing are
 * ours.
 *
 * Not used: @gltf-transform/functions (flatten, join, dequantize, weld, prune). It depends on sharp, which would add 19
 * MB of native libraries to a server that reads strangers' files, and it supports neither skins nor morph targets.
 */
import { Logger, WebIO } from "@gltf-transform/core";
import type { Accessor, Document, GLTF, Material, Primitive } from "@gltf-transform/core";
import * as extensions from "@gltf-transform/extensions";
import draco3d from "draco3dgltf";
import { MeshoptDecoder } from "meshoptimizer/decoder";
import type { MeshNote } from "../../meshNotes.ts";
import { floatPrecision, precisionOfStep, quantizedStep } from "../../importers/filePrecision.ts";
import { at, checkGltf, DRACO, listOf, MESHOPT } from "./gltfGuard.ts";
import type { CheckedGltf } from "./gltfGuard.ts";
import { damaged, openContainer } from "./gltfContainer.ts";
import type { Json } from "./gltfContainer.ts";
import { checkImages } from "./gltfImages.ts";
import type { ImageBytes } from "./gltfImages.ts";
import { affine, checkExtensions, checkNodes, INSTANCING } from "./gltfNodes.ts";
import type { Placement, SceneTree } from "./gltfNodes.ts";
import { shortened } from "../objectFile.ts";
import type { ObjectLimits } from "../objectFile.ts";
import type { Attribute, Part } from "../parts.ts";
import { morph, pose } from "./pose.ts";
import {
  determinant,
  flip,
  largestScale,
  linearPart,
  matrixOf,
  normalMatrix,
  product,
  transformDirections,
  transformPoints,
} from "./gltfTransforms.ts";
import type { Matrix } from "./gltfTransforms.ts";
import { trianglesOf } from "./triangleModes.ts";

const EXTENSIONS = [
  extensions.EXTMeshGPUInstancing,
  extensions.EXTMeshoptCompression,
  extensions.EXTTextureAVIF,
  extensions.EXTTextureWebP,
  extensions.KHRDracoMeshCompression,
  extensions.KHRMaterialsAnisotropy,
  extensions.KHRMaterialsClearcoat,
  extensions.KHRMaterialsDiffuseTransmission,
  extensions.KHRMaterialsDispersion,
  extensions.KHRMaterialsEmissiveStrength,
  extensions.KHRMaterialsIOR,
  extensions.KHRMaterialsIridescence,
  extensions.KHRMaterialsPBRSpecularGlossiness,
  extensions.KHRMaterialsSheen,
  extensions.KHRMaterialsSpecular,
  extensions.KHRMaterialsTransmission,
  extensions.KHRMaterialsUnlit,
  extensions.KHRMaterialsVolume,
  extensions.KHRMeshQuantization,
  extensions.KHRTextureTransform,
];
const DRAWN: ReadonlySet<unknown> = new Set(EXTENSIONS.map((extension) => extension.EXTENSION_NAME));
/** Extensions that can be ignored without visible loss; some get a note. */
const IGNORED = [
  "KHR_lights_punctual",
  "KHR_materials_variants",
  "KHR_animation_pointer",
  "KHR_node_visibility",
  "KHR_xmp_json_ld",
];
const READ: ReadonlySet<unknown> = new Set([...DRAWN, ...IGNORED]);

/** Vertex attributes of a picture; the others belong to ignored features. */
const ATTRIBUTE = /^(NORMAL|TANGENT|TEXCOORD_[0-3]|COLOR_0)$/;
const SIZES: Record<string, readonly number[]> = { NORMAL: [3], TANGENT: [4], TEXCOORD: [2], COLOR: [3, 4] };

/**
 * @returns the document that holds the parts' materials, and the parts
 * @throws ObjectError
 */
export async function readGltf(
  bytes: Uint8Array,
  limits: ObjectLimits,
  notes: MeshNote[],
): Promise<{ document: Document; parts: Part[] }> {
  const checked = checkGltf(openContainer(bytes, limits), limits);
  checkExtensions(checked.json, READ);
  const tree = checkNodes(checked, limits, notes);
  noteIgnored(checked.json, tree, notes);
  const document = await decoded(checked, checkImages(checked, limits), tree);
  const lines = { count: 0 };
  const parts = tree.placements.flatMap((placement) => placedParts(document, checked.json, placement, tree, lines));
  if (lines.count > 0)
    notes.push({ code: "LINES_IGNORED", text: `${lines.count} primitives of points or lines are ignored.` });
  return { document, parts };
}

function noteIgnored(json: Json, tree: SceneTree, notes: MeshNote[]): void {
  const count = (name: string): number => listOf(json, name, "").length;
  if (count("animations") > 0)
    notes.push({ code: "ANIMATIONS_IGNORED", text: `${count("animations")} animations are ignored.` });
  if (count("cameras") > 0) notes.push({ code: "CAMERAS_IGNORED", text: `${count("cameras")} cameras are ignored.` });
  if (tree.placements.some(({ skin }) => skin !== undefined))
    notes.push({ code: "POSED", text: "The skeleton is ignored; the model keeps the pose stored in the file." });
  const used = Array.isArray(json.extensionsUsed) ? json.extensionsUsed.filter((name) => typeof name === "string") : [];
  if (used.includes("KHR_lights_punctual")) notes.push({ code: "LIGHTS_IGNORED", text: "Lights are ignored." });
  if (used.includes("KHR_materials_variants"))
    notes.push({ code: "VARIANTS_IGNORED", text: "Variants of materials are ignored; the default ones are drawn." });
  const unknown = used.filter((name) => !READ.has(name) && name !== "KHR_texture_basisu");
  if (unknown.length > 0)
    notes.push({
      code: "EXTENSIONS_IGNORED",
      text: `Unsupported extensions are ignored: ${unknown.map(shortened).slice(0, 8).join(", ")}.`,
    });
}

/** Decodes the document without the ignored parts. */
async function decoded(
  { json, buffers }: CheckedGltf,
  images: readonly ImageBytes[],
  tree: SceneTree,
): Promise<Document> {
  const resources: Record<string, Uint8Array<ArrayBuffer>> = {};
  const keep = (content: Uint8Array, name: string): string => {
    resources[name] = content as Uint8Array<ArrayBuffer>;
    return name;
  };
  const used = (Array.isArray(json.extensionsUsed) ? json.extensionsUsed : []).filter((name) => DRAWN.has(name));
  const read: Json = {
    ...json,
    asset: { version: "2.0" },
    extensionsUsed: used,
    extensionsRequired: [],
    buffers: listOf(json, "buffers", "").map((buffer, i) => ({
      ...buffer,
      uri: keep(buffers[i] ?? new Uint8Array(0), `__buffer${i}.bin`),
    })),
    images: images.map((image, i) => ({
      uri: keep(image?.bytes ?? new Uint8Array(0), `__image${i}.bin`),
      mimeType: image?.mimeType ?? "image/png",
    })),
    meshes: listOf(json, "meshes", "").map((mesh) => ({ ...mesh, primitives: mesh.primitives ?? [] })),
  };
  // These are read from the JSON directly: it has the exact matrices, and animations need no decoding.
  for (const name of ["animations", "cameras", "extras", "scenes", "scene", "skins", "nodes"]) delete read[name];
  const io = new WebIO().setLogger(new Logger(Logger.Verbosity.SILENT)).registerExtensions(EXTENSIONS);
  if (used.includes(DRACO)) io.registerDependencies({ "draco3d.decoder": await draco3d.createDecoderModule() });
  if (used.includes(MESHOPT)) {
    await MeshoptDecoder.ready;
    io.registerDependencies({ "meshopt.decoder": MeshoptDecoder });
  }
  if (tree.placements.length === 0) delete read.meshes;
  try {
    return await io.readJSON({ json: read as unknown as GLTF.IGLTF, resources });
  } catch (error) {
    // Ranges and indices are valid, so the remaining errors come from a decompressor or a material's reader.
    throw damaged(
      "content of the glTF",
      shortened(error instanceof Error ? error.message : String(error)),
      "data that can be decoded is needed",
    );
  }
}

/** Returns the parts of a mesh at its world position, once per instance. */
function placedParts(
  document: Document,
  json: Json,
  placement: Placement,
  tree: SceneTree,
  lines: { count: number },
): Part[] {
  const mesh = document.getRoot().listMeshes()[placement.mesh]!;
  const accessors = document.getRoot().listAccessors();
  const parts: Part[] = [];
  mesh.listPrimitives().forEach((primitive, i) => {
    const where = `/meshes/${placement.mesh}/primitives/${i}`;
    const compressed = at(json, "meshes", placement.mesh, "primitives", i, "extensions", DRACO) !== undefined;
    const part = partOf(primitive, where, compressed);
    if (part === "lines") lines.count++;
    if (!part || part === "lines") return;
    const targets = primitive.listTargets().map((target) => target.getAttribute("POSITION") ?? undefined);
    morph(part.positions, targets, placement.weights);
    const sets = placement.skin === undefined ? [] : influencesOf(primitive, part.positions.length / 3, where);
    if (placement.skin !== undefined && sets.length > 0) {
      pose(part, { bones: bonesOf(json, placement.skin, tree, accessors), sets, where });
      parts.push(part);
    } else
      for (const instance of instancesOf(json, placement.node, accessors))
        parts.push(moved(part, instance ? product(placement.world, instance) : placement.world));
  });
  return parts;
}

/** Sets of four joints and weights: JOINTS_0 and WEIGHTS_0, then the next ones. */
function influencesOf(primitive: Primitive, count: number, where: string): [Accessor, Accessor][] {
  const sets: [Accessor, Accessor][] = [];
  for (;;) {
    const names = [`JOINTS_${sets.length}`, `WEIGHTS_${sets.length}`] as const;
    const [joints, weights] = names.map((name) => primitive.getAttribute(name)) as [Accessor | null, Accessor | null];
    if (!joints || !weights) return sets;
    names.forEach((name) => requireFit(primitive.getAttribute(name)!, [4], count, `${where}/attributes/${name}`));
    sets.push([joints, weights]);
  }
}

/** World matrix times inverse bind matrix of every joint. */
function bonesOf(json: Json, skin: number, tree: SceneTree, accessors: readonly Accessor[]): Matrix[] {
  const { joints, inverseBindMatrices } = listOf(json, "skins", "")[skin] as {
    joints: number[];
    inverseBindMatrices?: number;
  };
  const inverse = inverseBindMatrices === undefined ? undefined : accessors[inverseBindMatrices];
  return joints.map((joint, k) => {
    const world = tree.worlds[joint]!;
    if (!inverse) return world;
    const where = `/skins/${skin}/inverseBindMatrices, matrix ${k}`;
    return product(world, affine(inverse.getElement(k, new Array<number>(16)), where));
  });
}

/** Matrices of a node's instances; a single undefined without instancing. */
function instancesOf(json: Json, node: number, accessors: readonly Accessor[]): (Matrix | undefined)[] {
  const attributes = at(listOf(json, "nodes", "")[node]!, "extensions", INSTANCING, "attributes");
  if (attributes === undefined) return [undefined];
  const of = (name: string): Accessor | undefined => accessors[(attributes as Record<string, number>)[name] ?? -1];
  const [translation, rotation, scale] = [of("TRANSLATION"), of("ROTATION"), of("SCALE")];
  const count = (translation ?? rotation ?? scale)?.getCount() ?? 0;
  const element = (accessor: Accessor | undefined, i: number, absent: number[]): number[] =>
    accessor ? accessor.getElement(i, [...absent]) : absent;
  return Array.from({ length: count }, (_, i) =>
    matrixOf(element(translation, i, [0, 0, 0]), element(rotation, i, [0, 0, 0, 1]), element(scale, i, [1, 1, 1])),
  );
}

function requireFit(accessor: Accessor, sizes: readonly number[], count: number, where: string): void {
  const size = accessor.getElementSize();
  if (sizes.includes(size) && accessor.getCount() === count) return;
  throw damaged(
    where,
    `${accessor.getCount()} of ${accessor.getType()}`,
    `${count} of ${sizes.map((s) => (s === 1 ? "SCALAR" : `VEC${s}`)).join(" or ")} are needed`,
  );
}

/** Reads all numbers of an accessor; normalized integers are converted. */
function numbersOf<A extends Float32Array | Float64Array>(accessor: Accessor, into: A): A {
  const size = accessor.getElementSize();
  const array = accessor.getArray();
  if (array && !accessor.getNormalized()) {
    for (let i = 0; i < into.length; i++) into[i] = array[i]!;
    return into;
  }
  const element: number[] = [];
  for (let v = 0; v < accessor.getCount(); v++) {
    accessor.getElement(v, element);
    for (let k = 0; k < size; k++) into[size * v + k] = element[k]!;
  }
  return into;
}

/** Reads a primitive in its own coordinates. @param compressed by Draco, which quantizes */
function partOf(primitive: Primitive, where: string, compressed: boolean): Part | "lines" | undefined {
  const position = primitive.getAttribute("POSITION");
  if (!position) return undefined;
  const count = position.getCount();
  requireFit(position, [3], count, `${where}/attributes/POSITION`);
  const indices = primitive.getIndices();
  if (indices) requireFit(indices, [1], indices.getCount(), `${where}/indices`);
  const corners = indices ? Uint32Array.from(indices.getArray()!) : Uint32Array.from({ length: count }, (_, v) => v);
  const triangles = trianglesOf(primitive.getMode(), corners);
  if (!triangles) return "lines";
  const bad = triangles.findIndex((v) => v >= count);
  if (bad >= 0)
    throw damaged(`${where}/indices`, triangles[bad]!, `the primitive has ${count} vertices, numbered from 0`);
  const attributes = new Map<string, Attribute>();
  for (const name of primitive.listSemantics()) {
    if (!ATTRIBUTE.test(name)) continue;
    const accessor = primitive.getAttribute(name)!;
    requireFit(accessor, SIZES[name.replace(/_\d$/, "")]!, count, `${where}/attributes/${name}`);
    const size = accessor.getElementSize() as 2 | 3 | 4;
    const values = numbersOf(accessor, new Float32Array(size * count));
    // Many files have NaN normals for triangles without area; the simulation does not use normals.
    values.forEach((value, k) => {
      if (!Number.isFinite(value)) values[k] = 0;
    });
    attributes.set(name, { size, values });
  }
  const material: Material | null = primitive.getMaterial();
  const positions = numbersOf(position, new Float64Array(3 * count));
  const precision = precisionOf(positions, position, compressed);
  return { positions, triangles, attributes, material, precision, where };
}

/** Largest values of the integers of a normalized accessor. */
const FULL: Record<number, number> = { 5120: 127, 5121: 255, 5122: 32767, 5123: 65535 };

function precisionOf(positions: Float64Array, accessor: Accessor, compressed: boolean): number {
  const full = FULL[accessor.getComponentType()];
  if (full === undefined && !compressed) return floatPrecision(positions, 23);
  return precisionOfStep(quantizedStep(positions, full === undefined ? 0 : accessor.getNormalized() ? 1 / full : 1));
}

/** Returns a transformed copy of the part. If the matrix mirrors, the triangles are flipped back. */
function moved(part: Part, m: Matrix): Part {
  const positions = part.positions.slice();
  transformPoints(positions, m);
  const attributes = new Map(
    [...part.attributes].map(([name, { size, values }]) => [name, { size, values: values.slice() }]),
  );
  const mirrored = determinant(m) < 0;
  const normals = attributes.get("NORMAL");
  if (normals) transformDirections(normals.values, 3, normalMatrix(m));
  const tangents = attributes.get("TANGENT");
  if (tangents) {
    transformDirections(tangents.values, 4, linearPart(m));
    if (mirrored) for (let i = 3; i < tangents.values.length; i += 4) tangents.values[i] = -tangents.values[i]!;
  }
  const triangles = part.triangles.slice();
  flip(triangles, () => mirrored);
  const precision = largestScale(m) * part.precision + floatPrecision(positions, 23);
  return { ...part, positions, triangles, attributes, precision };
}
