/**
 * Turns a picture's triangles and normals where the simulation turns the surface (mendSurface.ts), so that a model with
 * inward winding is not drawn inside out.
 */
import type { Attribute, Part } from "./parts.ts";
import { mendSurface } from "./mendSurface.ts";

/**
 * @param places surface vertex of each vertex of the parts
 * @param positions of the surface
 * @returns the parts with turned triangles; their vertices keep their order
 */
export function facePicture(parts: readonly Part[], places: Uint32Array, positions: Float64Array): readonly Part[] {
  const corners: number[] = [];
  const starts: [part: number, corner: number][] = [];
  let first = 0;
  parts.forEach(({ triangles, positions: x }, p) => {
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => places[first + triangles[t + k]!]!) as [number, number, number];
      if (a === b || b === c || c === a) continue;
      corners.push(a, b, c);
      starts.push([p, t]);
    }
    first += x.length / 3;
  });
  const { flipped } = mendSurface({ positions, triangles: Uint32Array.from(corners) });
  const turned = parts.map(() => [] as number[]);
  starts.forEach(([p, t], i) => {
    if (flipped[i]) turned[p]!.push(t);
  });
  return parts.map((part, p) => (turned[p]!.length === 0 ? part : withTurned(part, turned[p]!)));
}

/** @param starts first corner of each triangle to turn */
function withTurned(part: Part, starts: readonly number[]): Part {
  const triangles = part.triangles.slice();
  const touched = new Uint8Array(part.positions.length / 3);
  for (const t of starts) {
    [triangles[t + 1], triangles[t + 2]] = [triangles[t + 2]!, triangles[t + 1]!];
    for (let k = 0; k < 3; k++) touched[triangles[t + k]!] = 1;
  }
  const attributes = new Map(part.attributes);
  const normals = attributes.get("NORMAL");
  if (normals) {
    const against = facingAway({ ...part, triangles }, normals, touched);
    const negated = (attribute: Attribute, from: number, to: number): Attribute => ({
      ...attribute,
      values: attribute.values.map((value, i) => {
        const k = i % attribute.size;
        return against[Math.floor(i / attribute.size)] && k >= from && k < to ? -value : value;
      }),
    });
    attributes.set("NORMAL", negated(normals, 0, 3));
    const tangents = attributes.get("TANGENT");
    // The bitangent is normal x tangent times w: w keeps it.
    if (tangents) attributes.set("TANGENT", negated(tangents, 3, 4));
  }
  return { ...part, triangles, attributes };
}

/** Flags touched vertices with normals that point away from the side of their triangles. */
function facingAway({ positions: x, triangles }: Part, { values }: Attribute, touched: Uint8Array): Uint8Array {
  const sums = new Float64Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]!) as [number, number, number];
    for (let k = 0; k < 3; k++) {
      const [l, m] = [(k + 1) % 3, (k + 2) % 3];
      const n = (x[b + l]! - x[a + l]!) * (x[c + m]! - x[a + m]!) - (x[b + m]! - x[a + m]!) * (x[c + l]! - x[a + l]!);
      for (const v of [a, b, c]) sums[v + k]! += n;
    }
  }
  return touched.map((is, v) => {
    const dot = [0, 1, 2].reduce((sum, k) => sum + sums[3 * v + k]! * values[3 * v + k]!, 0);
    return is && dot < 0 ? 1 : 0;
  });
}
