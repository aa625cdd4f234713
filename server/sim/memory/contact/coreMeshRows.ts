/**
 * Plans core meshes in memory: fixed particles (w = 0) after those of all bodies, and a SurfaceSource for each mesh.
 * For moving colliders it also plans the data of kernel/assembly/colliders/coreMeshes.ts, which moves their cores. Core
 * meshes are not part of the state (hash, copies for reset, frames): their position follows from the tick.
 */
import { matrixOf, poseAt } from "../../../../shared/geometry/colliderMotion.ts";
import type { Collider } from "../../../../shared/scene/scene.ts";
import { DEFAULT_FRICTION } from "../../../../shared/scene/sceneRules.ts";
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { SurfaceMesh } from "../../../meshing/mesh.ts";
import { creases } from "../../colliders/creases.ts";
import { isSmooth } from "../../colliders/smooth.ts";
import type { CoreLayout } from "../../world/worldLayout.ts";
import type { PlannedColliders } from "../bodies/colliderRows.ts";
import type { Allocator } from "../memoryMap.ts";
import { SOLID, uniqueEdges, type SurfaceSource } from "./surfaceRows.ts";

export interface PlannedCoreMeshes {
  layouts: CoreLayout[];
  surfaces: SurfaceSource[];
  /** Number of particles of all core meshes. */
  particles: number;
  /** For each moving core mesh: address of the MOTION row, and number of particles. */
  moving: { motion: number; count: number }[];
  /**
   * Writes particles and MOTION rows (after PlannedColliders.write).
   * @param at addresses of the particle arrays
   */
  write: (buffer: ArrayBufferLike, at: { x: number; xPrev: number; acc: number }) => void;
}

/**
 * Allocates memory for moving cores (their particles are in the room's arrays); the result's `write` fills them later.
 * @param cores one per collider, undefined for planes
 * @param first particle number of the first core
 * @param edge the longest edge that bodies lay on colliders (colliders/smooth.ts), m
 */
export function planCoreMeshes(
  colliders: readonly Collider[],
  cores: readonly (SurfaceMesh | undefined)[],
  obstacles: PlannedColliders,
  first: number,
  edge: number,
  allocator: Allocator,
): PlannedCoreMeshes {
  let next = first;
  const planned = cores.flatMap((mesh, collider) => {
    if (!mesh) return [];
    const count = mesh.positions.length / 3;
    const motion = obstacles.motionOf[collider]!;
    const layout: CoreLayout = { collider, first: next, count, triangles: shared(mesh.triangles, next) };
    next += count;
    return [{ mesh, layout, motion, table: motion ? allocator.take(L.CORE_POINT_BYTES * count) : 0 }];
  });
  return {
    layouts: planned.map(({ layout }) => layout),
    particles: next - first,
    surfaces: planned.map(({ mesh, layout }) => coreSurface(colliders[layout.collider]!, mesh, layout, edge)),
    moving: planned.flatMap(({ motion, layout: { count } }) => (motion ? [{ motion: motion.row, count }] : [])),
    write(buffer, at) {
      const f32 = new Float32Array(buffer);
      const i32 = new Int32Array(buffer);
      const f64 = new Float64Array(buffer);
      for (const { mesh, layout, motion, table } of planned) {
        const root = Math.sqrt(colliders[layout.collider]!.friction ?? DEFAULT_FRICTION);
        const start = motion && startOf(motion);
        for (let i = 0; i < layout.count; i++) {
          const p = 4 * (layout.first + i);
          const here = [0, 1, 2].map((r) => Math.fround(mesh.positions[3 * i + r]!));
          if (motion) {
            const arm = here.map((c, r) => c - Math.fround(motion.center[r]!));
            f64.set(arm, (table + i * L.CORE_POINT_BYTES) / 8);
            for (let r = 0; r < 3; r++)
              here[r] =
                start!.s[r]! +
                (start!.R[3 * r]! * arm[0]! + start!.R[3 * r + 1]! * arm[1]! + start!.R[3 * r + 2]! * arm[2]!);
          }
          f32.set([...here, 0], at.x / 4 + p);
          f32.set([...here, 0], at.xPrev / 4 + p);
          f32[at.acc / 4 + p + 3] = root;
        }
        if (motion) i32.set([at.x + 16 * layout.first, layout.count, table], (motion.row + L.MOTION_CORE) / 4);
      }
    },
  };
}

/** Pose at the room's start, rounded as the kernel rounds it (kernel/assembly/colliders/motion.ts, `write`). */
function startOf({ path, center }: NonNullable<PlannedColliders["motionOf"][number]>): { s: number[]; R: number[] } {
  const { translate, quaternion } = poseAt(path, 0);
  return {
    s: center.map((c, r) => Math.fround(Math.fround(c) + translate[r]!)),
    R: matrixOf(quaternion).map(Math.fround),
  };
}

function coreSurface(
  c: Collider,
  mesh: SurfaceMesh,
  { first, count, triangles }: CoreLayout,
  edge: number,
): SurfaceSource {
  const friction = c.friction ?? DEFAULT_FRICTION;
  // a face of a moving collider does not stay flat: resolving a violation may hold back one of its corners
  // (kernel/assembly/colliders/coreMeshes.ts). Edges then intersect it where it is bent
  const edges = c.motion ? uniqueEdges(mesh.triangles) : creases(mesh);
  return {
    first,
    count,
    triangles,
    edges: edges.map((v) => first + v),
    radius: 0,
    solid: SOLID.collider,
    shaped: c.type !== "mesh",
    smooth: isSmooth(c, edge),
    still: c.motion === undefined,
    staticFriction: c.staticFriction ?? friction,
    friction,
    restitution: c.restitution ?? 0,
    rest: mesh.positions,
    touchesItself: false,
  };
}

/** Copies triangles to shared memory, because a layout goes to another thread with every tick. */
function shared(triangles: Uint32Array, first: number): Uint32Array {
  const copy = new Uint32Array(new SharedArrayBuffer(triangles.byteLength));
  triangles.forEach((p, i) => (copy[i] = first + p));
  return copy;
}
