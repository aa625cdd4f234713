/** `contacts`: pairs of bodies that began to touch. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 77;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("tick"), field.rows("contacts", field.integer("body body"))],
  meaning: "pairs of bodies that began to touch; only on request",
});

/** @param pairs of bodies */
export const encode = (tick: number, pairs: readonly [number, number][]): Uint8Array =>
  value.encoder.encode([number, tick, pairs]);

export const parse = ([tick, pairs]: value.Values): { type: "contacts"; tick: number; pairs: [number, number][] } => ({
  type: "contacts",
  tick: value.number(tick, "tick"),
  pairs: value.list(pairs, "contacts").map(value.pair),
});
