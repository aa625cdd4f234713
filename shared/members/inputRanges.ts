/**
 * Ranges of grabs, moves, impulses, spawns and looks. The room checks every request of a member with them. The
 * simulation checks its inputs again, because recordings and journals bring inputs that no room has checked.
 */
import { FINISHES, LONGEST_TEXT, type LookChange } from "../scene/bodyLook.ts";
import type { GrabOptions, SurfacePoint } from "../protocol/fromClient.ts";
import type { Point } from "../protocol/fromServer.ts";

/** Reason why a request is refused. */
export interface Refusal {
  field: string;
  value: number | string;
  limit: string;
}

/** Targets and cursors must be within `reach` (m) of the world's origin, which is `origin` away from the room's. */
export interface Reach {
  reach: number;
  origin: Point;
}

export interface GrabRanges extends Reach {
  bodies: number;
  /** Number of surface triangles of a body, or points of a cloud. */
  places: (body: number) => number;
  /** Bodies that one grab may pull together. */
  together: readonly number[];
}

type Ranged =
  | ({ type: "grab"; target: Point } & SurfacePoint & GrabOptions)
  | { type: "move"; target: Point }
  | ({ type: "impulse" } & SurfacePoint);

/** Tolerance of u and v: a pick on a triangle's edge may lie outside by rounding. */
export const BARYCENTRIC_SLACK = 1e-3;

const isIndex = (value: number, count: number): boolean => Number.isInteger(value) && value >= 0 && value < count;

/** @returns null if all values are within their ranges; NaN is in none */
export function refuseGrab(request: Ranged, ranges: GrabRanges): Refusal | null {
  if (request.type !== "move") {
    const { body, triangle, u, v } = request;
    const { bodies, together } = ranges;
    if (!isIndex(body, bodies)) return { field: "body", value: body, limit: `0 to ${bodies - 1}` };
    const places = ranges.places(body);
    if (!isIndex(triangle, places)) return { field: "triangle", value: triangle, limit: `0 to ${places - 1}` };
    if (!(u >= -BARYCENTRIC_SLACK && u <= 1 + BARYCENTRIC_SLACK)) return { field: "u", value: u, limit: "0 to 1" };
    if (!(v >= -BARYCENTRIC_SLACK && u + v <= 1 + BARYCENTRIC_SLACK))
      return { field: "v", value: v, limit: "0 to 1 - u" };
    if (request.type === "grab" && request.together && !together.includes(body))
      return {
        field: "together",
        value: body,
        limit: `a body that one grab pulls together with others: ${together.join(", ") || "this scene has none"}`,
      };
  }
  return request.type === "impulse" ? null : refuseFar("target", request.target, ranges);
}

/** @param spawnable indices of the spawnable bodies. @returns null if the body is one of them */
export function refuseNotSpawnable(body: number, spawnable: readonly number[]): Refusal | null {
  if (spawnable.includes(body)) return null;
  return { field: "body", value: body, limit: `a spawnable body: ${spawnable.join(", ") || "this scene has none"}` };
}

/** @returns null if the direction in the ground plane is valid */
export function refuseHeading([x, z]: readonly [number, number]): Refusal | null {
  const length = Math.sqrt(x * x + z * z);
  return length > 0 && length < Infinity
    ? null
    : { field: "heading", value: length, limit: "a direction: longer than 0" };
}

/** @returns the reason why a change is refused, or null */
export function refuseDress({ color, finish, text }: LookChange): Refusal | null {
  if (color != null && !/^#[0-9a-f]{6}$/.test(color)) return { field: "color", value: color, limit: "#rrggbb" };
  if (finish != null && !FINISHES.includes(finish))
    return { field: "finish", value: finish, limit: FINISHES.join(", ") };
  const { length } = [...(text ?? "")];
  return length > LONGEST_TEXT ? { field: "text", value: length, limit: `up to ${LONGEST_TEXT} characters` } : null;
}

/** @returns null if the point is within reach */
export function refuseFar(field: string, point: Point, { reach, origin }: Reach): Refusal | null {
  const distance = Math.hypot(...point.map((c, r) => c + origin[r]!));
  return distance <= reach ? null : { field, value: distance, limit: `up to ${reach} m from the origin` };
}
