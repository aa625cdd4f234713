/**
 * Edges of a core mesh that can have contact while it does not move: all except those inside a flat face. Anything that
 * crosses such an edge has crossed the face's triangles or its rim first. As an edge of its own, the diagonal of a quad
 * would push bodies that only lie on the face. A moving core is bent when contact holds back one of its corners, so all
 * its edges count (memory/contact/coreMeshRows.ts).
 */
import type { SurfaceMesh } from "../../meshing/mesh.ts";
import { uniqueEdges } from "../memory/contact/surfaceRows.ts";

/** Unit normals that differ by less belong to one face: rounding of coordinates, amplified by slender triangles. */
const FLAT = 1e-9;

/**
 * @returns uint32[2E] vertex numbers, in the order of uniqueEdges: every edge except those between exactly two
 * triangles in one plane
 */
export function creases({ positions, triangles }: Pick<SurfaceMesh, "positions" | "triangles">): Uint32Array {
  const normals = new Map<string, number[][]>();
  const key = (a: number, b: number): string => `${Math.min(a, b)},${Math.max(a, b)}`;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const n = normalOf(positions, a, b, c);
    for (const k of [key(a, b), key(b, c), key(c, a)]) normals.set(k, [...(normals.get(k) ?? []), n]);
  }
  const edges = uniqueEdges(triangles);
  const kept: number[] = [];
  for (let e = 0; e < edges.length; e += 2) {
    const [n, m, more] = normals.get(key(edges[e]!, edges[e + 1]!))!;
    // a triangle without area has no plane (NaN: the edge is kept)
    if (!n || !m || more || !(n.reduce((sum, x, r) => sum + (x - m[r]!) ** 2, 0) < FLAT ** 2))
      kept.push(edges[e]!, edges[e + 1]!);
  }
  return Uint32Array.from(kept);
}

function normalOf(x: ArrayLike<number>, a: number, b: number, c: number): number[] {
  const u = [0, 1, 2].map((r) => x[3 * b + r]! - x[3 * a + r]!);
  const v = [0, 1, 2].map((r) => x[3 * c + r]! - x[3 * a + r]!);
  const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
  const size = Math.sqrt(n.reduce((sum, y) => sum + y * y, 0));
  return n.map((y) => y / size);
}
