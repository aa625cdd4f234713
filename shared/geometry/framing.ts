/**
 * Finds the nearest camera position from which all points lie in a given part of the picture. It is exact for a given
 * direction: in the camera's axes, each edge of the free part bounds eye.x + k eye.z (and y likewise) by one extreme
 * over the points. Two opposite bounds meet at the smallest distance.
 */
import type { Vec3 } from "../scene/scene.ts";

/** Edges of the free part, in the picture's coordinates: -1 left and bottom, 1 right and top. */
export interface FreeArea {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

export const WHOLE: FreeArea = { left: -1, right: 1, bottom: -1, top: 1 };

/** Part of a scene's own view that the free part shows: bodies seldom reach its margin. */
export const SHOWN_PART = 0.8;

export interface Lens {
  /** Tangents of half the fields of view. */
  tanX: number;
  tanY: number;
}

export interface Axes {
  right: Vec3;
  up: Vec3;
  /** Towards the eye. */
  back: Vec3;
}

/** Points to frame: the shown ones, and the corners of the space that bodies need. */
export function withSpace(points: Float32Array, space: { min: Vec3; max: Vec3 } | undefined): Float32Array {
  if (!space) return points;
  const all = new Float32Array(points.length + 24);
  all.set(points);
  for (let i = 0; i < 24; i++) all[points.length + i] = (((i / 3) >> (i % 3)) & 1 ? space.max : space.min)[i % 3]!;
  return all;
}

/** Unit vectors of the camera. @param towards direction to the eye from the target; any length, not vertical */
export function axesOf(towards: Vec3): Axes {
  const back = unit(towards);
  const right = unit([back[2], 0, -back[0]]);
  const up: Vec3 = [
    back[1] * right[2] - back[2] * right[1],
    back[2] * right[0] - back[0] * right[2],
    back[0] * right[1] - back[1] * right[0],
  ];
  return { right, up, back };
}

/**
 * @param points float32[3n] m, n >= 1
 * @param towards direction to the eye from the target, m
 * @param nearest minimum coordinate of the eye along `towards` from the origin, m
 * @returns position of the eye, and its target: in the middle of the picture, at the mean depth of the points
 */
export function frame(
  points: Float32Array,
  towards: Vec3,
  lens: Lens,
  free: FreeArea,
  nearest = -Infinity,
): { position: Vec3; target: Vec3 } {
  const { right, up, back } = axesOf(towards);
  const x = bounds(points, right, back, free.left * lens.tanX, free.right * lens.tanX);
  const y = bounds(points, up, back, free.bottom * lens.tanY, free.top * lens.tanY);
  const depth = bounds(points, back, back, 0, 0);
  const size = Math.max(1e-3, depth.high - depth.low);
  // Keep the eye outside: for a single point, or a line along the view, the distance could be zero.
  const eye = Math.max(x.distance, y.distance, depth.high + 0.25 * size, nearest);
  const at = (deep: number): Vec3 => right.map((r, k) => x.at(eye) * r + y.at(eye) * up[k]! + deep * back[k]!) as Vec3;
  return { position: at(eye), target: at(0.5 * (depth.low + depth.high)) };
}

/**
 * Steps back from a scene's own view and shifts it, so that the free part shows it without its margin.
 * @param target of the scene's camera, m
 * @param towards from the target to the eye, m
 * @param tanY tangent of half the vertical field of view
 */
export function clearOfTools(
  target: Vec3,
  towards: Vec3,
  tanY: number,
  { bottom, top }: FreeArea,
): { position: Vec3; target: Vec3 } {
  const back = Math.max(1, (2 * SHOWN_PART) / (top - bottom));
  const shift = -0.5 * (top + bottom) * tanY * back * Math.hypot(...towards);
  const { up } = axesOf(towards);
  const shifted = target.map((x, k) => x + shift * up[k]!) as Vec3;
  return { position: shifted.map((x, k) => x + back * towards[k]!) as Vec3, target: shifted };
}

/**
 * @param points float32[3n] m
 * @param eye its position, m
 * @param towards direction to the eye from the target in the middle of the picture
 * @returns whether every point lies in the free part
 */
export function inside(points: Float32Array, eye: Vec3, towards: Vec3, lens: Lens, free: FreeArea): boolean {
  const { right, up, back } = axesOf(towards);
  for (let i = 0; i < points.length; i += 3) {
    const ray: Vec3 = [points[i]! - eye[0], points[i + 1]! - eye[1], points[i + 2]! - eye[2]];
    const depth = -dot(ray, back);
    const x = dot(ray, right) / lens.tanX;
    const y = dot(ray, up) / lens.tanY;
    // Behind the eye depth is negative, and nothing lies between the bounds.
    if (!(x >= free.left * depth && x <= free.right * depth && y >= free.bottom * depth && y <= free.top * depth))
      return false;
  }
  return true;
}

/**
 * One axis of the picture: p - e lies between low (eye - depth) and high (eye - depth) for every point.
 * @returns the smallest eye coordinate along `back` that allows this, and e for a given coordinate
 */
function bounds(points: Float32Array, side: Vec3, back: Vec3, low: number, high: number) {
  let most = -Infinity;
  let least = Infinity;
  for (let i = 0; i < points.length; i += 3) {
    const along = points[i]! * side[0] + points[i + 1]! * side[1] + points[i + 2]! * side[2];
    const depth = points[i]! * back[0] + points[i + 1]! * back[1] + points[i + 2]! * back[2];
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

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function unit([x, y, z]: Vec3): Vec3 {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}
