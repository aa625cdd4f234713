/** Composes a member's first message: its session, and the room's properties. */
import { Limits, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import type { Welcome } from "../../../shared/protocol/fromServer.ts";
import { atLeast } from "../../../shared/members/roles.ts";
import type { Entry } from "../../auth/auth.ts";
import type { RoomOptions } from "../roomOptions.ts";
import type { Session } from "./session.ts";

export function welcomeOf(
  {
    name,
    scene,
    sendTicks,
    template: { layout, topologyHash, shape },
  }: Pick<RoomOptions, "name" | "scene" | "template"> & { sendTicks: number },
  { id, token, member, simple }: Session,
  { role }: Entry,
  url: string | undefined,
): Welcome {
  return {
    version: PROTOCOL_VERSION,
    room: name,
    scene,
    session: id,
    token,
    member,
    tickHz: layout.tickHz,
    sendHz: layout.tickHz / sendTicks,
    topology: topologyHash,
    limits: { ...Limits, reach: shape.reach, maxImpulse: shape.maxImpulse },
    ...(atLeast(role, "owner") && { tuning: shape.tuning }),
    role,
    ...(simple && { mode: "simple" }),
    ...(url !== undefined && { url }),
  };
}
