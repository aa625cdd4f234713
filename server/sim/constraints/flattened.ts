/** Finds the coordinates of a flat sheet in its own plane. */

/**
 * Relative distance that a corner may leave the plane: files have 4 digits. Stencils keep the remaining curvature at
 * rest.
 */
const FLAT = 1e-4;

/**
 * @param X float64[3N] m
 * @param triangles uint32[3n]
 * @returns float64[2N] m, from the first triangle's first corner, x along its first side; undefined unless all
 *   triangles lie in one plane, the same side up
 */
export function flattened(X: Float64Array, triangles: Uint32Array): Float64Array | undefined {
  const at = (v: number): [number, number, number] => [
    X[3 * v]! - X[3 * triangles[0]!]!,
    X[3 * v + 1]! - X[3 * triangles[0]! + 1]!,
    X[3 * v + 2]! - X[3 * triangles[0]! + 2]!,
  ];
  const dot = (a: readonly number[], b: readonly number[]): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
  const cross = (a: readonly number[], b: readonly number[]): number[] => [
    a[1]! * b[2]! - a[2]! * b[1]!,
    a[2]! * b[0]! - a[0]! * b[2]!,
    a[0]! * b[1]! - a[1]! * b[0]!,
  ];
  const unit = (a: readonly number[]): number[] => a.map((value) => value / Math.sqrt(dot(a, a)));
  const side = at(triangles[1]!);
  const u = unit(side);
  const n = unit(cross(side, at(triangles[2]!)));
  const w = cross(n, u);
  const plane = new Float64Array((2 * X.length) / 3);
  const height = new Float64Array(X.length / 3);
  for (let v = 0; v < height.length; v++) {
    const x = at(v);
    plane[2 * v] = dot(x, u);
    plane[2 * v + 1] = dot(x, w);
    height[v] = dot(x, n);
  }
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = triangles.subarray(t, t + 3) as unknown as [number, number, number];
    const ux = plane[2 * b]! - plane[2 * a]!;
    const uy = plane[2 * b + 1]! - plane[2 * a + 1]!;
    const vx = plane[2 * c]! - plane[2 * a]!;
    const vy = plane[2 * c + 1]! - plane[2 * a + 1]!;
    const size = Math.abs(ux) + Math.abs(uy);
    const far = Math.abs(plane[2 * a]!) + Math.abs(plane[2 * a + 1]!);
    // a plane from one triangle is as exact as the triangle's digits, relative to its size, at the distance from it
    if (!(ux * vy - uy * vx > 0) || [a, b, c].some((corner) => Math.abs(height[corner]!) > FLAT * (size + far)))
      return undefined;
  }
  return plane;
}
