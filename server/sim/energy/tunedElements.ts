/** A body's constraints with the material that it has now: in float64, and so the readable twin of retune.ts. */
import type { BodyTuning } from "../../../shared/protocol/protocol.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Elements } from "../constraints/elements.ts";
import { isotropicCompliance, lameCoefficients, type OrthotropicCompliance, sheetCompliance } from "../materials.ts";
import { hyperModuli, type TunableBody } from "../tunable.ts";

function tuned(e: Elements, { scene, elasticity }: TunableBody, now: BodyTuning): Elements {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const material = { youngsModulus: now.youngsModulus!, poissonsRatio: now.poissonsRatio! };
  switch (e.kind) {
    case "tet":
      return { ...e, ...lameCoefficients(material) };
    case "neo-hookean":
    case "stable-neo-hookean":
      return { ...e, ...hyperModuli(e.kind, material.youngsModulus, material.poissonsRatio) };
    case "tet-ortho":
    case "tet-plastic":
      return {
        ...e,
        compliance:
          elasticity === "isotropic"
            ? isotropicCompliance(material)
            : (e.compliance.map((s) => s * softer) as unknown as OrthotropicCompliance),
      };
    case "triangle": {
      const { youngsModulus: k, poissonsRatio: nu } = material;
      const { s00, s01, s11, s22 } = e.compliance;
      return {
        ...e,
        compliance:
          elasticity === "isotropic"
            ? sheetCompliance({ kWeft: k, kWarp: k, kShear: k / (2 * (1 + nu)), nuWeft: nu, nuWarp: nu })
            : { s00: s00 * softer, s01: s01 * softer, s11: s11 * softer, s22: s22 * softer },
      };
    }
    case "bend":
      return { ...e, alpha: e.alpha.map((a) => (a * scene.bendingStiffness!) / now.bendingStiffness!) };
    case "distance":
    case "hexahedron":
      return elasticity === "hexahedral" ? { ...e, alpha: e.alpha.map((a) => a * softer) } : e;
    default:
      return e;
  }
}

/** @param body as the scene has it. @param now what it is made of */
export function tunedBody(body: BodyTemplate, tunable: TunableBody, now: BodyTuning): BodyTemplate {
  if (tunable.scene.density === undefined) return body;
  const { enclosed } = body;
  return {
    ...body,
    elements: body.elements.map((e) => tuned(e, tunable, now)),
    ...(enclosed && { enclosed: { ...enclosed, rest: (enclosed.rest * now.pressure!) / tunable.scene.pressure! } }),
  };
}
