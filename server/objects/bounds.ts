/** Bounding box of a built scene. */
import { decode } from "@msgpack/msgpack";
import { float32Of } from "../../shared/bytes.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";
import type { Topology } from "../../shared/topology.ts";

/** @param bytes msgpack of a `Topology`. @returns m, in world coordinates */
export function boundsOf(bytes: Uint8Array): { low: Vec3; high: Vec3 } {
  const { bodies, colliders, origin } = decode(bytes) as Topology;
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  const take = (point: ArrayLike<number>, reach = 0): void => {
    for (let i = 0; i < point.length; i++) {
      const r = i % 3;
      low[r] = Math.min(low[r]!, point[i]! + origin[r]! - reach);
      high[r] = Math.max(high[r]!, point[i]! + origin[r]! + reach);
    }
  };
  for (const { rest } of bodies) take(float32Of(rest));
  for (const collider of colliders) {
    if ("positions" in collider) take(float32Of(collider.positions));
    else if ("halfExtents" in collider) take(collider.center, Math.hypot(...collider.halfExtents));
    else if ("center" in collider) take(collider.center, collider.radius);
    else if ("a" in collider) {
      const reach = "radius" in collider ? collider.radius : Math.max(collider.radiusA, collider.radiusB);
      take([...collider.a, ...collider.b], reach);
    }
  }
  return { low, high };
}
