/**
 * Twin of kernel/assembly/constraints/plasticity.ts: the plastic flow of a substep (Bender et al. 2014, section 4.2).
 */
import type { Elements } from "../constraints/kinds.ts";
import type { PlasticTetElements } from "../constraints/elements.ts";
import { MOST_PLASTIC_STRAIN, invertedLimit } from "../scene/materialConstants.ts";
import { strainNorm } from "./orthotropic.ts";
import { svd } from "./svd.ts";
import { deformationGradient, ENTRIES, TURNING_STRETCH } from "./tetrahedron.ts";
import { column, dot } from "./vector.ts";

/** Share of a decaying strain that is lost in h: 1 - exp(-h creep) to third order, below 1 for any h. */
function decayed(creep: number, h: number): number {
  const z = h * creep;
  const d = z + (z * z) / 2;
  return d / (1 + d);
}

/** Counts inverted elements; called whenever element i of any kind is about to be solved. */
export function countInverted(x: Float64Array, e: Elements, i: number): void {
  if (e.kind === "tet-plastic" && svd(deformationGradient(x, e, i)).sigma[2] <= 0) e.inverted = (e.inverted ?? 0) + 1;
}

/**
 * Flows the elements of one body at the end of a substep.
 * @param x float64[3N] m
 * @param e inout: its plasticStrain, inverted, tangled
 * @param h s
 */
export function flow(x: Float64Array, e: PlasticTetElements, h: number, iterations = 1): void {
  const { inverted = 0 } = e;
  e.tangled = inverted > invertedLimit(e.volume.length, iterations) || (inverted > 0 && e.tangled === true);
  e.inverted = 0;
  if (e.tangled) return;
  const limit = Math.min(e.flow.max, MOST_PLASTIC_STRAIN);
  for (let i = 0; i < e.volume.length; i++) {
    const F = deformationGradient(x, e, i);
    const plastic = e.plasticStrain.subarray(6 * i, 6 * i + 6);
    if (svd(F).sigma[2] < TURNING_STRETCH) continue;
    const elastic = ENTRIES.map(
      ([a, c], I) =>
        (a === c ? (dot(column(F, a), column(F, a)) - 1) / 2 : dot(column(F, a), column(F, c))) - plastic[I]!,
    );
    const mean = (elastic[0]! + elastic[1]! + elastic[2]!) / 3;
    const deviator = elastic.map((s, I) => (I < 3 ? s - mean : s));
    const size = strainNorm(deviator);
    if (!(size > e.flow.yield)) continue;
    const part = Math.min(decayed(e.flow.creep, h), 1 - e.flow.yield / size);
    deviator.forEach((d, I) => (plastic[I]! += part * d));
    const length = strainNorm([...plastic]);
    if (length > limit) plastic.forEach((s, I) => (plastic[I] = (s * limit) / length));
  }
}
