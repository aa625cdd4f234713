/** `unpin`: removes a pin, or all. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 21;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.nullable(field.integer("pin", "a pin's number, from `pins`. nil: all, only for owners")),
    field.options(field.request()),
  ],
  meaning: "removes a pin of any member; no error if it is gone already",
  leastRole: "player",
  ownersOnly: true,
});

interface Request extends Answered {
  type: "unpin";
  /** null: all. */
  pin: number | null;
}

export const build = (pin: number | null, how: Answered = {}): Uint8Array => encode([number, pin, how]);

export function parse(read: FieldReader): Request {
  const pin = read.peek() === null ? read.skip() : read.integer("pin");
  return { type: "unpin", pin, ...read.answered(read.options()) };
}
