/**
 * One step of constraint i of any kind, in float64: by its own twin, or like the kernel's paper*.ts with the energy
 * itself as the constraint (Bender et al. 2014, eqs 1-3),
 *   C = E,  dx_j = -w_j grad_j E  E / sum_i w_i |grad_i E|^2.
 * A twin with an energy and its gradient gets the paper's solver from this.
 */
import { CONSTRAINTS, type Elements } from "../constraints/kinds.ts";
import { addAt, type Particles } from "./particles.ts";
import { countInverted } from "./plasticity.ts";
import { dot, scale } from "./vector.ts";

/**
 * Compliant step.
 * @returns the linear system that it solved, if there was one
 */
export function solveConstraint(
  p: Particles,
  e: Elements,
  i: number,
  memory: Float64Array,
  h: number,
): number[][] | void {
  countInverted(p.x, e, i);
  return CONSTRAINTS[e.kind].twin.solve(p, e, i, memory, h);
}

/**
 * Step in the paper's form.
 * @returns sum_j w_j |grad_j E|^2 as a system of one equation
 */
export function solvePaperConstraint(p: Particles, e: Elements, i: number): number[][] {
  countInverted(p.x, e, i);
  const { corners: k, twin } = CONSTRAINTS[e.kind];
  const corners = [...e.particles.subarray(k * i, k * i + k)];
  const energy = twin.energy!(p.x, e, i);
  const gradient = twin.gradient!(p.x, e, i);
  const sum = corners.reduce((s, c, j) => s + p.w[c]! * dot(gradient[j]!, gradient[j]!), 0);
  // as E -> 0 the gradient vanishes, too: avoid 0/0
  if (sum > 0) corners.forEach((c, j) => addAt(p.x, c, scale((-p.w[c]! * energy) / sum, gradient[j]!)));
  return [[sum]];
}
