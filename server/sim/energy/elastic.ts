/**
 * Elastic energy of every kind of constraint, float64, and of whole bodies: what the energy books (ledger.ts) call
 * elastic.
 */
import type { BodyTemplate } from "../body/template.ts";
import { PARTICLES_PER_ELEMENT, type ElementKind, type Elements } from "../constraints/elements.ts";
import type { Form } from "../memory/writeBlocks.ts";
import { bendingEnergy } from "../reference/bending.ts";
import { hyperelasticEnergy } from "../reference/hyperelastic.ts";
import { distanceEnergy, enclosedEnergy, hexahedronEnergy, volumeEnergy } from "./geometric.ts";
import { orthotropicTetEnergy, tetEnergy } from "./tetrahedra.ts";
import { clothEnergy } from "./triangles.ts";

/**
 * Energy of element i, J; none below rest.
 * @param x float64[3N] m; form of the solver, which decides how an energy goes on where an element is crushed
 */
type ElasticEnergy<E> = (x: Float64Array, e: E, i: number, form: Form) => number;

/** A kind that stores no energy answers 0. */
export const ELASTIC_ENERGY: { readonly [K in ElementKind]: ElasticEnergy<Extract<Elements, { kind: K }>> } = {
  tet: tetEnergy,
  "tet-ortho": orthotropicTetEnergy,
  "tet-plastic": orthotropicTetEnergy,
  "neo-hookean": hyperelasticEnergy,
  "stable-neo-hookean": hyperelasticEnergy,
  triangle: clothEnergy,
  bend: bendingEnergy,
  distance: distanceEnergy,
  volume: volumeEnergy,
  hexahedron: hexahedronEnergy,
};

/** J. @param x float64[3N] m, of the body's own particles */
export function elasticEnergyOf(
  body: Pick<BodyTemplate, "elements" | "form" | "triangles" | "enclosed">,
  x: Float64Array,
): number {
  let sum = body.enclosed ? enclosedEnergy(x, body.triangles, body.enclosed) : 0;
  for (const e of body.elements) {
    const energy = ELASTIC_ENERGY[e.kind] as ElasticEnergy<Elements>;
    const n = e.particles.length / PARTICLES_PER_ELEMENT[e.kind];
    for (let i = 0; i < n; i++) sum += energy(x, e, i, body.form);
  }
  return sum;
}
