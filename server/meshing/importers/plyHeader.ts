/**
 * Parses the header of a PLY file: format, elements and properties. Source: G. Turk, The PLY Polygon File Format
 * (Stanford, 1994).
 */
import { MAX_ELEMENTS, MeshError } from "../mesh.ts";
import { integerField } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";

export type PlyScalar = "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "float32" | "float64";

export const PLY_BYTES: Record<PlyScalar, number> = {
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  float32: 4,
  float64: 8,
};

const SCALARS: Record<string, PlyScalar> = {
  char: "int8",
  uchar: "uint8",
  short: "int16",
  ushort: "uint16",
  int: "int32",
  uint: "uint32",
  float: "float32",
  double: "float64",
  int8: "int8",
  uint8: "uint8",
  int16: "int16",
  uint16: "uint16",
  int32: "int32",
  uint32: "uint32",
  float32: "float32",
  float64: "float64",
};

interface PlyProperty {
  name: string;
  type: PlyScalar;
  /** Type of the length, for lists. */
  list: PlyScalar | undefined;
}

export interface PlyElement {
  name: string;
  count: number;
  properties: PlyProperty[];
}

export interface PlyHeader {
  format: "ascii" | "binary_little_endian" | "binary_big_endian";
  elements: PlyElement[];
  /** Start of the data: offset in bytes, and line (from 1). */
  offset: number;
  line: number;
}

/** Limit of the header's length, bytes; the longest known header has 40 lines. */
const MAX_HEADER_BYTES = 64 * 1024;

function scalar(file: string, line: TextLine, index: number): PlyScalar {
  const text = line.fields[index] ?? "missing";
  const type = Object.hasOwn(SCALARS, text) ? SCALARS[text] : undefined;
  if (!type)
    throw new MeshError({
      file,
      line: line.number,
      field: "property type",
      value: text,
      limit: `one of ${Object.keys(SCALARS).join(" ")} is needed`,
    });
  return type;
}

function property(file: string, line: TextLine): PlyProperty {
  const list = line.fields[1] === "list";
  const name = line.fields[list ? 4 : 2];
  if (name === undefined)
    throw new MeshError({
      file,
      line: line.number,
      field: "property name",
      value: "missing",
      limit: "a name is needed",
    });
  return { name, type: scalar(file, line, list ? 3 : 1), list: list ? scalar(file, line, 2) : undefined };
}

/**
 * Reads a PLY header.
 * @param bytes the whole file, or at least its header
 * @throws MeshError if the file is not PLY, its format is unknown or the header does not end
 */
export function readPlyHeader(file: string, bytes: Uint8Array): PlyHeader {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEADER_BYTES)).toString("latin1");
  let format: PlyHeader["format"] | undefined;
  const elements: PlyElement[] = [];
  let start = 0;
  // Old programs end lines with a carriage return alone.
  const lineEnd = /^\s*ply\s*?\r(?!\n)/.test(text) ? "\r" : "\n";
  for (let number = 1; ; number++) {
    const end = text.indexOf(lineEnd, start);
    if (end < 0)
      throw new MeshError({
        file,
        line: number,
        field: "header",
        value: "without end",
        limit: `end_header is needed within ${MAX_HEADER_BYTES} bytes`,
      });
    const line: TextLine = { number, fields: text.slice(start, end).trim().split(/\s+/) };
    start = end + 1;
    const keyword = line.fields[0]!;
    if (number === 1) {
      if (keyword !== "ply")
        throw new MeshError({
          file,
          line: 1,
          field: "first line",
          value: keyword.slice(0, 16),
          limit: "ply is needed",
        });
    } else if (keyword === "format") {
      const name = line.fields[1] ?? "missing";
      if (name !== "ascii" && name !== "binary_little_endian" && name !== "binary_big_endian") {
        throw new MeshError({
          file,
          line: number,
          field: "format",
          value: name,
          limit: "ascii, binary_little_endian or binary_big_endian is needed",
        });
      }
      if (line.fields[2] !== "1.0")
        throw new MeshError({
          file,
          line: number,
          field: "version",
          value: line.fields[2] ?? "missing",
          limit: "1.0 is supported",
        });
      format = name;
    } else if (keyword === "element") {
      const count = integerField(file, line, 2, `count of element ${line.fields[1]}`, 0, MAX_ELEMENTS);
      elements.push({ name: line.fields[1]!, count, properties: [] });
    } else if (keyword === "property") {
      const element = elements.at(-1);
      if (!element)
        throw new MeshError({
          file,
          line: number,
          field: "property",
          value: line.fields.join(" "),
          limit: "an element line is needed before it",
        });
      element.properties.push(property(file, line));
    } else if (keyword === "end_header") {
      if (!format)
        throw new MeshError({
          file,
          line: number,
          field: "format",
          value: "missing",
          limit: "a format line is needed",
        });
      return { format, elements, offset: start, line: number + 1 };
    }
    // All other lines are irrelevant to the data: comments, obj_info, and lines that some programs add.
  }
}
