/**
 * Colliders on a path, as used outside of the kernel: they wake a sleeping room in their way, and a reset moves
 * attached bodies with them.
 */
import { matrixOf, poseAt, type Path } from "../../../shared/geometry/colliderMotion.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";

export interface Mover {
  path: Path;
  /** Center in the room's coordinates, m. */
  center: Vec3;
  /** Radius of the ball around the center that contains the collider, m; infinite for a plane. */
  radius: number;
}

/**
 * Returns whether the collider may touch a body between two moments. True may be wrong (it compares balls), false is
 * certain.
 * @param x float32[4N] rows of the body's surface particles
 * @param margin m
 */
export function comesNear(mover: Mover, from: number, to: number, x: Float32Array, margin: number): boolean {
  if (!Number.isFinite(mover.radius)) return true;
  const [a, b] = [from, to].map((seconds) =>
    poseAt(mover.path, seconds).translate.map((t, r) => t + mover.center[r]!),
  ) as [number[], number[]];
  const middle = a.map((c, r) => 0.5 * (c + b[r]!));
  const half = 0.5 * Math.sqrt(a.reduce((s, c, r) => s + (c - b[r]!) ** 2, 0));
  // Between the two moments the path may leave the straight line. So the radius grows by the whole displacement, not by
  // half of it.
  const reach2 = (mover.radius + 2 * half + margin) ** 2;
  for (let i = 0; i < x.length; i += 4)
    if ((x[i]! - middle[0]!) ** 2 + (x[i + 1]! - middle[1]!) ** 2 + (x[i + 2]! - middle[2]!) ** 2 <= reach2)
      return true;
  return false;
}

/**
 * Moves particles from the scene's places to where the collider has carried them.
 * @param x float32[4N] rows of positions, inout
 * @param v float32[4N] rows of velocities, inout
 */
export function carry({ path, center }: Mover, seconds: number, x: Float32Array, v: Float32Array): void {
  const { translate, quaternion } = poseAt(path, seconds);
  const R = matrixOf(quaternion);
  const turn = (a: number, b: number, c: number): number[] =>
    [0, 3, 6].map((row) => R[row]! * a + R[row + 1]! * b + R[row + 2]! * c);
  for (let i = 0; i < x.length; i += 4) {
    x.set(
      turn(x[i]! - center[0], x[i + 1]! - center[1], x[i + 2]! - center[2]).map(
        (q, r) => q + center[r]! + translate[r]!,
      ),
      i,
    );
    v.set(turn(v[i]!, v[i + 1]!, v[i + 2]!), i);
  }
}
