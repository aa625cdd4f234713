/**
 * Moving least squares over points (Mueller et al. 2004, eq. 2 and 8 to 12): the gradient of a field at each point from
 * its neighbors' values, exact for affine fields; pointBased.ts has the equations.
 */
import { cofactorsOf } from "../matrices.ts";
import { Neighbors } from "../fluids/neighbors.ts";

/**
 * Limit of det A over (tr A/3)^3: below it the neighbors lie in a plane, and the point is loose and has no gradient.
 */
const FLAT = 0.02;

export class LeastSquares {
  /** Number of points whose neighbors lie in a plane. */
  loose = 0;
  readonly neighbors: Neighbors;
  /** 1/sum_j w_ij |X_ij|^2 for each point, 0 for a loose one. */
  readonly spread: Float64Array;
  private readonly H: number;
  /** X for which the neighbors were found. */
  private readonly X: Float64Array;
  /** For each pair: w, d_ij of its first point, and -d_ji of its second. */
  private w = new Float64Array(0);
  private first = new Float64Array(0);
  private second = new Float64Array(0);
  /** For each point: A, then its inverse. */
  private readonly A: Float64Array;
  private readonly cofactors = new Float64Array(9);

  /** @param H reach: points further apart are not neighbors, m */
  constructor(count: number, H: number) {
    this.H = H;
    this.neighbors = new Neighbors(count);
    this.X = new Float64Array(3 * count).fill(NaN);
    this.spread = new Float64Array(count);
    this.A = new Float64Array(9 * count);
  }

  /** Finds neighbors, weights and d for points at X; returns at once if X is unchanged. */
  find(X: Float64Array): void {
    if (X.every((value, k) => value === this.X[k])) return;
    this.X.set(X);
    this.neighbors.find(X, this.H);
    this.fit();
  }

  /** Computes w, d and spread for X. */
  private fit(): void {
    const { A, X, H, spread, cofactors } = this;
    const { i, j, pairs } = this.neighbors;
    if (this.w.length < pairs) {
      this.w = new Float64Array(2 * pairs);
      [this.first, this.second] = [new Float64Array(6 * pairs), new Float64Array(6 * pairs)];
    }
    A.fill(0);
    for (let p = 0; p < pairs; p++) {
      const [a, b] = [3 * i[p]!, 3 * j[p]!];
      const d = [X[b]! - X[a]!, X[b + 1]! - X[a + 1]!, X[b + 2]! - X[a + 2]!];
      const u = 1 - (d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!) / (H * H);
      this.w[p] = u * u * u;
      for (let k = 0; k < 9; k++) {
        const part = this.w[p]! * d[(k / 3) | 0]! * d[k % 3]!;
        A[3 * a + k]! += part;
        A[3 * b + k]! += part;
      }
    }
    this.loose = 0;
    for (let at = 0; at < A.length; at += 9) {
      const sum = A[at]! + A[at + 4]! + A[at + 8]!;
      const det = cofactorsOf(A, at, cofactors);
      const held = det > FLAT * (sum / 3) ** 3;
      if (!held) this.loose++;
      spread[at / 9] = held ? 1 / sum : 0;
      for (let k = 0; k < 9; k++) A[at + k] = held ? cofactors[k]! / det : 0;
    }
    for (let p = 0; p < pairs; p++)
      for (let r = 0; r < 3; r++) {
        const [a, b] = [i[p]!, j[p]!];
        this.first[3 * p + r] = 0;
        this.second[3 * p + r] = 0;
        for (let s = 0; s < 3; s++) {
          const along = this.w[p]! * (X[3 * b + s]! - X[3 * a + s]!);
          this.first[3 * p + r]! += A[9 * a + 3 * r + s]! * along;
          this.second[3 * p + r]! += A[9 * b + 3 * r + s]! * along;
        }
      }
  }

  /**
   * J of x.
   * @param loose diagonal of J for a loose point
   */
  gradients(x: Float64Array, J: Float64Array, loose: number): void {
    const { first, second, spread } = this;
    const { i, j, pairs } = this.neighbors;
    for (let k = 0; k < J.length; k++) J[k] = (k % 9) % 4 === 0 && !(spread[(k / 9) | 0]! > 0) ? loose : 0;
    for (let p = 0; p < pairs; p++) {
      const [a, b] = [i[p]!, j[p]!];
      for (let r = 0; r < 3; r++) {
        const d = x[3 * b + r]! - x[3 * a + r]!;
        for (let s = 0; s < 3; s++) {
          J[9 * a + 3 * r + s]! += d * first[3 * p + s]!;
          J[9 * b + 3 * r + s]! += d * second[3 * p + s]!;
        }
      }
    }
  }

  /**
   * f += scale (forces of the stresses T, and of the residuals of x from J).
   * @param c N/m/w by point
   */
  scatter(x: Float64Array, J: Float64Array, T: Float64Array, c: Float64Array, scale: number, f: Float64Array): void {
    const { X, w, first, second } = this;
    const { i, j, pairs } = this.neighbors;
    for (let p = 0; p < pairs; p++) {
      const [a, b] = [i[p]!, j[p]!];
      const ca = w[p]! * c[a]!;
      const cb = w[p]! * c[b]!;
      for (let r = 0; r < 3; r++) {
        let g = (ca + cb) * (x[3 * b + r]! - x[3 * a + r]!);
        for (let s = 0; s < 3; s++) {
          const [ka, kb] = [9 * a + 3 * r + s, 9 * b + 3 * r + s];
          g += T[ka]! * first[3 * p + s]! + T[kb]! * second[3 * p + s]!;
          g -= (ca * J[ka]! + cb * J[kb]!) * (X[3 * b + s]! - X[3 * a + s]!);
        }
        f[3 * a + r]! += scale * g;
        f[3 * b + r]! -= scale * g;
      }
    }
  }

  /** sum over pairs of w (c_i |x_ij - J_i X_ij|^2 + c_j |x_ji - J_j X_ji|^2)/2 */
  residualEnergy(x: Float64Array, J: Float64Array, c: Float64Array): number {
    const { i, j, pairs } = this.neighbors;
    let sum = 0;
    for (let p = 0; p < pairs; p++)
      for (const end of [i[p]!, j[p]!]) sum += 0.5 * this.w[p]! * c[end]! * this.residual(p, end, x, J);
    return sum;
  }

  /** |x_ij - J X_ij|^2 with the J of point `of`. */
  private residual(p: number, of: number, x: Float64Array, J: Float64Array): number {
    const { X, neighbors } = this;
    const [a, b] = [3 * neighbors.i[p]!, 3 * neighbors.j[p]!];
    let square = 0;
    for (let r = 0; r < 3; r++) {
      let d = x[b + r]! - x[a + r]!;
      for (let s = 0; s < 3; s++) d -= J[9 * of + 3 * r + s]! * (X[b + s]! - X[a + s]!);
      square += d * d;
    }
    return square;
  }
}
