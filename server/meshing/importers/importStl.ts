/**
 * Imports triangles from STL, text or binary. Facets share no vertices in the file; corners at the same position become
 * one vertex. Normals are ignored, because the order of a facet's corners implies them. Source: 3D Systems,
 * StereoLithography Interface Specification (1989).
 */
import { MAX_ELEMENTS, MeshError } from "../mesh.ts";
import type { ReadSurface } from "../mesh.ts";
import { finishSurface } from "./finishMesh.ts";
import { floatPrecision, WrittenDigits } from "./filePrecision.ts";
import { inUtf8, numberField, plainBytes, plainText, textLines } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";
import { weldPlaces } from "../surface/weldPlaces.ts";

const HEADER = 84;
const FACET = 50;

/** Size of a binary file with this number of facets, bytes. */
const binaryLength = (facets: number): number => HEADER + FACET * facets;

/**
 * Returns the declared number of facets of a binary file; undefined for text. Many binary files start with `solid`,
 * too, so the length decides, then a zero in the header: the highest byte of a count up to MAX_ELEMENTS is one.
 */
function binaryFacets(file: string, bytes: Uint8Array): number | undefined {
  const declared =
    bytes.length < HEADER ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(HEADER - 4, true);
  if (declared !== undefined && binaryLength(declared) === bytes.length) return declared;
  if (declared === undefined || !inUtf8(bytes).subarray(0, HEADER).includes(0)) return undefined;
  if (binaryLength(declared) > bytes.length)
    throw new MeshError({
      file,
      field: "facet count",
      value: declared,
      limit: `the file has room for ${Math.floor((bytes.length - HEADER) / FACET)}`,
    });
  // Programs that write while they compute leave the count at 0.
  return declared === 0 ? Math.floor((bytes.length - HEADER) / FACET) : declared;
}

function checkCount(file: string, facets: number): void {
  if (facets > MAX_ELEMENTS)
    throw new MeshError({ file, field: "facet count", value: facets, limit: `at most ${MAX_ELEMENTS} are allowed` });
}

/** float64[9*F] corners in sequence, their precision, and the line of each corner of a text file. */
interface StlCorners {
  corners: Float64Array;
  precision: number;
  lines?: number[];
}

function readStlCorners(file: string, content: Uint8Array): StlCorners {
  const bytes = plainBytes(file, content);
  const facets = binaryFacets(file, bytes);
  if (facets === undefined) return textCorners(file, bytes);
  checkCount(file, facets);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const corners = new Float64Array(9 * facets);
  for (let f = 0; f < facets; f++)
    for (let k = 0; k < 9; k++) corners[9 * f + k] = view.getFloat32(HEADER + FACET * f + 12 + 4 * k, true);
  return { corners, precision: floatPrecision(corners, 23) };
}

const KEYWORD = /^(vertex|facet|endloop|endfacet)$/i;

/** Yields lines that begin with a keyword: some files have a facet, or all of them, in one line. */
function* keywordLines(text: string): Generator<TextLine, void, undefined> {
  for (const line of textLines(text, "#")) {
    const { number, fields } = line;
    // The name of a solid may contain any word.
    if (!fields.some((word, i) => i > 0 && /^vertex$/i.test(word) && /^[-+.\d]/.test(fields[i + 1] ?? ""))) {
      yield line;
      continue;
    }
    let start = 0;
    for (let at = 1; at <= fields.length; at++) {
      if (at < fields.length && !KEYWORD.test(fields[at]!)) continue;
      yield { number, fields: fields.slice(start, at) };
      start = at;
    }
  }
}

function textCorners(file: string, bytes: Uint8Array): StlCorners {
  const corners: number[] = [];
  const digits = new WrittenDigits();
  const lines: number[] = [];
  // Text before a loop's first vertex and after its third is skipped, because exporters differ there.
  let left = 0;
  for (const line of keywordLines(plainText(file, bytes))) {
    const keyword = line.fields[0]!.toLowerCase();
    if (keyword === "facet" || keyword === "endloop" || keyword === "endfacet") {
      if (left > 0)
        throw new MeshError({
          file,
          line: line.number,
          field: "vertices of a facet",
          value: 3 - left,
          limit: "3 are needed",
        });
      if (keyword === "facet") left = 3;
    } else if (keyword === "vertex") {
      if (left === 0)
        throw new MeshError({
          file,
          line: line.number,
          field: "vertex",
          value: "outside of a facet, or its fourth",
          limit: "3 in each facet are needed",
        });
      // Some programs write commas between the numbers.
      const fields = line.fields.map((word) => word.replace(/,$/, ""));
      for (let k = 0; k < 3; k++) {
        corners.push(numberField(file, { ...line, fields }, 1 + k, `vertex ${"xyz"[k]}`));
        digits.add(fields[1 + k]!);
      }
      lines.push(line.number);
      left--;
      checkCount(file, lines.length / 3);
    }
  }
  if (left > 0)
    throw new MeshError({ file, field: "vertices of the last facet", value: 3 - left, limit: "3 are needed" });
  // Programs hold STL in float32, however many digits they write.
  const precision = Math.max(digits.precision(corners), floatPrecision(corners, 23));
  return { corners: Float64Array.from(corners), precision, lines };
}

/**
 * Reads an STL file.
 * @returns the triangles, in the file's unit and axes (z is up in most); facets without area dropped
 * @throws MeshError
 */
export function importStl(file: string, content: Uint8Array): ReadSurface {
  const { corners, precision, lines } = readStlCorners(file, content);
  const { places, first } = weldPlaces(corners);
  const surface = finishSurface({
    file,
    positions: first.flatMap((h) => [corners[3 * h]!, corners[3 * h + 1]!, corners[3 * h + 2]!]),
    elements: places,
    ...(lines && { vertexLine: (v: number) => lines[first[v]!]! }),
  });
  return { ...surface, precision, notes: [] };
}
