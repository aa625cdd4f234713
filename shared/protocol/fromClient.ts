/**
 * Client messages: builds them, and parses them on the server. Two kinds of errors are distinguished. A message without
 * its documented form is malformed, and the connection closes (4400); this is checked here. A well-formed message that
 * refers to a missing object, or has a value out of range, is refused with a notice (server/rooms/requestRanges.ts).
 */
import { Decoder, encode } from "@msgpack/msgpack";
import { depthOf, MOST_ENTRIES } from "../applicationData.ts";
import { BODY_FIELDS, type TuningChange, type Wind, WIND_FIELDS } from "../tuning.ts";
import type { Point } from "./fromServer.ts";
import { ClientMessage, Limits, PROTOCOL_VERSION } from "./protocol.ts";
import { findInvalidText } from "./utf8.ts";

export interface SurfacePoint {
  body: number;
  triangle: number;
  u: number;
  v: number;
}

export interface GrabOptions {
  /**
   * Grab the same place on all bodies that the scene allows to grab together (`interaction.together` of the topology).
   */
  together?: boolean;
}

/** A number that the client chooses: the server answers with `done`, or with a notice whose details contain it. */
export interface Answered {
  request?: number;
}

export interface SpawnOptions {
  /** Direction of the body's x axis in the horizontal plane (x, z). Default: not rotated. */
  heading?: [number, number];
  /** `lift`: use the nearest free place above. Default: `refuse`. */
  occupied?: "refuse" | "lift";
}

/** Client to server. Each function returns the bytes of one socket message. */
export const build = {
  hello: (who: {
    name?: string;
    color?: string;
    resume?: string;
    token?: string;
    password?: string;
    contacts?: boolean;
  }) => encode([ClientMessage.hello, PROTOCOL_VERSION, who]),
  grab: (grab: number, at: SurfacePoint, [x, y, z]: Point, how: GrabOptions = {}) =>
    encode([
      ...[ClientMessage.grab, grab, at.body, at.triangle, at.u, at.v, x, y, z],
      ...(how.together ? [{ together: true }] : []),
    ]),
  move: (grab: number, [x, y, z]: Point) => encode([ClientMessage.move, grab, x, y, z]),
  release: (grab: number) => encode([ClientMessage.release, grab]),
  impulse: (at: SurfacePoint, [x, y, z]: Point) =>
    encode([ClientMessage.impulse, at.body, at.triangle, at.u, at.v, x, y, z]),
  reset: (how: Answered = {}) => encode([ClientMessage.reset, how]),
  spawn: (body: number, [x, y, z]: Point, how: SpawnOptions & Answered = {}) =>
    encode([ClientMessage.spawn, body, x, y, z, how]),
  remove: (body: number, how: Answered = {}) => encode([ClientMessage.remove, body, how]),
  cursor: (at: Point | undefined) => encode(at ? [ClientMessage.cursor, ...at] : [ClientMessage.cursor, null]),
  ping: (clientTimeMs: number) => encode([ClientMessage.ping, clientTimeMs]),
  kick: (member: number, banSeconds?: number, { request }: Answered = {}) =>
    encode([ClientMessage.kick, member, { ban: banSeconds, request }], { ignoreUndefined: true }),
  access: (change: AccessChange & Answered) => encode([ClientMessage.access, change], { ignoreUndefined: true }),
  tune: (change: TuningChange & Answered) => encode([ClientMessage.tune, change], { ignoreUndefined: true }),
  message: (kind: string, data: unknown) => encode([ClientMessage.message, kind, data]),
  undo: (how: Answered = {}) => encode([ClientMessage.undo, how]),
  needKeyframe: () => encode([ClientMessage.needKeyframe]),
  react: (reaction: number) => encode([ClientMessage.react, reaction]),
  say: (text: string) => encode([ClientMessage.say, text]),
};

