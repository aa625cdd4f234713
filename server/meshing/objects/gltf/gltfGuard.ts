/**
 * Validates a glTF before decoding: every index must point into its list, every range must lie in its buffer, and the
 * sizes after decoding and instancing must be within the limits. glTF-Transform, which decodes it afterwards, trusts
 * all of these. A bad index would be a TypeError there; a range beyond its buffer would read another upload's bytes
 * from Node's pool; a count of 10^9 in 200 bytes would allocate 4 GB. Source: glTF 2.0 specification (Khronos, ISO/IEC
 * 12113), chapter 3.
 */
import { dracoCounts } from "./dracoHeader.ts";
import { damaged, dataOfUri, isObject, notSupported, tooLarge } from "./gltfContainer.ts";
import type { GltfContainer, Json } from "./gltfContainer.ts";
import { ObjectError, shortened } from "../objectFile.ts";
import type { ObjectLimits } from "../objectFile.ts";

/** Bytes of a bufferView: its own, or those after decompression. */
interface ViewRange {
  /** Length after decoding. */
  length: number;
  stride: number | undefined;
  /** Bytes in the file; undefined for a fallback buffer that the file omits. */
  content: Uint8Array | undefined;
}

/** A glTF with valid indices and ranges. */
export interface CheckedGltf {
  json: Json;
  buffers: (Uint8Array | undefined)[];
  views: ViewRange[];
}

const COMPONENT_BYTES: Record<number, number> = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
const COMPONENTS: Record<string, number> = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT2: 4, MAT3: 9, MAT4: 16 };
export const DRACO = "KHR_draco_mesh_compression";
export const MESHOPT = "EXT_meshopt_compression";
/** Limit of entries for lists without a specific limit. */
const LIST = 100_000;
const SMALLER = "Simplify the model and make it of fewer, larger parts";

export const at = (json: Json, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? (value as Json)[key] : undefined),
    json,
  );

/** A list of objects in the file; absent means empty. */
export function listOf(parent: Json, name: string, where: string, limit = LIST): Json[] {
  const list = parent[name] ?? [];
  if (!Array.isArray(list)) throw damaged(`${where}/${name}`, typeof list, "a list is needed");
  if (list.length > limit) throw tooLarge(`count of ${where}/${name}`, list.length, limit, SMALLER);
  list.forEach((entry, i) => {
    if (!isObject(entry)) throw damaged(`${where}/${name}/${i}`, shown(entry), "an object is needed");
  });
  return list as Json[];
}

export const shown = (value: unknown): string =>
  value === undefined ? "missing" : shortened(JSON.stringify(value) ?? typeof value);

/** Checks an integer from low to high. */
export function wholeOf(value: unknown, where: string, low: number, high: number, absent?: number): number {
  const number = value ?? absent;
  if (typeof number === "number" && Number.isInteger(number) && number >= low && number <= high) return number;
  throw damaged(where, shown(value), `a whole number from ${low} to ${high} is needed`);
}

/** Checks an index into a list of `count`. */
export const indexOf = (value: unknown, where: string, count: number): number => wholeOf(value, where, 0, count - 1);

/**
 * Checks everything except nodes and their dependents (gltfNodes.ts).
 * @throws ObjectError
 */
export function checkGltf({ json, binary }: GltfContainer, limits: ObjectLimits): CheckedGltf {
  const version = at(json, "asset", "version");
  if (typeof version !== "string" || !/^2\./.test(version))
    throw notSupported("/asset/version", shown(version), "2.0 is supported", "Export the model as glTF 2.0");
  const least = at(json, "asset", "minVersion") ?? "2.0";
  if (least !== "2.0")
    throw notSupported("/asset/minVersion", shown(least), "2.0 is supported", "Export the model as glTF 2.0");
  renameMeshopt(json);
  const buffers = listOf(json, "buffers", "").map((buffer, i) => bufferOf(buffer, i, binary, limits));
  const checked: CheckedGltf = { json, buffers, views: [] };
  const views = listOf(json, "bufferViews", "");
  const total = { bytes: 0 };
  checked.views = views.map((view, i) => viewOf(checked, view, `/bufferViews/${i}`, total, limits));
  const accessors = listOf(json, "accessors", "");
  accessors.forEach((accessor, i) => {
    total.bytes += checkAccessor(checked, accessor, `/accessors/${i}`, limits);
    if (total.bytes > limits.decodedBytes)
      throw tooLarge(
        `bytes of all accessors up to /accessors/${i} once decoded`,
        total.bytes,
        limits.decodedBytes,
        SMALLER,
      );
  });
  return checked;
}

