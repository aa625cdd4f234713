/**
 * Smooth cloth: each triangle of its shell is drawn as a curved patch through the particles and normals of its corners
 * (PN triangles: Vlachos, Peters, Boyd, Mitchell 2001), in smaller triangles. Outlines, folds and printed lines of a
 * coarse mesh then have no corners. Loaded with finer.ts.
 */
import { BufferAttribute, BufferGeometry } from "three";
import type { BodyMesh } from "./bodyMesh.ts";
import { WRINKLE_NORMAL_GLSL, WRINKLES_GLSL } from "./wrinkles.ts";

/** Largest number of drawn triangles of one sheet, and of parts along one edge. */
const MOST_TRIANGLES = 80_000;
const MOST_PARTS = 4;

/** Largest distance of a patch from its triangle, in halves of the drawn thickness. */
const MOST_OFF = 1.5;

/** The shell of sheetAttributes in bodyGeometry.ts; its vertices are corners. */
export interface Shell {
  /** uint32[3*S] */
  triangles: Uint32Array;
  /** Number of its vertices. */
  count: number;
}

export interface Patches {
  /** uint32[3*P]: triangles of the patches, wound like the shell's. */
  triangles: Uint32Array;
  /** uint32[3*V]: corners of the shell's triangle on which each vertex lies. */
  corners: Uint32Array;
  /** float32[2*V]: its shares of the second and third corner. */
  coords: Float32Array;
}

/**
 * Cuts each triangle into `parts` times `parts`. Triangles share the vertices on their common edge, so that the surface
 * has no gaps.
 */
export function patchesOf({ triangles, count }: Shell, parts: number): Patches {
  const [out, corners, coords]: [number[], number[], number[]] = [[], [], []];
  const shared = new Map<number, number>();
  const vertexAt = (t: number, i: number, j: number): number => {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const key = keyOf([a, b, c], [parts - i - j, i, j], count, parts);
    const known = key === undefined ? undefined : shared.get(key);
    if (known !== undefined) return known;
    const vertex = corners.length / 3;
    corners.push(a, b, c);
    coords.push(i / parts, j / parts);
    if (key !== undefined) shared.set(key, vertex);
    return vertex;
  };
  for (let t = 0; t < triangles.length; t += 3) {
    const rows = Array.from({ length: parts + 1 }, (_, j) =>
      Array.from({ length: parts - j + 1 }, (_, i) => vertexAt(t, i, j)),
    );
    for (let j = 0; j < parts; j++) {
      const [row, next] = [rows[j]!, rows[j + 1]!];
      for (let i = 0; i < parts - j; i++) {
        out.push(row[i]!, row[i + 1]!, next[i]!);
        if (i + 1 < parts - j) out.push(row[i + 1]!, next[i + 1]!, next[i]!);
      }
    }
  }
  return { triangles: Uint32Array.from(out), corners: Uint32Array.from(corners), coords: Float32Array.from(coords) };
}

/**
 * Identifies a vertex on a corner or an edge, whichever triangle it is seen from; undefined inside of a triangle.
 * @param shares of the three corners, whole numbers with the sum `parts`
 */
function keyOf(
  corners: readonly [number, number, number],
  shares: readonly [number, number, number],
  count: number,
  parts: number,
): number | undefined {
  const on = [0, 1, 2].filter((k) => shares[k]! > 0);
  if (on.length === 3) return undefined;
  const [p, q = p!] = on as [number, number?];
  const low = corners[p]! <= corners[q]! ? p : q;
  const high = low === p ? q : p;
  return (corners[low]! * count + corners[high]!) * (parts + 1) + shares[low]!;
}

/** The best number of parts along an edge of a sheet of this many triangles; 1: the mesh itself is fine enough. */
export const partsFor = (triangles: number): number =>
  Math.max(1, Math.min(MOST_PARTS, Math.floor(Math.sqrt(MOST_TRIANGLES / Math.max(1, triangles)))));