export type ClientRequest =
  | {
      type: "hello";
      version: number;
      name?: string;
      color?: string;
      resume?: string;
      token?: string;
      password?: string;
      mode?: "simple";
      /** Frames per second in simple mode. */
      hz?: number;
      contacts?: boolean;
      /**
       * From a forwarding process, in place of `resume`, `token` and `password` (server/routes/forwardedIdentity.ts).
       */
      ticket?: string;
    }
  | ({ type: "grab"; grab: number; target: Point; together?: true } & SurfacePoint)
  | { type: "move"; grab: number; target: Point }
  | { type: "release"; grab: number }
  | { type: "impulse"; body: number; triangle: number; u: number; v: number; impulse: Point }
  | ({ type: "reset" } & Answered)
  | ({
      type: "spawn";
      body: number;
      position: Point;
      heading: [number, number];
      occupied: "refuse" | "lift";
    } & Answered)
  | ({ type: "remove"; body: number } & Answered)
  | { type: "cursor"; at: Point | null }
  | { type: "ping"; clientTimeMs: number }
  | { type: "needKeyframe" }
  | ({ type: "kick"; member: number; banSeconds?: number } & Answered)
  | { type: "message"; kind: string; data: unknown }
  | { type: "react"; reaction: number }
  | { type: "say"; text: string }
  | ({ type: "tune" } & TuningChange & Answered)
  | ({ type: "undo" } & Answered)
  | ({ type: "access" } & AccessOptions);

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

interface AccessOptions extends AccessChange, Answered {
  /** From a forwarding process, in place of `password`. */
  ticket?: string;
}

/**
 * The message does not have the documented form; `message` is sent as the close reason (at most 123 bytes of UTF-8).
 */
export class MalformedMessage extends Error {
  constructor(reason: string) {
    super(reason.slice(0, 120));
    this.name = "MalformedMessage";
  }
}

const HELLO_FIELDS = ["name", "color", "resume", "token", "password", "ticket"] as const;
type HelloOptions = { [field in (typeof HELLO_FIELDS)[number]]?: string } & {
  mode?: "simple";
  hz?: number;
  contacts?: boolean;
};

/** Largest number that a client may choose for a request. */
const MAX_REQUEST = 2 ** 31 - 1;
/** Largest id that a client may choose for a grab. */
const MAX_GRAB_ID = 65535;
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
  const message = decodeArray(data);
  const read = new FieldReader(message);
  switch (message[0]) {
    case ClientMessage.hello: {
      read.name = "hello";
      return { type: "hello", version: read.integer("version", 0, 2 ** 31), ...read.helloOptions() };
    }
    case ClientMessage.grab: {
      read.name = "grab";
      const grab = read.integer("grab", 0, MAX_GRAB_ID);
      return { type: "grab", grab, ...read.surfacePoint(), target: read.point(), ...read.grabOptions() };
    }
    case ClientMessage.move: {
      read.name = "move";
      return { type: "move", grab: read.integer("grab", 0, MAX_GRAB_ID), target: read.point() };
    }
    case ClientMessage.release: {
      read.name = "release";
      return { type: "release", grab: read.integer("grab", 0, MAX_GRAB_ID) };
    }
    case ClientMessage.impulse: {
      read.name = "impulse";
      return { type: "impulse", ...read.surfacePoint(), impulse: read.point() };
    }
    case ClientMessage.reset:
      read.name = "reset";
      return { type: "reset", ...read.answered() };
    case ClientMessage.spawn: {
      read.name = "spawn";
      return { type: "spawn", body: read.integer("body", 0, 2 ** 31), position: read.point(), ...read.spawnOptions() };
    }
    case ClientMessage.remove: {
      read.name = "remove";
      return { type: "remove", body: read.integer("body", 0, 2 ** 31), ...read.answered() };
    }
    case ClientMessage.cursor: {
      read.name = "cursor";
      return { type: "cursor", at: message[1] === null ? null : read.point() };
    }
    case ClientMessage.ping: {
      read.name = "ping";
      return { type: "ping", clientTimeMs: read.finite("clientTimeMs") };
    }
    case ClientMessage.needKeyframe:
      return { type: "needKeyframe" };
    case ClientMessage.kick: {
      read.name = "kick";
      return { type: "kick", member: read.integer("member", 0, 2 ** 31), ...read.kickOptions() };
    }
    case ClientMessage.access: {
      read.name = "access";
      return { type: "access", ...read.accessOptions() };
    }
    case ClientMessage.message: {
      read.name = "message";
      return { type: "message", kind: read.string("kind"), data: read.data() };
    }
    case ClientMessage.tune: {
      read.name = "tune";
      return { type: "tune", ...read.tuningOptions() };
    }
    case ClientMessage.undo:
      read.name = "undo";
      return { type: "undo", ...read.answered() };
    case ClientMessage.react: {
      read.name = "react";
      return { type: "react", reaction: read.integer("reaction", 0, 2 ** 31) };
    }
    case ClientMessage.say: {
      read.name = "say";
      return { type: "say", text: read.string("text") };
    }
    default:
      return null;
  }
}

