/**
 * Whether a body with a method joins the kernel's substeps: it has a surface, and may touch itself, another body, or a
 * collider that moves or is a mesh, or is attached to a body. The method then moves the particles freely, and the
 * substep corrects them like particles of any body (methodBodies.ts). Other bodies meet fixed shapes only, once for
 * each step of their method.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { passThrough } from "../../../shared/scene/sceneImplicit.ts";

export function joinsSubsteps({ bodies, colliders = [], attachments = [] }: Scene, body: Body): boolean {
  if (body.kind === "ball" || body.kind === "points" || !body.method) return false;
  const others = [
    ...bodies.filter((other) => other !== body),
    ...colliders.filter((c) => c.type === "mesh" || c.motion),
  ];
  return (
    body.contact?.self !== false ||
    others.some((other) => !passThrough(body, other)) ||
    attachments.some(({ from, to }) => "body" in to && (from.body === body.name || to.body === body.name))
  );
}
