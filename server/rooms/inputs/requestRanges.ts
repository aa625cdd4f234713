/** Checks whether a request may reach the simulation: its bodies exist and its values are within limits. */
import { PINS_PER_ROOM } from "../../../shared/members/pin.ts";
import { lookText } from "../../../shared/scene/bodyLook.ts";
import {
  type Refusal,
  refuseDress,
  refuseFar,
  refuseGrab,
  refuseHeading,
  refuseNotSpawnable,
} from "../../../shared/members/inputRanges.ts";
import type { ClientRequest } from "../../../shared/protocol/fromClient.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import {
  BODY_FIELDS,
  isTimeScale,
  mayBe,
  spanOf,
  spanText,
  TIME_SCALE_TEXT,
  type TuningChange,
  type TuningLimits,
  type Wind,
  WIND_FIELDS,
} from "../../../shared/members/tuningLimits.ts";
import { visibleText } from "../../../shared/members/visibleText.ts";
import type { RoomShape } from "../../workers/messages.ts";

type Of<T extends ClientRequest["type"]> = Extract<ClientRequest, { type: T }>;

/** Relative tolerance for a vector of exactly its limit, after its parts are rounded. */
const SLACK = 1e-4;

/** @returns the reason why the request may not reach the simulation, or null */
export function checkRanges(request: ClientRequest, shape: RoomShape): Refusal | null {
  if (request.type === "grab" || request.type === "move" || request.type === "impulse") {
    const { triangles } = shape;
    return refuseGrab(request, { ...shape, bodies: triangles.length, places: (body) => triangles[body]! });
  }
  if (request.type === "spawn")
    return (
      refuseNotSpawnable(request.body, shape.spawnable) ??
      refuseHeading(request.heading) ??
      refuseFar("position", request.position, shape)
    );
  if (request.type === "remove") return refuseNotSpawnable(request.body, shape.spawnable);
  if (request.type === "dress") return refuseLook(request, shape);
  if (request.type === "unpin") return refusePin(request.pin);
  if (request.type === "tune") return checkTuning(request, shape);
  return request.type === "cursor" && request.at ? refuseFar("cursor", request.at, shape) : null;
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
    if (!mayBe(field, value, span)) return { field, value, limit: spanText(field, span) };
  }
  if (change.pins !== undefined && scene.pins === undefined)
    return { field: "pins", value: Number(change.pins), limit: "a body that the scene pins" };
  return null;
}

function refuseLook({ body, text, ...change }: Of<"dress">, { spawnable }: RoomShape): Refusal | null {
  return refuseNotSpawnable(body, spawnable) ?? refuseDress({ ...change, text: text && lookText(text) });
}

const refusePin = (pin: number | null): Refusal | null =>
  pin === null || pin < PINS_PER_ROOM ? null : { field: "pin", value: pin, limit: `0 to ${PINS_PER_ROOM - 1}` };

/** Limit text for a field of a body that cannot be changed. */
const NOT_OF_IT =
  "of a body that has it and can change it while it runs (with solver implicit, a method, a rigid body or Jacobi sweeps most fields cannot)";

/** @param most longest allowed vector, in `unit` */
function checkLength(field: string, parts: Point | undefined, most: number, unit: string): Refusal | null {
  const value = parts ? Math.hypot(...parts) : 0;
  return value <= most * (1 + SLACK) ? null : { field, value, limit: `a vector of at most ${most} ${unit}` };
}

function checkWind({ velocity, ...numbers }: Partial<Wind>, { wind }: TuningLimits): Refusal | null {
  for (const field of WIND_FIELDS) {
    const value = numbers[field];
    if (value === undefined) continue;
    if (!mayBe(field, value, wind[field]))
      return { field: `wind.${field}`, value, limit: spanText(field, wind[field]) };
  }
  return checkLength("wind.velocity", velocity, wind.velocity, "m/s");
}

/** Returns the impulse, shortened to `limit` (N s) if it is longer; zero if its length overflows. */
export function clampImpulse([x, y, z]: Point, limit: number): Point {
  const length = Math.sqrt(x * x + y * y + z * z);
  if (length <= limit) return [x, y, z];
  const scale = limit / length;
  return [x * scale, y * scale, z * scale];
}

/** Returns a displayable name, cut to the limit; undefined if empty. */
export function cleanName(name: string | undefined): string | undefined {
  const cleaned = [...visibleText(name ?? "")].slice(0, Limits.nameLength).join("").trim();
  return cleaned === "" ? undefined : cleaned;
}

/** Returns the color in lower case if it is `#rrggbb`, else undefined. */
export function cleanColor(color: string | undefined): string | undefined {
  return color !== undefined && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : undefined;
}
