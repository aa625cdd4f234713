/** Moduli of bodies, and the speed of sound in them. */
import type { Body } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../body/template.ts";

/** Modulus of an isotropic body, or the larger one of a sheet, Pa; 0 without moduli. */
export function modulusOf({ material }: Body): number {
  const {
    youngsModulus,
    kWeft = 0,
    kWarp = 0,
  } = material as { youngsModulus?: number; kWeft?: number; kWarp?: number };
  return youngsModulus ?? Math.max(kWeft, kWarp);
}

/** Edges of the body's mesh that sound crosses in a second, 1/s; 0 for bodies that are not elastic solids. */
export const edgesPerSecond = (body: Body, template: Pick<BodyTemplate, "elements" | "schedule">): number =>
  speedOfSound(body) * soundPace(body, template);

/** Speed of sound in a solid, m/s; 0 without moduli. */
export function speedOfSound(body: Body): number {
  if (body.kind === "points") return 0;
  const { material } = body;
  const k =
    "youngsModuli" in material
      ? Math.max(...(material.youngsModuli as readonly number[]))
      : "youngsModulus" in material
        ? (material.youngsModulus as number) * volumetric(material.model, material.poissonsRatio)
        : 0;
  return Math.sqrt(k / material.density);
}

/** Number of the mesh's edges in a meter, 1/m; 0 for bodies that are not elastic solids. */
export function soundPace(body: Body, { elements, schedule }: Pick<BodyTemplate, "elements" | "schedule">): number {
  if (body.kind !== "soft" || body.solver === "implicit" || body.method || schedule.order === "jacobi") return 0;
  return elements.reduce(
    (most, e) =>
      "dmInverse" in e && "volume" in e && e.kind !== "triangle" ? Math.max(most, 1 / edgeOf(e.volume)) : most,
    0,
  );
}

/**
 * Returns (lambda + 2 mu)/k for Neo-Hookean elements, else 1. Their solver bounds the volumetric stiffness instead of
 * solving the exact block of Saint Venant-Kirchhoff strains, so the speed of pressure waves determines their substeps.
 * (Armadillo of tests/statics, nu 0.49: without this factor it blows up at 300 and 600 x 1; 0.2 % off at 960 x 1.)
 */
export function volumetric(model: string | undefined, nu: number | undefined): number {
  return (model === "neo-hookean" || model === "stable-neo-hookean") && nu !== undefined
    ? (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    : 1;
}

/**
 * Edge of the regular tetrahedron with the average volume of the body's elements, m. It describes the typical cell: a
 * few slivers do not matter, since they affect only their own particles, which iterations handle well.
 */
function edgeOf(volume: Float64Array): number {
  return Math.cbrt((6 * Math.SQRT2 * volume.reduce((sum, v) => sum + v, 0)) / volume.length);
}
