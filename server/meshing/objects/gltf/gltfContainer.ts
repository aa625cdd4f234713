/**
 * Reads the container of GLB and glTF: JSON and buffers. It checks sizes and nesting first, and allows no references
 * outside the file. Source: glTF 2.0 specification (Khronos, ISO/IEC 12113), sections 3.6 and 4.
 */
import { inUtf8 } from "../../importers/textMesh.ts";
import { ObjectError, shortened } from "../objectFile.ts";
import type { ObjectLimits } from "../objectFile.ts";

/** Untrusted JSON: check every field's type before use, whatever the specification says. */
export type Json = Record<string, unknown>;

export interface GltfContainer {
  json: Json;
  /** Binary chunk of a GLB, if there is one. */
  binary: Uint8Array | undefined;
}

const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BIN_CHUNK = 0x004e4942;

export function damaged(where: string, value: string | number, limit: string): ObjectError {
  return new ObjectError("FILE_DAMAGED", {
    where,
    value,
    limit,
    help: "The file is incomplete or was written wrongly; export it again",
  });
}

export function tooLarge(where: string, value: number, limit: number, help: string): ObjectError {
  return new ObjectError("TOO_LARGE", { where, value, limit: `at most ${limit} is allowed`, help });
}

export function isGlb(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === MAGIC;
}

/** @throws ObjectError */
export function openContainer(bytes: Uint8Array, limits: ObjectLimits): GltfContainer {
  if (!isGlb(bytes)) return { json: parsed(inUtf8(bytes), limits), binary: undefined };
  if (bytes.length < 20) throw damaged("size of the GLB in bytes", bytes.length, "at least 20 are needed");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(4, true);
  if (version !== 2) throw notSupported("version of the GLB", version, "2 is supported", "Export it as glTF 2.0");
  const length = view.getUint32(8, true);
  if (length > bytes.length)
    throw damaged("length in the GLB's header", length, `the file has only ${bytes.length} bytes`);
  const chunk = (at: number): { type: number; content: Uint8Array } => {
    const size = view.getUint32(at, true);
    if (at + 8 + size > bytes.length)
      throw damaged(`length of the GLB's chunk at byte ${at}`, size, `${bytes.length - at - 8} bytes are left`);
    return { type: view.getUint32(at + 4, true), content: bytes.subarray(at + 8, at + 8 + size) };
  };
  const first = chunk(12);
  if (first.type !== JSON_CHUNK)
    throw damaged("type of the GLB's first chunk", first.type, `${JSON_CHUNK} (JSON) is needed`);
  const next = 20 + first.content.length;
  const second = next + 8 <= bytes.length ? chunk(next) : undefined;
  // Some exporters pad the JSON with zeros instead of spaces.
  const end = first.content.findLastIndex((byte) => byte !== 0) + 1;
  return {
    json: parsed(first.content.subarray(0, end), limits),
    binary: second?.type === BIN_CHUNK ? second.content : undefined,
  };
}

export function notSupported(where: string, value: string | number, limit: string, help: string): ObjectError {
  return new ObjectError("NOT_SUPPORTED", { where, value, limit, help });
}

/** Deepest nesting of brackets outside of strings. Checked before JSON.parse, which would build the nested objects. */
function nesting(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return deepest;
}

function parsed(bytes: Uint8Array, limits: ObjectLimits): Json {
  if (bytes.length > limits.jsonBytes)
    throw tooLarge(
      "size of the glTF's JSON in bytes",
      bytes.length,
      limits.jsonBytes,
      "Save it as GLB, which keeps numbers outside of the JSON",
    );
  const depth = nesting(bytes);
  if (depth > limits.jsonDepth)
    throw tooLarge("nesting of the glTF's JSON", depth, limits.jsonDepth, "Remove nested extras and export it again");
  let json: unknown;
  try {
    // Some exporters write names in Latin-1; nothing reads names.
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw damaged("the glTF's JSON", shortened((error as Error).message), "JSON is needed");
  }
  if (!isObject(json)) throw damaged("the glTF's JSON", typeof json, "an object is needed");
  return json;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Decodes a data URI.
 * @throws ObjectError EXTERNAL_URI for any other URI
 */
export function dataOfUri(uri: unknown, where: string, limits: ObjectLimits): { bytes: Uint8Array; mimeType: string } {
  if (typeof uri !== "string") throw damaged(where, shortened(JSON.stringify(uri) ?? "missing"), "a URI is needed");
  const head = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(uri.slice(0, 256));
  if (!head)
    throw new ObjectError("EXTERNAL_URI", {
      where,
      value: shortened(uri),
      limit: "all data must be inside the file",
      help: "Save the model as one GLB file, with its buffers and textures inside",
    });
  if (!/;base64$/.test(head[2]!)) throw damaged(where, shortened(head[0]), "base64 is needed");
  const text = uri.slice(head[0].length);
  if (0.75 * text.length > limits.bytes)
    throw tooLarge(where, 0.75 * text.length, limits.bytes, "Make the model smaller");
  return { bytes: Uint8Array.from(Buffer.from(text, "base64")), mimeType: head[1]! };
}
