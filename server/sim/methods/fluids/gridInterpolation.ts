/** Interpolation on a grid with a rim: linear, or cubic by Lagrange's polynomials, which are one-sided at walls. */

/** Values with a rim: place (i, j, k), from 0, is at i + 1 + X (j + 1 + Y (k + 1)). */
export interface Field {
  values: Float64Array;
  /** Number of places along each axis, without the rim. */
  n: readonly [number, number, number];
  /** Index steps to the next place along each axis. */
  step: readonly [number, number, number];
}

/**
 * Linear interpolation.
 * @param axis across whose faces the values are
 * @param x coordinate from the box's corner, in cells; y and z likewise
 */
export function linear({ values, n, step }: Field, axis: number, x: number, y: number, z: number): number {
  // places relative to the rim's values
  const fx = within(x + (axis === 0 ? 1 : 0.5), n[0]);
  const fy = within(y + (axis === 1 ? 1 : 0.5), n[1]);
  const fz = within(z + (axis === 2 ? 1 : 0.5), n[2]);
  const i = Math.floor(fx);
  const j = Math.floor(fy);
  const k = Math.floor(fz);
  const at = i + step[1] * j + step[2] * k;
  const near = bilinear(values, at, step[1], fx - i, fy - j);
  return near + (fz - k) * (bilinear(values, at + step[2], step[1], fx - i, fy - j) - near);
}

/** Weights of four values in a row, for each axis. */
const weights = [new Float64Array(4), new Float64Array(4), new Float64Array(4)] as const;

/** Cubic interpolation along each axis with at least four values. */
export function cubic({ values, n, step }: Field, axis: number, x: number, y: number, z: number): number {
  const [a, b, c] = weights;
  let at = lagrange(within(x + (axis === 0 ? 1 : 0.5), n[0]), n[0], a);
  at += step[1] * lagrange(within(y + (axis === 1 ? 1 : 0.5), n[1]), n[1], b);
  at += step[2] * lagrange(within(z + (axis === 2 ? 1 : 0.5), n[2]), n[2], c);
  let sum = 0;
  for (let k = 0; k < tapsOf(n[2]); k++)
    for (let j = 0; j < tapsOf(n[1]); j++) {
      const row = at + step[1] * j + step[2] * k;
      let along = 0;
      for (let i = 0; i < tapsOf(n[0]); i++) along += a[i]! * values[row + i]!;
      sum += b[j]! * c[k]! * along;
    }
  return sum;
}

function bilinear(values: Float64Array, at: number, up: number, a: number, b: number): number {
  const near = values[at]! + a * (values[at + 1]! - values[at]!);
  const far = values[at + up]! + a * (values[at + up + 1]! - values[at + up]!);
  return near + b * (far - near);
}

/**
 * Number of values of a row with a weight.
 * @param n without the rim
 */
const tapsOf = (n: number): number => (n < 2 ? 2 : 4);

/**
 * Weights of the four values around a place (Lagrange's cubic), or of two if there are no more.
 * @param place from 0 to n + 1
 * @returns index of the first value
 */
function lagrange(place: number, n: number, out: Float64Array): number {
  if (tapsOf(n) === 2) {
    const first = Math.floor(place);
    out[0] = first + 1 - place;
    out[1] = place - first;
    return first;
  }
  const first = Math.min(Math.max(Math.floor(place) - 1, 0), n - 2);
  const t = place - first;
  out[0] = -((t - 1) * (t - 2) * (t - 3)) / 6;
  out[1] = (t * (t - 2) * (t - 3)) / 2;
  out[2] = -(t * (t - 1) * (t - 3)) / 2;
  out[3] = (t * (t - 1) * (t - 2)) / 6;
  return first;
}

/** Clamps a place to 0 .. n, the last cell of values with a rim of n + 2. */
function within(place: number, n: number): number {
  const most = n + 1 - 1e-9;
  return place > 0 ? (place < most ? place : most) : 0;
}
