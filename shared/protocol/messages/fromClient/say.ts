/** `say`: a line of chat. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";

export const number = 18;

export const describe = (): field.RequestDescription => ({
  fields: field.string(
    "text",
    "1 to 200 characters after the rules of names: NFKC, single spaces, no invisible characters",
  ),
  meaning: "writes a line of chat; with `chat` false only owners may",
  leastRole: "player",
});

interface Request {
  type: "say";
  text: string;
}

export const build = (text: string): Uint8Array => encode([number, text]);

export const parse = (read: FieldReader): Request => ({ type: "say", text: read.string("text") });
