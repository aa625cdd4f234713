/**
 * The paper's comparison method in float64: full Newton-Raphson on all energy constraints at once (Bender et al. 2014,
 * section 3.2), C_i(x) = E_i(x) = 0 for every element i,
 *   x += W J^T lambda,  (J W J^T) lambda = -C,  J_i = grad E_i
 * an n x n system for n constraints, solved by conjugate gradients, scaled by its diagonal. Elements near rest have
 * small gradients, which would worsen its condition; elements at rest have none and drop out.
 *
 * E_i has a double root: a step that solves the linearized system leaves E_i = |A_i dx|^2/2 with the strain's gradient
 * A_i. With about as many constraints as unknowns the system is nearly singular. Its steps are long in directions
 * without a gradient, and the energy grows: on a dragon of 1,518 elements and 1,662 coordinates 100 times in 8 steps.
 * `damping`, added to the scaled diagonal (Levenberg), keeps such steps short.
 */
import { CONSTRAINTS, countOf, type Elements } from "../../../../server/sim/constraints/kinds.ts";

/** Sum of the elastic energies of all constraints, J. */
export function totalEnergy(x: Float64Array, elements: Elements): number {
  const { energy } = CONSTRAINTS[elements.kind].twin;
  const n = countOf(elements);
  let sum = 0;
  for (let i = 0; i < n; i++) sum += energy!(x, elements as never, i);
  return sum;
}

/**
 * Runs one iteration.
 * @param x float64[3N] m, inout; w float64[N] 1/kg; damping added to the diagonal, which is scaled to ones
 */
export function newtonIteration(x: Float64Array, w: Float64Array, elements: Elements, damping = 0): void {
  const k = CONSTRAINTS[elements.kind].corners;
  const n = elements.particles.length / k;
  const { energy, gradient } = CONSTRAINTS[elements.kind].twin;
  const J = new Float64Array(3 * k * n);
  const C = new Float64Array(n);
  const scale = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    C[i] = energy!(x, elements as never, i);
    J.set(gradient!(x, elements as never, i).flat(), 3 * k * i);
    let sum = 0;
    for (let c = 0; c < 3 * k; c++) sum += w[elements.particles[k * i + Math.floor(c / 3)]!]! * J[3 * k * i + c]! ** 2;
    scale[i] = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  }
  const gather = (lambda: Float64Array): Float64Array => {
    const dx = new Float64Array(x.length);
    for (let i = 0; i < n; i++)
      for (let c = 0; c < 3 * k; c++) {
        const p = elements.particles[k * i + Math.floor(c / 3)]!;
        dx[3 * p + (c % 3)]! += w[p]! * scale[i]! * lambda[i]! * J[3 * k * i + c]!;
      }
    return dx;
  };
  const product = (lambda: Float64Array): Float64Array => {
    const dx = gather(lambda);
    const out = lambda.map((v) => damping * v);
    for (let i = 0; i < n; i++)
      for (let c = 0; c < 3 * k; c++)
        out[i]! += scale[i]! * J[3 * k * i + c]! * dx[3 * elements.particles[k * i + Math.floor(c / 3)]! + (c % 3)]!;
    return out;
  };
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((s, v, i) => s + v * b[i]!, 0);
  const lambda = new Float64Array(n);
  const r = C.map((v, i) => -v * scale[i]!);
  const d = Float64Array.from(r);
  const enough = 1e-12 * dot(r, r);
  let size = dot(r, r);
  for (let step = 0; step < 400 && size > enough; step++) {
    const Ad = product(d);
    const alpha = size / dot(d, Ad);
    const before = size;
    if (!(alpha > 0)) break;
    for (let i = 0; i < n; i++) {
      lambda[i]! += alpha * d[i]!;
      r[i]! -= alpha * Ad[i]!;
    }
    size = dot(r, r);
    for (let i = 0; i < n; i++) d[i] = r[i]! + (size / before) * d[i]!;
  }
  gather(lambda).forEach((v, i) => (x[i]! += v));
}
