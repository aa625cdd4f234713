/**
 * Light in the hollows and through the thin parts of a detail mesh at rest, without rays. A vertex below the plane of
 * its neighbors lies in a hollow, which gets less light; one far above lies on a horn, an ear or an edge, which light
 * passes. Means over growing neighborhoods add hollows and thin parts of all sizes.
 */

/** Rounds of averaging, and weight of the hollows of their size. */
const SCALES = [
  { rounds: 0, weight: 0.5 },
  { rounds: 3, weight: 2 },
  { rounds: 12, weight: 5 },
] as const;
/** Least light. */
const DARKEST = 0.35;
/** Weighted sines above the neighbors of parts that pass no light, and of parts that pass all of it. */
const THICK = 0.45;
const THIN = 1.6;

/**
 * @param positions float[3*V] m
 * @param normals float[3*V]
 * @param triangles uint32[3*T]
 * @returns uint8[2*V], 255 is all of it: light in hollows, and light through thin parts
 */
export function hollowAndThinLight(positions: Float32Array, normals: Float32Array, triangles: Uint32Array): Uint8Array {
  const count = positions.length / 3;
  let depth = meanOfNeighbors(count, triangles, (i, j) => sineBelow(positions, normals, i, j));
  const total = new Float32Array(count);
  let done = 0;
  for (const { rounds, weight } of SCALES) {
    for (; done < rounds; done++) {
      const before = depth;
      depth = meanOfNeighbors(count, triangles, (_, j) => before[j]!);
    }
    for (let i = 0; i < count; i++) total[i]! += weight * depth[i]!;
  }
  const light = new Uint8Array(2 * count);
  total.forEach((hollow, i) => {
    light[2 * i] = 255 * Math.max(DARKEST, Math.min(1, 1 - hollow));
    light[2 * i + 1] = 255 * Math.max(0, Math.min(1, (-hollow - THICK) / (THIN - THICK)));
  });
  return light;
}

/** Sine of the angle by which vertex i lies below the line to its neighbor j; negative above. */
function sineBelow(positions: Float32Array, normals: Float32Array, i: number, j: number): number {
  let along = 0;
  let square = 0;
  for (let r = 0; r < 3; r++) {
    const step = positions[3 * j + r]! - positions[3 * i + r]!;
    along += step * normals[3 * i + r]!;
    square += step * step;
  }
  return square > 0 ? along / Math.sqrt(square) : 0;
}

function meanOfNeighbors(
  count: number,
  triangles: Uint32Array,
  value: (vertex: number, neighbor: number) => number,
): Float32Array {
  const sums = new Float32Array(count);
  const neighbors = new Uint32Array(count);
  for (let corner = 0; corner < triangles.length; corner++) {
    const i = triangles[corner]!;
    const j = triangles[corner % 3 === 2 ? corner - 2 : corner + 1]!;
    sums[i]! += value(i, j);
    sums[j]! += value(j, i);
    neighbors[i]!++;
    neighbors[j]!++;
  }
  return sums.map((sum, i) => sum / Math.max(1, neighbors[i]!));
}
