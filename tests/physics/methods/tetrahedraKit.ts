/**
 * Linear tetrahedra under Hooke's law for tests and the report: irregular elements, and their forces by both formulas.
 */
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { placedElements, volumeGradients } from "../../../server/sim/methods/elements/finiteElements.ts";
import { faceAreas } from "../../../server/sim/methods/elements/finiteVolumes.ts";
import { Tetrahedra, tetrahedraOf } from "../../../server/sim/methods/elements/linearTetrahedra.ts";
import { cube, randoms, templateOf } from "./kit.ts";

/** A cube without pins whose inner particles are displaced by up to a tenth of a cell. */
export async function jittered(cells: number): Promise<BodyTemplate> {
  const mesh = { type: "box", size: [0.5, 0.5, 0.5], cells: [cells, cells, cells] } as const;
  const template = await templateOf(cube({ type: "finite-elements" }, { mesh, pins: [] } as never));
  const random = randoms(7);
  const positions = Float64Array.from(template.positions);
  for (let k = 3 * template.streamedCount; k < positions.length; k++) positions[k]! += (0.1 * 0.5 * random()) / cells;
  return { ...template, positions };
}

export function tetrahedra(
  template: BodyTemplate,
  warped: boolean,
  weights: "elements" | "volumes" = "elements",
): Tetrahedra {
  const elements = placedElements(template);
  const w = weights === "elements" ? volumeGradients(elements) : faceAreas(elements, template.positions);
  return new Tetrahedra(tetrahedraOf(elements, w), warped);
}
