/** `tune`: changes the physics of the room. */
import { encode } from "@msgpack/msgpack";
import { BODY_FIELDS, type TuningChange, type Wind, WIND_FIELDS } from "../../../members/tuningLimits.ts";
import * as field from "../../fields.ts";
import type { Answered, FieldReader, Options } from "../../fieldReader.ts";
import type { Point } from "../../surfacePoint.ts";

export const number = 15;

const RANGES: Readonly<Record<string, string>> = {
  damping: "of `body`, 1/s; 0 to 10000. Absent: unchanged",
  friction: "of `body`; 0 to 10. Absent: unchanged",
};

export const describe = (): field.RequestDescription => ({
  fields: [
    field.map(
      "options",
      field.optional([
        field.tuple(
          "gravity",
          field.number("gx gy gz"),
          "m/s²; at most `welcome.tuning.gravity` long. Absent: unchanged",
        ),
        field.map("wind"),
        ...field.number("timeScale"),
        ...field.body(),
        ...BODY_FIELDS.flatMap((name) => field.number(name, RANGES[name])),
        ...field.boolean("pins"),
        ...field.boolean("asScene", "`true`: all values return to the scene's"),
        ...field.request(),
      ]),
    ),
  ],
  meaning: "changes the physics from the next tick on",
  leastRole: "owner",
});

type Request = { type: "tune" } & TuningChange & Answered;

export const build = (change: TuningChange & Answered): Uint8Array =>
  encode([number, change], { ignoreUndefined: true });

export function parse(read: FieldReader): Request {
  const options = read.options();
  const { gravity, wind, timeScale, body, pins, asScene, ...fields } = options;
  const request: Request = { type: "tune", ...read.answered(options) };
  if (gravity !== undefined) request.gravity = threeNumbers(read, "gravity", gravity);
  if (wind !== undefined) request.wind = windOf(read, wind);
  if (timeScale !== undefined) request.timeScale = finite(read, "timeScale", timeScale);
  for (const name of BODY_FIELDS) if (fields[name] !== undefined) request[name] = finite(read, name, fields[name]);
  if (pins !== undefined) {
    if (typeof pins !== "boolean") throw read.malformed("pins is not a boolean");
    request.pins = pins;
  }
  if (asScene !== undefined) {
    if (asScene !== true) throw read.malformed("asScene is not true");
    request.asScene = true;
  }
  const ofBody = pins !== undefined || BODY_FIELDS.some((name) => fields[name] !== undefined);
  if (body === undefined ? ofBody : !Number.isInteger(body)) throw read.malformed("body is not an integer");
  if (body !== undefined) request.body = body as number;
  return request;
}

function windOf(read: FieldReader, value: unknown): Partial<Wind> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw read.malformed("wind is not a map");
  const { velocity, ...fields } = value as Options;
  const wind: Partial<Wind> = velocity === undefined ? {} : { velocity: threeNumbers(read, "wind velocity", velocity) };
  for (const name of WIND_FIELDS)
    if (fields[name] !== undefined) wind[name] = finite(read, `wind ${name}`, fields[name]);
  return wind;
}

function finite(read: FieldReader, name: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw read.malformed(`${name} is not a finite number`);
}

function threeNumbers(read: FieldReader, name: string, value: unknown): Point {
  if (Array.isArray(value) && value.length === 3 && value.every(Number.isFinite)) return value as Point;
  throw read.malformed(`${name} is not three finite numbers`);
}
