/**
 * Computes normals for files that have none: smooth, with creases along edges of more than 40 degrees, so that a scan
 * looks round and a cube keeps its edges. Faces are weighted by area (G. Taubin 1995; H. Gouraud 1971).
 */
import type { Part } from "./parts.ts";
import { compacted } from "./parts.ts";
import { weldPlaces } from "../surface/weldPlaces.ts";

/** cos 40 degrees: modelers usually smooth up to angles of 30 to 60. */
const SMOOTH = 0.766;

/** @returns the part with NORMAL; vertices along creases are duplicated for each side */
export function withCreasedNormals(part: Part): Part {
  const { triangles } = part;
  const { places } = weldPlaces(Float32Array.from(part.positions));
  const faces = faceNormals(part);
  const fan = fansOf(triangles, places, faces);
  // Normal sums by fan. A fan's id is its first corner.
  const sums = new Float64Array(3 * triangles.length);
  for (let h = 0; h < triangles.length; h++) {
    const f = 4 * Math.floor(h / 3);
    for (let k = 0; k < 3; k++) sums[3 * fan[h]! + k]! += faces[f + k]! * faces[f + 3]!;
  }
  // The result has one vertex for each pair of vertex and fan.
  const numbers = new Map<number, number>();
  const from: number[] = [];
  const fans: number[] = [];
  const corners = new Uint32Array(triangles.length);
  const total = part.positions.length / 3;
  for (let h = 0; h < triangles.length; h++) {
    const key = fan[h]! * total + triangles[h]!;
    let number = numbers.get(key);
    if (number === undefined) {
      numbers.set(key, (number = from.length));
      from.push(triangles[h]!);
      fans.push(fan[h]!);
    }
    corners[h] = number;
  }
  const normals = new Float32Array(3 * from.length);
  fans.forEach((f, v) => {
    const length = Math.hypot(sums[3 * f]!, sums[3 * f + 1]!, sums[3 * f + 2]!);
    for (let k = 0; k < 3; k++) normals[3 * v + k] = length > 0 ? sums[3 * f + k]! / length : k === 1 ? 1 : 0;
  });
  const picked = (size: number, values: ArrayLike<number>, to: Float64Array | Float32Array): void =>
    from.forEach((v, i) => {
      for (let k = 0; k < size; k++) to[size * i + k] = values[size * v + k]!;
    });
  const positions = new Float64Array(3 * from.length);
  picked(3, part.positions, positions);
  const attributes = new Map([["NORMAL", { size: 3 as const, values: normals }]]) as Part["attributes"];
  for (const [name, { size, values }] of part.attributes) {
    const kept = new Float32Array(size * from.length);
    picked(size, values, kept);
    attributes.set(name, { size, values: kept });
  }
  return compacted({ ...part, positions, triangles: corners, attributes });
}

/** float64[4m]: unit normal and twice the area. */
function faceNormals({ positions: x, triangles }: Part): Float64Array {
  const faces = new Float64Array((4 * triangles.length) / 3);
  for (let t = 0; t < triangles.length / 3; t++) {
    const [a, b, c] = [3 * triangles[3 * t]!, 3 * triangles[3 * t + 1]!, 3 * triangles[3 * t + 2]!];
    const normal = [0, 1, 2].map((k) => {
      const [l, m] = [(k + 1) % 3, (k + 2) % 3];
      return (x[b + l]! - x[a + l]!) * (x[c + m]! - x[a + m]!) - (x[b + m]! - x[a + m]!) * (x[c + l]! - x[a + l]!);
    });
    const length = Math.hypot(...normal);
    for (let k = 0; k < 3; k++) faces[4 * t + k] = length > 0 ? normal[k]! / length : 0;
    faces[4 * t + 3] = length;
  }
  return faces;
}

/**
 * Returns the fan of each corner: corners at one position whose triangles meet at smooth edges share a fan. Its id is
 * their first corner.
 */
function fansOf(triangles: Uint32Array, places: Uint32Array, faces: Float64Array): Uint32Array {
  const fan = Uint32Array.from({ length: triangles.length }, (_, h) => h);
  const root = (h: number): number => {
    while (fan[h] !== h) h = fan[h] = fan[fan[h]!]!;
    return h;
  };
  const next = (h: number): number => (h % 3 === 2 ? h - 2 : h + 1);
  const join = (g: number, h: number): void => {
    const [a, b] = [root(g), root(h)];
    fan[Math.max(a, b)] = Math.min(a, b);
  };
  const total = places.length;
  const edges = new Map<number, number>();
  for (let h = 0; h < triangles.length; h++) {
    const [a, b] = [places[triangles[h]!]!, places[triangles[next(h)]!]!];
    const key = Math.min(a, b) * total + Math.max(a, b);
    const g = edges.get(key);
    edges.set(key, h);
    if (g === undefined) continue;
    const [p, q] = [4 * Math.floor(g / 3), 4 * Math.floor(h / 3)];
    const cosine = faces[p]! * faces[q]! + faces[p + 1]! * faces[q + 1]! + faces[p + 2]! * faces[q + 2]!;
    if (!(cosine >= SMOOTH)) continue;
    const same = places[triangles[g]!] === a;
    join(same ? g : next(g), h);
    join(same ? next(g) : g, next(h));
  }
  for (let h = 0; h < fan.length; h++) fan[h] = root(h);
  return fan;
}
