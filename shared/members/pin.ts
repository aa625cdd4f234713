/** Pins: grabs of the room itself, which members set and remove. */
import type { Point, SurfacePoint } from "../protocol/surfacePoint.ts";

/** Most pins at once: of one member, and of a room. */
export const PINS_PER_MEMBER = 8;
export const PINS_PER_ROOM = 16;

export interface Pin extends SurfacePoint {
  /** Place of the pin, m. */
  target: Point;
  /** It holds the same place on all bodies that the scene allows to grab together. */
  together?: true;
  /** Member who set it. */
  by: number;
}

export const samePin = (a: Pin | undefined, b: Pin | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && fieldsOf(a).every((value, n) => value === fieldsOf(b)[n]));

const fieldsOf = ({ body, triangle, u, v, target, together, by }: Pin): unknown[] => [
  ...[body, triangle, u, v, ...target],
  together,
  by,
];
