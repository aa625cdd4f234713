/** Lumped masses: the mass of each element, spread evenly over its corners. */

/**
 * @param mass float64[N] kg, inout
 * @param elements uint32[k*n]
 * @param density kg/m^3
 * @param volume of element e, m^3
 */
export function lump(
  mass: Float64Array,
  elements: Uint32Array,
  k: number,
  density: number,
  volume: (e: number) => number,
): Float64Array {
  for (let e = 0; e < elements.length / k; e++) {
    const share = (density * volume(e)) / k;
    for (let c = 0; c < k; c++) mass[elements[k * e + c]!]! += share;
  }
  return mass;
}

/**
 * Masses with a quarter of each tetrahedron per corner.
 * @param X float64[3N] m
 * @param tets uint32[4n]
 * @returns float64[N] kg
 */
export function tetrahedralMasses(X: Float64Array, tets: Uint32Array, density: number): Float64Array {
  return lump(new Float64Array(X.length / 3), tets, 4, density, (e) => {
    const [u, v, t] = [0, 1, 2].map((c) =>
      [0, 1, 2].map((r) => X[3 * tets[4 * e + c]! + r]! - X[3 * tets[4 * e + 3]! + r]!),
    ) as [number[], number[], number[]];
    const [a, d, h] = u as [number, number, number];
    const [b, f, i] = v as [number, number, number];
    const [c, g, j] = t as [number, number, number];
    return (a * (f * j - g * i) - b * (d * j - g * h) + c * (d * i - f * h)) / 6;
  });
}

/**
 * Masses with a third of each triangle per corner.
 * @param thickness m
 */
export function sheetMasses(X: Float64Array, triangles: Uint32Array, density: number, thickness: number): Float64Array {
  return lump(new Float64Array(X.length / 3), triangles, 3, density, (e) => {
    const [u, v] = [0, 1].map((c) =>
      [0, 1, 2].map((r) => X[3 * triangles[3 * e + c]! + r]! - X[3 * triangles[3 * e + 2]! + r]!),
    ) as [number[], number[]];
    const [x, y, z] = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    return (Math.sqrt(x * x + y * y + z * z) / 2) * thickness;
  });
}
