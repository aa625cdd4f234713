/** What owners change of a room: checked before it is sent, and read from what the server says. */
import type { BodyTuning, Tuning, TuningChange, Wind } from "../../shared/protocol.ts";
import {
  BODY_FIELDS,
  isTimeScale,
  MOST_GRAVITY,
  MOST_WIND,
  SPANS,
  TIME_SCALE_TEXT,
  WIND_FIELDS,
  WIND_SPANS,
} from "../../shared/tuning.ts";
import { checkNumber, checkVector } from "./arguments.ts";
import { badArgument } from "./errors.ts";

function checkParts(field: string, value: unknown, most: number): [number, number, number] {
  const parts = checkVector(field, value);
  for (const part of parts) checkNumber(field, part, -most, most);
  return parts;
}

function checkWind({ velocity, ...numbers }: Partial<Wind>): Partial<Wind> {
  const wind: Partial<Wind> = velocity === undefined ? {} : { velocity: checkParts("wind", velocity, MOST_WIND) };
  for (const field of WIND_FIELDS)
    if (numbers[field] !== undefined)
      wind[field] = checkNumber(`wind.${field}`, numbers[field], WIND_SPANS[field].least, WIND_SPANS[field].most);
  return wind;
}

/** All but the body. @throws PliantError BAD_ARGUMENT */
export function checkTuning(asked: Omit<TuningChange, "body">): TuningChange {
  const change: TuningChange = {};
  const { gravity, wind, timeScale, pins } = asked;
  if (gravity !== undefined) change.gravity = checkParts("gravity", gravity, MOST_GRAVITY);
  if (wind !== undefined) change.wind = checkWind(wind);
  if (timeScale !== undefined)
    change.timeScale = isTimeScale(timeScale) ? timeScale : badArgument("timeScale", timeScale, TIME_SCALE_TEXT);
  for (const field of BODY_FIELDS)
    if (asked[field] !== undefined)
      change[field] = checkNumber(field, asked[field], SPANS[field].least, SPANS[field].most);
  if (pins !== undefined) change.pins = typeof pins === "boolean" ? pins : badArgument("pins", pins, "true or false");
  if (asked.asScene) change.asScene = true;
  return change;
}

type Fields = Record<string, unknown>;

function record(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`server message: ${what} must be a map, got ${typeof value}`);
}

function number(value: unknown, what: string): number {
  if (typeof value === "number") return value;
  throw new Error(`server message: ${what} must be a number, got ${typeof value}`);
}

function vector(value: unknown, what: string): [number, number, number] {
  if (!Array.isArray(value)) throw new Error(`server message: ${what} must be a list, got ${typeof value}`);
  return [number(value[0], `${what} x`), number(value[1], `${what} y`), number(value[2], `${what} z`)];
}

function parseBody(value: unknown): BodyTuning {
  if (!Array.isArray(value)) throw new Error(`server message: tuned body must be a list, got ${typeof value}`);
  const [body, damping, friction, more] = value as unknown[];
  const fields: Fields = { damping, friction, ...record(more, "tuned body") };
  const tuning: BodyTuning = { body: number(body, "tuned body") };
  for (const field of BODY_FIELDS)
    if (fields[field] !== undefined && fields[field] !== null) tuning[field] = number(fields[field], `tuned ${field}`);
  if (typeof fields.pins === "boolean") tuning.pins = fields.pins;
  return tuning;
}

/** @param fields of `tuned`, behind its tick. @throws Error where they do not have their form */
export function parseTuning([gravity, bodies, , room]: readonly unknown[]): Tuning {
  const { wind, timeScale, stood } = record(room, "tuned room");
  const air = record(wind, "tuned wind");
  if (!Array.isArray(bodies)) throw new Error(`server message: tuned bodies must be a list, got ${typeof bodies}`);
  const numbers = WIND_FIELDS.map((field) => [field, number(air[field], `wind ${field}`)]);
  return {
    gravity: vector(gravity, "tuned gravity"),
    wind: { ...(Object.fromEntries(numbers) as unknown as Wind), velocity: vector(air.velocity, "wind velocity") },
    timeScale: number(timeScale, "tuned timeScale"),
    stood: number(stood, "tuned stood"),
    bodies: bodies.map(parseBody),
  };
}
