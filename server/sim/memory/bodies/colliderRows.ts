/** Plans COLLIDER rows for a scene's colliders, and MOTION rows with keys for the moving ones. */
import { compileMotion, type Path } from "../../../../shared/geometry/colliderMotion.ts";
import type { AnalyticCollider, Collider, Vec3 } from "../../../../shared/scene/scene.ts";
import { DEFAULT_FRICTION } from "../../../../shared/scene/sceneRules.ts";
import { insetOf } from "../../colliders/smooth.ts";
import type { SurfaceMesh } from "../../../meshing/mesh.ts";
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { rotationMatrix } from "../../body/transform.ts";
import type { Mover } from "../../colliders/movers.ts";
import type { Allocator } from "../memoryMap.ts";

export interface PlannedColliders {
  address: number;
  motions: number;
  motionCount: number;
  movers: Mover[];
  /**
   * For each collider: address of its MOTION row, its path and its center of rotation; undefined if it does not move.
   */
  motionOf: ({ row: number; path: Path; center: readonly number[] } | undefined)[];
  write: (buffer: ArrayBufferLike) => void;
}

/**
 * Allocates memory for all colliders and their paths; the result's `write` fills them later.
 * @param centers center of rotation of each, m: a plane's is known in world coordinates only
 * @param meshes core meshes (colliders/coreMesh.ts); those of mesh colliders define their size
 * @param edge the longest edge that bodies lay on colliders, m
 */
export function planColliders(
  colliders: readonly Collider[],
  centers: readonly (readonly number[])[],
  meshes: readonly (SurfaceMesh | undefined)[],
  edge: number,
  allocator: Allocator,
): PlannedColliders {
  const address = allocator.take(colliders.length * L.COLLIDER_BYTES);
  const moving = colliders.flatMap((c, n) => (c.motion ? [{ c, n, path: compileMotion(c.motion) }] : []));
  const motions = allocator.take(moving.length * L.MOTION_BYTES);
  const keys = moving.map(({ path }) => allocator.take(path.keys.length * L.KEY_BYTES));
  const motionOf: PlannedColliders["motionOf"] = colliders.map(() => undefined);
  moving.forEach(({ n, path }, m) => (motionOf[n] = { row: motions + m * L.MOTION_BYTES, path, center: centers[n]! }));
  return {
    address,
    motions,
    motionOf,
    motionCount: moving.length,
    movers: moving.map(({ c, n, path }) => ({
      path,
      center: [...centers[n]!] as Vec3,
      radius: radiusOf(c, centers[n]!, meshes[n]),
    })),
    write(buffer) {
      const f32 = new Float32Array(buffer);
      const i32 = new Int32Array(buffer);
      writeColliders(f32, i32, address, colliders, meshes, edge);
      moving.forEach(({ c, n, path }, m) => {
        const row = motions + m * L.MOTION_BYTES;
        i32[(address + n * L.COLLIDER_BYTES + L.COLLIDER_MOTION) / 4] = row;
        i32.set([keys[m]!, path.keys.length, loopOf(path)], row / 4);
        f32.set([...centers[n]!, radiusOf(c, centers[n]!, meshes[n])], (row + L.MOTION_CENTER) / 4);
        new Float64Array(buffer).set(
          path.keys.flatMap((k) => [k.time, ...k.translate, ...k.quaternion]),
          keys[m]! / 8,
        );
      });
    },
  };
}

function loopOf(path: Path): number {
  if (!path.loop) return L.MOTION_ONCE;
  const first = path.keys[0]!;
  const last = path.keys[path.keys.length - 1]!;
  // a rotation and the same one plus 360 degrees are quaternions of opposite sign
  const same =
    Math.abs(first.quaternion.reduce((s, q, k) => s + q * last.quaternion[k]!, 0)) > 1 - 1e-12 &&
    first.translate.every((t, k) => Math.abs(t - last.translate[k]!) <= 1e-9 * (1 + Math.abs(t)));
  return same ? L.MOTION_CLOSED : L.MOTION_JUMPS;
}

/**
 * Radius of the ball around a collider's center that contains it, m.
 * @param mesh of a mesh collider, where the scene places it
 */
