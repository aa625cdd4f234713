/** `cursor`: the member's pointer, for the other members. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";
import type { Point } from "../../surfacePoint.ts";

export const number = 7;

export const describe = (): field.RequestDescription => {
  const [x, y, z] = field.point() as [field.Field, field.Field, field.Field];
  return {
    fields: [...field.nullable([x]), ...field.optional([y, z])],
    meaning: "the member's pointer for the other members; nil removes it",
    presence: true,
  };
};

interface Request {
  type: "cursor";
  at: Point | null;
}

export const build = (at: Point | undefined): Uint8Array => encode(at ? [number, ...at] : [number, null]);

export const parse = (read: FieldReader): Request => ({
  type: "cursor",
  at: read.peek() === null ? null : read.point(),
});
