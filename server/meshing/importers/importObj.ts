/**
 * Imports triangles from Wavefront OBJ: `v` and `f` records, and for the picture `vt` and `vn`. Polygons are split
 * (polygons.ts). Groups, materials, lines and other records are skipped. Source: Wavefront, Advanced Visualizer manual,
 * appendix B1 (object files).
 */
import { MAX_ELEMENTS, MAX_POLYGON, MAX_VERTICES, MeshError } from "../mesh.ts";
import type { ReadSurface } from "../mesh.ts";
import { finishSurface } from "./finishMesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { polygonNotes, triangulate } from "./polygons.ts";
import { WrittenDigits } from "./filePrecision.ts";
import { isNotANumber, numberField, numbersIgnored, plainText, shortFaces, textLines } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";

/** Records of an OBJ file. */
export interface ObjRecords {
  /** float64[3V], with the line of each vertex. NaN where the file has no number: only unused vertices may have it. */
  positions: number[];
  vertexLines: number[];
  /** float64[3V] red, green, blue as written; empty unless every vertex has them. */
  colors: number[];
  /** float64[2] of each `vt`, float64[3] of each `vn`; 0 where the file has no finite number. */
  uvs: number[];
  normals: number[];
  /** Three corners per triangle: indices of vertex, `vt` and `vn` from 0; -1 for none. */
  vertexOf: number[];
  uvOf: number[];
  normalOf: number[];
  elementLines: number[];
  /** Whether faces refer to materials. */
  materials: boolean;
  /** Digits of the positions. */
  digits: WrittenDigits;
  notes: MeshNote[];
}

/** Faces while they are read: corners of all, with the first corner and the line of each. */
interface Faces {
  vertexOf: number[];
  uvOf: number[];
  normalOf: number[];
  starts: number[];
  lines: number[];
  triangles: number;
  /** Faces of fewer than three corners. */
  short: number;
}

const CORNER = /^([+-]?\d+)(?:\/([+-]?\d*))?(?:\/([+-]?\d*))?$/;

/**
 * Converts an OBJ index to one from 0; negative numbers count back from the last record so far. Returns -1 if invalid.
 */
function placeNamed(value: number, count: number): number {
  if (value >= 1 && Number.isInteger(value)) return value - 1;
  return value <= -1 && value >= -count ? count + value : -1;
}

/** Appends the indices in a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn` to `out`. */
function cornerPlaces(file: string, line: TextLine, corner: number, records: ObjRecords, out: number[]): void {
  const text = line.fields[corner]!;
  const match = CORNER.exec(text);
  const vertices = records.vertexLines.length;
  const vertex = match ? placeNamed(Number(match[1]), vertices) : -1;
  if (vertex < 0)
    throw new MeshError({
      file,
      line: line.number,
      field: `face corner ${corner}`,
      value: text,
      limit: `a vertex from 1 to ${vertices} or from -${vertices} to -1 is needed`,
    });
  const uv = match![2] ? placeNamed(Number(match![2]), records.uvs.length / 2) : -1;
  const normal = match![3] ? placeNamed(Number(match![3]), records.normals.length / 3) : -1;
  out.push(vertex, uv, normal);
}

/** Reads a number that only the picture uses. */
type DrawnNumber = (line: TextLine, index: number, field: string) => number;

function addVertex(file: string, line: TextLine, records: ObjRecords, drawnNumber: DrawnNumber | undefined): void {
  for (let k = 0; k < 3; k++) {
    const word = line.fields[1 + k];
    if (isNotANumber(word)) records.positions.push(Number.NaN);
    else {
      records.positions.push(numberField(file, line, 1 + k, `v ${"xyz"[k]}`));
      records.digits.add(word!);
    }
  }
  // Colors count only if all vertices have them, so that the arrays match. A weight may stand before them.
  const first = line.fields.length === 8 ? 5 : 4;
  if (drawnNumber && line.fields.length >= 7 && records.colors.length === 3 * records.vertexLines.length)
    for (let k = 0; k < 3; k++) records.colors.push(drawnNumber(line, first + k, `v ${["red", "green", "blue"][k]}`));
  records.vertexLines.push(line.number);
  if (records.vertexLines.length > MAX_VERTICES)
    throw new MeshError({
      file,
      line: line.number,
      field: "vertex count",
      value: records.vertexLines.length,
      limit: `at most ${MAX_VERTICES} are allowed`,
    });
}

