/** `said`: new lines of chat. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 81;

export const describe = (): field.MessageDescription => ({
  fields: [field.rows("said", [...field.integer("member"), ...field.string("name color text")])],
  meaning: "lines of the last 0.1 s, also the client's own, in order",
});

/** A line of chat, with its author's name and color at that time. */
export interface Said {
  member: number;
  name: string;
  color: string;
  text: string;
}

export const encode = (lines: readonly Said[]): Uint8Array =>
  value.encoder.encode([number, lines.map(({ member, name, color, text }) => [member, name, color, text])]);

export const parse = ([lines]: value.Values): { type: "said"; lines: Said[] } => ({
  type: "said",
  lines: value.list(lines, "said").map(lineOf),
});

function lineOf(entry: unknown): Said {
  const [member, name, color, text] = value.list(entry, "said");
  return {
    member: value.number(member, "said"),
    name: String(name),
    color: value.safeColor(color),
    text: String(text),
  };
}
