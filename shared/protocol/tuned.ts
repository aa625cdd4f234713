/** Parses the message `tuned`, the values that owners may change. */
import { BODY_FIELDS, type BodyTuning, type Tuning, type Wind, WIND_FIELDS } from "../tuning.ts";

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

/** @param fields of `tuned`, after its tick. @throws Error if they do not have the documented form */
export function parseTuning([gravity, bodies, , room]: readonly unknown[]): Tuning {
  const { wind, timeScale, pausedTicks } = record(room, "tuned room");
  const air = record(wind, "tuned wind");
  if (!Array.isArray(bodies)) throw new Error(`server message: tuned bodies must be a list, got ${typeof bodies}`);
  const numbers = WIND_FIELDS.map((field) => [field, number(air[field], `wind ${field}`)]);
  return {
    gravity: vector(gravity, "tuned gravity"),
    wind: { ...(Object.fromEntries(numbers) as unknown as Wind), velocity: vector(air.velocity, "wind velocity") },
    timeScale: number(timeScale, "tuned timeScale"),
    pausedTicks: number(pausedTicks, "tuned pausedTicks"),
    bodies: bodies.map(parseBody),
  };
}