function decodeArray(data: Uint8Array): unknown[] {
  let message: unknown;
  const invalid = findInvalidText(data);
  if (invalid >= 0) throw new MalformedMessage(`the string at byte ${invalid} is not UTF-8`);
  try {
    message = decoder.decode(data);
  } catch {
    throw new MalformedMessage("not one msgpack value");
  }
  if (!Array.isArray(message)) throw new MalformedMessage("not a msgpack array");
  if (!Number.isInteger(message[0])) throw new MalformedMessage("message type is not an integer");
  return message;
}

/** Reads a message's fields in order. Additional fields are ignored, because later versions may add some. */
class FieldReader {
  name = "message";
  readonly #message: unknown[];
  #at = 1;

  constructor(message: unknown[]) {
    this.#message = message;
  }

  finite(field: string): number {
    const value = this.#message[this.#at++];
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new MalformedMessage(`${this.name}: ${field} is not a finite number`);
    return value;
  }

  integer(field: string, min: number, max: number): number {
    const value = this.finite(field);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new MalformedMessage(`${this.name}: ${field} is ${value}, not an integer from ${min} to ${max}`);
    }
    return value;
  }

  string(field: string): string {
    const value = this.#message[this.#at++];
    if (typeof value !== "string") throw new MalformedMessage(`${this.name}: ${field} is not a string`);
    return value;
  }

  /** JSON values or bin, of any depth. */
  data(): unknown {
    const value = this.#message[this.#at++];
    try {
      depthOf(value, Limits.maxPayload);
    } catch (error) {
      throw new MalformedMessage(`${this.name}: data ${(error as Error).message}`);
    }
    return value;
  }

  point(): Point {
    return [this.finite("x"), this.finite("y"), this.finite("z")];
  }

  surfacePoint(): { body: number; triangle: number; u: number; v: number } {
    return {
      body: this.integer("body", 0, 2 ** 31),
      triangle: this.integer("triangle", 0, 2 ** 31),
      u: this.finite("u"),
      v: this.finite("v"),
    };
  }

  /** A map that may be absent. */
  #options(): Record<string, unknown> {
    const value = this.#message[this.#at++];
    if (value === undefined || value === null) return {};
    if (typeof value !== "object" || Array.isArray(value) || value instanceof Date)
      throw new MalformedMessage(`${this.name}: options is not a map`);
    return value as Record<string, unknown>;
  }

  answered(options = this.#options()): Answered {
    const { request } = options;
    if (request === undefined || request === null) return {};
    if (!Number.isInteger(request) || (request as number) < 0 || (request as number) > MAX_REQUEST)
      throw new MalformedMessage(`${this.name}: request is not an integer from 0 to ${MAX_REQUEST}`);
    return { request: request as number };
  }

  grabOptions(): { together?: true } {
    const { together } = this.#options();
    if (together !== undefined && typeof together !== "boolean")
      throw new MalformedMessage("grab: together is not a boolean");
    return together ? { together } : {};
  }

  spawnOptions(): { heading: [number, number]; occupied: "refuse" | "lift" } & Answered {
    const options = this.#options();
    const { heading = [1, 0], occupied = "refuse" } = options;
    if (
      !Array.isArray(heading) ||
      heading.length !== 2 ||
      !heading.every((c) => typeof c === "number" && Number.isFinite(c))
    )
      throw new MalformedMessage("spawn: heading is not two finite numbers");
    if (occupied !== "refuse" && occupied !== "lift")
      throw new MalformedMessage("spawn: occupied is neither refuse nor lift");
    return { heading: heading as [number, number], occupied, ...this.answered(options) };
  }

  kickOptions(): { banSeconds?: number } & Answered {
    const options = this.#options();
    const { ban } = options;
    if (ban === undefined || ban === null) return this.answered(options);
    if (typeof ban !== "number" || !Number.isFinite(ban))
      throw new MalformedMessage("kick: ban is not a finite number");
    return { banSeconds: ban, ...this.answered(options) };
  }

  tuningOptions(): TuningChange & Answered {
    const options = this.#options();
    const { gravity, wind, timeScale, body, pins, asScene, ...fields } = options;
    const change: TuningChange & Answered = this.answered(options);
    if (gravity !== undefined) change.gravity = this.#threeNumbers("gravity", gravity);
    if (wind !== undefined) change.wind = this.#wind(wind);
    if (timeScale !== undefined) change.timeScale = this.#finite("timeScale", timeScale);
    for (const field of BODY_FIELDS)
      if (fields[field] !== undefined) change[field] = this.#finite(field, fields[field]);
    if (pins !== undefined) {
      if (typeof pins !== "boolean") throw new MalformedMessage("tune: pins is not a boolean");
      change.pins = pins;
    }
    if (asScene !== undefined) {
      if (asScene !== true) throw new MalformedMessage("tune: asScene is not true");
      change.asScene = true;
    }
    const ofBody = pins !== undefined || BODY_FIELDS.some((field) => fields[field] !== undefined);
    if (body === undefined ? ofBody : !Number.isInteger(body))
      throw new MalformedMessage("tune: body is not an integer");
    if (body !== undefined) change.body = body as number;
    return change;
  }

  #wind(value: unknown): Partial<Wind> {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new MalformedMessage("tune: wind is not a map");
    const { velocity, ...fields } = value as Record<string, unknown>;
    const wind: Partial<Wind> =
      velocity === undefined ? {} : { velocity: this.#threeNumbers("wind velocity", velocity) };
    for (const field of WIND_FIELDS)
      if (fields[field] !== undefined) wind[field] = this.#finite(`wind ${field}`, fields[field]);
    return wind;
  }

  #finite(field: string, value: unknown): number {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw new MalformedMessage(`tune: ${field} is not a finite number`);
  }

  #threeNumbers(field: string, value: unknown): Point {
    if (Array.isArray(value) && value.length === 3 && value.every(Number.isFinite)) return value as Point;
    throw new MalformedMessage(`tune: ${field} is not three finite numbers`);
  }

  accessOptions(): AccessOptions {
    const value = this.#options();
    const options: AccessOptions = this.answered(value);
    for (const field of ["locked", "ownersOnly", "chat", "liftBans"] as const) {
      const flag = value[field];
      if (flag === undefined) continue;
      if (typeof flag !== "boolean") throw new MalformedMessage(`access: ${field} is not a boolean`);
      options[field] = flag;
    }
    const { password, ticket } = value;
    if (typeof ticket === "string") options.ticket = ticket;
    if (password === undefined) return options;
    if (password !== null && typeof password !== "string")
      throw new MalformedMessage("access: password is neither a string nor nil");
    return { ...options, password };
  }

  helloOptions(): HelloOptions {
    const value = this.#options();
    const options: HelloOptions = {};
    for (const field of HELLO_FIELDS) {
      const text = value[field];
      if (text === undefined || text === null) continue;
      if (typeof text !== "string") throw new MalformedMessage(`hello: ${field} is not a string`);
      options[field] = text;
    }
    const { mode, hz, contacts } = value;
    if (mode !== undefined && mode !== null) {
      if (mode !== "simple") throw new MalformedMessage(`hello: mode is ${shown(mode)}, must be simple`);
      options.mode = mode;
    }
    if (hz !== undefined && hz !== null) {
      if (typeof hz !== "number" || !(hz >= 1 && hz <= Limits.simpleHz))
        throw new MalformedMessage(`hello: hz is ${shown(hz)}, not a number from 1 to ${Limits.simpleHz}`);
      options.hz = hz;
    }
    if (contacts !== undefined && contacts !== null) {
      if (typeof contacts !== "boolean") throw new MalformedMessage("hello: contacts is not a boolean");
      options.contacts = contacts;
    }
    return options;
  }
}

/** Formats a value for a close reason. */
function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.toWellFormed()) : String(value);
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 20);
}
