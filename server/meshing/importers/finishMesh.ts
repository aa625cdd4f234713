/**
 * Last step of every importer: refuses invalid data, drops unused vertices and orients the tetrahedra. Importers only
 * collect numbers; all limits are checked here.
 */
import { DEGENERATE_AREA, DEGENERATE_VOLUME, MAX_ELEMENTS, MAX_VERTICES, MeshError } from "../mesh.ts";
import type { SurfaceMesh, TetMesh } from "../mesh.ts";

/** Numbers as read, with their lines in the file (from 1; absent for binary files). */
export interface RawMesh {
  file: string;
  /** float64[3*V] */
  positions: ArrayLike<number>;
  /** Vertex indices from 0; 3 or 4 per element. */
  elements: ArrayLike<number>;
  vertexLine?: (vertex: number) => number;
  elementLine?: (element: number) => number;
  /** The file's number of its first vertex in elements; default 0. */
  base?: number;
  /** The file's numbers of element e and vertex v, if they differ from their indices. */
  elementName?: (element: number) => number;
  vertexName?: (vertex: number) => number;
}

const AXES = ["x", "y", "z"] as const;

function checkCounts(raw: RawMesh, size: 3 | 4, what: string): void {
  const vertices = raw.positions.length / 3;
  const elements = raw.elements.length / size;
  if (vertices > MAX_VERTICES)
    throw new MeshError({
      file: raw.file,
      field: "vertex count",
      value: vertices,
      limit: `at most ${MAX_VERTICES} are allowed`,
    });
  if (elements > MAX_ELEMENTS)
    throw new MeshError({
      file: raw.file,
      field: `${what} count`,
      value: elements,
      limit: `at most ${MAX_ELEMENTS} are allowed`,
    });
  if (vertices === 0)
    throw new MeshError({ file: raw.file, field: "vertex count", value: 0, limit: "at least 1 is needed" });
  if (elements === 0)
    throw new MeshError({ file: raw.file, field: `${what} count`, value: 0, limit: "at least 1 is needed" });
}

/** Checks the vertices that elements use. */
function checkNumbers(raw: RawMesh, size: 3 | 4, what: string): void {
  const vertices = raw.positions.length / 3;
  const base = raw.base ?? 0;
  for (let i = 0; i < raw.elements.length; i++) {
    const vertex = raw.elements[i]!;
    if (Number.isInteger(vertex) && vertex >= 0 && vertex < vertices) {
      for (let k = 0; k < 3; k++) {
        if (Number.isFinite(raw.positions[3 * vertex + k])) continue;
        throw new MeshError({
          file: raw.file,
          line: raw.vertexLine?.(vertex),
          field: `vertex ${raw.vertexName ? raw.vertexName(vertex) : vertex} ${AXES[k]}`,
          value: raw.positions[3 * vertex + k]!,
          limit: "a finite number is needed",
        });
      }
      continue;
    }
    const element = Math.floor(i / size);
    const name = raw.elementName ? raw.elementName(element) : element;
    throw new MeshError({
      file: raw.file,
      line: raw.elementLine?.(element),
      field: `${what} ${name} corner ${(i % size) + 1}`,
      value: vertex + base,
      limit: `a vertex from ${base} to ${vertices - 1 + base} is needed`,
    });
  }
}

/** Keeps the vertices that `elements` uses, in their order. */
function compact(
  positions: ArrayLike<number>,
  elements: Uint32Array,
): { positions: Float64Array; origin: Uint32Array | undefined } {
  const total = positions.length / 3;
  const used = new Uint8Array(total);
  for (let i = 0; i < elements.length; i++) used[elements[i]!] = 1;
  let count = 0;
  for (let v = 0; v < total; v++) count += used[v]!;
  if (count === total) return { positions: Float64Array.from(positions), origin: undefined };
  const place = new Uint32Array(total);
  const origin = new Uint32Array(count);
  const kept = new Float64Array(3 * count);
  let next = 0;
  for (let v = 0; v < total; v++) {
    if (!used[v]) continue;
    place[v] = next;
    origin[next] = v;
    for (let k = 0; k < 3; k++) kept[3 * next + k] = positions[3 * v + k]!;
    next++;
  }
  for (let i = 0; i < elements.length; i++) elements[i] = place[elements[i]!]!;
  return { positions: kept, origin };
}

/**
 * Makes a SurfaceMesh from raw numbers. Triangles with a repeated vertex have no area and are dropped.
 * @throws MeshError on counts above the limits, non-finite numbers, unknown vertices, or no remaining triangle
 */