/**
 * Gives KHR_meshopt_compression the name of its predecessor, which glTF-Transform 4.5 knows. The decoder reads the
 * streams and filters of both.
 */
function renameMeshopt(json: Json): void {
  const renamed = (name: unknown): unknown => (name === "KHR_meshopt_compression" ? MESHOPT : name);
  for (const list of ["extensionsUsed", "extensionsRequired"])
    if (Array.isArray(json[list])) json[list] = json[list].map(renamed);
  for (const owner of [...listOf(json, "buffers", ""), ...listOf(json, "bufferViews", "")])
    if (isObject(owner.extensions))
      owner.extensions = Object.fromEntries(Object.entries(owner.extensions).map(([name, at]) => [renamed(name), at]));
}

function bufferOf(
  buffer: Json,
  i: number,
  binary: Uint8Array | undefined,
  limits: ObjectLimits,
): Uint8Array | undefined {
  const where = `/buffers/${i}`;
  const declared = wholeOf(buffer.byteLength, `${where}/byteLength`, 0, 2 ** 40);
  const fallback = isObject(at(buffer, "extensions", MESHOPT)) && buffer.uri === undefined && (i > 0 || !binary);
  if (fallback) return undefined;
  const bytes = buffer.uri === undefined && i === 0 ? binary : dataOfUri(buffer.uri, `${where}/uri`, limits).bytes;
  if (!bytes) throw damaged(where, "without content", "a GLB's binary chunk or a data URI is needed");
  if (declared > bytes.length) throw damaged(`${where}/byteLength`, declared, `the buffer has ${bytes.length} bytes`);
  return bytes;
}

function slice(checked: CheckedGltf, range: Json, where: string): Uint8Array | undefined {
  const buffer = checked.buffers[indexOf(range.buffer, `${where}/buffer`, checked.buffers.length)];
  const size = buffer?.length ?? 2 ** 40;
  const offset = wholeOf(range.byteOffset, `${where}/byteOffset`, 0, size, 0);
  const length = wholeOf(range.byteLength, `${where}/byteLength`, 0, size - offset);
  return buffer?.subarray(offset, offset + length);
}

function viewOf(
  checked: CheckedGltf,
  view: Json,
  where: string,
  total: { bytes: number },
  limits: ObjectLimits,
): ViewRange {
  const content = slice(checked, view, where);
  // Some exporters write 0 for tightly packed data.
  if (view.byteStride === 0) delete view.byteStride;
  const stride = view.byteStride === undefined ? undefined : wholeOf(view.byteStride, `${where}/byteStride`, 1, 255);
  const packed = at(view, "extensions", MESHOPT);
  if (!isObject(packed)) return { length: view.byteLength as number, stride, content };
  const packedWhere = `${where}/extensions/${MESHOPT}`;
  if (!slice(checked, packed, packedWhere)) throw damaged(packedWhere, "without content", "a buffer is needed");
  const each = wholeOf(packed.byteStride, `${packedWhere}/byteStride`, 1, 256);
  const count = wholeOf(packed.count, `${packedWhere}/count`, 0, 2 ** 40);
  total.bytes += each * count;
  if (total.bytes > limits.decodedBytes)
    throw tooLarge(`bytes of ${packedWhere} once decoded`, total.bytes, limits.decodedBytes, SMALLER);
  if (each * count > (view.byteLength as number))
    throw damaged(`${packedWhere}/count`, count, `the view has ${shown(view.byteLength)} bytes`);
  if (!["ATTRIBUTES", "TRIANGLES", "INDICES"].includes(packed.mode as string))
    throw damaged(`${packedWhere}/mode`, shown(packed.mode), "ATTRIBUTES, TRIANGLES or INDICES is needed");
  return { length: each * count, stride, content };
}

