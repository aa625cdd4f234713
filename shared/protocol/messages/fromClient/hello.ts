/** `hello`: a client comes in. */
import { encode } from "@msgpack/msgpack";
import * as field from "../../fields.ts";
import { type FieldReader, type Options, shown } from "../../fieldReader.ts";
import { Limits, PROTOCOL_VERSION } from "../../protocol.ts";

export const number = 1;

export const describe = (): field.RequestDescription => ({
  fields: [
    ...field.integer("version", String(PROTOCOL_VERSION)),
    field.options([
      ...field.string(
        "name",
        "shown in NFKC, with single spaces, without invisible characters, cut to 24 characters. If it looks like another member's name (also by similar letters) or ends in another's mark, the server adds ` #` and the member's number. Absent: the server makes one",
      ),
      ...field.string(
        "color",
        "`#rrggbb`. Absent or invalid: the server chooses an unused one. Pages draw eight colors (`shared/members/memberColors.ts`) and combine them as pairs, so 64 members look different",
      ),
      ...field.string("resume", "`token` of an earlier `welcome` (section 7). Unknown or expired: as absent"),
      ...field.string("token", "a join token (section 10)"),
      ...field.string("password", "of the room (section 10)"),
      ...field.string("mode", "`simple` (section 5). Absent: keyframes and deltas"),
      ...field.number("hz", "frames per second in simple mode, 1 to 20. Absent: 20"),
      ...field.boolean("contacts", "`true`: report new contacts (`contacts`)"),
    ]),
  ],
  meaning: "comes in; must be the first message",
});

const TEXTS = ["name", "color", "resume", "token", "password", "ticket"] as const;

interface Hello {
  name?: string;
  color?: string;
  resume?: string;
  token?: string;
  password?: string;
  contacts?: boolean;
}

export interface Request extends Hello {
  type: "hello";
  version: number;
  mode?: "simple";
  /** Frames per second in simple mode. */
  hz?: number;
  /**
   * From a forwarding process, in place of `resume`, `token` and `password`
   * (server/routes/guards/forwardedIdentity.ts).
   */
  ticket?: string;
}

export const build = (who: Hello): Uint8Array => encode([number, PROTOCOL_VERSION, who], { ignoreUndefined: true });

export function parse(read: FieldReader): Request {
  const request: Request = { type: "hello", version: read.integer("version") };
  const options = read.options();
  for (const name of TEXTS) {
    const text = options[name];
    if (text === undefined || text === null) continue;
    if (typeof text !== "string") throw read.malformed(`${name} is not a string`);
    request[name] = text;
  }
  return Object.assign(request, modeOf(read, options));
}

function modeOf(read: FieldReader, { mode, hz, contacts }: Options): Pick<Request, "mode" | "hz" | "contacts"> {
  const chosen: Pick<Request, "mode" | "hz" | "contacts"> = {};
  if (mode !== undefined && mode !== null) {
    if (mode !== "simple") throw read.malformed(`mode is ${shown(mode)}, must be simple`);
    chosen.mode = mode;
  }
  if (hz !== undefined && hz !== null) {
    if (typeof hz !== "number" || !(hz >= 1 && hz <= Limits.simpleHz))
      throw read.malformed(`hz is ${shown(hz)}, not a number from 1 to ${Limits.simpleHz}`);
    chosen.hz = hz;
  }
  if (contacts !== undefined && contacts !== null) {
    if (typeof contacts !== "boolean") throw read.malformed("contacts is not a boolean");
    chosen.contacts = contacts;
  }
  return chosen;
}
