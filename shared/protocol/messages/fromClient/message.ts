/** `message`: application data for the other members. */
import { encode } from "@msgpack/msgpack";
import { KIND_FORM } from "../../../members/applicationData.ts";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";

export const number = 14;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.string("kind", KIND_FORM),
    ...field.any(
      "data",
      "nil, booleans, finite numbers, strings, bin, lists and maps with string keys (integer keys become strings); 8 levels, 2,048 bytes of msgpack as the server writes it (a non-integer counts 9)",
    ),
  ],
  meaning: "goes to all other connected members at once and is not stored",
  leastRole: "player",
});

interface Request {
  type: "message";
  kind: string;
  data: unknown;
}

export const build = (kind: string, data: unknown): Uint8Array => encode([number, kind, data]);

export const parse = (read: FieldReader): Request => ({
  type: "message",
  kind: read.string("kind"),
  data: read.data(),
});
