/**
 * Sweep schedules. Bodies with the same sweep form a group, and each iteration runs the groups one after another
 * (kernel/assembly/constraints/sweep.ts implements Jacobi and Chebyshev).
 */
import type { Sweep } from "../../../shared/scene/scene.ts";
import type { Elements } from "../constraints/kinds.ts";

/** A sweep with all values filled in. */
export interface Schedule {
  order: Sweep["order"];
  /** Jacobi: 0 < r < 2. */
  relaxation: number;
  /**
   * Chebyshev's spectral radius; 0: none. Scenes may set it for jacobi only (tests/report/figures/methods/chebyshev.ts
   * shows the reason).
   */
  rho: number;
}

export function scheduleOf(sweep: Sweep | undefined): Schedule {
  return { order: sweep?.order ?? "gauss-seidel", relaxation: sweep?.relaxation ?? 1, rho: sweep?.rho ?? 0 };
}

/**
 * Chebyshev's factors of the iterations (Rodero Gomez 2016, section 3.4.1): omega_1 = 1, omega_2 = 2/(2 - rho^2),
 * omega_(k+1) = 4/(4 - rho^2 omega_k). rho = 0 gives ones.
 */
export function chebyshevFactors(rho: number, iterations: number): number[] {
  const omegas: number[] = [];
  for (let k = 0; k < iterations; k++)
    omegas.push(k === 0 ? 1 : k === 1 ? 2 / (2 - rho * rho) : 4 / (4 - rho * rho * omegas[k - 1]!));
  return omegas;
}

/**
 * Number of parts that Jacobi splits each particle's mass into: its number of constraints over the relaxation. A
 * particle without constraints is one part.
 * @returns float64[N]
 */
export function massParts(elements: readonly Elements[], particleCount: number, relaxation: number): Float64Array {
  const count = new Float64Array(particleCount);
  for (const e of elements) for (const p of e.particles) count[p]!++;
  return count.map((n) => (n ? n / relaxation : 1));
}
