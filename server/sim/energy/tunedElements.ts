/** A body's constraints with its current material: in float64, and so the readable twin of retune.ts. */
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import type { BodyTemplate } from "../body/template.ts";
import { CONSTRAINTS, type Elements } from "../constraints/kinds.ts";
import type { TunableBody } from "../tuning/tunable.ts";

function tuned(e: Elements, tunable: TunableBody, now: BodyTuning): Elements {
  const { compliance, tuned: remade } = CONSTRAINTS[e.kind];
  if (remade) return remade(e, tunable, now);
  if (compliance === undefined || !tunable.elasticity || !("alpha" in e)) return e;
  const softer = tunable.scene.youngsModulus! / now.youngsModulus!;
  return { ...e, alpha: e.alpha.map((a) => a * softer) };
}

/**
 * @param body of the scene
 * @param now current material
 */
export function tunedBody(body: BodyTemplate, tunable: TunableBody, now: BodyTuning): BodyTemplate {
  if (tunable.scene.density === undefined) return body;
  const { enclosed } = body;
  return {
    ...body,
    elements: body.elements.map((e) => tuned(e, tunable, now)),
    ...(enclosed && { enclosed: { ...enclosed, rest: (enclosed.rest * now.pressure!) / tunable.scene.pressure! } }),
  };
}
