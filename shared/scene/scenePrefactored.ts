/**
 * Checks the restrictions of solver "prefactored" (server/sim/prefactored): each check throws a SceneError with the
 * field's path, its value and the limit.
 */
import type { ClothBody, Scene, SoftBody } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

export function checkPrefactored({ bodies }: Pick<Scene, "bodies">): void {
  bodies.forEach((body, i) => {
    if (body.kind === "ball" || body.kind === "points" || body.solver !== "prefactored") return;
    checkBody(body, `/bodies/${i}`);
  });
}

function checkBody(body: SoftBody | ClothBody, path: string): void {
  if (body.sweep) throw new SceneError(`${path}/sweep`, body.sweep, "absent where solver is prefactored");
  const { model = "stvk", retardationTime } = body.material as { model?: string; retardationTime?: number };
  if (body.kind === "soft" ? model !== "stvk" : model === "pbd")
    throw new SceneError(
      `${path}/solver`,
      "prefactored",
      `compliant for model ${model}: prefactored supports solids of model stvk, and elastic cloth`,
    );
  if (body.kind === "soft" && "plasticity" in body.material && body.material.plasticity)
    throw new SceneError(
      `${path}/material/plasticity`,
      body.material.plasticity,
      "absent where solver of a soft body is prefactored",
    );
  if (retardationTime)
    throw new SceneError(
      `${path}/material/retardationTime`,
      retardationTime,
      "0 or absent where solver is prefactored: compliant and implicit have it",
    );
}
