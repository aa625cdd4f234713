/** 4 x 4 matrices of glTF, column-major, in float64. */

/** float64[16], column by column. */
export type Matrix = readonly number[];

export const IDENTITY: Matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** a b: applies b first, then a. */
export function product(a: Matrix, b: Matrix): Matrix {
  const out = new Array<number>(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + r]! * b[4 * c + k]!;
      out[4 * c + r] = sum;
    }
  return out;
}

/** T R S. @param q quaternion x y z w; normalized here */
export function matrixOf(t: ArrayLike<number>, q: ArrayLike<number>, s: ArrayLike<number>): Matrix {
  const length = Math.hypot(q[0]!, q[1]!, q[2]!, q[3]!);
  const [x, y, z, w] = length > 0 ? [0, 1, 2, 3].map((k) => q[k]! / length) : [0, 0, 0, 1];
  const columns = [
    [1 - 2 * (y! * y! + z! * z!), 2 * (x! * y! + z! * w!), 2 * (x! * z! - y! * w!)],
    [2 * (x! * y! - z! * w!), 1 - 2 * (x! * x! + z! * z!), 2 * (y! * z! + x! * w!)],
    [2 * (x! * z! + y! * w!), 2 * (y! * z! - x! * w!), 1 - 2 * (x! * x! + y! * y!)],
  ];
  return [...columns.flatMap((column, k) => [...column.map((value) => value * s[k]!), 0]), t[0]!, t[1]!, t[2]!, 1];
}

export const determinant = (m: Matrix): number =>
  m[0]! * (m[5]! * m[10]! - m[6]! * m[9]!) -
  m[4]! * (m[1]! * m[10]! - m[2]! * m[9]!) +
  m[8]! * (m[1]! * m[6]! - m[2]! * m[5]!);

/** Length of the longest column: the largest scale, unless the matrix shears. */
export const largestScale = (m: Matrix): number =>
  Math.max(...[0, 4, 8].map((c) => Math.hypot(m[c]!, m[c + 1]!, m[c + 2]!)));

/**
 * Matrix for normals, up to their length: cof(M) sign(det M), which is |det M| M^-T and also exists for singular M.
 * @returns float64[9], column by column
 */
export function normalMatrix(m: Matrix): number[] {
  const sign = determinant(m) < 0 ? -1 : 1;
  const column = (a: number, b: number): number[] =>
    [0, 1, 2].map((r) => {
      const [l, k] = [(r + 1) % 3, (r + 2) % 3];
      return sign * (m[a + l]! * m[b + k]! - m[a + k]! * m[b + l]!);
    });
  return [...column(4, 8), ...column(8, 0), ...column(0, 4)];
}

/** Transforms a list of points in place: x = M x + t. */
export function transformPoints(values: Float64Array, m: Matrix): void {
  for (let i = 0; i < values.length; i += 3) {
    const [x, y, z] = [values[i]!, values[i + 1]!, values[i + 2]!];
    for (let r = 0; r < 3; r++) values[i + r] = m[r]! * x + m[4 + r]! * y + m[8 + r]! * z + m[12 + r]!;
  }
}

/**
 * Transforms and normalizes directions in place. @param stride numbers from one direction to the next; n as of
 * normalMatrix
 */
export function transformDirections(values: Float32Array, stride: number, n: readonly number[]): void {
  for (let i = 0; i < values.length; i += stride) {
    const out = [0, 1, 2].map((r) => n[r]! * values[i]! + n[3 + r]! * values[i + 1]! + n[6 + r]! * values[i + 2]!);
    const length = Math.hypot(...out);
    for (let r = 0; r < 3; r++) values[i + r] = length > 0 ? out[r]! / length : r === 2 ? 1 : 0;
  }
}

/** The matrix without its translation, float64[9], column by column; transforms tangents. */
export const linearPart = (m: Matrix): number[] => [...m.slice(0, 3), ...m.slice(4, 7), ...m.slice(8, 11)];

/** Turns triangles over, in place. */
export function flip(triangles: Uint32Array, which: (a: number, b: number, c: number) => boolean): void {
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = [triangles[i]!, triangles[i + 1]!, triangles[i + 2]!];
    if (which(a, b, c)) [triangles[i + 1], triangles[i + 2]] = [c, b];
  }
}
