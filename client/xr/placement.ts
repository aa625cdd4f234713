/**
 * Placement of a room as a table-top in front of a visitor with a headset. The bodies keep their coordinates; the
 * visitor's space is transformed into the room.
 */
import { type Matrix4, Quaternion, Vector3, type Box3 } from "three";

/** Largest extent of the shown bodies in the visitor's space, m. */
const EXTENT = 1;
/** Height of the table, m: below the elbows of standing and above the knees of sitting visitors. */
const TABLE_HEIGHT = 0.9;
/** Distance from the visitor to the table's middle, m, within an arm's reach. */
const TABLE_DISTANCE = 0.65;
const LEAST_SCALE = 1e-3;
const UP = new Vector3(0, 1, 0);

export interface Placement {
  /** The middle of the table, in the room, m. */
  foot: Vector3;
  /** Middle of the table in the visitor's space, m from the floor. */
  table: Vector3;
  /** Rotation of the visitor's space around the table, rad. */
  turn: number;
  /** Meters of the room per meter of the visitor's space. */
  scale: number;
}

/**
 * @param bounds of the shown bodies, in the room, not empty, m
 * @param facing viewing direction of the visitor in the room
 * @param stand position of the visitor's head and its heading, in the visitor's space
 */
export function place(bounds: Box3, facing: Vector3, stand: { position: Vector3; heading: Vector3 }): Placement {
  const size = bounds.getSize(new Vector3());
  const middle = bounds.getCenter(new Vector3());
  const heading = angleOf(stand.heading);
  return {
    foot: middle.setY(bounds.min.y),
    table: new Vector3(
      stand.position.x + TABLE_DISTANCE * Math.sin(heading),
      TABLE_HEIGHT,
      stand.position.z + TABLE_DISTANCE * Math.cos(heading),
    ),
    turn: angleOf(facing) - heading,
    scale: Math.max(LEAST_SCALE, size.x, size.y, size.z) / EXTENT,
  };
}

/** Transformation from the visitor's space to the room. */
export function toRoom(out: Matrix4, { foot, table, turn, scale }: Placement): Matrix4 {
  const rotation = new Quaternion().setFromAxisAngle(UP, turn);
  const origin = table.clone().multiplyScalar(-scale).applyQuaternion(rotation).add(foot);
  return out.compose(origin, rotation, new Vector3(scale, scale, scale));
}

/** Angle around the vertical, from z towards x, rad. A vertical direction counts as -z. */
function angleOf({ x, z }: Vector3): number {
  return Math.hypot(x, z) > 1e-6 ? Math.atan2(x, z) : Math.PI;
}
