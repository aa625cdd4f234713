/**
 * Directions out of a cloud of points, so that neighbors are shaded as one surface and not as separate balls: for each
 * point the sum of the directions away from near ones, which vanishes inside.
 */

/** Largest cloud: pairs cost the square of its size. */
export const MOST_POINTS = 500;
/** Distance of neighbors, in spacings of the cloud. */
const REACH = 1.8;
/** Length of the sum per neighbor at a flat face, where the result has the length 1. */
const FACE = 0.35;

/**
 * @param out float32[3*count]: vectors of length 0 (inside, or alone) to 1 (at a face)
 * @param positions float32[3*count] m
 * @param spacing of the points, m
 */
export function outwardInto(out: Float32Array, positions: Float32Array, spacing: number): void {
  const count = positions.length / 3;
  const near = new Uint16Array(count);
  const most = (REACH * spacing) ** 2;
  out.fill(0);
  for (let i = 0; i < count; i++)
    for (let j = 0; j < i; j++) {
      const x = positions[3 * i]! - positions[3 * j]!;
      const y = positions[3 * i + 1]! - positions[3 * j + 1]!;
      const z = positions[3 * i + 2]! - positions[3 * j + 2]!;
      const square = x * x + y * y + z * z;
      if (square === 0 || square > most) continue;
      const over = 1 / Math.sqrt(square);
      near[i]!++;
      near[j]!++;
      out[3 * i]! += over * x;
      out[3 * i + 1]! += over * y;
      out[3 * i + 2]! += over * z;
      out[3 * j]! -= over * x;
      out[3 * j + 1]! -= over * y;
      out[3 * j + 2]! -= over * z;
    }
  for (let i = 0; i < count; i++) {
    const length = Math.hypot(out[3 * i]!, out[3 * i + 1]!, out[3 * i + 2]!);
    const scale = 1 / Math.max(1e-9, FACE * near[i]!, length);
    for (let r = 0; r < 3; r++) out[3 * i + r]! *= scale;
  }
}
