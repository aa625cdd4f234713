/**
 * Schedules: bodies of the same sweep form a group, and the program runs the groups one after another in each iteration
 * (kernel/assembly/constraints/sweep.ts says what Jacobi and Chebyshev do with what is planned here).
 */
import type { Sweep } from "../../../shared/scene.ts";
import type { Elements } from "../constraints/kinds.ts";

/** A sweep with nothing left out. */
export interface Schedule {
  order: Sweep["order"];
  /** Jacobi: 0 < r < 2. */
  relaxation: number;
  /**
   * Chebyshev's spectral radius; 0 is none. Scenes may give it to jacobi only: tests/report/figures/chebyshev.ts says
   * why.
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
 * Into how many parts Jacobi splits each particle's mass: the constraints on it, over the relaxation. A particle
 * without any is one part.
 * @returns float64[N]
 */
export function massParts(elements: readonly Elements[], particleCount: number, relaxation: number): Float64Array {
  const count = new Float64Array(particleCount);
  for (const e of elements) for (const p of e.particles) count[p]!++;
  return count.map((n) => (n ? n / relaxation : 1));
}
