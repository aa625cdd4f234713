/**
 * The float64 twin of kernel/assembly/warmStart/warmStartHyperelastic.ts: remembered stress of Neo-Hookean tetrahedra.
 */
import type { HyperElements } from "../constraints/hyperelastic.ts";
import { hyperelasticGradientOfDeformation, hyperelasticStress } from "./hyperelastic.ts";
import type { Particles } from "./particles.ts";
import type { Settlement } from "./warmStart.ts";
import { determinant } from "./vector.ts";

/** Smallest volume, relative to rest, of an element that counts in the sums. */
const LEAST = 0.1;

/**
 * @param last float64[9n] multipliers at the end of the last substep: -h^2 V P once converged
 * @param remembered float64[9n] of the previous tick
 * @param gain share of the difference that is taken over
 * @param keep share that is kept afterwards
 * @param h s
 * @returns sums of |h^2 V P + L|^2, |L|^2 and |L - L0|^2, each over h^4 V mu
 */
export function warmStartHyperelastic(
  p: Particles,
  e: HyperElements,
  last: Float64Array,
  remembered: Float64Array,
  gain: number,
  keep: number,
  h: number,
): Settlement {
  const n = e.volume.length;
  const support = new Float64Array(p.x.length);
  const next = remembered.map((k, i) => keep * (k + gain * (last[i]! - k)));
  let mismatch = 0;
  let strain = 0;
  let change = 0;
  for (let i = 0; i < n; i++) {
    const F = hyperelasticGradientOfDeformation(p.x, e, i);
    const V = e.volume[i]!;
    const P = hyperelasticStress(F, e).P;
    if (determinant(F) > LEAST) {
      for (let k = 0; k < 9; k++) {
        const l = last[9 * i + k]! / (h * h);
        const share = 1 / (V * e.mu);
        mismatch += share * (V * P[Math.floor(k / 3)]![k % 3]! + l) ** 2;
        strain += share * l ** 2;
        change += share * (l - remembered[9 * i + k]! / (h * h)) ** 2;
      }
    }
    const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
    const rows = [0, 1, 2].map((c) => [B[3 * c]!, B[3 * c + 1]!, B[3 * c + 2]!]);
    rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
    rows.forEach((b, corner) => {
      const particle = e.particles[4 * i + corner]!;
      for (let r = 0; r < 3; r++)
        for (let s = 0; s < 3; s++) support[3 * particle + r]! += p.w[particle]! * next[9 * i + 3 * r + s]! * b[s]!;
    });
  }
  return { remembered: next, support, mismatch, strain, change };
}
