/** State of an implicit body between steps (kernel/assembly/implicit/step.ts). */
import type { ImplicitModel } from "./model.ts";

/** Current positions and velocities, and those of the previous step, float64[3n] each. */
export interface ImplicitState {
  x: Float64Array;
  v: Float64Array;
  x1: Float64Array;
  v1: Float64Array;
}

/**
 * State of a body that was in free flight before.
 * @param a float64[3n] external acceleration, m/s^2
 * @param x float64[3n]
 * @param v float64[3n]
 */
export function initialState(
  model: Pick<ImplicitModel, "h" | "keep" | "mass">,
  x: Float64Array,
  v: Float64Array,
  a: Float64Array,
): ImplicitState {
  const { h, keep, mass } = model;
  const free = (k: number): number => (mass[Math.floor(k / 3)]! > 0 ? 1 : 0);
  return {
    x,
    v,
    x1: x.map((p, k) => p + free(k) * (-h * v[k]! + 0.5 * h * h * keep * a[k]!)),
    v1: v.map((u, k) => u - free(k) * h * keep * a[k]!),
  };
}