export function finishSurface(raw: RawMesh): SurfaceMesh {
  checkCounts(raw, 3, "triangle");
  checkNumbers(raw, 3, "triangle");
  const triangles = new Uint32Array(raw.elements.length);
  let length = 0;
  for (let i = 0; i < raw.elements.length; i += 3) {
    const a = raw.elements[i]!;
    const b = raw.elements[i + 1]!;
    const c = raw.elements[i + 2]!;
    if (a === b || b === c || c === a) continue;
    triangles[length++] = a;
    triangles[length++] = b;
    triangles[length++] = c;
  }
  if (length === 0)
    throw new MeshError({
      file: raw.file,
      field: "count of triangles with three different corners",
      value: 0,
      limit: "at least 1 is needed",
    });
  const kept = triangles.slice(0, length);
  const { positions, origin } = compact(raw.positions, kept);
  return origin ? { positions, triangles: kept, origin } : { positions, triangles: kept };
}

/**
 * Six times the signed volume of a tetrahedron: det(x1 - x4, x2 - x4, x3 - x4).
 * @param x float64[3*V] m, in
 * @returns m^3
 */
export function sixVolume(x: ArrayLike<number>, a: number, b: number, c: number, d: number): number {
  const dx = x[3 * d]!;
  const dy = x[3 * d + 1]!;
  const dz = x[3 * d + 2]!;
  const ax = x[3 * a]! - dx;
  const ay = x[3 * a + 1]! - dy;
  const az = x[3 * a + 2]! - dz;
  const bx = x[3 * b]! - dx;
  const by = x[3 * b + 1]! - dy;
  const bz = x[3 * b + 2]! - dz;
  const cx = x[3 * c]! - dx;
  const cy = x[3 * c + 1]! - dy;
  const cz = x[3 * c + 2]! - dz;
  return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

function distance2(x: ArrayLike<number>, a: number, b: number): number {
  const dx = x[3 * a]! - x[3 * b]!;
  const dy = x[3 * a + 1]! - x[3 * b + 1]!;
  const dz = x[3 * a + 2]! - x[3 * b + 2]!;
  return dx * dx + dy * dy + dz * dz;
}

/**
 * Makes a TetMesh from raw numbers. Elements of negative volume get corners 1 and 2 swapped; unused vertices are
 * dropped.
 * @throws MeshError on counts above the limits, non-finite numbers, unknown vertices, or a degenerate element (named)
 */
export function finishTets(raw: RawMesh): TetMesh {
  checkCounts(raw, 4, "tetrahedron");
  checkNumbers(raw, 4, "tetrahedron");
  const tets = Uint32Array.from(raw.elements);
  const x = raw.positions;
  for (let e = 0; e < tets.length / 4; e++) {
    const a = tets[4 * e]!;
    const b = tets[4 * e + 1]!;
    const c = tets[4 * e + 2]!;
    const d = tets[4 * e + 3]!;
    const longest2 = Math.max(
      distance2(x, a, b),
      distance2(x, a, c),
      distance2(x, a, d),
      distance2(x, b, c),
      distance2(x, b, d),
      distance2(x, c, d),
    );
    const volume = sixVolume(x, a, b, c, d) / 6;
    const ratio = longest2 > 0 ? Math.abs(volume) / (longest2 * Math.sqrt(longest2)) : 0;
    // Written so that NaN (overflow of huge coordinates) is refused, too.
    if (!(ratio > DEGENERATE_VOLUME)) {
      const name = raw.elementName ? raw.elementName(e) : e;
      throw new MeshError({
        file: raw.file,
        line: raw.elementLine?.(e),
        field: `tetrahedron ${name} volume over longest edge cubed`,
        value: ratio,
        limit: `more than ${DEGENERATE_VOLUME} is needed`,
      });
    }
    if (volume < 0) {
      tets[4 * e] = b;
      tets[4 * e + 1] = a;
    }
  }
  const { positions, origin } = compact(x, tets);
  return origin ? { positions, tets, origin } : { positions, tets };
}

/**
 * Refuses a surface that cannot be cloth: a triangle without area has no rest shape.
 * @throws MeshError naming the triangle
 */
export function requireSheet(file: string, surface: SurfaceMesh): void {
  const { positions: x, triangles } = surface;
  for (let t = 0; t < triangles.length / 3; t++) {
    const a = triangles[3 * t]!;
    const b = triangles[3 * t + 1]!;
    const c = triangles[3 * t + 2]!;
    const ux = x[3 * b]! - x[3 * a]!;
    const uy = x[3 * b + 1]! - x[3 * a + 1]!;
    const uz = x[3 * b + 2]! - x[3 * a + 2]!;
    const vx = x[3 * c]! - x[3 * a]!;
    const vy = x[3 * c + 1]! - x[3 * a + 1]!;
    const vz = x[3 * c + 2]! - x[3 * a + 2]!;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const longest2 = Math.max(distance2(x, a, b), distance2(x, b, c), distance2(x, c, a));
    const ratio = longest2 > 0 ? (0.5 * Math.sqrt(nx * nx + ny * ny + nz * nz)) / longest2 : 0;
    if (!(ratio > DEGENERATE_AREA)) {
      throw new MeshError({
        file,
        field: `triangle ${t} area over longest edge squared`,
        value: ratio,
        limit: `more than ${DEGENERATE_AREA} is needed`,
      });
    }
  }
}
