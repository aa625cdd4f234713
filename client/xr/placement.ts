/**
 * Where a room stands in front of a visitor: as a table-top. The bodies keep their places, the visitor is put into the
 * room.
 */
import { type Matrix4, Quaternion, Vector3, type Box3 } from "three";

/** Largest extent of what is shown, as the visitor sees it, m. */
const EXTENT = 1;
/** Of the table, m: below the elbow of who stands, and above the knees of who sits. */
const TABLE_HEIGHT = 0.9;
/** From the visitor to the table's middle, m: an arm reaches it. */
const TABLE_DISTANCE = 0.65;
const LEAST_SCALE = 1e-3;
const UP = new Vector3(0, 1, 0);

export interface Placement {
  /** The middle of the table, in the room, m. */
  foot: Vector3;
  /** The same in the visitor's space, m from the floor on which the visitor stands. */
  table: Vector3;
  /** Of the visitor's space around the table, rad. */
  turn: number;
  /** Meters of the room in a meter of the visitor's space. */
  scale: number;
}

/**
 * @param bounds of what is shown, in the room, not empty, m
 * @param facing where the visitor looked in the room
 * @param stand where the visitor's head is, and where it looks, in the visitor's space
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

/** From the visitor's space to the room. */
export function toRoom(out: Matrix4, { foot, table, turn, scale }: Placement): Matrix4 {
  const rotation = new Quaternion().setFromAxisAngle(UP, turn);
  const origin = table.clone().multiplyScalar(-scale).applyQuaternion(rotation).add(foot);
  return out.compose(origin, rotation, new Vector3(scale, scale, scale));
}

/** Around the vertical, from z towards x, rad. Who looks straight down or up looks along -z. */
function angleOf({ x, z }: Vector3): number {
  return Math.hypot(x, z) > 1e-6 ? Math.atan2(x, z) : Math.PI;
}
