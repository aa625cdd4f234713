/**
 * Imports triangles from PLY: ASCII, or binary in either byte order, plain or gzip. Polygons (polygons.ts) and strips
 * of triangles are split. Only positions, colors and face indices are read; other properties and elements are skipped.
 * Source: G. Turk, The PLY Polygon File Format (Stanford, 1994).
 */
import { MAX_ELEMENTS, MAX_POLYGON, MAX_VERTICES, MeshError } from "../mesh.ts";
import type { ReadSurface } from "../mesh.ts";
import { finishSurface } from "./finishMesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { PLY_BYTES, readPlyHeader } from "./plyHeader.ts";
import type { PlyElement, PlyScalar } from "./plyHeader.ts";
import { polygonNotes, triangulate } from "./polygons.ts";
import { floatPrecision, WrittenDigits } from "./filePrecision.ts";
import { decimal, inUtf8, isNotANumber, numbersIgnored, plainBytes, shortFaces } from "./textMesh.ts";

/** Reads the numbers of the data part in sequence. */
interface PlySource {
  /** Returns the next number, which may be not finite; `field` names it in errors. */
  next(type: PlyScalar, field: string): number;
  /** Text of the last number; undefined for binary files. */
  word(): string | undefined;
  /** Line of the last number; undefined for binary files. */
  line(): number | undefined;
}

function binarySource(file: string, bytes: Uint8Array, offset: number, little: boolean): PlySource {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = offset;
  return {
    next(type, field) {
      const size = PLY_BYTES[type];
      if (at + size > view.byteLength)
        throw new MeshError({
          file,
          field,
          value: "missing",
          limit: `${size} bytes are needed at byte ${at} of ${view.byteLength}`,
        });
      const here = at;
      at += size;
      switch (type) {
        case "int8":
          return view.getInt8(here);
        case "uint8":
          return view.getUint8(here);
        case "int16":
          return view.getInt16(here, little);
        case "uint16":
          return view.getUint16(here, little);
        case "int32":
          return view.getInt32(here, little);
        case "uint32":
          return view.getUint32(here, little);
        case "float32":
          return view.getFloat32(here, little);
        case "float64":
          return view.getFloat64(here, little);
      }
    },
    word: () => undefined,
    line: () => undefined,
  };
}

function asciiSource(file: string, bytes: Uint8Array, offset: number, firstLine: number): PlySource {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  let at = offset;
  let line = firstLine;
  let word = "";
  return {
    next(_type, field) {
      let code = text.charCodeAt(at);
      while (code <= 32) {
        const following = text.charCodeAt(++at);
        // Old programs end lines with a carriage return alone.
        if (code === 10 || (code === 13 && following !== 10)) line++;
        code = following;
      }
      const start = at;
      while (code > 32) code = text.charCodeAt(++at);
      word = text.slice(start, at);
      const value = decimal(word);
      if (Number.isFinite(value)) return value;
      if (isNotANumber(word)) return Number.NaN;
      throw notFinite(file, this, field);
    },
    word: () => word,
    line: () => line,
  };
}

interface Collected {
  positions: Float64Array;
  /** float64[3*V] red, green, blue, 0 to 1, sRGB; undefined if vertices have no colors. */
  colors: Float64Array | undefined;
  vertexLines: Uint32Array | undefined;
  /** Three vertices for each triangle. */
  elements: number[];
  elementLines: number[];
  /** Largest rounding error of a position. */
  precision: number;
  notes: MeshNote[];
}

/** Faces while they are read. */
interface Faces {
  vertexOf: number[];
  starts: number[];
  lines: number[];
  triangles: number;
  /** Faces of fewer than three corners. */
  short: number;
}

/** State of reading one file. */
interface Reading {
  file: string;
  source: PlySource;
  ascii: boolean;
  into: Collected;
  faces: Faces;
  digits: WrittenDigits;
  /** Numbers that are not finite, in data that is not used. */
  ignored: number;
}

