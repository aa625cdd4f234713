/** What the integrators need to know of a method that is made of forces. */
export interface ForceModel {
  /** Looks at positions: what the others say is of there. @param x float64[3N] m */
  at(x: Float64Array): void;
  /** f += internal forces, N. */
  addForce(f: Float64Array): void;
  /**
   * q += (k K + d D) p, with K = -df/dx, made positive semidefinite, and D the damping -df/dv for a beta of 1 s; both
   * symmetric.
   */
  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void;
  /** J */
  energy(): number;
}
