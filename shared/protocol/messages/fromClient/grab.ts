/** `grab`: pulls a point of a body's surface. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";
import type { Point, SurfacePoint } from "../../surfacePoint.ts";

export const number = 2;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.grab(),
    ...field.surfacePoint(),
    ...field.point(),
    field.options(
      field.boolean(
        "together",
        "`true`: the grab pulls all bodies of `interaction.together`, and `body` is one of them",
      ),
    ),
  ],
  meaning: "pulls a point of a surface towards x y z",
  leastRole: "player",
});

export interface GrabOptions {
  /**
   * Grab the same place on all bodies that the scene allows to grab together (`interaction.together` of the topology).
   */
  together?: boolean;
}

interface Request extends SurfacePoint {
  type: "grab";
  grab: number;
  target: Point;
  together?: true;
}

export const build = (grab: number, at: SurfacePoint, target: Point, how: GrabOptions = {}): Uint8Array =>
  encode([
    ...[number, grab, at.body, at.triangle, at.u, at.v, ...target],
    ...(how.together ? [{ together: true }] : []),
  ]);

export function parse(read: FieldReader): Request {
  const request: Request = { type: "grab", grab: read.grab(), ...read.surfacePoint(), target: read.point() };
  const { together } = read.options();
  if (together !== undefined && typeof together !== "boolean") throw read.malformed("together is not a boolean");
  return together ? { ...request, together } : request;
}
