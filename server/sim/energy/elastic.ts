/** Elastic energy of whole bodies, float64, for the energy ledger (ledger.ts). */
import type { BodyTemplate } from "../body/template.ts";
import { enclosedEnergy } from "../constraints/enclosedVolume.ts";
import { CONSTRAINTS, countOf } from "../constraints/kinds.ts";

/**
 * Elastic energy of a body, J.
 * @param x float64[3N] m, of the body's own particles
 */
export function elasticEnergyOf(
  body: Pick<BodyTemplate, "elements" | "form" | "triangles" | "enclosed">,
  x: Float64Array,
): number {
  let sum = body.enclosed ? enclosedEnergy(x, body.triangles, body.enclosed) : 0;
  for (const e of body.elements) {
    const { energy } = CONSTRAINTS[e.kind];
    const n = countOf(e);
    for (let i = 0; i < n; i++) sum += energy(x, e, i, body.form);
  }
  return sum;
}
