/** `reactions`: reactions of the last moment. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 80;

export const describe = (): field.MessageDescription => ({
  fields: [field.rows("reactions", field.integer("member reaction"))],
  meaning: "reactions of the last 0.1 s, also the client's own; the last one of each member",
});

/** @param reactions by member */
export const encode = (reactions: ReadonlyMap<number, number>): Uint8Array =>
  value.encoder.encode([number, [...reactions]]);

export const parse = ([reactions]: value.Values): { type: "reactions"; reactions: [number, number][] } => ({
  type: "reactions",
  reactions: value.list(reactions, "reactions").map(value.pair),
});
