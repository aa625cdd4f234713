/** `tuned`: the complete physics that owners may change. */
import { BODY_FIELDS, type BodyTuning, type Tuning, type Wind, WIND_FIELDS } from "../../../members/tuningLimits.ts";
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";
import type { Point } from "../../surfacePoint.ts";

export const number = 78;

export const describe = (): field.MessageDescription => ({
  fields: [
    ...field.integer("tick"),
    field.tuple("gravity", field.number("gx gy gz")),
    field.rows("bodies", [
      ...field.integer("body"),
      ...field.nullable(field.number("damping friction")),
      field.map("material"),
    ]),
    ...field.integer("member"),
    field.map("room", [field.map("wind"), ...field.number("timeScale"), ...field.integer("pausedTicks")]),
  ],
  meaning: "the complete physics from `tick` on: after `welcome`, each `tune`, and an undo",
});

export function encode(tick: number, { gravity, bodies, ...room }: Tuning, member: number): Uint8Array {
  const rows = bodies.map(({ body, damping, friction, ...more }) => [body, damping ?? null, friction ?? null, more]);
  return value.exactEncoder.encode([number, tick, gravity, rows, member, room]);
}

interface Event {
  type: "tuned";
  tick: number;
  tuning: Tuning;
  member: number;
}

export function parse([tick, gravity, bodies, member, room]: value.Values): Event {
  const { wind, timeScale, pausedTicks } = value.record(room, "room");
  const air = value.record(wind, "wind");
  const numbers = WIND_FIELDS.map((name) => [name, value.number(air[name], `wind ${name}`)]);
  return {
    type: "tuned",
    tick: value.number(tick, "tick"),
    tuning: {
      gravity: vector(gravity, "gravity"),
      wind: { ...(Object.fromEntries(numbers) as unknown as Wind), velocity: vector(air.velocity, "wind velocity") },
      timeScale: value.number(timeScale, "timeScale"),
      pausedTicks: value.number(pausedTicks, "pausedTicks"),
      bodies: value.list(bodies, "bodies").map(bodyOf),
    },
    member: value.number(member, "member"),
  };
}

const vector = (entry: unknown, what: string): Point => value.point(value.list(entry, what), 0, what);

function bodyOf(row: unknown): BodyTuning {
  const [body, damping, friction, more] = value.list(row, "body");
  const fields: Record<string, unknown> = { damping, friction, ...value.record(more, "body") };
  const tuning: BodyTuning = { body: value.number(body, "body") };
  for (const field of BODY_FIELDS)
    if (fields[field] !== undefined && fields[field] !== null) tuning[field] = value.number(fields[field], field);
  if (typeof fields.pins === "boolean") tuning.pins = fields.pins;
  return tuning;
}
