/**
 * Disk cache of tetrahedralizations, so that a room starts in milliseconds. One file per input, named by the SHA-256 of
 * everything that the result depends on. Incomplete files are ignored and rewritten. Several processes may write at
 * once: each writes its own temporary file and renames it, and all write the same bytes.
 *
 * File, little-endian: "PLTM", uint32 format version, uint32 bytes of the report (JSON, UTF-8, padded with spaces to a
 * multiple of 8), uint32 vertices, uint32 tetrahedra, uint32 zero, report, float64[3*V] positions, uint32[4*N]
 * elements, SHA-256 of everything before it.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SurfaceMesh } from "./mesh.ts";
import { tetrahedralize, TETRAHEDRALIZER_VERSION } from "./tetrahedra/tetrahedralize.ts";
import type { Tetrahedralization, TetrahedralizeOptions, TetrahedralizeReport } from "./tetrahedra/tetrahedralize.ts";

/** `build/cache/meshes` of this checkout. */
const MESH_CACHE_FOLDER = fileURLToPath(new URL("../../build/cache/meshes/", import.meta.url));

const MAGIC = Buffer.from("PLTM");
const FORMAT = 1;
const HEADER = 24;
const DIGEST = 32;

function bytesOf(array: Float64Array | Uint32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

/** Name of the cache file for an input: lower-case hexadecimal SHA-256. */
export function meshCacheKey(surface: SurfaceMesh, options: TetrahedralizeOptions): string {
  const hash = createHash("sha256");
  const { spacing, minPiece } = options;
  hash.update(
    JSON.stringify({
      format: FORMAT,
      version: TETRAHEDRALIZER_VERSION,
      spacing,
      minPiece,
      vertices: surface.positions.length,
      corners: surface.triangles.length,
    }),
  );
  return hash.update(bytesOf(surface.positions)).update(bytesOf(surface.triangles)).digest("hex");
}

function encode({ mesh, report }: Tetrahedralization): Buffer {
  const json = JSON.stringify(report);
  const text = Buffer.from(json + " ".repeat((8 - (Buffer.byteLength(json) % 8)) % 8));
  const header = Buffer.alloc(HEADER);
  MAGIC.copy(header);
  header.writeUInt32LE(FORMAT, 4);
  header.writeUInt32LE(text.length, 8);
  header.writeUInt32LE(mesh.positions.length / 3, 12);
  header.writeUInt32LE(mesh.tets.length / 4, 16);
  const content = Buffer.concat([header, text, bytesOf(mesh.positions), bytesOf(mesh.tets)]);
  return Buffer.concat([content, createHash("sha256").update(content).digest()]);
}

/** Decodes a cache file; undefined if it is incomplete. */
function decode(file: Buffer): Tetrahedralization | undefined {
  if (file.length < HEADER + DIGEST || !file.subarray(0, 4).equals(MAGIC) || file.readUInt32LE(4) !== FORMAT)
    return undefined;
  const textBytes = file.readUInt32LE(8);
  const positionBytes = 24 * file.readUInt32LE(12);
  const tetBytes = 16 * file.readUInt32LE(16);
  const end = HEADER + textBytes + positionBytes + tetBytes;
  if (
    file.length !== end + DIGEST ||
    !createHash("sha256").update(file.subarray(0, end)).digest().equals(file.subarray(end))
  )
    return undefined;
  const text = file.subarray(HEADER, HEADER + textBytes);
  // Copies: a Buffer's memory may be unaligned for typed arrays, and must not be shared with the caller's mesh.
  const positions = new Float64Array(positionBytes / 8);
  bytesOf(positions).set(file.subarray(HEADER + textBytes, HEADER + textBytes + positionBytes));
  const tets = new Uint32Array(tetBytes / 4);
  bytesOf(tets).set(file.subarray(HEADER + textBytes + positionBytes, end));
  return { mesh: { positions, tets }, report: JSON.parse(text.toString()) as TetrahedralizeReport };
}

async function readCached(path: string): Promise<Tetrahedralization | undefined> {
  try {
    return decode(await readFile(path));
  } catch {
    // Missing or unreadable: the mesh must be computed.
    return undefined;
  }
}

/**
 * `tetrahedralize` with a cache. A cache that cannot be read or written (no permission, full disk) costs only time.
 * @param folder created on demand
 * @returns the result, and whether it came from the cache
 * @throws MeshError as tetrahedralize does; failures are not cached
 */
export async function meshCache(
  surface: SurfaceMesh,
  options: TetrahedralizeOptions,
  folder = MESH_CACHE_FOLDER,
): Promise<Tetrahedralization & { cached: boolean }> {
  const path = join(folder, `${meshCacheKey(surface, options)}.bin`);
  const known = await readCached(path);
  if (known) {
    options.onProgress?.(1, "cached");
    return { ...known, cached: true };
  }
  const made = tetrahedralize(surface, options);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(temporary, encode(made));
    await rename(temporary, path);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  return { ...made, cached: false };
}
