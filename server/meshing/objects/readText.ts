/** Reads OBJ, STL and PLY: one white material, vertex colors, and computed normals if the file has none. */
import { Document, Logger } from "@gltf-transform/core";
import type { Material } from "@gltf-transform/core";
import { MAX_VERTICES, MeshError } from "../mesh.ts";
import { readObjRecords } from "../importers/importObj.ts";
import type { ObjRecords } from "../importers/importObj.ts";
import { readPlyRecords } from "../importers/importPly.ts";
import { importStl } from "../importers/importStl.ts";
import type { MeshNote } from "../meshNotes.ts";
import { withCreasedNormals } from "./creasedNormals.ts";
import type { Attribute, Part } from "./parts.ts";

/** Creates a document with one plain, double-sided material, because these files define neither. */
export function plainDocument(): { document: Document; material: Material } {
  const document = new Document().setLogger(new Logger(Logger.Verbosity.SILENT));
  const material = document.createMaterial().setRoughnessFactor(0.7).setMetallicFactor(0).setDoubleSided(true);
  return { document, material };
}

const FILE = "the file";

/** Linear value of an sRGB component, 0 to 1 (IEC 61966-2-1). */
function linearOfSrgb(c: number): number {
  const clamped = Math.min(1, Math.max(0, c));
  return clamped <= 0.04045 ? clamped / 12.92 : ((clamped + 0.055) / 1.055) ** 2.4;
}

/** Adds normals if the file has none. */
function withNormals(part: Part): Part {
  return part.attributes.has("NORMAL") ? part : withCreasedNormals(part);
}

/** @throws MeshError */
export function readObj(file: string, bytes: Uint8Array, material: Material, notes: MeshNote[]): Part[] {
  const records = readObjRecords(file, bytes, true);
  notes.push(...records.notes);
  if (records.materials)
    notes.push({
      code: "MATERIALS_IGNORED",
      text: "An OBJ file keeps its materials in another file (.mtl), which is ignored. A GLB contains them.",
    });
  if (records.vertexOf.length === 0) return [];
  return [withNormals(objPart(file, records, material))];
}

/** Makes one vertex for each distinct corner (v, vt, vn) of the file. */
function objPart(file: string, records: ObjRecords, material: Material): Part {
  const { vertexOf, uvOf, normalOf, elementLines, positions: x, vertexLines } = records;
  const vertices = vertexLines.length;
  const hasUvs = records.uvs.length > 0 && uvOf.every((uv) => uv >= 0 && uv < records.uvs.length / 2);
  const hasNormals =
    records.normals.length > 0 && normalOf.every((normal) => normal >= 0 && normal < records.normals.length / 3);
  const numbers = new Map<string, number>();
  const corners: number[] = [];
  const triangles = Uint32Array.from(vertexOf, (vertex, h) => {
    if (vertex >= vertices)
      throw new MeshError({
        file,
        line: elementLines[Math.floor(h / 3)]!,
        field: "face corner",
        value: vertex + 1,
        limit: `a vertex from 1 to ${vertices} is needed`,
      });
    const key = `${vertex}/${hasUvs ? uvOf[h] : ""}/${hasNormals ? normalOf[h] : ""}`;
    let number = numbers.get(key);
    if (number === undefined) {
      numbers.set(key, (number = corners.length));
      corners.push(h);
    }
    return number;
  });
  if (corners.length > MAX_VERTICES)
    throw new MeshError({
      file,
      field: "vertex count",
      value: corners.length,
      limit: `at most ${MAX_VERTICES} are allowed`,
    });
  const attributes = new Map<string, Attribute>();
  const picked = (size: 2 | 3, of: number[], values: number[]): Float32Array =>
    Float32Array.from({ length: size * corners.length }, (_, i) => {
      return values[size * of[corners[Math.floor(i / size)]!]! + (i % size)]!;
    });
  if (hasNormals) attributes.set("NORMAL", { size: 3, values: picked(3, normalOf, records.normals) });
  if (hasUvs) {
    // Picture rows run down, OBJ texture coordinates up.
    const values = picked(2, uvOf, records.uvs).map((value, i) => (i % 2 === 1 ? 1 - value : value));
    attributes.set("TEXCOORD_0", { size: 2, values });
  }
  if (records.colors.length > 0)
    attributes.set("COLOR_0", { size: 3, values: picked(3, vertexOf, records.colors).map(linearOfSrgb) });
  const positions = Float64Array.from(
    { length: 3 * corners.length },
    (_, i) => x[3 * vertexOf[corners[Math.floor(i / 3)]!]! + (i % 3)]!,
  );
  const precision = records.digits.precision(positions);
  return { positions, triangles, attributes, material, precision, where: FILE };
}

/**
 * Reads PLY with vertex colors.
 * @throws MeshError
 */
export function readPly(file: string, bytes: Uint8Array, material: Material, notes: MeshNote[]): Part[] {
  const { positions, elements, colors, elementLines, precision, notes: found } = readPlyRecords(file, bytes);
  notes.push(...found);
  const vertices = positions.length / 3;
  const bad = elements.findIndex((v) => !(Number.isInteger(v) && v >= 0 && v < vertices));
  if (bad >= 0)
    throw new MeshError({
      file,
      ...(elementLines.length > 0 && { line: elementLines[Math.floor(bad / 3)]! }),
      field: `corner of triangle ${Math.floor(bad / 3)}`,
      value: elements[bad]!,
      limit: `a vertex from 0 to ${vertices - 1} is needed`,
    });
  const attributes: Part["attributes"] = new Map();
  if (colors) attributes.set("COLOR_0", { size: 3, values: Float32Array.from(colors, linearOfSrgb) });
  const triangles = Uint32Array.from(elements);
  return [withNormals({ positions, triangles, attributes, material, precision, where: FILE })];
}

/**
 * Reads STL, assuming z is up, as 3D printers do: x y z becomes x z -y.
 * @throws MeshError
 */
export function readStl(file: string, bytes: Uint8Array, material: Material, notes: MeshNote[]): Part[] {
  const { positions, triangles, precision } = importStl(file, bytes);
  for (let i = 0; i < positions.length; i += 3)
    [positions[i + 1], positions[i + 2]] = [positions[i + 2]!, -positions[i + 1]!];
  notes.push({ code: "UP_ASSUMED", text: "An STL file does not define the up axis; z is used, as in 3D printing." });
  return [withNormals({ positions, triangles, attributes: new Map(), material, precision, where: FILE })];
}
