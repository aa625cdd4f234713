/**
 * Checks the restrictions of solver "implicit" (server/sim/implicit): each check throws a SceneError with the field's
 * path, its value and the limit.
 */
import type { Body, ClothBody, Scene, SoftBody } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

export type Elastic = SoftBody | ClothBody;

export function checkImplicit({ bodies }: Pick<Scene, "bodies">): void {
  bodies.forEach((body, i) => {
    if (body.kind === "ball" || body.kind === "points" || body.solver !== "implicit") return;
    const path = `/bodies/${i}`;
    checkMaterial(body, path);
    for (const field of ["sweep", "start", "spawnable"] as const) {
      if (body[field]) throw new SceneError(`${path}/${field}`, body[field], "absent where solver is implicit");
    }
  });
}

function checkMaterial({ material: m }: Elastic, path: string): void {
  const cloth = "thickness" in m;
  const known = m.model === undefined || m.model === "stvk" || (cloth && m.model === "orthotropic");
  if (!known)
    throw new SceneError(
      `${path}/solver`,
      "implicit",
      `compliant for model ${m.model}: implicit supports solids of model stvk, and elastic cloth`,
    );
  if ("plasticity" in m && m.plasticity)
    throw new SceneError(`${path}/material/plasticity`, m.plasticity, "absent where solver is implicit");
}

/** Either side may exclude the other. */
export function passThrough(
  body: Body,
  other: { name?: string; contact?: { ignore?: readonly string[] }; ignore?: readonly string[] },
): boolean {
  return (
    (other.name !== undefined && (body.contact?.ignore?.includes(other.name) ?? false)) ||
    (other.contact?.ignore ?? other.ignore ?? []).includes(body.name)
  );
}

/** Whether a body may touch a collider or another body. */
export const mayMeetAny = ({ bodies, colliders = [] }: Pick<Scene, "bodies" | "colliders">, body: Body): boolean =>
  [...bodies.filter((other) => other !== body), ...colliders].some((other) => !passThrough(body, other));
