/** Sample points of a surface: its vertices, and additional points inside large triangles. */
import type { SurfaceMesh } from "../mesh.ts";

/**
 * Covers a surface with points.
 * @param distance m; no point of a triangle is further than this from the nearest sample
 * @returns float64[3*P], the vertices first
 */
export function surfaceSamples(surface: SurfaceMesh, distance: number): Float64Array {
  const { positions: x, triangles } = surface;
  const added: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    let longest2 = 0;
    for (const [p, q] of [
      [a, b],
      [b, c],
      [c, a],
    ] as const) {
      longest2 = Math.max(longest2, (x[p]! - x[q]!) ** 2 + (x[p + 1]! - x[q + 1]!) ** 2 + (x[p + 2]! - x[q + 2]!) ** 2);
    }
    // In a small triangle, every point is within the longest edge over sqrt(3) of a corner; the center is the worst
    // case.
    const cuts = Math.ceil(Math.sqrt(longest2 / 3) / distance);
    for (let i = 0; i <= cuts; i++) {
      for (let j = 0; i + j <= cuts; j++) {
        // Corners are vertices, which the result already contains.
        if (i === cuts || j === cuts || i + j === 0) continue;
        const u = i / cuts;
        const v = j / cuts;
        for (let k = 0; k < 3; k++) added.push(x[a + k]! + u * (x[b + k]! - x[a + k]!) + v * (x[c + k]! - x[a + k]!));
      }
    }
  }
  const all = new Float64Array(x.length + added.length);
  all.set(x);
  all.set(added, x.length);
  return all;
}
