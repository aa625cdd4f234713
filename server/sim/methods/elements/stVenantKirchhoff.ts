/**
 * Saint Venant-Kirchhoff's law (Green's strain and Hooke's law), with a term that conserves volume and restores
 * inverted elements (Mueller et al. 2004, eq. 14, 24), per volume:
 *
 *   U = mu e:e + lambda tr(e)^2/2 + bulk (det F - 1)^2/2,   e = (F^T F - 1)/2,   P = dU/dF
 */
import { cofactorsOf, green, multiply } from "../matrices.ts";

export interface Moduli {
  /** Pa */
  mu: number;
  lambda: number;
  bulk: number;
}

export class StVenantKirchhoff {
  /** Result of the last call: float64[9] Pa. */
  readonly P = new Float64Array(9);
  private readonly moduli: Moduli;
  private readonly e = new Float64Array(9);
  private readonly cofactors = new Float64Array(9);

  constructor(moduli: Moduli) {
    this.moduli = moduli;
  }

  /**
   * Computes P for the F at `at`.
   * @returns U, Pa
   */
  stress(F: Float64Array, at: number): number {
    const { e, P, cofactors } = this;
    const { mu, lambda, bulk } = this.moduli;
    green(F, at, F, at, e);
    const trace = e[0]! + e[4]! + e[8]!;
    const pull = lambda * trace;
    let energy = 0.5 * pull * trace;
    for (let k = 0; k < 9; k++) energy += mu * e[k]! * e[k]!;
    for (let k = 0; k < 9; k++) e[k] = 2 * mu * e[k]! + (k % 4 === 0 ? pull : 0);
    multiply(F, at, e, 0, P, 0);
    if (bulk === 0) return energy;
    const over = cofactorsOf(F, at, cofactors) - 1;
    for (let k = 0; k < 9; k++) P[k]! += bulk * over * cofactors[k]!;
    return energy + 0.5 * bulk * over * over;
  }

  /** Change of P by dF, without the change of the stress's direction. */
  change(F: Float64Array, at: number, dF: Float64Array): void {
    const { e, P, cofactors } = this;
    const { mu, lambda, bulk } = this.moduli;
    green(F, at, dF, 0, e);
    const pull = lambda * (e[0]! + e[4]! + e[8]!);
    for (let k = 0; k < 9; k++) e[k] = 2 * mu * e[k]! + (k % 4 === 0 ? pull : 0);
    multiply(F, at, e, 0, P, 0);
    if (bulk === 0) return;
    cofactorsOf(F, at, cofactors);
    let over = 0;
    for (let k = 0; k < 9; k++) over += cofactors[k]! * dF[k]!;
    for (let k = 0; k < 9; k++) P[k]! += bulk * over * cofactors[k]!;
  }
}