function readVertices(reading: Reading, element: PlyElement): void {
  const { file, source, ascii, into, digits } = reading;
  if (element.count > MAX_VERTICES)
    throw new MeshError({
      file,
      field: "vertex count",
      value: element.count,
      limit: `at most ${MAX_VERTICES} are allowed`,
    });
  const axes = element.properties.map((p) => (p.list ? -1 : ["x", "y", "z"].indexOf(p.name)));
  for (let k = 0; k < 3; k++) {
    if (axes.filter((axis) => axis === k).length !== 1) {
      throw new MeshError({
        file,
        field: "vertex properties",
        value: element.properties.map((p) => p.name).join(" ") || "none",
        limit: `${"xyz"[k]} is needed once`,
      });
    }
  }
  into.positions = new Float64Array(3 * element.count);
  const channels = colorChannels(element);
  if (channels) into.colors = new Float64Array(3 * element.count);
  if (ascii) into.vertexLines = new Uint32Array(element.count);
  for (let v = 0; v < element.count; v++) {
    for (let p = 0; p < element.properties.length; p++) {
      const property = element.properties[p]!;
      const field = `vertex ${v} ${property.name}`;
      if (property.list) {
        skipList(reading, property.list, property.type, field);
        continue;
      }
      const value = source.next(property.type, field);
      const channel = channels ? channels.of[p]! : -1;
      if (axes[p]! >= 0) {
        // Scanners fill gaps with NaN. The caller refuses it in vertices of faces.
        into.positions[3 * v + axes[p]!] = Number.isFinite(value) ? value : Number.NaN;
        if (ascii && Number.isFinite(value)) digits.add(source.word()!);
      } else if (!Number.isFinite(value)) reading.ignored++;
      else if (channel >= 0) into.colors![3 * v + channel] = value / channels!.full;
    }
    if (into.vertexLines) into.vertexLines[v] = source.line()!;
  }
  const type = element.properties[axes.indexOf(0)]!.type;
  const bits = { float32: 23, float64: 52 }[type as string];
  into.precision = ascii ? digits.precision(into.positions) : bits ? floatPrecision(into.positions, bits) : 0;
}

const notFinite = (file: string, source: PlySource, field: string): MeshError =>
  new MeshError({
    file,
    line: source.line(),
    field,
    value: source.word() || "missing",
    limit: "a finite number is needed",
  });

/**
 * Finds the red, green and blue properties and their full-scale value; undefined unless all three exist with the same
 * type.
 */
function colorChannels(element: PlyElement): { of: number[]; full: number } | undefined {
  const of = element.properties.map((p) =>
    p.list ? -1 : ["red", "green", "blue"].indexOf(p.name.replace(/^diffuse_/, "")),
  );
  const types = new Set(element.properties.filter((_, p) => of[p]! >= 0).map((p) => p.type));
  if (of.filter((channel) => channel >= 0).length !== 3 || new Set(of).size < 4 || types.size !== 1) return undefined;
  const full = { uint8: 255, uint16: 65535, float32: 1, float64: 1 }[[...types][0] as string];
  return full === undefined ? undefined : { of, full };
}

function listLength(file: string, source: PlySource, type: PlyScalar, field: string, most = MAX_POLYGON): number {
  const length = source.next(type, field);
  if (Number.isInteger(length) && length >= 0 && length <= most) return length;
  throw new MeshError({
    file,
    line: source.line(),
    field,
    value: length,
    limit: `an integer from 0 to ${most} is needed`,
  });
}

function skipList(reading: Reading, lengthType: PlyScalar, type: PlyScalar, field: string): void {
  const length = listLength(reading.file, reading.source, lengthType, `length of ${field}`);
  for (let i = 0; i < length; i++) skipNumber(reading, type, field);
}

function skipNumber(reading: Reading, type: PlyScalar, field: string): void {
  if (!Number.isFinite(reading.source.next(type, field))) reading.ignored++;
}

/** Reads polygons, or strips of triangles (`tristrips`). */
function readFaces(reading: Reading, element: PlyElement): void {
  const { file, source, faces } = reading;
  const strips = element.name === "tristrips";
  const isIndices = (name: string): boolean => name === "vertex_indices" || name === "vertex_index";
  if (element.properties.filter((p) => p.list && isIndices(p.name)).length !== 1) {
    throw new MeshError({
      file,
      field: "face properties",
      value: element.properties.map((p) => p.name).join(" ") || "none",
      limit: "one list vertex_indices (or vertex_index) is needed",
    });
  }
  for (let f = 0; f < element.count; f++) {
    for (const property of element.properties) {
      if (!property.list) skipNumber(reading, property.type, `face ${f} ${property.name}`);
      else if (!isIndices(property.name)) skipList(reading, property.list, property.type, `face ${f} ${property.name}`);
      else {
        const most = strips ? MAX_ELEMENTS : MAX_POLYGON;
        const length = listLength(file, source, property.list, `length of ${element.name} ${f}`, most);
        const corners: number[] = [];
        for (let c = 0; c < length; c++) corners.push(source.next(property.type, `face ${f} corner ${c + 1}`));
        if (strips) for (const triangle of trianglesOfStrip(corners)) addPolygon(reading, triangle);
        else if (length < 3) faces.short++;
        else addPolygon(reading, corners);
      }
    }
  }
}

