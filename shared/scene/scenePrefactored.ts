/**
 * Checks the restrictions of solver "prefactored" (server/sim/prefactored): each check throws a SceneError with the
 * field's path, its value and the limit.
 */
import type { ClothBody, Scene } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

export function checkPrefactored({ bodies }: Pick<Scene, "bodies">): void {
  bodies.forEach((body, i) => {
    if (body.kind === "ball" || body.kind === "points" || body.solver !== "prefactored") return;
    const path = `/bodies/${i}`;
    if (body.kind !== "cloth")
      throw new SceneError(`${path}/solver`, "prefactored", "compliant or implicit for a soft body: it is for cloth");
    checkSheet(body, path);
  });
}

function checkSheet(body: ClothBody, path: string): void {
  if (body.sweep) throw new SceneError(`${path}/sweep`, body.sweep, "absent where solver is prefactored");
  const { model, retardationTime } = body.material;
  if (model === "pbd")
    throw new SceneError(
      `${path}/solver`,
      "prefactored",
      "compliant for model pbd: prefactored supports elastic cloth",
    );
  if (retardationTime)
    throw new SceneError(
      `${path}/material/retardationTime`,
      retardationTime,
      "0 or absent where solver is prefactored: compliant and implicit have it",
    );
}
