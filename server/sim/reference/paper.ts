/**
 * Twin of the kernel's paper*.ts: one step of any constraint that has an energy, with the energy itself as the
 * constraint (Bender et al. 2014, eqs 1-3),
 *   C = E,  dx_j = -w_j grad_j E  E / sum_i w_i |grad_i E|^2.
 * Whoever adds an energy and its gradient has the paper's solver for it: `Twin.energy` and `Twin.gradient`.
 */
import { addAt, type Particles } from "./particles.ts";
import { dot, scale, type Vector } from "./vector.ts";

/**
 * @param corners particles of the constraint
 * @param energy J; @param gradient dE/dx_j of each corner, N
 * @returns sum_i w_i |grad_i E|^2
 */
export function solvePaper(
  p: Particles,
  corners: readonly number[],
  energy: number,
  gradient: readonly Vector[],
): number {
  const sum = corners.reduce((s, c, j) => s + p.w[c]! * dot(gradient[j]!, gradient[j]!), 0);
  // E -> 0 takes the gradient with it: no quotient of zeros
  if (sum > 0) corners.forEach((c, j) => addAt(p.x, c, scale((-p.w[c]! * energy) / sum, gradient[j]!)));
  return sum;
}
