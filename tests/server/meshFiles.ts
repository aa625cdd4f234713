/**
 * Writes one random tetrahedral or triangle mesh as files in the formats of scenes, with any numbering that the formats
 * allow.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A repeatable shuffle: Fisher and Yates over a linear congruential generator (Numerical Recipes). */
export function shuffle<T>(list: readonly T[], seed: number): T[] {
  const out = [...list];
  let state = seed >>> 0;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}

export interface PlainMesh {
  /** Lines of vertices, in the order of the file. */
  vertices: number[][];
  /** Indices of the corners, from 0. */
  elements: number[][];
}

/** Shuffles vertices and elements of a shape. */
export function shuffled(
  positions: ArrayLike<number>,
  corners: ArrayLike<number>,
  size: number,
  seed: number,
): PlainMesh {
  const count = positions.length / 3;
  const order = shuffle(
    Array.from({ length: count }, (_, i) => i),
    seed,
  );
  const place = new Uint32Array(count);
  order.forEach((old, at) => (place[old] = at));
  const elements = Array.from({ length: corners.length / size }, (_, e) =>
    Array.from({ length: size }, (_, k) => place[corners[size * e + k]!]!),
  );
  return {
    vertices: order.map((old) => [0, 1, 2].map((r) => positions[3 * old + r]!)),
    elements: shuffle(elements, seed + 1),
  };
}

export function writeTetgen(dir: string, name: string, mesh: PlainMesh, base: 0 | 1): void {
  writeFileSync(
    join(dir, `${name}.node`),
    [
      `# written by a test`,
      `${mesh.vertices.length} 3 0 0`,
      ...mesh.vertices.map((v, i) => `  ${i + base}  ${v.join("  ")}`),
    ].join("\n"),
  );
  writeFileSync(
    join(dir, `${name}.ele`),
    [
      `${mesh.elements.length} 4 0`,
      ...mesh.elements.map((e, i) => `${i + base} ${e.map((p) => p + base).join(" ")}`),
      "",
    ].join("\n"),
  );
}

/** @param names the node number of each vertex: any positive integers, in any order */
export function writeGmsh(dir: string, name: string, mesh: PlainMesh, names: readonly number[]): void {
  const type = mesh.elements[0]!.length === 4 ? 4 : 2;
  writeFileSync(
    join(dir, `${name}.msh`),
    [
      "$MeshFormat",
      "2.2 0 8",
      "$EndMeshFormat",
      "$Nodes",
      mesh.vertices.length,
      ...mesh.vertices.map((v, i) => `${names[i]} ${v.join(" ")}`),
      "$EndNodes",
      "$Elements",
      mesh.elements.length,
      ...mesh.elements.map((e, i) => `${i + 1} ${type} 2 0 1 ${e.map((p) => names[p]).join(" ")}`),
      "$EndElements",
      "",
    ].join("\n"),
  );
}

export function writeObj(dir: string, name: string, mesh: PlainMesh): void {
  writeFileSync(
    join(dir, `${name}.obj`),
    [
      ...mesh.vertices.map((v) => `v ${v.join(" ")}`),
      ...mesh.elements.map((e) => `f ${e.map((p) => p + 1).join(" ")}`),
      "",
    ].join("\n"),
  );
}
