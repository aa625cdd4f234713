/** `pin`: turns an own grab into a pin. */
import { encode } from "@msgpack/msgpack";
import { PINS_PER_MEMBER, PINS_PER_ROOM } from "../../../members/pin.ts";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 20;

export const describe = (): field.RequestDescription => ({
  fields: [...field.grab(), field.options(field.request())],
  meaning: `turns an own grab into a pin, which stays when the member lets go or leaves: up to ${PINS_PER_MEMBER} of a member and ${PINS_PER_ROOM} in a room. If it is refused, the grab stays`,
  leastRole: "player",
  ownersOnly: true,
});

interface Request extends Answered {
  type: "pin";
  grab: number;
}

export const build = (grab: number, how: Answered = {}): Uint8Array => encode([number, grab, how]);

export const parse = (read: FieldReader): Request => ({
  type: "pin",
  grab: read.grab(),
  ...read.answered(read.options()),
});
