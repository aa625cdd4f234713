/** `needKeyframe`: asks for a keyframe. */
import { encode } from "@msgpack/msgpack";
import type { RequestDescription } from "../../fields.ts";

export const number = 9;

export const describe = (): RequestDescription => ({
  fields: [],
  meaning: "asks for a keyframe, after a frame that could not be decoded",
  presence: true,
});

interface Request {
  type: "needKeyframe";
}

export const build = (): Uint8Array => encode([number]);

export const parse = (): Request => ({ type: "needKeyframe" });
