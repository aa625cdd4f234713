/** `remove`: takes a spawned body out of the scene. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 11;

export const describe = (): field.RequestDescription => ({
  fields: [...field.body(), field.options(field.request())],
  meaning: "takes a spawned body out and ends its grabs",
  leastRole: "player",
  ownersOnly: true,
});

interface Request extends Answered {
  type: "remove";
  body: number;
}

export const build = (body: number, how: Answered = {}): Uint8Array => encode([number, body, how]);

export const parse = (read: FieldReader): Request => ({
  type: "remove",
  body: read.integer("body"),
  ...read.answered(read.options()),
});
