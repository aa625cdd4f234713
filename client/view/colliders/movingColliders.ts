/**
 * Draws colliders with a path at their simulated position for the moment shown: server and page evaluate
 * shared/geometry/colliderMotion.ts.
 */
import { Quaternion, Vector3, type Object3D } from "three";
import { centerOf, compileMotion, poseAt, type Path } from "../../../shared/geometry/colliderMotion.ts";
import type { MoverRow } from "../../../shared/protocol/fromServer.ts";
import type { TopologyCollider } from "../../../shared/topology.ts";

const NONE: readonly MoverRow[] = [];

interface Mover {
  object: Object3D;
  path: Path;
  center: Vector3;
  /** Position in the scene, relative to its center. */
  offset: Vector3;
  turn: Quaternion;
}

export class MovingColliders {
  private readonly movers: Mover[];
  private readonly rotation = new Quaternion();
  private readonly before = new Vector3();
  private readonly facing = new Quaternion();
  private readonly translate = new Vector3();
  private shown = Number.NaN;
  private yields = NONE;

  /** @param objects one object per collider, in the same order, at its position in the scene */
  constructor(colliders: readonly TopologyCollider[], objects: readonly Object3D[]) {
    this.movers = colliders.flatMap((collider, i) => {
      if (!collider.motion) return [];
      const object = objects[i]!;
      const center = new Vector3(...centerOf(collider));
      return [
        {
          object,
          path: compileMotion(collider.motion),
          center,
          offset: object.position.clone().sub(center),
          turn: object.quaternion.clone(),
        },
      ];
    });
  }

  /**
   * @param seconds since the room's first tick
   * @param yields displacements from the paths
   * @returns true if anything moved since the last call
   */
  update(seconds: number, yields: readonly MoverRow[] = NONE): boolean {
    if (this.movers.length === 0 || (seconds === this.shown && yields === this.yields)) return false;
    this.shown = seconds;
    this.yields = yields;
    let moved = false;
    for (const [n, { object, path, center, offset, turn }] of this.movers.entries()) {
      const {
        translate,
        quaternion: [w, x, y, z],
      } = poseAt(path, seconds);
      this.rotation.set(x, y, z, w);
      const before = this.before.copy(object.position);
      const facing = this.facing.copy(object.quaternion);
      object.position.copy(offset).applyQuaternion(this.rotation).add(center).add(this.translate.fromArray(translate));
      const [, x1, y1, z1] = yields.find(([mover]) => mover === n) ?? [n, 0, 0, 0];
      object.position.add(this.translate.set(x1, y1, z1));
      object.quaternion.copy(this.rotation).multiply(turn);
      moved ||= !before.equals(object.position) || !facing.equals(object.quaternion);
    }
    return moved;
  }
}