function addFace(file: string, line: TextLine, records: ObjRecords, faces: Faces): void {
  const corners = line.fields.length - 1;
  if (corners < 3) {
    faces.short++;
    return;
  }
  if (corners > MAX_POLYGON)
    throw new MeshError({
      file,
      line: line.number,
      field: "corners of a face",
      value: corners,
      limit: `at most ${MAX_POLYGON} are allowed`,
    });
  faces.starts.push(faces.vertexOf.length);
  faces.lines.push(line.number);
  const places: number[] = [];
  for (let c = 1; c <= corners; c++) cornerPlaces(file, line, c, records, places);
  for (let at = 0; at < places.length; at += 3) {
    faces.vertexOf.push(places[at]!);
    faces.uvOf.push(places[at + 1]!);
    faces.normalOf.push(places[at + 2]!);
  }
  faces.triangles += corners - 2;
  if (faces.triangles > MAX_ELEMENTS)
    throw new MeshError({
      file,
      line: line.number,
      field: "triangle count",
      value: faces.triangles,
      limit: `at most ${MAX_ELEMENTS} are allowed`,
    });
}

/** Splits the faces into triangles. */
function addTriangles(records: ObjRecords, faces: Faces): void {
  const split = triangulate(records.positions, faces);
  records.vertexOf = split.corners.map((corner) => faces.vertexOf[corner]!);
  records.uvOf = split.corners.map((corner) => faces.uvOf[corner]!);
  records.normalOf = split.corners.map((corner) => faces.normalOf[corner]!);
  records.elementLines = split.polygonOf.map((face) => faces.lines[face]!);
  records.notes.push(...polygonNotes(records.positions, faces, split, (face) => `on line ${faces.lines[face]}`));
}

/**
 * Reads the records of an OBJ file that concern triangles and their appearance. A face may refer to later vertices; the
 * caller checks that they exist.
 * @param drawn whether to read texture coordinates and normals, which then must be numbers
 * @throws MeshError
 */
export function readObjRecords(file: string, content: string | Uint8Array, drawn: boolean): ObjRecords {
  const records: ObjRecords = {
    positions: [],
    vertexLines: [],
    colors: [],
    uvs: [],
    normals: [],
    vertexOf: [],
    uvOf: [],
    normalOf: [],
    elementLines: [],
    materials: false,
    digits: new WrittenDigits(),
    notes: [],
  };
  const faces: Faces = { vertexOf: [], uvOf: [], normalOf: [], starts: [], lines: [], triangles: 0, short: 0 };
  let ignored = 0;
  const drawnNumber: DrawnNumber = (line, index, field) => {
    if (!isNotANumber(line.fields[index])) return numberField(file, line, index, field);
    ignored++;
    return 0;
  };
  for (const line of textLines(joinContinued(plainText(file, content)), "#")) {
    const [keyword] = line.fields;
    if (keyword === "v") addVertex(file, line, records, drawn ? drawnNumber : undefined);
    // Old files write `fo`, a face outline, which newer programs read as `f`.
    else if (keyword === "f" || keyword === "fo") addFace(file, line, records, faces);
    else if (keyword === "usemtl") records.materials = true;
    else if (drawn && keyword === "vt")
      records.uvs.push(drawnNumber(line, 1, "vt u"), line.fields.length > 2 ? drawnNumber(line, 2, "vt v") : 0);
    else if (drawn && keyword === "vn")
      for (let k = 0; k < 3; k++) records.normals.push(drawnNumber(line, 1 + k, `vn ${"xyz"[k]}`));
  }
  if (records.colors.length !== records.positions.length) records.colors = [];
  records.notes.push(...numbersIgnored(ignored), ...shortFaces(faces.short));
  addTriangles(records, faces);
  return records;
}

/**
 * Reads the triangles of an OBJ file.
 * @param file name for errors
 * @param content text or bytes of the file
 * @returns the triangles, in the file's unit; unused vertices dropped
 * @throws MeshError
 */
export function importObj(file: string, content: string | Uint8Array): ReadSurface {
  const { positions, vertexOf, vertexLines, elementLines, digits, notes } = readObjRecords(file, content, false);
  const surface = finishSurface({
    file,
    positions,
    elements: vertexOf,
    base: 1,
    vertexLine: (v) => vertexLines[v]!,
    elementLine: (e) => elementLines[e]!,
  });
  return { ...surface, precision: digits.precision(surface.positions), notes };
}

/**
 * Joins lines that end with a backslash to the next line, except comments, which may end with a path. Blanks may follow
 * the backslash. The line breaks move behind the record, so that later line numbers stay right.
 */
function joinContinued(text: string): string {
  if (!text.includes("\\")) return text;
  // Works line by line. A regular expression over several lines would rescan a line without an end from each of its
  // characters.
  let joined = "";
  let breaks = 0;
  for (const line of text.split("\n")) {
    const whole = line.trimEnd();
    if (whole.endsWith("\\") && (breaks > 0 || !whole.trimStart().startsWith("#"))) {
      joined += `${whole.slice(0, -1)} `;
      breaks += 1;
    } else {
      joined += line + "\n".repeat(breaks + 1);
      breaks = 0;
    }
  }
  return joined;
}
