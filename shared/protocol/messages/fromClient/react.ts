/** `react`: shows a picture at the member's cursor for a moment. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";

export const number = 17;

export const describe = (): field.RequestDescription => ({
  fields: field.integer("reaction", "0 to 5: 👍 👏 😂 😮 ❤️ 🎉"),
  meaning: "shows a picture at the member's cursor for a moment",
});

interface Request {
  type: "react";
  /** A place in REACTIONS (shared/members/reactions.ts). */
  reaction: number;
}

export const build = (reaction: number): Uint8Array => encode([number, reaction]);

export const parse = (read: FieldReader): Request => ({ type: "react", reaction: read.integer("reaction") });