/** Declares `pliantSkin` for a geometry of `smoothSheetOf`; follows FETCH_GLSL of skinShader.ts. */
const SMOOTH_SKIN_GLSL = /* glsl */ `
uniform highp float pliantHalf;
attribute uvec3 pliantCorners;
attribute uvec3 pliantCornerNormals;
attribute vec2 pliantCoords;
attribute vec2 pliantSide;
// Control point near "from" of the curved edge to "to".
vec3 pliantToward(vec3 from, vec3 to, vec3 normal) {
  return (2.0 * from + to - dot(to - from, normal) * normal) / 3.0;
}
void pliantSkin(out vec3 position, out vec3 normal) {
  vec3 a = pliantFetch(pliantPositions, pliantCorners.x);
  vec3 b = pliantFetch(pliantPositions, pliantCorners.y);
  vec3 c = pliantFetch(pliantPositions, pliantCorners.z);
  vec3 na = pliantFetch(pliantNormals, pliantCornerNormals.x);
  vec3 nb = pliantFetch(pliantNormals, pliantCornerNormals.y);
  vec3 nc = pliantFetch(pliantNormals, pliantCornerNormals.z);
  float u = pliantCoords.x, v = pliantCoords.y, w = 1.0 - u - v;
  vec3 ab = pliantToward(a, b, na), ba = pliantToward(b, a, nb);
  vec3 bc = pliantToward(b, c, nb), cb = pliantToward(c, b, nc);
  vec3 ca = pliantToward(c, a, nc), ac = pliantToward(a, c, na);
  vec3 middle = 0.25 * (ab + ba + bc + cb + ca + ac) - (a + b + c) / 6.0;
  vec3 front = normalize(w * na + u * nb + v * nc);
  vec3 curved = w * w * w * a + u * u * u * b + v * v * v * c + 6.0 * w * u * v * middle
    + 3.0 * (w * u * (w * ab + u * ba) + u * v * (u * bc + v * cb) + v * w * (v * ca + w * ac));
  vec3 plain = w * a + u * b + v * c;
  // In a sharp fold the patch would bulge into the layers beside it.
  vec3 off = curved - plain;
  position = plain + off * min(1.0, ${MOST_OFF.toFixed(1)} * pliantHalf / max(length(off), 1e-9)) + pliantSide.y * pliantHalf * front;
  normal = pliantSide.x < 0.0 ? -front : front;
}
`;

/**
 * @param plain geometry of `sheetAttributes`
 * @returns undefined if its triangles are small enough
 */
export function smoothSheetOf(plain: BufferGeometry): BufferGeometry | undefined {
  const index = plain.getIndex()!.array as Uint32Array;
  const parts = partsFor(index.length / 3);
  if (parts === 1) return undefined;
  const pairs = plain.getAttribute("pliantSlots");
  const { triangles, corners, coords } = patchesOf({ triangles: index, count: pairs.count }, parts);
  const count = coords.length / 2;
  const geometry = new BufferGeometry();
  geometry.setIndex(new BufferAttribute(triangles, 1));
  const set = (name: string, array: Uint32Array | Float32Array, size: number) =>
    geometry.setAttribute(name, new BufferAttribute(array, size));
  set(
    "pliantCorners",
    corners.map((corner) => pairs.getX(corner)),
    3,
  );
  set(
    "pliantCornerNormals",
    corners.map((corner) => pairs.getY(corner)),
    3,
  );
  set("pliantCoords", coords, 2);
  for (const name of ["pliantSide", "pliantFlat"]) {
    const from = plain.getAttribute(name);
    const at = new Float32Array(2 * count);
    for (let vertex = 0; vertex < count; vertex++) {
      const [u, v] = [coords[2 * vertex]!, coords[2 * vertex + 1]!];
      [1 - u - v, u, v].forEach((share, k) => {
        const corner = corners[3 * vertex + k]!;
        at[2 * vertex]! += share * from.getX(corner);
        at[2 * vertex + 1]! += share * from.getY(corner);
      });
    }
    set(name, at, 2);
  }
  // The side selects a color: it must be exact.
  const side = geometry.getAttribute("pliantSide");
  for (let vertex = 0; vertex < count; vertex++) side.setX(vertex, Math.round(side.getX(vertex)));
  geometry.setAttribute("normal", new BufferAttribute(new Int8Array(3 * count), 3, true));
  return geometry;
}

/** Draws a sheet with wrinkles, and as a smooth surface, if its triangles are not small enough. */
export function refineSheet({ mesh, materials }: BodyMesh): void {
  materials.wrinkles = [WRINKLES_GLSL, WRINKLE_NORMAL_GLSL];
  const geometry = smoothSheetOf(mesh.geometry);
  if (geometry) {
    mesh.geometry.dispose();
    mesh.geometry = geometry;
    materials.skin = SMOOTH_SKIN_GLSL;
  }
  materials.surface.needsUpdate = materials.shadow.needsUpdate = true;
}
