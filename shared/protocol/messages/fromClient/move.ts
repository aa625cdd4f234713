/** `move`: moves the target of a grab. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";
import type { Point } from "../../surfacePoint.ts";

export const number = 3;

export const describe = (): field.RequestDescription => ({
  fields: [...field.grab(), ...field.point()],
  meaning: "moves the target of a grab (ignored for unknown grabs). The last one of a grab in a tick counts",
});

interface Request {
  type: "move";
  grab: number;
  target: Point;
}

export const build = (grab: number, target: Point): Uint8Array => encode([number, grab, ...target]);

export const parse = (read: FieldReader): Request => ({ type: "move", grab: read.grab(), target: read.point() });
