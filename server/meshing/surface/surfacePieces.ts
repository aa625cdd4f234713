/** Connected pieces of a surface, joined by shared vertices: separates the body from small debris. */
import { finishSurface } from "../importers/finishMesh.ts";
import type { SurfaceMesh } from "../mesh.ts";

/** First vertex with the same position, for each vertex: scans and text files often repeat vertices along seams. */
function samePlace(x: Float64Array): Uint32Array {
  const count = x.length / 3;
  const compare = (a: number, b: number): number =>
    x[3 * a]! - x[3 * b]! || x[3 * a + 1]! - x[3 * b + 1]! || x[3 * a + 2]! - x[3 * b + 2]!;
  const order = Uint32Array.from({ length: count }, (_, v) => v).sort((a, b) => compare(a, b) || a - b);
  const first = new Uint32Array(count);
  for (let i = 0; i < count; i++)
    first[order[i]!] = i > 0 && compare(order[i - 1]!, order[i]!) === 0 ? first[order[i - 1]!]! : order[i]!;
  return first;
}

/** Six times the volume of each piece (key: its root vertex), relative to its first vertex; holes make it inexact. */
function pieceVolumes({ positions: x, triangles }: SurfaceMesh, root: (v: number) => number): Map<number, number> {
  const volumes = new Map<number, number>();
  for (let t = 0; t < triangles.length; t += 3) {
    const piece = root(triangles[t]!);
    const [a, b, c] = [0, 1, 2].map((k) =>
      [0, 1, 2].map((axis) => x[3 * triangles[t + k]! + axis]! - x[3 * piece + axis]!),
    ) as [number[], number[], number[]];
    const six =
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
    volumes.set(piece, (volumes.get(piece) ?? 0) + six);
  }
  return volumes;
}

/**
 * Returns the surface without small pieces.
 * @param minPiece pieces that enclose less than this fraction of the largest piece's volume are dropped, 0 .. 1
 */
export function surfaceWithoutCrumbs(surface: SurfaceMesh, minPiece: number): SurfaceMesh {
  const { positions, triangles } = surface;
  const parent = samePlace(positions);
  const root = (v: number): number => {
    while (parent[v] !== v) v = parent[v] = parent[parent[v]!]!;
    return v;
  };
  for (let t = 0; t < triangles.length; t += 3) {
    for (const k of [1, 2]) {
      const a = root(triangles[t]!);
      const b = root(triangles[t + k]!);
      parent[Math.max(a, b)] = Math.min(a, b);
    }
  }
  const volumes = pieceVolumes(surface, root);
  let largest = 0;
  for (const volume of volumes.values()) largest = Math.max(largest, Math.abs(volume));
  const elements = triangles.filter(
    (_, i) => Math.abs(volumes.get(root(triangles[i - (i % 3)]!))!) >= minPiece * largest,
  );
  return elements.length === triangles.length
    ? surface
    : finishSurface({ file: "tetrahedralize", positions, elements });
}
