/**
 * Rest shape of Neo-Hookean tetrahedra: D_m^-1 and V of each element as for Saint Venant-Kirchhoff (Bender et al. 2014,
 * eq 9).
 */
import type { HyperModuli } from "../materials.ts";
import type { HyperElements } from "./elements.ts";
import { tetElements } from "./tetrahedra.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param tets uint32[4n], positively oriented
 * @param moduli materials.ts
 */
export function hyperElements(
  kind: HyperElements["kind"],
  X: Float64Array,
  tets: Uint32Array,
  moduli: HyperModuli,
): HyperElements {
  const { particles, dmInverse, volume } = tetElements(X, tets, moduli);
  return { kind, particles, dmInverse, volume, mu: moduli.mu, lambda: moduli.lambda, clamp: moduli.clamp };
}
