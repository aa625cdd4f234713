/** Server messages: one file each in messages/fromServer, with encoder and decoder. */
import { decode } from "@msgpack/msgpack";
import type { ReplayHead } from "./protocol.ts";
import { exactEncoder, type Values } from "./serverValues.ts";
import * as access from "./messages/fromServer/access.ts";
import * as contacts from "./messages/fromServer/contacts.ts";
import * as delta from "./messages/fromServer/delta.ts";
import * as done from "./messages/fromServer/done.ts";
import * as grabs from "./messages/fromServer/grabs.ts";
import * as keyframe from "./messages/fromServer/keyframe.ts";
import * as looks from "./messages/fromServer/looks.ts";
import * as members from "./messages/fromServer/members.ts";
import * as message from "./messages/fromServer/message.ts";
import * as movers from "./messages/fromServer/movers.ts";
import * as notice from "./messages/fromServer/notice.ts";
import * as pins from "./messages/fromServer/pins.ts";
import * as pong from "./messages/fromServer/pong.ts";
import * as positions from "./messages/fromServer/positions.ts";
import * as reactions from "./messages/fromServer/reactions.ts";
import * as reset from "./messages/fromServer/reset.ts";
import * as said from "./messages/fromServer/said.ts";
import * as spawnable from "./messages/fromServer/spawnable.ts";
import * as stats from "./messages/fromServer/stats.ts";
import * as tuned from "./messages/fromServer/tuned.ts";
import * as welcome from "./messages/fromServer/welcome.ts";

export { encode as encodeAccess, type AccessState } from "./messages/fromServer/access.ts";
export { encode as encodeContacts } from "./messages/fromServer/contacts.ts";
export { encode as encodeDeltaMessage } from "./messages/fromServer/delta.ts";
export { encode as encodeDone } from "./messages/fromServer/done.ts";
export { encode as encodeGrabs, type Grab, type GrabsOf, type MemberGrabs } from "./messages/fromServer/grabs.ts";
export { encode as encodeKeyframeMessage } from "./messages/fromServer/keyframe.ts";
export { encode as encodeLooks, type LookRow } from "./messages/fromServer/looks.ts";
export { encode as encodeMembers, type Member } from "./messages/fromServer/members.ts";
export { encode as encodeMessage } from "./messages/fromServer/message.ts";
export { encode as encodeMovers, type MoverRow } from "./messages/fromServer/movers.ts";
export { encode as encodeNotice } from "./messages/fromServer/notice.ts";
export { encode as encodePins, type PinRow } from "./messages/fromServer/pins.ts";
export { encode as encodePong } from "./messages/fromServer/pong.ts";
export { encode as encodePositions } from "./messages/fromServer/positions.ts";
export { encode as encodeReactions } from "./messages/fromServer/reactions.ts";
export { encode as encodeReset } from "./messages/fromServer/reset.ts";
export { encode as encodeSaid, type Said } from "./messages/fromServer/said.ts";
export { encode as encodeSpawnable } from "./messages/fromServer/spawnable.ts";
export { encode as encodeStats, type RoomStats } from "./messages/fromServer/stats.ts";
export { encode as encodeTuned } from "./messages/fromServer/tuned.ts";
export { encode as encodeWelcome, type Welcome } from "./messages/fromServer/welcome.ts";
export { safeColor } from "./serverValues.ts";
export type { Point } from "./surfacePoint.ts";

/** Messages by name, in the order of their numbers. */
const MESSAGES = {
  welcome,
  keyframe,
  delta,
  members,
  grabs,
  pong,
  stats,
  notice,
  reset,
  spawnable,
  access,
  message,
  positions,
  contacts,
  tuned,
  done,
  reactions,
  said,
  looks,
  pins,
  movers,
};
type Messages = typeof MESSAGES;

export type ServerEvent = ReturnType<Messages[keyof Messages]["parse"]>;

const eachMessage = <T>(get: (one: Messages[keyof Messages]) => T): Record<keyof Messages, T> =>
  Object.fromEntries(Object.entries(MESSAGES).map(([name, one]) => [name, get(one)])) as Record<keyof Messages, T>;

/** Numbers of the messages. */
export const ServerMessage = /* @__PURE__ */ eachMessage(({ number }) => number);
/** Fields and meanings of the messages. */
export const MESSAGE_DESCRIPTIONS = /* @__PURE__ */ eachMessage(({ describe }) => describe());

/** Parsers by number. Apart from MESSAGES, so that pages do not load the encoders. */
const PARSERS: Readonly<Record<number, (values: Values) => ServerEvent>> = {
  [welcome.number]: welcome.parse,
  [keyframe.number]: keyframe.parse,
  [delta.number]: delta.parse,
  [members.number]: members.parse,
  [grabs.number]: grabs.parse,
  [pong.number]: pong.parse,
  [stats.number]: stats.parse,
  [notice.number]: notice.parse,
  [reset.number]: reset.parse,
  [spawnable.number]: spawnable.parse,
  [access.number]: access.parse,
  [message.number]: message.parse,
  [positions.number]: positions.parse,
  [contacts.number]: contacts.parse,
  [tuned.number]: tuned.parse,
  [done.number]: done.parse,
  [reactions.number]: reactions.parse,
  [said.number]: said.parse,
  [looks.number]: looks.parse,
  [pins.number]: pins.parse,
  [movers.number]: movers.parse,
};

/**
 * @param data one binary WebSocket message
 * @returns the event, or undefined for an unknown message type (the protocol says to ignore it)
 * @throws Error naming the message's number and the field if a known message does not have the documented form
 */
export function parseServerMessage(data: ArrayBuffer): ServerEvent | undefined {
  const fields = decode(new Uint8Array(data));
  if (!Array.isArray(fields)) throw new Error(`server message: expected an array, got ${typeof fields}`);
  const [type, ...values] = fields as [number, ...unknown[]];
  try {
    return PARSERS[type]?.(values);
  } catch (error) {
    throw new Error(`server message ${type}: ${(error as Error).message}`);
  }
}

export function encodeReplayHead(head: ReplayHead): Uint8Array {
  return exactEncoder.encode(head);
}

/** msgpack that keeps every bit of a number. */
export function exactBytes(value: unknown): Uint8Array {
  return exactEncoder.encode(value);
}
