/** `spawn`: adds a spawnable body. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";
import type { Point } from "../../surfacePoint.ts";

export const number = 10;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.body(),
    ...field.point(),
    field.options([
      field.tuple(
        "heading",
        field.number("hx hz"),
        "horizontal direction of the body's x axis; any length but 0. Absent: [1, 0], not turned",
      ),
      ...field.string("occupied", "`refuse` or `lift`. Absent: `refuse`"),
      ...field.request(),
    ]),
  ],
  meaning: "adds a spawnable body with its underside at x y z",
  leastRole: "player",
  ownersOnly: true,
});

export interface SpawnOptions {
  /** Direction of the body's x axis in the horizontal plane (x, z). Default: not rotated. */
  heading?: [number, number];
  /** `lift`: use the nearest free place above. Default: `refuse`. */
  occupied?: "refuse" | "lift";
}

interface Request extends Answered, Required<SpawnOptions> {
  type: "spawn";
  body: number;
  position: Point;
}

export const build = (body: number, position: Point, how: SpawnOptions & Answered = {}): Uint8Array =>
  encode([number, body, ...position, how]);

export function parse(read: FieldReader): Request {
  const body = read.integer("body");
  const position = read.point();
  const options = read.options();
  const { heading = [1, 0], occupied = "refuse" } = options;
  if (!Array.isArray(heading) || heading.length !== 2 || !heading.every((c) => Number.isFinite(c)))
    throw read.malformed("heading is not two finite numbers");
  if (occupied !== "refuse" && occupied !== "lift") throw read.malformed("occupied is neither refuse nor lift");
  return { type: "spawn", body, position, heading: heading as [number, number], occupied, ...read.answered(options) };
}
