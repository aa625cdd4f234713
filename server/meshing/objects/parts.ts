/** Output of all file readers: triangles with their attributes and materials, in one coordinate system. */
import type { Material } from "@gltf-transform/core";

/** float32[size*n] of a glTF semantic. */
export interface Attribute {
  size: 2 | 3 | 4;
  values: Float32Array;
}

/** Triangles of one material. */
export interface Part {
  /** float64[3n], the file's unit, y up. */
  positions: Float64Array;
  /** uint32[3m], counter-clockwise seen from outside, if the file's surface has an outside. */
  triangles: Uint32Array;
  /** Vertex attributes by their names in glTF: NORMAL, TANGENT, TEXCOORD_n, COLOR_n. */
  attributes: Map<string, Attribute>;
  material: Material | null;
  /** Largest rounding error of a position, in the file's unit (../importers/filePrecision.ts). */
  precision: number;
  /** Position in the file, for messages. */
  where: string;
}

/** Returns the part without triangles that have two corners at one position. */
export function withArea(part: Part): Part {
  const { positions: x, triangles } = part;
  const same = (a: number, b: number): boolean => [0, 1, 2].every((k) => x[3 * a + k] === x[3 * b + k]);
  const kept: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    if (!same(a, b) && !same(b, c) && !same(c, a)) kept.push(a, b, c);
  }
  return kept.length === triangles.length ? part : { ...part, triangles: Uint32Array.from(kept) };
}

/** Returns the part without unused vertices. */
export function compacted(part: Part): Part {
  const count = part.positions.length / 3;
  const place = new Int32Array(count).fill(-1);
  let next = 0;
  for (const v of part.triangles) if (place[v]! < 0) place[v] = next++;
  if (next === count) return part;
  const pick = (size: number, from: Float64Array | Float32Array, to: Float64Array | Float32Array): void => {
    for (let v = 0; v < count; v++)
      if (place[v]! >= 0) for (let k = 0; k < size; k++) to[size * place[v]! + k] = from[size * v + k]!;
  };
  const positions = new Float64Array(3 * next);
  pick(3, part.positions, positions);
  const attributes = new Map<string, Attribute>();
  for (const [name, { size, values }] of part.attributes) {
    const kept = new Float32Array(size * next);
    pick(size, values, kept);
    attributes.set(name, { size, values: kept });
  }
  return { ...part, positions, triangles: part.triangles.map((v) => place[v]!), attributes };
}

/** Joins parts: one for each material and set of attributes, in the order of their first triangles. */
export function joined(parts: readonly Part[]): Part[] {
  const groups = new Map<Material | null, Map<string, Part[]>>();
  const order: Part[][] = [];
  for (const part of parts) {
    const key = [...part.attributes]
      .map(([name, { size }]) => `${name}:${size}`)
      .sort()
      .join();
    const ofMaterial = groups.get(part.material) ?? new Map<string, Part[]>();
    groups.set(part.material, ofMaterial);
    const group = ofMaterial.get(key);
    if (group) group.push(part);
    else {
      const first = [part];
      ofMaterial.set(key, first);
      order.push(first);
    }
  }
  return order.map((group) => (group.length === 1 ? group[0]! : joinedGroup(group)));
}

function joinedGroup(group: readonly Part[]): Part {
  const vertices = group.reduce((sum, part) => sum + part.positions.length / 3, 0);
  const corners = group.reduce((sum, part) => sum + part.triangles.length, 0);
  const positions = new Float64Array(3 * vertices);
  const triangles = new Uint32Array(corners);
  const attributes = new Map<string, Attribute>(
    [...group[0]!.attributes].map(([name, { size }]) => [name, { size, values: new Float32Array(size * vertices) }]),
  );
  let vertex = 0;
  let corner = 0;
  for (const part of group) {
    positions.set(part.positions, 3 * vertex);
    for (const v of part.triangles) triangles[corner++] = vertex + v;
    for (const [name, { size, values }] of attributes) values.set(part.attributes.get(name)!.values, size * vertex);
    vertex += part.positions.length / 3;
  }
  const precision = Math.max(...group.map((part) => part.precision));
  return { ...group[0]!, positions, triangles, attributes, precision };
}
