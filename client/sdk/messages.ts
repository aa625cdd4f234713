/**
 * The socket's messages, decoded into named fields (server to client) and built (client to server). PROTOCOL.md is the
 * description; numbers come from shared/protocol.ts. What does not have the promised form is refused here, so that
 * nothing behind this file meets it.
 */
import { decode, encode } from "@msgpack/msgpack";
import {
  ClientMessage,
  PROTOCOL_VERSION,
  ServerMessage,
  type RoomStats,
  type Tuning,
  type TuningChange,
  type Welcome,
} from "../../shared/protocol.ts";
import { isRole, type Role } from "../../shared/roles.ts";
import { parseTuning } from "./tuning.ts";

export type Point = [number, number, number];

export interface Member {
  member: number;
  name: string;
  color: string;
  connected: boolean;
  role: Role;
}

/** Who may enter the room, and what players may do. */
export interface AccessState {
  locked: boolean;
  /** Is one needed? */
  password: boolean;
  ownersOnly: boolean;
  bans: number;
}

/** One held point: a surface triangle's barycentric point pulled towards `target`. */
export interface Grab {
  grab: number;
  body: number;
  triangle: number;
  u: number;
  v: number;
  target: Point;
}

export interface Hand {
  member: number;
  cursor: Point | undefined;
  grabs: Grab[];
}

export type ServerEvent =
  | { type: "welcome"; welcome: Welcome }
  | { type: "keyframe"; tick: number; data: Uint8Array }
  | { type: "delta"; tick: number; baseTick: number; data: Uint8Array }
  | { type: "positions"; tick: number; data: Uint8Array }
  | { type: "contacts"; tick: number; pairs: [number, number][] }
  | { type: "members"; members: Member[] }
  | { type: "hands"; tick: number; hands: Hand[] }
  | { type: "pong"; clientTimeMs: number; serverTick: number }
  | { type: "stats"; stats: RoomStats }
  | { type: "notice"; code: string; text: string; details: unknown }
  | { type: "reset"; tick: number; member: number }
  | { type: "waiting"; tick: number; bodies: number[]; member: number }
  | { type: "access"; access: AccessState }
  | { type: "tuned"; tick: number; tuning: Tuning; member: number }
  | { type: "message"; member: number; kind: string; data: unknown };

/**
 * @param data one binary WebSocket message
 * @returns the event, or undefined for a message type that this client does not know (to be ignored, says the protocol)
 * @throws Error naming the message type and field when a known message does not have its promised form
 */
export function parseServerMessage(data: ArrayBuffer): ServerEvent | undefined {
  const message = decode(new Uint8Array(data));
  if (!Array.isArray(message)) throw new Error(`server message: expected an array, got ${typeof message}`);
  const [type, ...f] = message as [unknown, ...unknown[]];
  switch (type) {
    case ServerMessage.welcome:
      return { type: "welcome", welcome: record(f[0], "welcome") as unknown as Welcome };
    case ServerMessage.keyframe:
      return { type: "keyframe", tick: number(f[0], "keyframe tick"), data: bytes(f[1], "keyframe data") };
    case ServerMessage.delta:
      return {
        type: "delta",
        tick: number(f[0], "delta tick"),
        baseTick: number(f[1], "delta baseTick"),
        data: bytes(f[2], "delta data"),
      };
    case ServerMessage.positions:
      return { type: "positions", tick: number(f[0], "positions tick"), data: bytes(f[1], "positions data") };
    case ServerMessage.contacts:
      return { type: "contacts", tick: number(f[0], "contacts tick"), pairs: list(f[1], "contacts").map(parsePair) };
    case ServerMessage.members:
      return { type: "members", members: list(f[0], "members").map(parseMember) };
    case ServerMessage.hands:
      return { type: "hands", tick: number(f[0], "hands tick"), hands: list(f[1], "hands").map(parseHand) };
    case ServerMessage.pong:
      return {
        type: "pong",
        clientTimeMs: number(f[0], "pong clientTimeMs"),
        serverTick: number(f[1], "pong serverTick"),
      };
    case ServerMessage.stats:
      return { type: "stats", stats: parseStats(record(f[0], "stats")) };
    case ServerMessage.notice:
      return { type: "notice", code: String(f[0]), text: String(f[1] ?? ""), details: f[2] };
    case ServerMessage.reset:
      return { type: "reset", tick: number(f[0], "reset tick"), member: number(f[1], "reset member") };
    case ServerMessage.waiting:
      return {
        type: "waiting",
        tick: number(f[0], "waiting tick"),
        bodies: list(f[1], "waiting bodies").map((body) => number(body, "waiting body")),
        member: number(f[2], "waiting member"),
      };
    case ServerMessage.access:
      return { type: "access", access: parseAccess(record(f[0], "access")) };
    case ServerMessage.tuned:
      return {
        type: "tuned",
        tick: number(f[0], "tuned tick"),
        tuning: parseTuning(f.slice(1)),
        member: number(f[3], "tuned member"),
      };
    case ServerMessage.message:
      return { type: "message", member: number(f[0], "message member"), kind: String(f[1]), data: f[2] };
    default:
      return undefined;
  }
}

