/** `undo`: undoes the member's last act. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 16;

export const describe = (): field.RequestDescription => ({
  fields: [field.options(field.request())],
  meaning: "undoes the member's newest act that is separable from those of others; an owner's undoes any member's",
  leastRole: "player",
});

interface Request extends Answered {
  type: "undo";
}

export const build = (how: Answered = {}): Uint8Array => encode([number, how]);

export const parse = (read: FieldReader): Request => ({ type: "undo", ...read.answered(read.options()) });
