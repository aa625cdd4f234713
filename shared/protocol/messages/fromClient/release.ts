/** `release`: ends a grab. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";

export const number = 4;

export const describe = (): field.RequestDescription => ({ fields: field.grab(), meaning: "ends a grab" });

interface Request {
  type: "release";
  grab: number;
}

export const build = (grab: number): Uint8Array => encode([number, grab]);

export const parse = (read: FieldReader): Request => ({ type: "release", grab: read.grab() });
