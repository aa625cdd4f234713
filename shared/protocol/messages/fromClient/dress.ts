/** `dress`: changes the look of a spawnable body. */
import { encode } from "@msgpack/msgpack";
import { FINISHES, LONGEST_TEXT, type LookChange } from "../../../scene/bodyLook.ts";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";
import { Limits } from "../../protocol.ts";

export const number = 19;

const KEEPS = "nil: as in the scene. Absent: unchanged";

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.body(),
    field.options([
      ...field.nullable(field.string("color", `\`#rrggbb\`. ${KEEPS}`)),
      ...field.nullable(field.string("finish", `${FINISHES.map((name) => `\`${name}\``).join(", ")}. ${KEEPS}`)),
      ...field.nullable(
        field.string(
          "text",
          `shown beside the body: up to ${LONGEST_TEXT} characters after the rules of names. With \`chat\` false only owners may write one. ${KEEPS}`,
        ),
      ),
      ...field.request(),
    ]),
  ],
  meaning: `changes the look of a spawnable body until it is taken out or the scene starts again; up to ${Limits.looksPerSecond} a second`,
  leastRole: "player",
  ownersOnly: true,
});

interface Request extends Answered, LookChange {
  type: "dress";
  body: number;
}

export const build = (body: number, change: LookChange & Answered): Uint8Array =>
  encode([number, body, change], { ignoreUndefined: true });

export function parse(read: FieldReader): Request {
  const body = read.integer("body");
  const options = read.options();
  const change: Record<string, string | null> = {};
  for (const name of ["color", "finish", "text"]) {
    const value = options[name];
    if (typeof value === "string" || value === null) change[name] = value;
    else if (value !== undefined) throw read.malformed(`${name} is not a string`);
  }
  return { type: "dress", body, ...change, ...read.answered(options) };
}
