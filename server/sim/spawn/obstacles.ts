/**
 * Obstacles in a room for the search for a free place: surfaces of bodies and of colliders' core meshes, and the
 * colliders' own shapes.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Views } from "../world/views.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { SOLID } from "../memory/contact/surfaceRows.ts";
import { readSurface } from "../intersections/surface.ts";
import type { SurfaceName } from "../types.ts";
import { boxOf, isClosed, partsOf, type Shell } from "./inside.ts";

/** A surface; a ball is a point with its radius. */
export interface Obstacle extends Shell {
  name: SurfaceName;
  /** Contact distance of the surface, m; for a ball, its radius. */
  radius: number;
  /** True if its inside is solid. */
  solid: boolean;
  /** float64[6] lowest and highest coordinates, m */
  box: Float64Array;
  /** One particle of each of its parts. */
  parts: number[];
}

/** An analytic collider. */
export interface Wall {
  name: SurfaceName;
  /** Current unit normal of a plane; undefined for other shapes. */
  plane: Vec3 | undefined;
  /** Signed distance from its surface, m. */
  distanceTo: (x: number, y: number, z: number) => number;
}

/** The room between two ticks. */
export interface SpawnRoom {
  views: Views;
  layout: SimLayout;
  kernel: Kernel;
  /** Whether the body is in the scene. */
  present: (body: number) => boolean;
}

/** Body b's surface with its particles at `rows` (index of a float32[4N] array like X's). */
export function obstacleOf({ views, layout }: Pick<SpawnRoom, "views" | "layout">, n: number, rows: number): Obstacle {
  const body = layout.bodies[n];
  const name: SurfaceName = body ? { body: n } : { collider: layout.cores[n - layout.bodyCount]!.collider };
  const { first, count, triangles, solid } = readSurface(views, layout.x, n);
  const at = (i: number): number[] =>
    Array.from(views.f32.subarray(rows + 4 * (first + i), rows + 4 * (first + i) + 3));
  if (body && solid === SOLID.ball) {
    // its center is the particle after those of its surface
    const center = at(count);
    const radius = Math.sqrt(at(0).reduce((sum, c, r) => sum + (c - center[r]!) ** 2, 0));
    const x = Float64Array.from(center);
    return { name, x, triangles: Int32Array.of(0, 0, 0), radius, solid: false, box: boxOf(x), parts: [0] };
  }
  const x = new Float64Array(3 * count);
  for (let i = 0, from = rows + 4 * first; i < count; i++, from += 4)
    for (let r = 0; r < 3; r++) x[3 * i + r] = views.f32[from + r]!;
  const radius = views.f32[(surfaceRow(views, n) + L.SURFACE_RADIUS) / 4]!;
  return {
    name,
    x,
    triangles,
    radius,
    solid: solid === SOLID.soft || (solid === SOLID.collider && isClosed(triangles)),
    box: boxOf(x),
    parts: partsOf(triangles, count),
  };
}

function surfaceRow({ i32 }: Views, n: number): number {
  return i32[(L.HEADER + L.H_SURFACE) / 4]! + n * L.SURFACE_BYTES;
}

/** All active obstacles that body b may touch, at the start of the next tick. */
export function obstaclesFor(room: SpawnRoom, b: number): Obstacle[] {
  const { layout, kernel } = room;
  const count = layout.bodyCount + layout.cores.length;
  const found: Obstacle[] = [];
  kernel.placeCoreMeshes();
  for (let n = 0; n < count; n++) {
    if (n === b || !layout.sceneMeets![b * count + n] || (n < layout.bodyCount && !room.present(n))) continue;
    found.push(obstacleOf(room, n, layout.x / 4));
  }
  return found;
}

/**
 * Colliders that body b may touch and that have a distance of their own. Call after `obstaclesFor`, which places the
 * moving ones.
 */
export function wallsFor(
  { views: { f32, i32 }, layout, kernel }: Pick<SpawnRoom, "views" | "layout" | "kernel">,
  b: number,
): Wall[] {
  const first = i32[(L.HEADER + L.H_COLLIDERS) / 4]!;
  const table = i32[(layout.bodyRows + b * L.BODY_BYTES + L.BODY_MEETS) / 4]!;
  const bytes = new Uint8Array(f32.buffer);
  const walls: Wall[] = [];
  for (let n = 0; n < i32[(L.HEADER + L.H_COLLIDER_COUNT) / 4]!; n++) {
    const row = first + n * L.COLLIDER_BYTES;
    const motion = i32[(row + L.COLLIDER_MOTION) / 4]!;
    if (i32[(row + L.COLLIDER_TYPE) / 4] === L.COLLIDER_MESH || (table && !bytes[table + n])) continue;
    const s = (motion + L.MOTION_S0) / 4;
    const R = (motion + L.MOTION_R0) / 4;
    const center = (motion + L.MOTION_CENTER) / 4;
    const own = Array.from(f32.subarray((row + L.COLLIDER_A) / 4, (row + L.COLLIDER_A) / 4 + 3)) as Vec3;
    const turned = (): Vec3 =>
      [0, 3, 6].map((k) => f32[R + k]! * own[0] + f32[R + k + 1]! * own[1] + f32[R + k + 2]! * own[2]) as Vec3;
    const isPlane = i32[(row + L.COLLIDER_TYPE) / 4] === L.COLLIDER_PLANE;
    walls.push({
      name: { collider: n },
      get plane() {
        return isPlane ? (motion ? turned() : own) : undefined;
      },
      distanceTo: !motion
        ? (x, y, z) => kernel.distanceTo(row, x, y, z)
        : (px, py, pz) => {
            // into the frame of the scene's description: center + R^T (p - s)
            const x = px - f32[s]!;
            const y = py - f32[s + 1]!;
            const z = pz - f32[s + 2]!;
            const [a, b, c] = [0, 1, 2].map(
              (r) => f32[center + r]! + f32[R + r]! * x + f32[R + 3 + r]! * y + f32[R + 6 + r]! * z,
            ) as [number, number, number];
            return kernel.distanceTo(row, a, b, c);
          },
    });
  }
  return walls;
}
