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
