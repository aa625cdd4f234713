/** Notes about a mesh file or a surface: a finding, an ignored part or a repair, with its place. */
import type { FILE_NOTES, SURFACE_NOTES } from "../../shared/scene/objectCodes.ts";

export interface MeshNote {
  /** Code of the note, for programs. */
  code: (typeof FILE_NOTES | typeof SURFACE_NOTES)[number];
  /** A sentence for people. */
  text: string;
  /** Position on a surface: x, y, z relative to its size, from the middle of its base. */
  at?: Place;
}

export type Place = [number, number, number];

/** Bounding box of positions, float64[3n]; NaN is ignored. */
export function boundsOf(positions: ArrayLike<number>): { low: number[]; high: number[]; size: number } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    if (positions[i]! < low[i % 3]!) low[i % 3] = positions[i]!;
    if (positions[i]! > high[i % 3]!) high[i % 3] = positions[i]!;
  }
  return { low, high, size: Math.max(...low.map((l, k) => high[k]! - l)) };
}

/**
 * Place of a vertex on its surface, rounded to whole percents of the size.
 * @param size if the positions stand on y = 0, centered in x and z
 */
export function placeOf(positions: ArrayLike<number>, vertex: number, size?: number): Place {
  let [base, side] = [[0, 0, 0], size ?? 0];
  if (size === undefined) {
    const bounds = boundsOf(positions);
    const { low, high } = bounds;
    base = [0.5 * (low[0]! + high[0]!), low[1]!, 0.5 * (low[2]! + high[2]!)];
    side = bounds.size;
  }
  return base.map((b, k) =>
    side > 0 ? Math.round((100 * (positions[3 * vertex + k]! - b)) / side) / 100 : 0,
  ) as Place;
}

export const percent = (at: readonly number[]): string =>
  `x, y, z = ${at.map((part) => `${Math.round(100 * part)} %`).join(", ")} of its size`;