function addPolygon({ file, source, faces }: Reading, corners: readonly number[]): void {
  faces.starts.push(faces.vertexOf.length);
  for (const corner of corners) faces.vertexOf.push(corner);
  faces.triangles += corners.length - 2;
  const line = source.line();
  if (faces.triangles > MAX_ELEMENTS)
    throw new MeshError({
      file,
      line,
      field: "triangle count",
      value: faces.triangles,
      limit: `at most ${MAX_ELEMENTS} are allowed`,
    });
  if (line !== undefined) faces.lines.push(line);
}

/**
 * Triangles of strips in one list; -1 begins the next strip (vcglib, import_ply.h). Every second one has the opposite
 * orientation. Those with a corner twice only lead to the next ones.
 */
function* trianglesOfStrip(corners: readonly number[]): Generator<readonly number[], void, undefined> {
  let start = 0;
  for (let c = 0; c < corners.length; c++) {
    if (corners[c] === -1) start = c + 1;
    if (c < start + 2) continue;
    const [first, second, third] = [corners[c - 2]!, corners[c - 1]!, corners[c]!];
    if (first === second || second === third || third === first) continue;
    yield (c - start) % 2 === 0 ? [first, second, third] : [second, first, third];
  }
}

function skipElement(reading: Reading, element: PlyElement): void {
  for (let i = 0; i < element.count; i++) {
    for (const property of element.properties) {
      const field = `${element.name} ${i} ${property.name}`;
      if (property.list) skipList(reading, property.list, property.type, field);
      else skipNumber(reading, property.type, field);
    }
  }
}

/** Splits the faces into triangles. */
function addTriangles({ into, faces, ignored }: Reading): void {
  const split = triangulate(into.positions, faces);
  into.elements = split.corners.map((corner) => faces.vertexOf[corner]!);
  if (faces.lines.length > 0) into.elementLines = split.polygonOf.map((face) => faces.lines[face]!);
  const name = (face: number): string => (faces.lines.length > 0 ? `on line ${faces.lines[face]}` : `face ${face}`);
  into.notes.push(
    ...numbersIgnored(ignored),
    ...shortFaces(faces.short),
    ...polygonNotes(into.positions, faces, split, name),
  );
}

/**
 * Reads vertices and faces of a PLY file, without checking the numbers.
 * @param file name for errors
 * @param content bytes of the file, gzip or not
 * @throws MeshError
 */
export function readPlyRecords(file: string, content: Uint8Array): Collected {
  const bytes = inUtf8(plainBytes(file, content));
  const header = readPlyHeader(file, bytes);
  const ascii = header.format === "ascii";
  const source = ascii
    ? asciiSource(file, bytes, header.offset, header.line)
    : binarySource(file, bytes, header.offset, header.format === "binary_little_endian");
  for (const names of [["vertex"], ["face", "tristrips"]]) {
    if (header.elements.filter((element) => names.includes(element.name)).length !== 1) {
      throw new MeshError({
        file,
        field: "elements",
        value: header.elements.map((element) => element.name).join(" ") || "none",
        limit: `${names.join(" or ")} is needed once`,
      });
    }
  }
  const into: Collected = {
    positions: new Float64Array(0),
    colors: undefined,
    vertexLines: undefined,
    elements: [],
    elementLines: [],
    precision: 0,
    notes: [],
  };
  const faces = { vertexOf: [], starts: [], lines: [], triangles: 0, short: 0 };
  const reading: Reading = { file, source, ascii, into, faces, digits: new WrittenDigits(), ignored: 0 };
  for (const element of header.elements) {
    // An element without properties takes no bytes, whatever its count.
    if (element.properties.length === 0) continue;
    if (element.count > bytes.length)
      throw new MeshError({
        file,
        field: `count of element ${element.name}`,
        value: element.count,
        limit: `the file has ${bytes.length} bytes`,
      });
    if (element.name === "vertex") readVertices(reading, element);
    else if (element.name === "face" || element.name === "tristrips") readFaces(reading, element);
    else skipElement(reading, element);
  }
  addTriangles(reading);
  return into;
}

/**
 * Reads the triangles of a PLY file.
 * @param file name for errors
 * @param content bytes of the file, gzip or not
 * @returns the triangles, in the file's unit; unused vertices dropped
 * @throws MeshError
 */
export function importPly(file: string, content: Uint8Array): ReadSurface {
  const { positions, elements, vertexLines, elementLines, precision, notes } = readPlyRecords(file, content);
  const surface = finishSurface({
    file,
    positions,
    elements,
    ...(vertexLines
      ? { vertexLine: (v: number) => vertexLines[v]!, elementLine: (e: number) => elementLines[e]! }
      : {}),
  });
  return { ...surface, precision, notes };
}
