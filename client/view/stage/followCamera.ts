/** Moves the camera with a point: a body's middle, or a member's cursor. The user can still turn and zoom. */
import { Vector3 } from "three";
import type { Stage } from "./stage.ts";

/** Time constant with which the camera follows, ms. */
const FOLLOW_MS = 250;
/** Smaller distances move nothing, m: a body at rest needs no new pictures. */
const ARRIVED = 1e-4;

export class FollowCamera {
  private readonly step = new Vector3();

  /** @param at point to keep in the middle, m. @returns true if the camera has moved */
  update(stage: Pick<Stage, "shift" | "controls">, at: Vector3, elapsedMs: number): boolean {
    const step = this.step.subVectors(at, stage.controls.target);
    if (step.lengthSq() < ARRIVED * ARRIVED) return false;
    stage.shift(step.multiplyScalar(1 - Math.exp(-elapsedMs / FOLLOW_MS)));
    return true;
  }
}

/** Middle of the particles. @param positions float32[3n] m */
export function middleOf(positions: Float32Array, middle: Vector3): Vector3 {
  middle.set(0, 0, 0);
  for (let i = 0; i < positions.length; i += 3) {
    middle.x += positions[i]!;
    middle.y += positions[i + 1]!;
    middle.z += positions[i + 2]!;
  }
  return middle.multiplyScalar(3 / Math.max(3, positions.length));
}
