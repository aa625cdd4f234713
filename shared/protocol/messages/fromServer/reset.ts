/** `reset`: the scene has started again. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 72;

export const describe = (): field.MessageDescription => ({
  fields: field.integer("tick member"),
  meaning: "the scene has started again, or an undo went back to this tick",
});

export const encode = (tick: number, member: number): Uint8Array => value.encoder.encode([number, tick, member]);

export const parse = ([tick, member]: value.Values): { type: "reset"; tick: number; member: number } => ({
  type: "reset",
  tick: value.number(tick, "tick"),
  member: value.number(member, "member"),
});
