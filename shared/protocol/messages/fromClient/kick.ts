/** `kick`: removes a member from the room. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 12;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.member(),
    field.options([
      ...field.number("ban", "s; more than 0, up to 2678400 (31 days). Absent: no ban"),
      ...field.request(),
    ]),
  ],
  meaning: "removes a member (4403) and bans it for `ban` s",
  leastRole: "owner",
});

interface Request extends Answered {
  type: "kick";
  member: number;
  banSeconds?: number;
}

export const build = (member: number, banSeconds?: number, { request }: Answered = {}): Uint8Array =>
  encode([number, member, { ban: banSeconds, request }], { ignoreUndefined: true });

export function parse(read: FieldReader): Request {
  const member = read.integer("member");
  const options = read.options();
  const request: Request = { type: "kick", member, ...read.answered(options) };
  const { ban } = options;
  if (ban === undefined || ban === null) return request;
  if (typeof ban !== "number" || !Number.isFinite(ban)) throw read.malformed("ban is not a finite number");
  return { ...request, banSeconds: ban };
}
