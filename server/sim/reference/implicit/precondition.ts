/**
 * Twin of kernel/assembly/implicit/preconditioner.ts: z = R L^-T D^-1 L^-1 R^T r with the factor at rest, in float32,
 * and the rotations R of the particles (1 for sheets). This is the matrix at rest, rotated with the body (Mueller et
 * al. 2002, stiffness warping).
 */
import type { TetElements } from "../../constraints/elements.ts";
import type { Factor } from "../../implicit/factor.ts";

const f = Math.fround;
/** Newton's iterations for a polar part; each doubles the digits. */
const POLAR_STEPS = 12;
const POLAR_DONE = 1e-12;
/** If the determinant of a mean deformation, over that of its size, is below this, its rotation is undefined. */
const FLAT = 1e-3;

/**
 * Rotations of a solid's particles: polar parts of the mean deformation of their elements, weighted by volume.
 * @returns float64[9n] row by row
 */
export function particleRotations(x: Float64Array, e: TetElements): Float64Array {
  const R = new Float64Array(3 * x.length);
  const { particles, dmInverse: m } = e;
  for (let i = 0; i < e.volume.length; i++) {
    const p = [0, 1, 2, 3].map((j) => particles[4 * i + j]!) as [number, number, number, number];
    const d = 9 * i;
    for (let r = 0; r < 3; r++) {
      const a = x[3 * p[0] + r]! - x[3 * p[3] + r]!;
      const b = x[3 * p[1] + r]! - x[3 * p[3] + r]!;
      const c = x[3 * p[2] + r]! - x[3 * p[3] + r]!;
      for (let k = 0; k < 3; k++) {
        const F = e.volume[i]! * (a * m[d + k]! + b * m[d + 3 + k]! + c * m[d + 6 + k]!);
        for (const particle of p) R[9 * particle + 3 * r + k]! += F;
      }
    }
  }
  for (let i = 0; i < R.length; i += 9) R.set(polarPart([...R.subarray(i, i + 9)]), i);
  return R;
}

/**
 * Higham's Newton iteration X = (X + X^-T)/2 from X over its size.
 * @returns the identity if the rotation is undefined
 */
export function polarPart(M: readonly number[]): number[] {
  const identity = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  let size = 0;
  for (const value of M) size += value * value;
  const scale = 1 / Math.sqrt(size / 3);
  let X = M.map((value) => value * scale);
  for (let step = 0; step < POLAR_STEPS; step++) {
    const [a, b, c, d, e, g, h, i, j] = X as [number, number, number, number, number, number, number, number, number];
    const cofactors = [
      e * j - g * i,
      g * h - d * j,
      d * i - e * h,
      c * i - b * j,
      a * j - c * h,
      b * h - a * i,
      b * g - c * e,
      c * d - a * g,
      a * e - b * d,
    ];
    const determinant = a * cofactors[0]! + b * cofactors[1]! + c * cofactors[2]!;
    if (step === 0 && !(determinant > FLAT)) return identity;
    const inverse = 0.5 / determinant;
    const next = X.map((value, k) => 0.5 * value + inverse * cofactors[k]!);
    let change = 0;
    for (let k = 0; k < 9; k++) change += (next[k]! - X[k]!) * (next[k]! - X[k]!);
    X = next;
    if (change < POLAR_DONE) break;
  }
  return X;
}

/**
 * @param R rotations of all particles; undefined for a sheet
 * @returns z, zero for fixed particles
 */
export function precondition(factor: Factor, R: Float64Array | undefined, r: Float64Array): Float64Array {
  const z = new Float64Array(r.length);
  const y = new Float32Array(3 * factor.order.length);
  factor.order.forEach((particle, k) => {
    for (let c = 0; c < 3; c++) {
      const p = 3 * particle;
      const q = 9 * particle;
      y[3 * k + c] = R ? R[q + c]! * r[p]! + R[q + 3 + c]! * r[p + 1]! + R[q + 6 + c]! * r[p + 2]! : r[p + c]!;
    }
  });
  if (factor.size === 3) solveBlocks(factor, y);
  else solveNumbers(factor, y);
  factor.order.forEach((particle, k) => {
    for (let c = 0; c < 3; c++) {
      const q = 9 * particle + 3 * c;
      z[3 * particle + c] = R
        ? R[q]! * y[3 * k]! + R[q + 1]! * y[3 * k + 1]! + R[q + 2]! * y[3 * k + 2]!
        : y[3 * k + c]!;
    }
  });
  return z;
}

function solveNumbers({ order, start, rows, values, diagonal }: Factor, y: Float32Array): void {
  const m = order.length;
  for (let k = 0; k < m; k++) {
    for (let p = start[k]!; p < start[k + 1]!; p++)
      for (let c = 0; c < 3; c++) y[3 * rows[p]! + c] = f(y[3 * rows[p]! + c]! - f(values[p]! * y[3 * k + c]!));
  }
  for (let k = m - 1; k >= 0; k--) {
    for (let c = 0; c < 3; c++) {
      let sum = f(diagonal[k]! * y[3 * k + c]!);
      for (let p = start[k]!; p < start[k + 1]!; p++) sum = f(sum - f(values[p]! * y[3 * rows[p]! + c]!));
      y[3 * k + c] = sum;
    }
  }
}

function solveBlocks({ order, start, rows, values, diagonal }: Factor, y: Float32Array): void {
  const m = order.length;
  for (let k = 0; k < m; k++) {
    for (let p = start[k]!; p < start[k + 1]!; p++) {
      for (let c = 0; c < 3; c++) {
        let value = y[3 * rows[p]! + c]!;
        for (let j = 0; j < 3; j++) value = f(value - f(values[9 * p + 3 * j + c]! * y[3 * k + j]!));
        y[3 * rows[p]! + c] = value;
      }
    }
  }
  // L^T's part is summed in lanes of the rows' three numbers, which are added at the end
  for (let k = m - 1; k >= 0; k--) {
    const sums = new Float32Array(9);
    const solved = [0, 1, 2].map((c) =>
      [0, 1, 2].reduce((sum, j) => f(sum + f(diagonal[9 * k + 3 * j + c]! * y[3 * k + j]!)), 0),
    );
    for (let p = start[k]!; p < start[k + 1]!; p++) {
      for (let j = 0; j < 3; j++)
        for (let c = 0; c < 3; c++)
          sums[3 * j + c] = f(sums[3 * j + c]! + f(values[9 * p + 3 * j + c]! * y[3 * rows[p]! + c]!));
    }
    for (let j = 0; j < 3; j++) y[3 * k + j] = f(solved[j]! - f(f(sums[3 * j]! + sums[3 * j + 1]!) + sums[3 * j + 2]!));
  }
}
