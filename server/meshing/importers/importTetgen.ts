/**
 * Imports tetrahedra from TetGen's `.node` and `.ele` files. Source: H. Si, TetGen manual, sections 5.2.1 and 5.2.4: a
 * header line of counts, one record per line, `#` comments, numbering from 0 or 1.
 */
import { MAX_ELEMENTS, MAX_VERTICES, MeshError } from "../mesh.ts";
import type { TetMesh } from "../mesh.ts";
import { finishTets } from "./finishMesh.ts";
import { integerField, numberField, plainText, textLines } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";

/** Both files of one mesh, with their names for errors. */
export interface TetgenFiles {
  nodeFile: string;
  node: string | Uint8Array;
  eleFile: string;
  /** Undefined if the file does not exist, which is an error. */
  ele: string | Uint8Array | undefined;
}

function header(file: string, lines: Iterator<TextLine, void>): TextLine {
  const first = lines.next();
  if (first.done) throw new MeshError({ file, field: "header", value: "missing", limit: "a line of counts is needed" });
  return first.value;
}

/** Reads the next record, whose first field must continue the file's numbering without gaps. */
function record(
  file: string,
  lines: Iterator<TextLine, void>,
  what: string,
  place: number,
  count: number,
  base: number | undefined,
): { line: TextLine; base: number } {
  const next = lines.next();
  if (next.done)
    throw new MeshError({ file, field: `${what} records`, value: place, limit: `${count} are promised by the header` });
  const line = next.value;
  if (base === undefined) return { line, base: integerField(file, line, 0, `first ${what} number`, 0, 1) };
  integerField(file, line, 0, `${what} number`, base + place, base + place);
  return { line, base };
}

/**
 * Reads a TetGen mesh. Attributes, markers and the additional nodes of ten-node tetrahedra are skipped.
 * @returns positively oriented tetrahedra, in the file's unit; unused vertices dropped
 * @throws MeshError on a missing `.ele`, wrong counts or numbering, or any error of finishTets
 */
export function importTetgen(files: TetgenFiles): TetMesh {
  const { nodeFile, eleFile } = files;
  if (files.ele === undefined)
    throw new MeshError({
      file: nodeFile,
      field: "element file",
      value: "missing",
      limit: `${eleFile} is needed beside it`,
    });

  const nodeLines = textLines(plainText(nodeFile, files.node), "#");
  const nodeHeader = header(nodeFile, nodeLines);
  const vertices = integerField(nodeFile, nodeHeader, 0, "vertex count", 1, MAX_VERTICES);
  integerField(nodeFile, nodeHeader, 1, "dimension", 3, 3);
  const positions = new Float64Array(3 * vertices);
  const vertexLines = new Uint32Array(vertices);
  let base: number | undefined;
  for (let v = 0; v < vertices; v++) {
    const read = record(nodeFile, nodeLines, "vertex", v, vertices, base);
    base = read.base;
    vertexLines[v] = read.line.number;
    for (let k = 0; k < 3; k++)
      positions[3 * v + k] = numberField(nodeFile, read.line, 1 + k, `vertex ${base + v} ${"xyz"[k]}`);
  }

  const eleLines = textLines(plainText(eleFile, files.ele), "#");
  const eleHeader = header(eleFile, eleLines);
  const count = integerField(eleFile, eleHeader, 0, "tetrahedron count", 1, MAX_ELEMENTS);
  const corners = eleHeader.fields.length > 1 ? integerField(eleFile, eleHeader, 1, "nodes per tetrahedron", 4, 10) : 4;
  if (corners !== 4 && corners !== 10)
    throw new MeshError({
      file: eleFile,
      line: eleHeader.number,
      field: "nodes per tetrahedron",
      value: corners,
      limit: "4 or 10 is needed",
    });
  const elements = new Uint32Array(4 * count);
  const elementLines = new Uint32Array(count);
  const low = base!;
  for (let e = 0; e < count; e++) {
    const { line } = record(eleFile, eleLines, "tetrahedron", e, count, low);
    elementLines[e] = line.number;
    for (let k = 0; k < 4; k++) {
      elements[4 * e + k] =
        integerField(eleFile, line, 1 + k, `tetrahedron ${low + e} corner ${k + 1}`, low, low + vertices - 1) - low;
    }
  }
  return finishTets({
    file: eleFile,
    positions,
    elements,
    elementLine: (e) => elementLines[e]!,
    elementName: (e) => low + e,
  });
}
