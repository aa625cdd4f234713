/**
 * Energy of geometric constraints with compliance, E = C^2/(2 alpha), on the side where they resist. One that acts by
 * stiffness k' or is rigid (alpha = 0) stores none.
 */
import type { DistanceElements, HexahedronElements, VolumeElements } from "../constraints/elements.ts";
import type { EnclosedVolume } from "../constraints/geometric.ts";
import { distanceValue, hexahedronValue, volumeValue } from "../reference/geometric.ts";

const stored = (C: number, alpha: number): number => (alpha > 0 ? (C * C) / (2 * alpha) : 0);

/** J. @param x float64[3N] m */
export function distanceEnergy(x: Float64Array, e: DistanceElements, i: number): number {
  const { C } = distanceValue(x, e, i);
  return e.unilateral && C < 0 ? 0 : stored(C, e.alpha[i]!);
}

/** J. @param x float64[3N] m */
export function volumeEnergy(x: Float64Array, e: VolumeElements, i: number): number {
  const { C } = volumeValue(x, e, i);
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha[i]!);
}

/** J, both triangulations. @param x float64[3N] m */
export function hexahedronEnergy(x: Float64Array, e: HexahedronElements, i: number): number {
  return stored(hexahedronValue(x, e, i, 0).C, e.alpha[i]!) + stored(hexahedronValue(x, e, i, 1).C, e.alpha[i]!);
}

/** J. @param x float64[3N] m; triangles uint32[3T] outward */
export function enclosedEnergy(x: Float64Array, triangles: Uint32Array, e: EnclosedVolume): number {
  let six = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((r) => x[3 * triangles[t + k]! + r]! - x[r]!)) as [
      number[],
      number[],
      number[],
    ];
    six +=
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
  }
  const C = (six - e.rest) / 6;
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha);
}
