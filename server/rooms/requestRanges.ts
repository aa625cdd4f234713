/** Checks whether a request may reach the simulation: its bodies exist and its values are within limits. */
import type { ClientRequest } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";
import { Limits, type TuningChange, type Wind } from "../../shared/protocol/protocol.ts";
import {
  BODY_FIELDS,
  isTimeScale,
  mayBe,
  spanOf,
  spanText,
  TIME_SCALE_TEXT,
  type TuningLimits,
  WIND_FIELDS,
  within,
} from "../../shared/tuning.ts";
import type { RoomShape } from "../workers/messages.ts";

export interface Refusal {
  field: string;
  value: number;
  limit: string;
}

/** A pick on a triangle's edge may lie outside by rounding; the simulation allows the same tolerance. */
const BARYCENTRIC_SLACK = 1e-3;

/** Relative tolerance for a vector of exactly its limit, after its parts are rounded. */
const SLACK = 1e-4;

/** @returns the reason why the request may not reach the simulation, or null */
export function checkRanges(request: ClientRequest, shape: RoomShape): Refusal | null {
  if (request.type === "grab" || request.type === "impulse") {
    const { body, triangle, u, v } = request;
    if (body >= shape.triangles.length)
      return { field: "body", value: body, limit: `0 to ${shape.triangles.length - 1}` };
    const triangles = shape.triangles[body]!;
    if (triangle >= triangles) return { field: "triangle", value: triangle, limit: `0 to ${triangles - 1}` };
    if (u < -BARYCENTRIC_SLACK || u > 1 + BARYCENTRIC_SLACK) return { field: "u", value: u, limit: "0 to 1" };
    if (v < -BARYCENTRIC_SLACK || u + v > 1 + BARYCENTRIC_SLACK) return { field: "v", value: v, limit: "0 to 1 - u" };
    if (request.type === "grab" && request.together && !shape.together.includes(body))
      return {
        field: "together",
        value: body,
        limit: `a body that one grab pulls together with others: ${shape.together.join(", ") || "this scene has none"}`,
      };
  }
  if (request.type === "grab" || request.type === "move") return checkReach("target", request.target, shape);
  if (request.type === "spawn" || request.type === "remove") {
    const { body } = request;
    if (!shape.waiting.includes(body))
      return {
        field: "body",
        value: body,
        limit: `a spawnable body: ${shape.waiting.join(", ") || "this scene has none"}`,
      };
  }
  if (request.type === "spawn") {
    const [x, z] = request.heading;
    const length = Math.sqrt(x * x + z * z);
    if (!(length > 0 && length < Infinity))
      return { field: "heading", value: length, limit: "a direction: longer than 0" };
    return checkReach("position", request.position, shape);
  }
  if (request.type === "tune") return checkTuning(request, shape);
  if (request.type === "cursor" && request.at) return checkReach("cursor", request.at, shape);
  return null;
}

function checkTuning({ gravity, wind, timeScale, body, ...change }: TuningChange, shape: RoomShape): Refusal | null {
  const { tuning } = shape;
  const refusal = checkLength("gravity", gravity, tuning.gravity, "m/s^2") ?? (wind ? checkWind(wind, tuning) : null);
  if (refusal) return refusal;
  if (timeScale !== undefined && !isTimeScale(timeScale))
    return { field: "timeScale", value: timeScale, limit: TIME_SCALE_TEXT };
  if (body === undefined) return null;
  const scene = shape.tunable[body];
  if (!scene) return { field: "body", value: body, limit: `0 to ${shape.tunable.length - 1}` };
  for (const field of BODY_FIELDS) {
    const value = change[field];
    if (value === undefined) continue;
    if (scene[field] === undefined) return { field, value, limit: NOT_OF_IT };
    const span = tuning.bodies[body]![field] ?? spanOf(field, scene[field]);
    if (!mayBe(field, value, span)) return { field, value, limit: spanText(span) };
  }
  if (change.pins !== undefined && scene.pins === undefined)
    return { field: "pins", value: Number(change.pins), limit: "a body that the scene pins" };
  return null;
}

/** Limit text for a field of a body that cannot be changed. */
const NOT_OF_IT =
  "of a body that has it and can change it while it runs (with solver implicit, a method, a rigid body or Jacobi sweeps most fields cannot)";

/** @param most longest allowed vector, in `unit` */
function checkLength(field: string, parts: Point | undefined, most: number, unit: string): Refusal | null {
  // A length that overflows to infinity is refused, too.
  const value = parts ? Math.sqrt(parts.reduce((sum, part) => sum + part * part, 0)) : 0;
  return value <= most * (1 + SLACK) ? null : { field, value, limit: `a vector of at most ${most} ${unit}` };
}

function checkWind({ velocity, ...numbers }: Partial<Wind>, { wind }: TuningLimits): Refusal | null {
  for (const field of WIND_FIELDS) {
    const value = numbers[field];
    if (value === undefined) continue;
    if (!within(value, wind[field]) || (field === "seed" && !Number.isInteger(value)))
      return { field: `wind.${field}`, value, limit: spanText(wind[field]) };
  }
  return checkLength("wind.velocity", velocity, wind.velocity, "m/s");
}

function checkReach(field: string, point: Point, { reach, origin }: RoomShape): Refusal | null {
  const [x, y, z] = point.map((c, r) => c + origin[r]!) as Point;
  // A distance that overflows to infinity is refused, too.
  const distance = Math.sqrt(x * x + y * y + z * z);
  return distance <= reach ? null : { field, value: distance, limit: `up to ${reach} m from the origin` };
}

/** Returns the impulse, shortened to `limit` (N s) if it is longer; zero if its length overflows. */
export function clampImpulse([x, y, z]: Point, limit: number): Point {
  const length = Math.sqrt(x * x + y * y + z * z);
  if (length <= limit) return [x, y, z];
  const scale = limit / length;
  return [x * scale, y * scale, z * scale];
}

/** Returns a displayable name: control characters and outer spaces removed, cut to the limit; undefined if empty. */
export function cleanName(name: string | undefined): string | undefined {
  const cleaned = [
    ...(name ?? "")
      .toWellFormed()
      .normalize("NFC")
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
      .trim(),
  ]
    .slice(0, Limits.nameLength)
    .join("");
  return cleaned === "" ? undefined : cleaned;
}

/** Returns the color in lower case if it is `#rrggbb`, else undefined. */
export function cleanColor(color: string | undefined): string | undefined {
  return color !== undefined && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : undefined;
}
