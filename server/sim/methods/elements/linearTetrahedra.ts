/**
 * Forces of linear tetrahedra under Hooke's law, with or without the element's own rotated frame; shared by finite
 * elements and finite volumes. With corners x_j, gradients b_j of their shape functions and F = sum_j x_j b_j^T
 *
 *   P = R (2 mu e + lambda tr(e) 1),   e = (R^T F + F^T R)/2 - 1,   f_j = -P w_j
 *
 * R is the rotation of F (warped stiffness, Mueller and Gross 2004: f = -R K (R^T x - x_0)), or 1 (linear: correct for
 * small rotations only). The vectors w_j come from the method: V b_j for finite elements (the derivative of the energy
 * V (mu e:e + lambda tr(e)^2/2) at constant R), the areas of faces for finite volumes. Like the paper, K leaves out the
 * change of R: it is symmetric and positive semidefinite.
 */
import type { TetElements } from "../../constraints/elements.ts";
import type { ForceModel } from "./forceModel.ts";
import type { Constants } from "../method.ts";
import { rotationOf } from "./polar.ts";

/**
 * @param elements of the placed body
 * @param weights float64[12n] m^2, w_j of each corner
 */
export function tetrahedraOf(
  { particles, dmInverse, volume, mu, lambda }: TetElements,
  weights: Float64Array,
): Constants {
  return { corners: particles, dmInverse, volume, lame: Float64Array.of(mu, lambda), weights };
}

export class Tetrahedra implements ForceModel {
  private readonly corners: Uint32Array;
  private readonly dmInverse: Float64Array;
  private readonly volume: Float64Array;
  private readonly weights: Float64Array;
  private readonly mu: number;
  private readonly lambda: number;
  private readonly warped: boolean;
  /** R and P of each element at the last positions; and their energy, J. */
  private readonly rotation: Float64Array;
  private readonly stress: Float64Array;
  private stored = 0;
  private readonly F = new Float64Array(9);
  private readonly P = new Float64Array(9);

  constructor({ corners, dmInverse, volume, lame, weights }: Constants, warped: boolean) {
    this.corners = corners as Uint32Array;
    this.dmInverse = dmInverse as Float64Array;
    this.volume = volume as Float64Array;
    this.weights = weights as Float64Array;
    this.mu = lame![0]!;
    this.lambda = lame![1]!;
    this.warped = warped;
    this.rotation = new Float64Array(9 * this.volume.length);
    this.stress = new Float64Array(9 * this.volume.length);
    for (let k = 0; k < this.rotation.length; k++) this.rotation[k] = k % 9 === 0 || k % 9 === 4 || k % 9 === 8 ? 1 : 0;
  }

  at(x: Float64Array): void {
    this.stored = 0;
    for (let e = 0; e < this.volume.length; e++) {
      this.gradient(e, x);
      if (this.warped) rotationOf(this.F, this.rotation, 9 * e);
      this.stored += this.volume[e]! * this.hooke(9 * e, 1);
      this.stress.set(this.P, 9 * e);
    }
  }

  addForce(f: Float64Array): void {
    for (let e = 0; e < this.volume.length; e++) this.scatter(e, this.stress, 9 * e, -1, f);
  }

  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void {
    for (let e = 0; e < this.volume.length; e++) {
      this.gradient(e, p);
      this.hooke(9 * e, 0);
      this.scatter(e, this.P, 0, k + d, q);
    }
  }

  energy(): number {
    return this.stored;
  }

  /** F = D_s D_m^-1 of element e, D_s the edges from its last corner. */
  private gradient(e: number, x: Float64Array): void {
    const { corners, dmInverse, F } = this;
    const a = 3 * corners[4 * e]!;
    const b = 3 * corners[4 * e + 1]!;
    const c = 3 * corners[4 * e + 2]!;
    const d = 3 * corners[4 * e + 3]!;
    const D = 9 * e;
    for (let r = 0; r < 3; r++) {
      const last = x[d + r]!;
      const u = x[a + r]! - last;
      const v = x[b + r]! - last;
      const w = x[c + r]! - last;
      for (let s = 0; s < 3; s++)
        F[3 * r + s] = u * dmInverse[D + s]! + v * dmInverse[D + 3 + s]! + w * dmInverse[D + 6 + s]!;
    }
  }

  /**
   * P from F and R.
   * @param rest 1 if F is a deformation, 0 if it is a change of one
   * @returns mu e:e + lambda tr(e)^2/2
   */
  private hooke(at: number, rest: number): number {
    const { F, P, rotation: R, mu, lambda } = this;
    const turned = (r: number, s: number): number =>
      R[at + r]! * F[s]! + R[at + 3 + r]! * F[3 + s]! + R[at + 6 + r]! * F[6 + s]!;
    const xx = turned(0, 0) - rest;
    const yy = turned(1, 1) - rest;
    const zz = turned(2, 2) - rest;
    const xy = 0.5 * (turned(0, 1) + turned(1, 0));
    const yz = 0.5 * (turned(1, 2) + turned(2, 1));
    const zx = 0.5 * (turned(2, 0) + turned(0, 2));
    const trace = xx + yy + zz;
    const pressure = lambda * trace;
    for (let r = 0; r < 9; r += 3) {
      const a = R[at + r]!;
      const b = R[at + r + 1]!;
      const c = R[at + r + 2]!;
      P[r] = 2 * mu * (a * xx + b * xy + c * zx) + pressure * a;
      P[r + 1] = 2 * mu * (a * xy + b * yy + c * yz) + pressure * b;
      P[r + 2] = 2 * mu * (a * zx + b * yz + c * zz) + pressure * c;
    }
    return mu * (xx * xx + yy * yy + zz * zz + 2 * (xy * xy + yz * yz + zx * zx)) + 0.5 * pressure * trace;
  }

  /** q_j += scale P w_j */
  private scatter(e: number, P: Float64Array, at: number, scale: number, q: Float64Array): void {
    for (let j = 0; j < 4; j++) {
      const w = 12 * e + 3 * j;
      const x = scale * this.weights[w]!;
      const y = scale * this.weights[w + 1]!;
      const z = scale * this.weights[w + 2]!;
      const i = 3 * this.corners[4 * e + j]!;
      q[i]! += P[at]! * x + P[at + 1]! * y + P[at + 2]! * z;
      q[i + 1]! += P[at + 3]! * x + P[at + 4]! * y + P[at + 5]! * z;
      q[i + 2]! += P[at + 6]! * x + P[at + 7]! * y + P[at + 8]! * z;
    }
  }
}