/** @returns size of the accessor after decoding, bytes */
function checkAccessor(checked: CheckedGltf, accessor: Json, where: string, limits: ObjectLimits): number {
  const component = COMPONENT_BYTES[accessor.componentType as number];
  if (component === undefined)
    throw damaged(`${where}/componentType`, shown(accessor.componentType), "5120 to 5123, 5125 or 5126 is needed");
  const type = accessor.type as string;
  const components = Object.hasOwn(COMPONENTS, type) ? COMPONENTS[type]! : undefined;
  if (components === undefined)
    throw damaged(`${where}/type`, shown(accessor.type), `${Object.keys(COMPONENTS).join(", ")} is needed`);
  if (accessor.normalized !== undefined && typeof accessor.normalized !== "boolean")
    throw damaged(`${where}/normalized`, shown(accessor.normalized), "true or false is needed");
  const count = wholeOf(accessor.count, `${where}/count`, 0, 2 ** 40);
  const each = component * components;
  // Check this before the ranges, whose message would ask for an impossibly long buffer.
  if (count * each > limits.decodedBytes)
    throw tooLarge(`bytes of ${where} once decoded`, count * each, limits.decodedBytes, SMALLER);
  if (accessor.bufferView !== undefined) checkRange(checked, accessor, where, count, each, component);
  if (accessor.sparse === undefined) return count * each;
  const sparse = accessor.sparse;
  if (!isObject(sparse)) throw damaged(`${where}/sparse`, shown(sparse), "an object is needed");
  const few = wholeOf(sparse.count, `${where}/sparse/count`, 0, count);
  for (const part of ["indices", "values"] as const) {
    const range = sparse[part];
    const place = `${where}/sparse/${part}`;
    if (!isObject(range)) throw damaged(place, shown(range), "an object is needed");
    const size = part === "values" ? component : COMPONENT_BYTES[range.componentType as number];
    if (size === undefined || (part === "indices" && ![5121, 5123, 5125].includes(range.componentType as number)))
      throw damaged(`${place}/componentType`, shown(range.componentType), "5121, 5123 or 5125 is needed");
    checkRange(checked, range, place, few, part === "values" ? each : size, size);
    // Without an offset here, glTF-Transform would use the accessor's own offset.
    range.byteOffset ??= 0;
  }
  checkSparseIndices(checked, sparse.indices as Json, few, count, `${where}/sparse/indices`);
  return 2 * count * each;
}

/** Checks that the indices of a sparse accessor name its elements; others would be lost without a word. */
function checkSparseIndices(checked: CheckedGltf, indices: Json, few: number, count: number, where: string): void {
  const { content, stride } = checked.views[indices.bufferView as number]!;
  const size = COMPONENT_BYTES[indices.componentType as number]!;
  // Compressed views have no plain content.
  if (!content) return;
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const read = { 1: "getUint8", 2: "getUint16", 4: "getUint32" }[size] as "getUint8" | "getUint16" | "getUint32";
  for (let i = 0; i < few; i++) {
    const index = view[read]((indices.byteOffset as number) + i * (stride ?? size), true);
    if (index >= count) throw damaged(`${where}, entry ${i}`, index, `the accessor has ${count} elements, from 0`);
  }
}

function checkRange(
  checked: CheckedGltf,
  range: Json,
  where: string,
  count: number,
  each: number,
  component: number,
): void {
  const view = checked.views[indexOf(range.bufferView, `${where}/bufferView`, checked.views.length)]!;
  const offset = wholeOf(range.byteOffset, `${where}/byteOffset`, 0, view.length, 0);
  const stride = view.stride ?? each;
  if (stride < component) throw damaged(`byteStride of the view of ${where}`, stride, `at least ${each} is needed`);
  const end = count === 0 ? offset : offset + (count - 1) * stride + each;
  if (end > view.length)
    throw damaged(`${where}/count`, count, `it ends at byte ${end} of a view that has ${view.length} bytes`);
}

/**
 * Checks the size of a primitive's decoded Draco data.
 * @returns numbers of vertices and triangles after decoding
 */
export function checkDraco(checked: CheckedGltf, draco: Json, where: string): { points: number; faces: number } {
  const view = checked.views[indexOf(draco.bufferView, `${where}/bufferView`, checked.views.length)]!;
  if (!view.content) throw damaged(where, "without content", "a buffer is needed");
  const counts = dracoCounts(view.content);
  if (!counts)
    throw new ObjectError("FILE_DAMAGED", {
      where: `Draco data of ${where}`,
      value: "in another format",
      limit: "a triangle mesh in bitstream 2.2 is needed",
      help: "Export the model again, without compression if it fails again",
    });
  return counts;
}
