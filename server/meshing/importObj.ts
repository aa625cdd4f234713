/**
 * Wavefront OBJ to triangles: `v` and `f` records, everything else (normals, texture coordinates, groups, materials,
 * lines) is passed over. Source: Wavefront, Advanced Visualizer manual, appendix B1 (object files).
 */
import { MAX_ELEMENTS, MAX_POLYGON, MAX_VERTICES, MeshError } from "./mesh.ts";
import type { SurfaceMesh } from "./mesh.ts";
import { finishSurface } from "./finishMesh.ts";
import { numberField, plainText, textLines } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";

/**
 * The vertex (from 0) that a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn` names; negative numbers count back from the
 * last vertex so far.
 */
function cornerVertex(file: string, line: TextLine, corner: number, vertices: number): number {
  const text = line.fields[corner]!;
  const match = /^([+-]?\d+)(\/[+-]?\d*){0,2}$/.exec(text);
  const value = match ? Number(match[1]) : Number.NaN;
  if (value >= 1 && Number.isInteger(value)) return value - 1;
  if (value <= -1 && value >= -vertices) return vertices + value;
  throw new MeshError({
    file,
    line: line.number,
    field: `face corner ${corner}`,
    value: text,
    limit: `a vertex from 1 to ${vertices} or from -${vertices} to -1 is needed`,
  });
}

/**
 * Reads an OBJ file. Polygons are cut into a fan from their first corner (exact for convex ones).
 * A face may name vertices that come later in the file, as long as they come.
 * @param file name for errors
 * @param content text or bytes of the file
 * @returns the triangles, in the file's unit; unused vertices dropped
 * @throws MeshError
 */
export function importObj(file: string, content: string | Uint8Array): SurfaceMesh {
  const positions: number[] = [];
  const elements: number[] = [];
  const vertexLines: number[] = [];
  const elementLines: number[] = [];
  for (const line of textLines(joinContinued(plainText(file, content)), "#")) {
    if (line.fields[0] === "v") {
      for (let k = 0; k < 3; k++) positions.push(numberField(file, line, 1 + k, `v ${"xyz"[k]}`));
      vertexLines.push(line.number);
      if (vertexLines.length > MAX_VERTICES)
        throw new MeshError({
          file,
          line: line.number,
          field: "vertex count",
          value: vertexLines.length,
          limit: `at most ${MAX_VERTICES} are allowed`,
        });
    } else if (line.fields[0] === "f") {
      const corners = line.fields.length - 1;
      if (corners < 3 || corners > MAX_POLYGON)
        throw new MeshError({
          file,
          line: line.number,
          field: "corners of a face",
          value: corners,
          limit: `from 3 to ${MAX_POLYGON} are allowed`,
        });
      const places: number[] = [];
      for (let c = 1; c <= corners; c++) places.push(cornerVertex(file, line, c, vertexLines.length));
      for (let c = 2; c < corners; c++) {
        elements.push(places[0]!, places[c - 1]!, places[c]!);
        elementLines.push(line.number);
      }
      if (elementLines.length > MAX_ELEMENTS)
        throw new MeshError({
          file,
          line: line.number,
          field: "triangle count",
          value: elementLines.length,
          limit: `at most ${MAX_ELEMENTS} are allowed`,
        });
    }
  }
  return finishSurface({
    file,
    positions,
    elements,
    base: 1,
    vertexLine: (v) => vertexLines[v]!,
    elementLine: (e) => elementLines[e]!,
  });
}

/**
 * A backslash at the end of a line continues it; the line breaks move behind the record so that later line numbers stay
 * right.
 */
function joinContinued(text: string): string {
  if (!text.includes("\\")) return text;
  // Line by line: a pattern over several lines would go through a line without an end again from each of its
  // characters.
  let joined = "";
  let breaks = 0;
  for (const line of text.split("\n")) {
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (whole.endsWith("\\")) {
      joined += `${whole.slice(0, -1)} `;
      breaks += 1;
    } else {
      joined += line + "\n".repeat(breaks + 1);
      breaks = 0;
    }
  }
  return joined;
}
