/** Scene colliders -> COLLIDER rows. */
import type { Collider } from "../../../shared/scene.ts";
import * as L from "../../kernel/assembly/layout.ts";
import { rotationMatrix } from "../body/transform.ts";

const DEFAULT_FRICTION = 0.5;

export function writeColliders(f32: Float32Array, i32: Int32Array, address: number, colliders: readonly Collider[]): void {
  colliders.forEach((c, n) => {
    const at = (address + n * L.COLLIDER_BYTES) / 4;
    const put = (offset: number, values: readonly number[]): void => f32.set(values, at + offset / 4);
    put(L.COLLIDER_FRICTION, [Math.sqrt(c.friction ?? DEFAULT_FRICTION)]);
    put(L.COLLIDER_BOUND, [boundingRadius(c)]);
    switch (c.type) {
      case "plane": {
        const length = Math.sqrt(c.normal[0] ** 2 + c.normal[1] ** 2 + c.normal[2] ** 2);
        i32[at] = L.COLLIDER_PLANE;
        put(L.COLLIDER_A, [...c.normal.map((n) => n / length), c.offset / length]);
        break;
      }
      case "sphere":
        i32[at] = L.COLLIDER_SPHERE;
        put(L.COLLIDER_A, c.center);
        put(L.COLLIDER_RADIUS, [c.radius]);
        break;
      case "box": {
        const R = rotationMatrix(c.rotate);
        i32[at] = L.COLLIDER_BOX;
        put(L.COLLIDER_A, c.center);
        put(L.COLLIDER_B, c.halfExtents);
        // world -> local is the transpose
        put(L.COLLIDER_ROTATION, [R[0]!, R[3]!, R[6]!, R[1]!, R[4]!, R[7]!, R[2]!, R[5]!, R[8]!]);
        break;
      }
      case "capsule":
        i32[at] = L.COLLIDER_CAPSULE;
        put(L.COLLIDER_A, c.a);
        put(L.COLLIDER_B, c.b);
        put(L.COLLIDER_RADIUS, [c.radius]);
        break;
    }
  });
}

/** Radius of a ball around the collider's first point (center, or capsule end a) that holds all of it, m. */
function boundingRadius(c: Collider): number {
  const norm = (a: readonly number[]): number => Math.sqrt(a[0]! ** 2 + a[1]! ** 2 + a[2]! ** 2);
  switch (c.type) {
    case "plane": return Infinity;
    case "sphere": return c.radius;
    case "box": return norm(c.halfExtents) * (1 + 1e-6);
    case "capsule": return (norm(c.b.map((b, r) => b - c.a[r]!)) + c.radius) * (1 + 1e-6);
  }
}
