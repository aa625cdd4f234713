/**
 * Float64 twin of a prefactored body's solve (kernel/assembly/prefactored/step.ts), from the elements' own gradients
 * and the factor.
 */
import { CONSTRAINTS } from "../constraints/kinds.ts";
import type { PrefactoredModel } from "../prefactored/model.ts";
import { crushableGradient } from "./crushable.ts";

/** float64[3N] N: minus the energy's gradient. */
function elasticForces({ triangles, bends, tets }: PrefactoredModel, x: Float64Array): Float64Array {
  const f = new Float64Array(x.length);
  for (const elements of [triangles, bends, tets]) {
    if (!elements) continue;
    const { corners, twin } = CONSTRAINTS[elements.kind];
    const gradient = (elements === tets ? crushableGradient : twin.gradient!) as NonNullable<typeof twin.gradient>;
    for (let e = 0; e < elements.particles.length / corners; e++)
      gradient(x, elements, e).forEach((g, c) => {
        for (let r = 0; r < 3; r++) f[3 * elements.particles[corners * e + c]! + r]! -= g[r]!;
      });
  }
  return f;
}

/**
 * Solves P z = r by the factor in float64.
 * @param r float64[3N]; entries of fixed particles do not matter
 * @returns float64[3N], 0 for fixed particles
 */
function solveFactored({ factor }: PrefactoredModel, r: Float64Array): Float64Array {
  const { order, start, rows, values, diagonal } = factor;
  const z = new Float64Array(r.length);
  for (let axis = 0; axis < 3; axis++) {
    const y = Float64Array.from(order, (particle) => r[3 * particle + axis]!);
    for (let k = 0; k < order.length; k++)
      for (let p = start[k]!; p < start[k + 1]!; p++) y[rows[p]!]! -= values[p]! * y[k]!;
    for (let k = order.length - 1; k >= 0; k--) {
      y[k]! *= diagonal[k]!;
      for (let p = start[k]!; p < start[k + 1]!; p++) y[k]! -= values[p]! * y[rows[p]!]!;
    }
    order.forEach((particle, k) => (z[3 * particle + axis] = y[k]!));
  }
  return z;
}

/**
 * Positions after the first solve of a substep without contact: x + h v + P^-1 (M a + f(x + lead h v)).
 */
export function solvePrefactored(
  model: PrefactoredModel,
  { x, v, a }: { x: Float64Array; v: Float64Array; a: Float64Array },
  h: number,
): Float64Array {
  const free = (k: number): number => (model.inertia[Math.floor(k / 3)]! > 0 ? 1 : 0);
  const after = (lead: number): Float64Array => x.map((value, k) => value + free(k) * lead * h * v[k]!);
  const f = elasticForces(model, after(model.lead));
  const r = f.map((force, k) => force + model.inertia[Math.floor(k / 3)]! * h * h * a[k]!);
  const z = solveFactored(model, r);
  return after(1).map((value, k) => value + z[k]!);
}
