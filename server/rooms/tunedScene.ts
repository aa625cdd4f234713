/** A room's scene with what its owners have changed: a file like any other scene. */
import type { Tuning } from "../../shared/protocol.ts";
import type { Scene } from "../../shared/scene.ts";

/**
 * Only what was changed is written; all else stays as the file has it, to the order of its fields.
 * @param text of the scene's file. @param was what may be changed, as that says. @param now the same as the room has it
 */
export function tunedScene(text: string, was: Tuning, now: Tuning): Scene {
  const scene = JSON.parse(text) as Scene;
  if (now.gravity.some((part, r) => part !== was.gravity[r])) scene.gravity = now.gravity;
  now.bodies.forEach(({ body, damping, friction }, n) => {
    const { material, contact } = scene.bodies[body]!;
    const before = was.bodies[n]!;
    if (damping !== before.damping) material.damping = damping;
    if (friction === before.friction) return;
    material.friction = friction;
    // what the room does, too: at rest nothing holds less than when it slides
    if (contact?.staticFriction !== undefined) contact.staticFriction = Math.max(contact.staticFriction, friction);
  });
  return scene;
}
