/** Volume of a closed surface of triangles and its gradient (Rodero Gomez, section 4.2). */
import { add, cross, dot, scale, subtract, ZERO, type Vector } from "../reference/vector.ts";
import type { Value } from "./geometric.ts";

/**
 * 6V = sum over triangles of a . (b x c), from corner `origin`.
 * @param X float64[3N] m
 * @param triangles normals outward
 */
export function sixVolumes(
  X: Float64Array,
  triangles: Iterable<readonly [number, number, number]>,
  origin: number,
): number {
  const from = (p: number): [number, number, number] => [
    X[3 * p]! - X[3 * origin]!,
    X[3 * p + 1]! - X[3 * origin + 1]!,
    X[3 * p + 2]! - X[3 * origin + 2]!,
  ];
  let six = 0;
  for (const corners of triangles) {
    const [a, b, c] = corners.map(from) as unknown as [number[], number[], number[]];
    six +=
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
  }
  return six;
}

/** Triples of a flat list. */
export function* triplesOf(triangles: ArrayLike<number>): Generator<[number, number, number]> {
  for (let t = 0; t < triangles.length; t += 3) yield [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
}

/**
 * Volume inside a closed surface, and its gradient.
 * @param points corners
 * @param triangles numbers of the corners, normals outward
 * @param six six times the rest volume
 */
export function polyhedron(
  points: readonly Vector[],
  triangles: Iterable<readonly [number, number, number]>,
  six: number,
): Value {
  const local = points.map((p) => subtract(p, points[0]!));
  const gradient = points.map(() => ZERO);
  let volume = 0;
  for (const [a, b, c] of triangles) {
    const bc = cross(local[b]!, local[c]!);
    volume += dot(local[a]!, bc);
    gradient[a] = add(gradient[a]!, bc);
    gradient[b] = add(gradient[b]!, cross(local[c]!, local[a]!));
    gradient[c] = add(gradient[c]!, cross(local[a]!, local[b]!));
  }
  return { C: (volume - six) / 6, gradient: gradient.map((g) => scale(1 / 6, g)) };
}
