/**
 * Client messages: one file each in messages/fromClient. Two kinds of errors are distinguished. A message without its
 * documented form is malformed, and the connection closes (4400); this is checked here. A well-formed message that
 * refers to a missing object, or has a value out of range, is refused with a notice
 * (server/rooms/inputs/requestRanges.ts).
 */
import { Decoder } from "@msgpack/msgpack";
import { MOST_ENTRIES } from "../members/applicationData.ts";
import { FieldReader, MalformedMessage } from "./fieldReader.ts";
import * as access from "./messages/fromClient/access.ts";
import * as cursor from "./messages/fromClient/cursor.ts";
import * as dress from "./messages/fromClient/dress.ts";
import * as grab from "./messages/fromClient/grab.ts";
import * as hello from "./messages/fromClient/hello.ts";
import * as impulse from "./messages/fromClient/impulse.ts";
import * as kick from "./messages/fromClient/kick.ts";
import * as message from "./messages/fromClient/message.ts";
import * as move from "./messages/fromClient/move.ts";
import * as needKeyframe from "./messages/fromClient/needKeyframe.ts";
import * as pin from "./messages/fromClient/pin.ts";
import * as ping from "./messages/fromClient/ping.ts";
import * as react from "./messages/fromClient/react.ts";
import * as release from "./messages/fromClient/release.ts";
import * as remove from "./messages/fromClient/remove.ts";
import * as reset from "./messages/fromClient/reset.ts";
import * as say from "./messages/fromClient/say.ts";
import * as spawn from "./messages/fromClient/spawn.ts";
import * as tune from "./messages/fromClient/tune.ts";
import * as undo from "./messages/fromClient/undo.ts";
import * as unpin from "./messages/fromClient/unpin.ts";
import { Limits } from "./protocol.ts";
import { findInvalidText } from "./utf8.ts";

export { MalformedMessage, type Answered } from "./fieldReader.ts";
export type { AccessChange } from "./messages/fromClient/access.ts";
export type { GrabOptions } from "./messages/fromClient/grab.ts";
export type { SpawnOptions } from "./messages/fromClient/spawn.ts";
export type { SurfacePoint } from "./surfacePoint.ts";

/** By name, in the order of their numbers. */
const REQUESTS = {
  hello,
  grab,
  move,
  release,
  impulse,
  reset,
  cursor,
  ping,
  needKeyframe,
  spawn,
  remove,
  kick,
  access,
  message,
  tune,
  undo,
  react,
  say,
  dress,
  pin,
  unpin,
};
type Requests = typeof REQUESTS;

export type ClientRequest = ReturnType<Requests[keyof Requests]["parse"]>;

/**
 * Client to server. Each function returns the bytes of one socket message. Apart from REQUESTS, so that pages do not
 * load the parsers.
 */
export const build = {
  hello: hello.build,
  grab: grab.build,
  move: move.build,
  release: release.build,
  impulse: impulse.build,
  reset: reset.build,
  cursor: cursor.build,
  ping: ping.build,
  needKeyframe: needKeyframe.build,
  spawn: spawn.build,
  remove: remove.build,
  kick: kick.build,
  access: access.build,
  message: message.build,
  tune: tune.build,
  undo: undo.build,
  react: react.build,
  say: say.build,
  dress: dress.build,
  pin: pin.build,
  unpin: unpin.build,
};

const eachRequest = <T>(get: (one: Requests[keyof Requests]) => T): Record<keyof Requests, T> =>
  Object.fromEntries(Object.entries(REQUESTS).map(([name, one]) => [name, get(one)])) as Record<keyof Requests, T>;

/** Numbers of the messages. */
export const ClientMessage = /* @__PURE__ */ eachRequest(({ number }) => number);
/** Fields, least roles and meanings of the messages. */
export const REQUEST_DESCRIPTIONS = /* @__PURE__ */ eachRequest(({ describe }) => describe());
const NAMES = /* @__PURE__ */ new Map(
  /* @__PURE__ */ Object.entries(ClientMessage).map(([name, type]) => [type, name]),
);

/**
 * Unknown message types are ignored, not malformed, so any content that fits the payload must decode. Only arrays and
 * maps are limited, because the decoder allocates as many entries as an array declares.
 */
const decoder = /* @__PURE__ */ new Decoder({
  maxStrLength: Limits.maxPayload,
  maxBinLength: Limits.maxPayload,
  maxExtLength: Limits.maxPayload,
  maxArrayLength: MOST_ENTRIES,
  maxMapLength: MOST_ENTRIES,
});

/**
 * @param data one binary WebSocket message, at most `Limits.maxPayload` bytes
 * @returns the request, or null for an unknown type (to be ignored)
 * @throws MalformedMessage naming the message and the field
 */
export function parseClientMessage(data: Uint8Array): ClientRequest | null {
  const fields = decodeArray(data);
  const name = NAMES.get(fields[0] as number) as keyof Requests | undefined;
  return name === undefined ? null : REQUESTS[name].parse(new FieldReader(name, fields));
}

function decodeArray(data: Uint8Array): unknown[] {
  let fields: unknown;
  const invalid = findInvalidText(data);
  if (invalid >= 0) throw new MalformedMessage(`the string at byte ${invalid} is not UTF-8`);
  try {
    fields = decoder.decode(data);
  } catch {
    throw new MalformedMessage("not one msgpack value");
  }
  if (!Array.isArray(fields)) throw new MalformedMessage("not a msgpack array");
  if (!Number.isInteger(fields[0])) throw new MalformedMessage("message type is not an integer");
  return fields;
}
