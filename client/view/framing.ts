/**
 * Where the camera stands to have all points in a part of the picture, as near as that is possible. For a given
 * direction it is exact: in the camera's axes each edge of the free part bounds eye.x + k eye.z (and y alike) by one
 * extreme over the points, and two opposite bounds meet at the least distance.
 */
import { Vector3 } from "three";

/** Edges of the free part, in the picture's coordinates: -1 left and bottom, 1 right and top. */
export interface FreeArea {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

export const WHOLE: FreeArea = { left: -1, right: 1, bottom: -1, top: 1 };

export interface Lens {
  /** Tangents of half the angles of view. */
  tanX: number;
  tanY: number;
}

interface Axes {
  right: Vector3;
  up: Vector3;
  /** Towards the eye. */
  back: Vector3;
}

/** @param back unit vector from what is looked at towards the eye, not upright */
function axesOf(back: Vector3): Axes {
  const right = new Vector3(0, 1, 0).cross(back).normalize();
  return { right, up: back.clone().cross(right), back };
}

/**
 * @param points float32[3n] m, n >= 1
 * @param back from what is looked at towards the eye, m
 * @returns where the eye is, and what it looks at: in the middle of the picture, as deep as the middle of the points
 */
export function frame(
  points: Float32Array,
  back: Vector3,
  lens: Lens,
  free: FreeArea,
): { position: Vector3; target: Vector3 } {
  const { right, up, back: axis } = axesOf(back.clone().normalize());
  const x = bounds(points, right, axis, free.left * lens.tanX, free.right * lens.tanX);
  const y = bounds(points, up, axis, free.bottom * lens.tanY, free.top * lens.tanY);
  const depth = bounds(points, axis, axis, 0, 0);
  const size = Math.max(1e-3, depth.high - depth.low);
  // Never inside: a single point, or a line along the view, could be looked at from no distance.
  const eye = Math.max(x.distance, y.distance, depth.high + 0.25 * size);
  const middle = new Vector3().addScaledVector(right, x.at(eye)).addScaledVector(up, y.at(eye));
  return {
    position: middle.clone().addScaledVector(axis, eye),
    target: middle.addScaledVector(axis, 0.5 * (depth.low + depth.high)),
  };
}

/**
 * One side of the picture: p - e lies between low (eye - depth) and high (eye - depth) for every point.
 * @returns the least eye coordinate along `back` that allows it, and e for a given one
 */
function bounds(points: Float32Array, side: Vector3, back: Vector3, low: number, high: number) {
  let most = -Infinity;
  let least = Infinity;
  for (let i = 0; i < points.length; i += 3) {
    const along = points[i]! * side.x + points[i + 1]! * side.y + points[i + 2]! * side.z;
    const depth = points[i]! * back.x + points[i + 1]! * back.y + points[i + 2]! * back.z;
    most = Math.max(most, along + high * depth);
    least = Math.min(least, along + low * depth);
  }
  return {
    low: least,
    high: most,
    distance: high > low ? (most - least) / (high - low) : -Infinity,
    at: (eye: number) => 0.5 * (most - high * eye + least - low * eye),
  };
}
