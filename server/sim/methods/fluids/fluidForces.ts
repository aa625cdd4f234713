/**
 * Forces on a fluid's points from outside, and forces between neighbors besides pressure; shared by all fluids:
 *
 *   cohesion: a_i -= kappa sum_j W_ij/W_0 (x_i - x_j)                          (Becker and Teschner 2007, eq. 7)
 *   a_i += eps N x omega_i,   omega_i = sum_j (v_j - v_i) x grad_j W_ij/W_0    (Macklin and Mueller 2013, eq. 15, 16)
 *
 * W_0 is the sum of W over the body's initial lattice.
 */
import { outerForce } from "../elements/integrators.ts";
import type { MethodBody, MethodState, Outside } from "../method.ts";

export interface Pairs {
  count: number;
  i: Uint32Array;
  j: Uint32Array;
  /** For each pair: slope of W over W_0, divided by the distance; and W/W_0. 0: too far apart. */
  slope: Float64Array;
  weight: Float64Array;
}

/**
 * @param a float64[3N] inout: m/s^2
 * @param kappa 1/s^2
 */
export function cohere({ count, i, j, weight }: Pairs, x: Float64Array, a: Float64Array, kappa: number): void {
  for (let p = 0; p < count; p++) {
    if (weight[p] === 0) continue;
    const pull = kappa * weight[p]!;
    for (let r = 0; r < 3; r++) {
      const part = pull * (x[3 * i[p]! + r]! - x[3 * j[p]! + r]!);
      a[3 * i[p]! + r]! -= part;
      a[3 * j[p]! + r]! += part;
    }
  }
}

/**
 * Vorticity confinement: restores the rotation that smoothing removes.
 * @param v float64[3N] m/s
 * @param a float64[3N] inout: m/s^2
 * @param epsilon m/s
 */
export function confine(
  { count: pairs, i, j, slope }: Pairs,
  x: Float64Array,
  v: Float64Array,
  a: Float64Array,
  epsilon: number,
): void {
  const count = a.length / 3;
  const omega = new Float64Array(3 * count);
  const e = new Float64Array(3);
  const g = new Float64Array(3);
  for (let p = 0; p < pairs; p++) {
    if (slope[p] === 0) continue;
    const [one, two] = [3 * i[p]!, 3 * j[p]!];
    for (let r = 0; r < 3; r++) {
      e[r] = v[two + r]! - v[one + r]!;
      g[r] = slope[p]! * (x[two + r]! - x[one + r]!);
    }
    for (let r = 0; r < 3; r++) {
      const turn = e[(r + 1) % 3]! * g[(r + 2) % 3]! - e[(r + 2) % 3]! * g[(r + 1) % 3]!;
      omega[one + r]! += turn;
      omega[two + r]! += turn;
    }
  }
  const size = Float64Array.from({ length: count }, (_, k) => lengthOf(omega, 3 * k));
  const eta = new Float64Array(3 * count);
  for (let p = 0; p < pairs; p++) {
    if (slope[p] === 0) continue;
    const [one, two] = [3 * i[p]!, 3 * j[p]!];
    const s = slope[p]! * (size[j[p]!]! - size[i[p]!]!);
    for (let r = 0; r < 3; r++) {
      eta[one + r]! += s * (x[one + r]! - x[two + r]!);
      eta[two + r]! += s * (x[one + r]! - x[two + r]!);
    }
  }
  for (let k = 0; k < count; k++) {
    const l = lengthOf(eta, 3 * k);
    if (!(l > 0)) continue;
    for (let r = 0; r < 3; r++) {
      const [s, t] = [3 * k + ((r + 1) % 3), 3 * k + ((r + 2) % 3)];
      a[3 * k + r]! += (epsilon * (eta[s]! * omega[t]! - eta[t]! * omega[s]!)) / l;
    }
  }
}

function lengthOf(a: Float64Array, k: number): number {
  return Math.sqrt(a[k]! * a[k]! + a[k + 1]! * a[k + 1]! + a[k + 2]! * a[k + 2]!);
}

/**
 * Accelerations by gravity and loads, damping, grabs and attachments; 0 for fixed particles.
 * @param a float64[3N] out: m/s^2
 */
export function accelerate(
  { mass, alpha, h }: MethodBody,
  state: MethodState,
  outside: Outside,
  a: Float64Array,
): void {
  outerForce(state, outside, h, a);
  for (let i = 0, k = 0; i < mass.length; i++) {
    const m = mass[i]!;
    for (let end = k + 3; k < end; k++) a[k] = m > 0 ? a[k]! / m - alpha * state.v[k]! : 0;
  }
}
