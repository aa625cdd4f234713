/**
 * The implicit step knows its own kind and colliders only. So an implicit body that may touch, or is attached to, a
 * body of another kind gets the solver that it would get without a named one. Of 178 cells of the matrix of pairs
 * (tests/physics/pairs) with an "implicit solid" beside others, 133 to 135 hold if it is compliant, 120 to 124 if it is
 * prefactored (10^6, 10^7, 5 10^7 Pa; stiffer ones differ more): stacks of prefactored solids creep, and their
 * collisions lose angular momentum.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { BODY_NOTES } from "../../../shared/scene/objectCodes.ts";
import { passThrough } from "../../../shared/scene/sceneImplicit.ts";

/** A body that the scene wants implicit, and the body that it meets. */
export interface StandIn {
  body: string;
  meets: string;
}

/** A note to those who open a room with the scene. */
export interface BodyNote {
  body: string;
  code: (typeof BODY_NOTES)[number];
  text: string;
}

export const noteOf = ({ body, meets }: StandIn): BodyNote => ({
  body,
  code: "SOLVER_CHANGED",
  text: `The solver is "auto" instead of "implicit", because the body may meet "${meets}".`,
});

type Parts = Pick<Scene, "bodies" | "attachments">;

const isImplicit = (body: Body): boolean => "solver" in body && body.solver === "implicit";

/** @returns the scene, with `solver: "auto"` for all bodies that cannot be implicit beside the others */
export function standIn(scene: Scene): { scene: Scene; standIns: StandIn[] } {
  const bodies = [...scene.bodies];
  const standIns: StandIn[] = [];
  for (let met = metByImplicit({ ...scene, bodies }); met; met = metByImplicit({ ...scene, bodies })) {
    bodies[bodies.indexOf(met.body)] = { ...met.body, solver: "auto" } as Body;
    standIns.push({ body: met.body.name, meets: met.other.name });
  }
  return { scene: { ...scene, bodies }, standIns };
}

/** The first implicit body that meets another kind, or that is attached to any body. */
export function metByImplicit({ bodies, attachments = [] }: Parts): { body: Body; other: Body } | undefined {
  const attached = (a: string, b: string): boolean =>
    attachments.some(({ from, to }) => "body" in to && from.body === a && to.body === b);
  for (const body of bodies.filter(isImplicit)) {
    const other = bodies.find(
      (b) =>
        b !== body &&
        ((!isImplicit(b) && !passThrough(body, b)) || attached(body.name, b.name) || attached(b.name, body.name)),
    );
    if (other) return { body, other };
  }
  return undefined;
}
