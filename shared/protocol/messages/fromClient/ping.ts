/** `ping`: asks for a `pong`. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";

export const number = 8;

export const describe = (): field.RequestDescription => ({
  fields: field.number("clientTimeMs", "any finite number; `pong` returns it"),
  meaning: "asks for a `pong`",
  presence: true,
});

interface Request {
  type: "ping";
  clientTimeMs: number;
}

export const build = (clientTimeMs: number): Uint8Array => encode([number, clientTimeMs]);

export const parse = (read: FieldReader): Request => ({ type: "ping", clientTimeMs: read.finite("clientTimeMs") });
