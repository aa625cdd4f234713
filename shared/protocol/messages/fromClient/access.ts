/** `access`: changes admission and rights. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import type { Answered, FieldReader } from "../../fieldReader.ts";

export const number = 13;

export const describe = (): field.RequestDescription => ({
  fields: [
    field.map(
      "options",
      field.optional([
        ...field.boolean("locked ownersOnly chat", "absent: unchanged"),
        ...field.nullable(field.string("password", "6 to 128 characters; nil removes it. Absent: unchanged")),
        ...field.boolean("liftBans", "absent: unchanged"),
        ...field.request(),
      ]),
    ),
  ],
  meaning: "changes admission and rights in one step",
  leastRole: "owner",
});

/** Changes of a room's access. Absent fields stay. */
export interface AccessChange {
  locked?: boolean;
  /** Only owners may reset, spawn and remove. */
  ownersOnly?: boolean;
  /** False: only owners may write in the chat. */
  chat?: boolean;
  /** Null removes it. */
  password?: string | null;
  liftBans?: boolean;
}

interface Request extends AccessChange, Answered {
  type: "access";
  /** From a forwarding process, in place of `password`. */
  ticket?: string;
}

export const build = (change: AccessChange & Answered): Uint8Array =>
  encode([number, change], { ignoreUndefined: true });

export function parse(read: FieldReader): Request {
  const options = read.options();
  const request: Request = { type: "access", ...read.answered(options) };
  for (const name of ["locked", "ownersOnly", "chat", "liftBans"] as const) {
    const flag = options[name];
    if (flag === undefined) continue;
    if (typeof flag !== "boolean") throw read.malformed(`${name} is not a boolean`);
    request[name] = flag;
  }
  const { password, ticket } = options;
  if (typeof ticket === "string") request.ticket = ticket;
  if (password === undefined) return request;
  if (password !== null && typeof password !== "string") throw read.malformed("password is neither a string nor nil");
  return { ...request, password };
}