function radiusOf(c: Collider, center: readonly number[], mesh: SurfaceMesh | undefined): number {
  switch (c.type) {
    case "mesh":
      return farthestFrom(mesh!, center);
    case "plane":
    case "sphere":
    case "box":
      return boundingRadius(c);
    case "capsule":
      return (0.5 * norm(c.b.map((b, r) => b - c.a[r]!)) + c.radius) * (1 + 1e-6);
    case "cylinder":
      return norm([0.5 * norm(c.b.map((b, r) => b - c.a[r]!)), c.radius]) * (1 + 1e-6);
    case "funnel":
      return (
        (norm([0.5 * norm(c.b.map((b, r) => b - c.a[r]!)), Math.max(c.radiusA, c.radiusB)]) + 0.5 * c.thickness) *
        (1 + 1e-6)
      );
  }
}

/** @param meshes as for planColliders; not needed without mesh colliders */
export function writeColliders(
  f32: Float32Array,
  i32: Int32Array,
  address: number,
  colliders: readonly Collider[],
  meshes: readonly (SurfaceMesh | undefined)[] = [],
  edge = 0,
): void {
  colliders.forEach((c, n) => {
    const at = (address + n * L.COLLIDER_BYTES) / 4;
    const put = (offset: number, values: readonly number[]): void => f32.set(values, at + offset / 4);
    put(L.COLLIDER_FRICTION, [Math.sqrt(c.friction ?? DEFAULT_FRICTION)]);
    put(L.COLLIDER_STATIC, [
      Math.sqrt(c.staticFriction ?? c.friction ?? DEFAULT_FRICTION),
      Math.sqrt(c.restitution ?? 0),
    ]);
    if (c.type !== "mesh") put(L.COLLIDER_BOUND, [boundingRadius(c)]);
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
        put(L.COLLIDER_INSET, [insetOf(c, edge)]);
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
        put(L.COLLIDER_INSET, [insetOf(c, edge)]);
        break;
      case "cylinder":
        i32[at] = L.COLLIDER_CYLINDER;
        put(L.COLLIDER_A, c.a);
        put(L.COLLIDER_B, c.b);
        put(L.COLLIDER_RADIUS, [c.radius]);
        break;
      case "funnel":
        i32[at] = L.COLLIDER_FUNNEL;
        put(L.COLLIDER_A, c.a);
        put(L.COLLIDER_B, c.b);
        put(L.COLLIDER_RADIUS, [c.radiusA]);
        put(L.COLLIDER_RADIUS_B, [c.radiusB]);
        put(L.COLLIDER_HALF_WALL, [0.5 * c.thickness]);
        break;
      case "mesh": {
        const middle = middleOf(meshes[n]!);
        const radius = farthestFrom(meshes[n]!, middle);
        i32[at] = L.COLLIDER_MESH;
        put(L.COLLIDER_A, middle);
        put(L.COLLIDER_RADIUS, [radius]);
        put(L.COLLIDER_BOUND, [radius]);
        break;
      }
    }
  });
}

/** Middle of the box around a mesh, m. */
function middleOf({ positions }: SurfaceMesh): number[] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  positions.forEach((x, k) => {
    low[k % 3] = Math.min(low[k % 3]!, x);
    high[k % 3] = Math.max(high[k % 3]!, x);
  });
  return low.map((l, r) => 0.5 * (l + high[r]!));
}

/** Largest distance of a mesh's vertices from a point, m, with a margin for rounding. */
function farthestFrom({ positions }: SurfaceMesh, point: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < positions.length; i += 3)
    most = Math.max(
      most,
      (positions[i]! - point[0]!) ** 2 + (positions[i + 1]! - point[1]!) ** 2 + (positions[i + 2]! - point[2]!) ** 2,
    );
  return Math.sqrt(most) * (1 + 1e-6);
}

const norm = (a: readonly number[]): number => Math.sqrt(a.reduce((s, c) => s + c * c, 0));

/** Radius of the ball around the collider's first point (center, or end a) that contains all of it, m. */
function boundingRadius(c: AnalyticCollider): number {
  switch (c.type) {
    case "plane":
      return Infinity;
    case "sphere":
      return c.radius;
    case "box":
      return norm(c.halfExtents) * (1 + 1e-6);
    case "capsule":
      return (norm(c.b.map((b, r) => b - c.a[r]!)) + c.radius) * (1 + 1e-6);
    case "cylinder":
      return norm([...c.b.map((b, r) => b - c.a[r]!), c.radius]) * (1 + 1e-6);
    case "funnel":
      return (
        (norm([...c.b.map((b, r) => b - c.a[r]!), Math.max(c.radiusA, c.radiusB)]) + 0.5 * c.thickness) * (1 + 1e-6)
      );
  }
}
