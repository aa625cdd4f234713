/** `reset`: starts the scene again for all members. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 6;

export const describe = (): field.RequestDescription => ({
  fields: [field.options(field.request())],
  meaning: "starts the scene again for everyone and ends all grabs. A second one within 500 ms is refused",
  leastRole: "player",
  ownersOnly: true,
});

interface Request extends Answered {
  type: "reset";
}

export const build = (how: Answered = {}): Uint8Array => encode([number, how]);

export const parse = (read: FieldReader): Request => ({ type: "reset", ...read.answered(read.options()) });
