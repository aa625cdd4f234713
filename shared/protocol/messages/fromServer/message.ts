/** `message`: application data of another member. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 75;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("member"), ...field.string("kind"), ...field.any("data")],
  meaning: "another member's `message`, in order",
});

export const encode = (member: number, kind: string, data: unknown): Uint8Array =>
  value.exactEncoder.encode([number, member, kind, data]);

interface Event {
  type: "message";
  member: number;
  kind: string;
  data: unknown;
}

export const parse = ([member, kind, data]: value.Values): Event => ({
  type: "message",
  member: value.number(member, "member"),
  kind: String(kind),
  data,
});
