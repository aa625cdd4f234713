/** Coordinates along a cloth that is flat at rest: its weave and its printed grid follow them. */

/** Grid lines along the longer side. */
const LINES = 10;
/** Least share of the area that faces one way. */
const FLAT = 0.98;

export interface FlatCoordinates {
  /** float32[2*count] m */
  at: Float32Array;
  /** Distance of the grid's lines, m: 1, 2 or 5 times a power of ten. */
  grid: number;
}

type Vec = [number, number, number];
const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const minus = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

/**
 * @param rest float32[3*count] m
 * @param triangles uint32[3*T]
 * @returns undefined if the cloth is not flat
 */
export function flatCoordinates(rest: Float32Array, triangles: Uint32Array): FlatCoordinates | undefined {
  const point = (particle: number): Vec => [rest[3 * particle]!, rest[3 * particle + 1]!, rest[3 * particle + 2]!];
  const sum: Vec = [0, 0, 0];
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = point(triangles[t]!);
    const normal = cross(minus(point(triangles[t + 1]!), a), minus(point(triangles[t + 2]!), a));
    normal.forEach((part, r) => (sum[r]! += part));
    area += Math.sqrt(dot(normal, normal));
  }
  const size = Math.sqrt(dot(sum, sum));
  if (!(size > FLAT * area)) return undefined;
  // the first edge of a grid runs along its cells
  const first = minus(point(triangles[1]!), point(triangles[0]!));
  const length = Math.sqrt(dot(first, first));
  const u = first.map((part) => part / length) as Vec;
  const v = cross(sum.map((part) => part / size) as Vec, u);
  const count = rest.length / 3;
  const at = new Float32Array(2 * count);
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let i = 0; i < count; i++)
    for (const [r, axis] of [u, v].entries()) {
      const value = dot(point(i), axis);
      at[2 * i + r] = value;
      low[r] = Math.min(low[r]!, value);
      high[r] = Math.max(high[r]!, value);
    }
  for (let k = 0; k < at.length; k++) at[k]! -= low[k % 2]!;
  return { at, grid: rounded(Math.max(high[0]! - low[0]!, high[1]! - low[1]!) / LINES) };
}

/** The nearest of 1, 2 and 5 times a power of ten. */
function rounded(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}
