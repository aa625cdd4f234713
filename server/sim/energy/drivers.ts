/** Velocities of moving colliders: the energy ledger uses them to separate their work from friction. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { CreatedWorld } from "../world/createWorld.ts";
import type { Kernel } from "../world/kernelModule.ts";

/**
 * Returns a function for use during a substep: velocity (m/s) at a point (m from the room's origin) of the analytic
 * collider with the nearest surface; undefined if that does not move.
 * @returns undefined if no collider moves
 */
export function colliderVelocities(
  { memory }: CreatedWorld,
  kernel: Kernel,
): ((point: Vec3) => Vec3 | undefined) | undefined {
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  if (header(L.H_MOTION_COUNT) === 0) return undefined;
  const h = f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4]!;
  const rows = Array.from(
    { length: header(L.H_COLLIDER_COUNT) },
    (_, n) => header(L.H_COLLIDERS) + n * L.COLLIDER_BYTES,
  ).filter((row) => i32[row / 4] !== L.COLLIDER_MESH);
  /**
   * Follows a point of a moving collider.
   * @param p its place at the end of the substep
   * @returns its place on the collider as the scene has it, and its place at the start of the substep
   */
  const follow = (motion: number, p: Vec3): { local: Vec3; before: Vec3 } => {
    const at = (field: number, k: number): number => f32[(motion + field) / 4 + k]!;
    const d = p.map((c, r) => c - at(L.MOTION_S1, r));
    const arm = [0, 1, 2].map((c) => d.reduce((sum, v, r) => sum + at(L.MOTION_R1, 3 * r + c) * v, 0));
    return {
      local: arm.map((a, r) => a + at(L.MOTION_CENTER, r)) as Vec3,
      before: [0, 1, 2].map(
        (r) => at(L.MOTION_S0, r) + arm.reduce((sum, a, c) => sum + at(L.MOTION_R0, 3 * r + c) * a, 0),
      ) as Vec3,
    };
  };
  return (p) => {
    let nearest = Infinity;
    let before: Vec3 | undefined;
    for (const row of rows) {
      const motion = i32[(row + L.COLLIDER_MOTION) / 4]!;
      const way = motion ? follow(motion, p) : undefined;
      const d = kernel.distanceTo(row, ...(way?.local ?? p));
      if (d >= nearest) continue;
      nearest = d;
      before = way?.before;
    }
    return before && (p.map((c, r) => (c - before![r]!) / h) as Vec3);
  };
}
