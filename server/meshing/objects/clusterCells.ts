/**
 * Vertex clustering on a grid, in linear time: the fallback for surfaces that edge collapses cannot reduce, or only in
 * quadratic time (J. Rossignac, P. Borrel 1993, Multi-resolution 3D approximations for rendering complex scenes). All
 * vertices of a cell become its first vertex; duplicate triangles are merged.
 */
import { weldPlaces } from "../surface/weldPlaces.ts";

/** Cells along the longest side in the first attempt; each further attempt halves them. */
const MOST_CELLS = 1024;

/**
 * @param positions float64[3n]
 * @param triangles uint32[3m]
 * @param target maximum number of returned triangles
 * @returns uint32[3k] of the same vertices, k at most `target`
 */
export function clusterCells(positions: Float64Array, triangles: Uint32Array, target: number): Uint32Array {
  const low = [Infinity, Infinity, Infinity];
  let size = 0;
  for (let i = 0; i < positions.length; i++) low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
  for (let i = 0; i < positions.length; i++) size = Math.max(size, positions[i]! - low[i % 3]!);
  // A closed surface crosses about 6 cells^2 cells, and gives twice as many triangles.
  let cells = Math.min(MOST_CELLS, Math.max(2, Math.ceil(Math.sqrt(target / 12))));
  for (; cells >= 2; cells = Math.floor(cells / 2)) {
    const clustered = clusteredTriangles(positions, triangles, low, size / (cells - 1));
    if (clustered.length === 0) break;
    if (clustered.length <= 3 * target) return clustered;
  }
  // All triangles are smaller than a cell, or the target is below the result of eight vertices.
  return triangles.slice(0, 3 * target);
}

function clusteredTriangles(x: Float64Array, triangles: Uint32Array, low: number[], cell: number): Uint32Array {
  const { places, first } = weldPlaces(Float32Array.from(x, (value, i) => Math.round((value - low[i % 3]!) / cell)));
  // Rotate the smallest corner to the front: equal triangles then have equal corners, and flipped ones differ.
  const corners = new Float32Array(triangles.length);
  let length = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => first[places[triangles[i + k]!]!]!) as [number, number, number];
    if (a === b || b === c || c === a) continue;
    const least = Math.min(a, b, c);
    corners.set(least === a ? [a, b, c] : least === b ? [b, c, a] : [c, a, b], length);
    length += 3;
  }
  const kept = corners.subarray(0, length);
  const unique = weldPlaces(kept);
  const result = new Uint32Array(3 * unique.first.length);
  for (let t = 0; t < unique.places.length; t++) result.set(kept.subarray(3 * t, 3 * t + 3), 3 * unique.places[t]!);
  return result;
}
