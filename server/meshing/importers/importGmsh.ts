/**
 * Imports Gmsh 2.2 ASCII `.msh` files: tetrahedra (element type 4), or triangles (type 2) if there are no tetrahedra.
 * Source: Gmsh reference manual, "MSH file format version 2 (Legacy)". Node numbers are arbitrary positive integers in
 * any order.
 */
import { MAX_ELEMENTS, MAX_VERTICES, MeshError } from "../mesh.ts";
import type { LoadedMesh } from "../mesh.ts";
import { finishSurface, finishTets } from "./finishMesh.ts";
import { integerField, numberField, plainText, textLines } from "./textMesh.ts";
import type { TextLine } from "./textMesh.ts";

const TRIANGLE = 2;
const TETRAHEDRON = 4;
/** Highest node or element number: the largest exact integer in JavaScript. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;
/** Most tags of one element; Gmsh writes 2, and a few more in partitioned meshes. */
const MAX_TAGS = 64;

/** Elements of one type: indices of their nodes, their numbers in the file and their lines. */
interface ElementList {
  corners: number[];
  names: number[];
  lines: number[];
}

type Lines = Iterator<TextLine, void>;

function nextLine(file: string, lines: Lines, expected: string): TextLine {
  const next = lines.next();
  if (next.done)
    throw new MeshError({ file, field: "end of file", value: "reached", limit: `${expected} is needed first` });
  return next.value;
}

function expectTag(file: string, lines: Lines, tag: string): void {
  const line = nextLine(file, lines, tag);
  if (line.fields[0] !== tag)
    throw new MeshError({
      file,
      line: line.number,
      field: "section end",
      value: line.fields[0]!,
      limit: `${tag} is needed`,
    });
}

function readFormat(file: string, lines: Lines): void {
  const line = nextLine(file, lines, "the version");
  const version = line.fields[0]!;
  if (version !== "2.2" && version !== "2.1" && version !== "2" && version !== "2.0") {
    throw new MeshError({
      file,
      line: line.number,
      field: "version",
      value: version,
      limit: "2.2 is supported (gmsh -format msh22)",
    });
  }
  if (line.fields[1] !== "0")
    throw new MeshError({
      file,
      line: line.number,
      field: "file type",
      value: line.fields[1] ?? "missing",
      limit: "0 (ASCII) is supported",
    });
  expectTag(file, lines, "$EndMeshFormat");
}

interface Nodes {
  positions: number[];
  names: number[];
  lines: number[];
  place: Map<number, number>;
}

function readNodes(file: string, lines: Lines, nodes: Nodes): void {
  const count = integerField(file, nextLine(file, lines, "the node count"), 0, "node count", 0, MAX_VERTICES);
  for (let i = 0; i < count; i++) {
    const line = nextLine(file, lines, `node ${i + 1} of ${count}`);
    const name = integerField(file, line, 0, "node number", 1, MAX_NUMBER);
    if (nodes.place.has(name))
      throw new MeshError({
        file,
        line: line.number,
        field: "node number",
        value: name,
        limit: "each may appear only once",
      });
    nodes.place.set(name, nodes.names.length);
    nodes.names.push(name);
    nodes.lines.push(line.number);
    for (let k = 0; k < 3; k++) nodes.positions.push(numberField(file, line, 1 + k, `node ${name} ${"xyz"[k]}`));
  }
  expectTag(file, lines, "$EndNodes");
}

function readElements(file: string, lines: Lines, nodes: Nodes, lists: Map<number, ElementList>): void {
  const count = integerField(file, nextLine(file, lines, "the element count"), 0, "element count", 0, MAX_ELEMENTS);
  for (let i = 0; i < count; i++) {
    const line = nextLine(file, lines, `element ${i + 1} of ${count}`);
    const name = integerField(file, line, 0, "element number", 1, MAX_NUMBER);
    const list = lists.get(integerField(file, line, 1, `element ${name} type`, 1, 1000));
    if (!list) continue;
    const tags = integerField(file, line, 2, `element ${name} tag count`, 0, MAX_TAGS);
    const size = list === lists.get(TRIANGLE) ? 3 : 4;
    for (let k = 0; k < size; k++) {
      const node = integerField(file, line, 3 + tags + k, `element ${name} node ${k + 1}`, 1, MAX_NUMBER);
      const place = nodes.place.get(node);
      if (place === undefined)
        throw new MeshError({
          file,
          line: line.number,
          field: `element ${name} node ${k + 1}`,
          value: node,
          limit: `one of the ${nodes.names.length} nodes of the file is needed`,
        });
      list.corners.push(place);
    }
    list.names.push(name);
    list.lines.push(line.number);
  }
  expectTag(file, lines, "$EndElements");
}

/**
 * Reads a Gmsh 2.2 ASCII mesh. Points, lines, other element types and other sections are skipped.
 * @returns tetrahedra if the file has any, triangles otherwise; in the file's unit, unused nodes dropped
 * @throws MeshError on another version, a binary file, missing sections, or any error of finishTets and finishSurface
 */
export function importGmsh(file: string, content: string | Uint8Array): LoadedMesh {
  // $PhysicalNames may contain any character, so no character starts a comment. NUL never occurs, so it disables
  // comments.
  const lines = textLines(plainText(file, content), "\0");
  const nodes: Nodes = { positions: [], names: [], lines: [], place: new Map() };
  const emptyList = (): ElementList => ({ corners: [], names: [], lines: [] });
  const lists = new Map([
    [TRIANGLE, emptyList()],
    [TETRAHEDRON, emptyList()],
  ]);
  let version = false;
  let next = lines.next();
  for (; !next.done; next = lines.next()) {
    const line = next.value;
    const tag = line.fields[0]!;
    if (!tag.startsWith("$"))
      throw new MeshError({
        file,
        line: line.number,
        field: "section",
        value: tag,
        limit: "a line that starts with $ is needed",
      });
    if (tag === "$MeshFormat") {
      readFormat(file, lines);
      version = true;
      continue;
    }
    if (!version)
      throw new MeshError({
        file,
        line: line.number,
        field: "section",
        value: tag,
        limit: "$MeshFormat must come first",
      });
    if (tag === "$Nodes") readNodes(file, lines, nodes);
    else if (tag === "$Elements") readElements(file, lines, nodes, lists);
    else {
      const end = `$End${tag.slice(1)}`;
      while (nextLine(file, lines, end).fields[0] !== end);
    }
  }
  if (!version)
    throw new MeshError({ file, field: "$MeshFormat", value: "missing", limit: "a Gmsh 2.2 ASCII file is needed" });
  const tets = lists.get(TETRAHEDRON)!;
  const list = tets.names.length > 0 ? tets : lists.get(TRIANGLE)!;
  const raw = {
    file,
    positions: nodes.positions,
    elements: list.corners,
    vertexLine: (v: number) => nodes.lines[v]!,
    vertexName: (v: number) => nodes.names[v]!,
    elementLine: (e: number) => list.lines[e]!,
    elementName: (e: number) => list.names[e]!,
  };
  return list === tets ? { kind: "tets", tets: finishTets(raw) } : { kind: "surface", surface: finishSurface(raw) };
}
