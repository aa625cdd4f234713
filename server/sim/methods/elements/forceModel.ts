/** Interface of a force-based method for the integrators. */
export interface ForceModel {
  /**
   * Sets the positions that the other methods refer to.
   * @param x float64[3N] m
   */
  at(x: Float64Array): void;
  /** f += internal forces, N. */
  addForce(f: Float64Array): void;
  /**
   * q += (k K + d D) p, with K = -df/dx, made positive semidefinite, and D the damping -df/dv for a beta of 1 s; both
   * are symmetric.
   */
  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void;
  /** Elastic energy, J. */
  energy(): number;
}
