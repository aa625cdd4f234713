/**
 * Finite elements of linear tetrahedra (Physically Based Deformable Models, "Finite element method"): linear, or with
 * warped stiffness (Mueller and Gross 2004), f = -R K_e (R^T x - x_0). Nodal forces are the derivatives of the energy,
 * f_j = -V P b_j (linearTetrahedra.ts).
 */
import type { Method as MethodSpec } from "../../../../shared/scene/sceneMethodTypes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { tetElements } from "../../constraints/tetrahedra.ts";
import type { TetElements } from "../../constraints/elements.ts";
import { GRABS, integrate, type Integrator } from "./integrators.ts";
import type { MethodKind } from "../method.ts";
import { Tetrahedra, tetrahedraOf } from "./linearTetrahedra.ts";

type Spec = Extract<MethodSpec, { type: "finite-elements" | "finite-volumes" }>;
const integratorOf = (spec: MethodSpec): Integrator => (spec as Spec).integrator ?? "implicit";

/** @param weights returns the corners' weights for the placed elements */
export const tetrahedralMethod = (
  weights: (elements: TetElements, positions: Float64Array) => Float64Array,
): MethodKind => ({
  grab: (spec) => GRABS[integratorOf(spec)],
  plan: (template) => {
    const elements = placedElements(template);
    return tetrahedraOf(elements, weights(elements, template.positions));
  },
  open: (constants, spec, body) =>
    integrate(new Tetrahedra(constants, (spec as Spec).warped ?? true), integratorOf(spec), body),
  anyStep: true,
});

export const finiteElements = tetrahedralMethod(volumeGradients);

/** Elements of the body where the scene places it. */
export function placedElements({ elements, positions, tets }: BodyTemplate): TetElements {
  // The scene's rules require tetrahedra (shared/scene/sceneMethod.ts).
  const own = elements.find((e) => e.kind === "tet")!;
  return tetElements(positions, tets, own);
}

/**
 * V b_j: rows of D_m^-1, and a last row that makes their sum 0.
 * @returns float64[12n] m^2
 */
export function volumeGradients({ dmInverse, volume }: TetElements): Float64Array {
  const weights = new Float64Array(12 * volume.length);
  for (let e = 0; e < volume.length; e++) {
    for (let k = 0; k < 9; k++) {
      const w = volume[e]! * dmInverse[9 * e + k]!;
      weights[12 * e + k] = w;
      weights[12 * e + 9 + (k % 3)]! -= w;
    }
  }
  return weights;
}
