/** `looks`: looks that members gave to spawnable bodies. */
import type { BodyLook } from "../../../scene/bodyLook.ts";
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 82;

export const describe = (): field.MessageDescription => ({
  fields: [
    ...field.integer("tick"),
    field.rows("looks", [
      ...field.integer("body"),
      field.map("look", field.optional([...field.string("color finish text"), ...field.integer("by")])),
      ...field.integer("member"),
    ]),
  ],
  meaning:
    "new looks of bodies: after `welcome` all that members changed, then each change. Absent fields of a look are as in the scene; `by`: author of the text; `member`: author of the change, 0: none",
});

export type LookRow = readonly [body: number, look: BodyLook, member: number];

export const encode = (tick: number, looks: readonly LookRow[]): Uint8Array =>
  value.encoder.encode([number, tick, looks]);

interface Event {
  type: "looks";
  tick: number;
  looks: LookRow[];
}

export const parse = ([tick, looks]: value.Values): Event => ({
  type: "looks",
  tick: value.number(tick, "tick"),
  looks: value.list(looks, "looks").map(rowOf),
});

function rowOf(row: unknown): LookRow {
  const [body, look, member] = value.list(row, "look");
  const { color, ...more } = value.record(look, "look") as BodyLook;
  return [
    value.number(body, "body"),
    { ...more, ...(color !== undefined && { color: value.safeColor(color) }) },
    value.number(member, "member"),
  ];
}
