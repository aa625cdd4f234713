/** `pins`: all pins of the room. */
import type { Pin } from "../../../members/pin.ts";
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";
import { grabOf } from "./grabs.ts";

export const number = 83;

export const describe = (): field.MessageDescription => ({
  fields: [
    ...field.integer("tick"),
    field.rows("pins", [
      ...field.integer("by pin body triangle"),
      ...field.number("u v x y z"),
      ...field.optional(field.boolean("together")),
    ]),
    ...field.integer("member"),
  ],
  meaning:
    "all pins of the room: after `welcome` if there are any, then after each change. `by`: the member who set the pin; `member`: author of the change, 0: the server",
});

export type PinRow = readonly [pin: number, at: Pin];

export const encode = (tick: number, pins: Iterable<PinRow>, member: number): Uint8Array => {
  const rows = [...pins].map(([pin, { by, body, triangle, u, v, target, together }]) => [
    ...[by, pin, body, triangle, u, v, ...target],
    ...(together ? [true] : []),
  ]);
  return value.encoder.encode([number, tick, rows, member]);
};

interface Event {
  type: "pins";
  tick: number;
  pins: PinRow[];
  member: number;
}

export const parse = ([tick, pins, member]: value.Values): Event => ({
  type: "pins",
  tick: value.number(tick, "tick"),
  pins: value.list(pins, "pins").map(rowOf),
  member: value.number(member, "member"),
});

function rowOf(row: unknown): PinRow {
  const [by, ...fields] = value.list(row, "pins");
  const { grab, ...at } = grabOf(fields);
  return [grab, { ...at, by: value.number(by, "by") }];
}
