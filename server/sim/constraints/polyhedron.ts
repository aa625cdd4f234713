/**
 * Volume of a closed surface of triangles and its gradient; the two triangulations of a hexahedron's surface (Rodero
 * Gomez, section 4.2).
 */

/**
 * Faces of a hexahedron cut from their lowest to their highest corner, outward; corner c has x from bit 0, y from bit
 * 1, z from bit 2.
 */
export const RISING: readonly (readonly [number, number, number])[] = [
  [0, 4, 6],
  [0, 6, 2],
  [1, 3, 7],
  [1, 7, 5],
  [0, 1, 5],
  [0, 5, 4],
  [2, 6, 7],
  [2, 7, 3],
  [0, 2, 3],
  [0, 3, 1],
  [4, 5, 7],
  [4, 7, 6],
];
/** Faces cut the other way. */
export const FALLING: readonly (readonly [number, number, number])[] = [
  [0, 4, 2],
  [4, 6, 2],
  [1, 3, 5],
  [3, 7, 5],
  [0, 1, 4],
  [1, 5, 4],
  [2, 6, 3],
  [6, 7, 3],
  [0, 2, 1],
  [2, 3, 1],
  [4, 5, 6],
  [5, 7, 6],
];

/** 6V = sum over triangles of a . (b x c), from corner `origin`. @param X float64[3N] m; triangles outward */
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
