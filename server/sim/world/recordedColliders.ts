/**
 * Recorded data of colliders: their triangles, each frame's position of moving planes, restarts of paths, and pairs
 * that pass through each other.
 */
import { centerOf, compileMotion, matrixOf, poseAt, type Path } from "../../../shared/geometry/colliderMotion.ts";
import type { Collider, Scene } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { CoreLayout } from "./worldLayout.ts";

export interface RecordedCollider {
  name?: string;
  type: Collider["type"];
  /** Number of the collider in the scene. */
  collider: number;
  firstParticle: number;
  particleCount: number;
  /** Triangles, in particle numbers of a frame. */
  surface: number[];
  /** A plane of the scene, in world coordinates. */
  normal?: readonly number[];
  offset?: number;
  /** A moving plane: unit normal and offset in each frame. */
  planes?: number[][];
  /** Frames before which its path restarted elsewhere: the collider jumped. */
  jumps?: number[];
}

interface Moving {
  recorded: RecordedCollider;
  collider: Collider;
  path: Path;
  rounds: number;
}

export class ColliderRecords {
  readonly colliders: RecordedCollider[];
  private readonly moving: Moving[] = [];

  /**
   * @param scene in world coordinates
   * @param cores core meshes of its colliders; frames number their particles as in the room
   */
  constructor(scene: Scene, cores: readonly CoreLayout[], particles: number) {
    this.colliders = (scene.colliders ?? []).map((collider, n) => {
      const core = cores.find((c) => c.collider === n);
      const recorded: RecordedCollider = {
        ...(collider.name !== undefined && { name: collider.name }),
        type: collider.type,
        collider: n,
        firstParticle: core?.first ?? particles,
        particleCount: core?.count ?? 0,
        surface: core ? Array.from(core.triangles) : [],
        ...(collider.type === "plane" && { normal: collider.normal, offset: collider.offset }),
      };
      if (collider.motion) {
        if (collider.type === "plane") recorded.planes = [];
        recorded.jumps = [];
        this.moving.push({ recorded, collider, path: compileMotion(collider.motion), rounds: 0 });
      }
      return recorded;
    });
  }

  /**
   * @param frame number of the next frame
   * @param time s since the room's first tick
   */
  write(frame: number, time: number): void {
    for (const mover of this.moving) {
      const { recorded, collider, path } = mover;
      const rounds = path.loop ? Math.floor(time / path.keys[path.keys.length - 1]!.time) : 0;
      if (rounds !== mover.rounds && !closes(path)) recorded.jumps!.push(frame);
      mover.rounds = rounds;
      if (collider.type !== "plane") continue;
      // the center is a point of the plane
      const { translate, quaternion } = poseAt(path, time);
      const R = matrixOf(quaternion);
      const center = centerOf(collider);
      const length = Math.hypot(...collider.normal);
      const normal = [0, 1, 2].map(
        (r) =>
          (R[3 * r]! * collider.normal[0] + R[3 * r + 1]! * collider.normal[1] + R[3 * r + 2]! * collider.normal[2]) /
          length,
      );
      recorded.planes!.push([...normal, normal.reduce((sum, n, r) => sum + n * (center[r]! + translate[r]!), 0)]);
    }
  }
}

/**
 * True if a path ends where it begins. A rotation and the same one plus 360 degrees are quaternions of opposite sign.
 */
function closes({ keys }: Path): boolean {
  const first = keys[0]!;
  const last = keys[keys.length - 1]!;
  return (
    Math.abs(first.quaternion.reduce((s, q, k) => s + q * last.quaternion[k]!, 0)) > 1 - 1e-12 &&
    first.translate.every((t, k) => Math.abs(t - last.translate[k]!) <= 1e-9 * (1 + Math.abs(t)))
  );
}

/**
 * Pairs that pass through each other, because the scene says so or because particles of a method meet shapes and not
 * surfaces (planes have no surface; particles decide). [a, a] is a body without self-contact. Numbers: bodies, then
 * colliders.
 */
export function apartPairs(
  scene: Scene,
  bodies: readonly Pick<BodyTemplate, "name" | "touch" | "form" | "joins">[],
): [number, number][] {
  const pairs: [number, number][] = [];
  const colliders = scene.colliders ?? [];
  bodies.forEach((a, i) => {
    if (!a.touch.self) pairs.push([i, i]);
    bodies.slice(i + 1).forEach((b, k) => {
      if (a.touch.ignore.includes(b.name) || b.touch.ignore.includes(a.name)) pairs.push([i, i + 1 + k]);
    });
    colliders.forEach((c, k) => {
      const particlesOnly = a.form === "method" && !a.joins && c.type !== "plane";
      if (particlesOnly || (c.name !== undefined && a.touch.ignore.includes(c.name)) || c.ignore?.includes(a.name))
        pairs.push([i, bodies.length + k]);
    });
  });
  return pairs;
}