function parseAccess({ locked, password, ownersOnly, bans }: Record<string, unknown>): AccessState {
  return {
    locked: locked === true,
    password: password === true,
    ownersOnly: ownersOnly === true,
    bans: typeof bans === "number" ? bans : 0,
  };
}

function parsePair(value: unknown): [number, number] {
  const f = list(value, "contacts entry");
  return [number(f[0], "contacts body"), number(f[1], "contacts body")];
}

function parseMember(value: unknown): Member {
  const f = list(value, "members entry");
  return {
    member: number(f[0], "member"),
    name: String(f[1]),
    color: safeColor(f[2]),
    connected: Boolean(f[3]),
    role: isRole(f[4]) ? f[4] : "player",
  };
}

function parseHand(value: unknown): Hand {
  const f = list(value, "hands entry");
  return {
    member: number(f[0], "hands member"),
    cursor: f[1] == null ? undefined : point(list(f[1], "cursor"), 0, "cursor"),
    grabs: list(f[2] ?? [], "grabs").map((entry) => {
      const g = list(entry, "grabs entry");
      return {
        grab: number(g[0], "grab"),
        body: number(g[1], "grab body"),
        triangle: number(g[2], "grab triangle"),
        u: number(g[3], "grab u"),
        v: number(g[4], "grab v"),
        target: point(g, 5, "grab target"),
      };
    }),
  };
}

function parseStats(f: Record<string, unknown>): RoomStats {
  const stages: Record<string, number> = {};
  if (typeof f.stages === "object" && f.stages !== null) {
    for (const [name, value] of Object.entries(f.stages)) if (typeof value === "number") stages[name] = value;
  }
  const field = (name: string, fallback: number) => (typeof f[name] === "number" ? (f[name] as number) : fallback);
  return {
    stepMs: field("stepMs", 0),
    stages,
    tickLatenessMs: field("tickLatenessMs", 0),
    clients: field("clients", 0),
    kbpsOut: field("kbpsOut", 0),
    timeDilation: field("timeDilation", 1),
  };
}

/** Only a six-digit hex colour gets into the page, whatever a server relays. */
export function safeColor(value: unknown): string {
  return typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : "#8a8f98";
}

function number(value: unknown, what: string): number {
  if (typeof value !== "number") throw new Error(`server message: ${what} must be a number, got ${typeof value}`);
  return value;
}

function bytes(value: unknown, what: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error(`server message: ${what} must be bin, got ${typeof value}`);
  return value;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`server message: ${what} must be an array, got ${typeof value}`);
  return value;
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null)
    throw new Error(`server message: ${what} must be a map, got ${typeof value}`);
  return value as Record<string, unknown>;
}

function point(values: unknown[], at: number, what: string): Point {
  return [number(values[at], `${what} x`), number(values[at + 1], `${what} y`), number(values[at + 2], `${what} z`)];
}

export interface SurfacePoint {
  body: number;
  triangle: number;
  u: number;
  v: number;
}

export interface SpawnOptions {
  /** Where the body's x axis goes, in the horizontal plane (x, z). Default: not turned. */
  heading?: [number, number];
  /** `lift`: the nearest free place above will do. Default: `refuse`. */
  occupied?: "refuse" | "lift";
}

/** Client to server. Each returns the bytes of one socket message. */
export const build = {
  hello: (who: {
    name?: string;
    color?: string;
    resume?: string;
    token?: string;
    password?: string;
    contacts?: boolean;
  }) => encode([ClientMessage.hello, PROTOCOL_VERSION, who]),
  grab: (grab: number, at: SurfacePoint, [x, y, z]: Point) =>
    encode([ClientMessage.grab, grab, at.body, at.triangle, at.u, at.v, x, y, z]),
  move: (grab: number, [x, y, z]: Point) => encode([ClientMessage.move, grab, x, y, z]),
  release: (grab: number) => encode([ClientMessage.release, grab]),
  impulse: (at: SurfacePoint, [x, y, z]: Point) =>
    encode([ClientMessage.impulse, at.body, at.triangle, at.u, at.v, x, y, z]),
  reset: () => encode([ClientMessage.reset]),
  spawn: (body: number, [x, y, z]: Point, how: SpawnOptions = {}) => encode([ClientMessage.spawn, body, x, y, z, how]),
  remove: (body: number) => encode([ClientMessage.remove, body]),
  cursor: (at: Point | undefined) => encode(at ? [ClientMessage.cursor, ...at] : [ClientMessage.cursor, null]),
  ping: (clientTimeMs: number) => encode([ClientMessage.ping, clientTimeMs]),
  kick: (member: number, banSeconds: number | undefined) =>
    encode([ClientMessage.kick, member, ...(banSeconds === undefined ? [] : [{ ban: banSeconds }])]),
  access: (change: { locked?: boolean; ownersOnly?: boolean; password?: string | null; liftBans?: boolean }) =>
    encode([ClientMessage.access, change]),
  tune: (change: TuningChange) => encode([ClientMessage.tune, change], { ignoreUndefined: true }),
  message: (kind: string, data: unknown) => encode([ClientMessage.message, kind, data]),
  needKeyframe: () => encode([ClientMessage.needKeyframe]),
};
