/** `impulse`: one push at a point of a surface. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { FieldReader } from "../../fieldReader.ts";
import type { Point, SurfacePoint } from "../../surfacePoint.ts";

export const number = 5;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.surfacePoint(),
    ...field.number(
      "ix iy iz",
      "N s; shortened to `interaction.maxImpulse`. Particles around the point get at most 1.5 mean edges a substep, the whole body the rest of the momentum",
    ),
  ],
  meaning: "one push at a point of a surface",
  leastRole: "player",
});

interface Request extends SurfacePoint {
  type: "impulse";
  impulse: Point;
}

export const build = (at: SurfacePoint, impulse: Point): Uint8Array =>
  encode([number, at.body, at.triangle, at.u, at.v, ...impulse]);

export const parse = (read: FieldReader): Request => ({
  type: "impulse",
  ...read.surfacePoint(),
  impulse: read.point(),
});
