/** Linear and angular momentum of particles. */
import { vectorAt } from "./particles.ts";
import { add, cross, scale, subtract, ZERO, type Vector } from "./vector.ts";

export interface Momentum {
  mass: number;
  center: Vector;
  /** kg m/s */
  linear: Vector;
  /** about the center, kg m^2/s */
  angular: Vector;
}

/** Momentum of the particles first .. first + count with positions x and velocities v. */
export function momentumOf(w: Float64Array, x: Float64Array, v: Float64Array, first: number, count: number): Momentum {
  let mass = 0;
  let moment = ZERO;
  let linear = ZERO;
  let angular = ZERO;
  for (let i = first; i < first + count; i++) {
    const m = 1 / w[i]!;
    mass += m;
    moment = add(moment, scale(m, vectorAt(x, i)));
    linear = add(linear, scale(m, vectorAt(v, i)));
  }
  const center = scale(1 / mass, moment);
  for (let i = first; i < first + count; i++)
    angular = add(angular, scale(1 / w[i]!, cross(subtract(vectorAt(x, i), center), vectorAt(v, i))));
  return { mass, center, linear, angular };
}
