/**
 * Moves bodies that begin below a plane. A plane has no surface to intersect, and its shape moves each particle out
 * alone. That flattens a body deep below: it was thrown up at 24 m/s, a rigid one at 600. So the whole body is moved
 * above, undeformed, before the first substep. The plane itself handles bodies within their own contact radius. It also
 * handles balls, which planes move as a whole anyway, and bodies with fixed particles.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Views } from "../world/views.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { wallsFor } from "../spawn/obstacles.ts";
import { statusAt } from "../spawn/spawnableBodies.ts";

export interface Sunk {
  body: number;
  /** Number of the collider in the scene. */
  collider: number;
  /** Unit normal of the plane, and the distance along it that the body has to move, m. */
  normal: Vec3;
  depth: number;
}

/**
 * For each body, the plane that it is deepest below. Call after placeCoreMeshes, which puts colliders at the tick's
 * start.
 */
export function findSunk(views: Views, layout: SimLayout, kernel: Kernel): Sunk[] {
  return layout.bodies.flatMap((body, b) => {
    if (body.kind === "ball" || views.i32[statusAt(layout, b)]) return [];
    const one = deepest(views, layout, kernel, b);
    return one ? [one] : [];
  });
}

function deepest(views: Views, layout: SimLayout, kernel: Kernel, b: number): Sunk | undefined {
  const { f32, i32 } = views;
  const { first, count } = layout.bodies[b]!;
  const x = layout.x / 4 + 4 * first;
  const radius = f32[i32[(L.HEADER + L.H_XPREV) / 4]! / 4 + 4 * first + 3]!;
  let found: Sunk | undefined;
  for (const { name, plane, distanceTo } of wallsFor({ views, layout, kernel }, b)) {
    if (!plane || !("collider" in name)) continue;
    let low = Infinity;
    for (let i = 0; i < count; i++) {
      if (f32[x + 4 * i + 3] === 0) return undefined;
      low = Math.min(low, distanceTo(f32[x + 4 * i]!, f32[x + 4 * i + 1]!, f32[x + 4 * i + 2]!));
    }
    if (low < -radius && radius - low > (found?.depth ?? 0))
      found = { body: b, collider: name.collider, normal: plane, depth: radius - low };
  }
  return found;
}

/** Moves the body above the plane, undeformed. */
export function raiseSunk({ f32, i32 }: Views, layout: SimLayout, { body, normal, depth }: Sunk): void {
  const { first, count } = layout.bodies[body]!;
  const previous = i32[(L.HEADER + L.H_XPREV) / 4]! / 4;
  for (let i = 4 * first; i < 4 * (first + count); i += 4) {
    for (let r = 0; r < 3; r++)
      f32[previous + i + r] = f32[layout.x / 4 + i + r] = f32[layout.x / 4 + i + r]! + depth * normal[r]!;
  }
}
