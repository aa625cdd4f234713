/** `welcome`: the first message to a client. */
import type { Role } from "../../../members/roles.ts";
import type { TuningLimits } from "../../../members/tuningLimits.ts";
import * as field from "../../fields.ts";
import { encoder, record, type Values } from "../../serverValues.ts";

export const number = 64;

export const describe = (): field.MessageDescription => ({
  fields: [
    field.map("welcome", [
      ...field.integer("version"),
      ...field.string("room scene session token"),
      ...field.integer("member"),
      ...field.number("tickHz sendHz"),
      ...field.string("topology"),
      field.map("limits"),
      ...field.string("role"),
      ...field.optional([field.map("tuning"), ...field.string("mode url")]),
    ]),
  ],
  meaning: "comes first",
});

export interface Welcome {
  version: number;
  room: string;
  scene: string;
  session: string;
  token: string;
  member: number;
  tickHz: number;
  sendHz: number;
  /** Content hash of the topology, to be fetched over HTTP. */
  topology: string;
  limits: Record<string, number>;
  /** Limits of `tune`; absent: this member may not tune. */
  tuning?: TuningLimits;
  /** Role of this member; see shared/members/roles.ts. */
  role: Role;
  /** Frames are sent as `positions`. */
  mode?: "simple";
  /** Public address of the process that has the room, http(s)://host[:port]; absent: not configured. */
  url?: string;
}

export const encode = (welcome: Welcome): Uint8Array => encoder.encode([number, welcome]);

export const parse = ([welcome]: Values): { type: "welcome"; welcome: Welcome } => ({
  type: "welcome",
  welcome: record(welcome, "welcome") as unknown as Welcome,
});
