/**
 * Checks the reference for comparisons (server/sim/methods/references/referenceBodies.ts): each check throws a
 * SceneError with the field's path, its value and the limit.
 */
import type { Body, Scene } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

export function checkReference({ bodies, attachments = [], reference }: Scene): void {
  if (!reference) return;
  const find = (name: string, path: string): Body => {
    const body = bodies.find((b) => b.name === name);
    if (!body) throw new SceneError(path, name, `the name of a body: ${bodies.map((b) => b.name).join(", ")}`);
    return body;
  };
  const of = find(reference.of, "/reference/of");
  const hookean = of.kind === "soft" && (of.material.model === undefined || of.material.model === "stvk");
  if (!hookean || of.mesh.type !== "box" || ("plasticity" in of.material && of.material.plasticity))
    throw new SceneError("/reference/of", reference.of, "a soft box of model stvk without plasticity");
  const { size } = of.mesh;
  reference.bodies.forEach((name, n) => {
    const path = `/reference/bodies/${n}`;
    const body = find(name, path);
    const turned = (["rotate", "scale", "fitHeight"] as const).find((field) => body.transform?.[field] !== undefined);
    if (turned)
      throw new SceneError(
        path,
        name,
        `a body without transform/${turned}: it must have the orientation of ${of.name}`,
      );
    const asLarge = body.kind === "soft" && body.mesh.type === "box" && body.mesh.size.every((s, r) => s === size[r]);
    if (!asLarge && body.kind !== "points")
      throw new SceneError(path, name, `points, or a soft box of ${size.join(" x ")} m as ${of.name}`);
    if (body.spawnable) throw new SceneError(path, name, "a body that is not spawnable (spawnable is false)");
    attachments.forEach(({ from, to }) => {
      if (from.body === name || ("body" in to && to.body === name))
        throw new SceneError(path, name, "a body without attachments");
    });
  });
}
