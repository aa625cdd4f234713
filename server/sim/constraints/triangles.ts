/** Rest shape of cloth triangles in the (weft, warp) frame of the sheet (Bender et al. 2014, section 4.3). */
import type { TriangleElements } from "./elements.ts";
import { sheetCompliance, type SheetModuli } from "../materials.ts";

/**
 * The weft direction is the body's own x axis laid onto each triangle (its own z axis where x is normal to the
 * triangle); warp is perpendicular to it in the triangle's plane.
 * @param X float64[3N] m, undeformed positions in the body's own axes (scaled, not rotated)
 * @param triangles uint32[3n]
 * @param thickness m
 */
export function triangleElements(
  X: Float64Array,
  triangles: Uint32Array,
  moduli: SheetModuli,
  thickness: number,
): TriangleElements {
  const n = triangles.length / 3;
  const dmInverse = new Float64Array(4 * n);
  const volume = new Float64Array(n);
  for (let e = 0; e < n; e++) {
    const [p0, p1, p2] = [0, 1, 2].map((k) => 3 * triangles[3 * e + k]!) as [number, number, number];
    const u = [X[p0]! - X[p2]!, X[p0 + 1]! - X[p2 + 1]!, X[p0 + 2]! - X[p2 + 2]!];
    const v = [X[p1]! - X[p2]!, X[p1 + 1]! - X[p2 + 1]!, X[p1 + 2]! - X[p2 + 2]!];
    const normal = cross(u, v);
    const twiceArea = Math.sqrt(dot(normal, normal));
    if (!(twiceArea > 0)) throw new Error(`triangle ${e}: area must be positive`);
    const unit = normal.map((c) => c / twiceArea);
    // x axis in the plane; below 0.1 its direction there is arbitrary, and z is not
    let weft = [1 - unit[0]! * unit[0]!, -unit[0]! * unit[1]!, -unit[0]! * unit[2]!];
    if (dot(weft, weft) < 0.01) weft = [-unit[2]! * unit[0]!, -unit[2]! * unit[1]!, 1 - unit[2]! * unit[2]!];
    const length = Math.sqrt(dot(weft, weft));
    weft = weft.map((c) => c / length);
    const warp = cross(unit, weft);
    const a = dot(u, weft);
    const b = dot(v, weft);
    const c = dot(u, warp);
    const d = dot(v, warp); // D_m = (a b; c d)
    const determinant = a * d - b * c;
    dmInverse.set([d / determinant, -b / determinant, -c / determinant, a / determinant], 4 * e);
    volume[e] = (twiceArea / 2) * thickness;
  }
  return { kind: "triangle", particles: triangles, dmInverse, volume, compliance: sheetCompliance(moduli) };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
}

function cross(a: readonly number[], b: readonly number[]): number[] {
  return [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
}
