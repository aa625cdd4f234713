/**
 * Server messages: their fields, their encoding on the server, and their decoding on clients. PROTOCOL.md describes
 * them; the numbers come from protocol.ts. Messages without the documented form are refused here, so the rest of the
 * client can rely on it. Coordinates are sent as float32: finer than any grid on the wire, at half the bytes.
 */
import { decode, Encoder } from "@msgpack/msgpack";
import { type ErrorDetails, Notices, type NoticeCode } from "../errors.ts";
import { isRole, type Role } from "../roles.ts";
import { ServerMessage, type ReplayHead, type RoomStats, type Welcome } from "./protocol.ts";
import type { Tuning } from "../tuning.ts";
import { parseTuning } from "./tuned.ts";

export type Point = [number, number, number];

export interface Member {
  member: number;
  name: string;
  color: string;
  connected: boolean;
  role: Role;
}

/** Access settings of the room, and players' rights. */
export interface AccessState {
  locked: boolean;
  /** Whether a password is needed. */
  password: boolean;
  ownersOnly: boolean;
  /** Whether players may write in the chat. */
  chat: boolean;
  bans: number;
}

/** A line of chat, with its author's name and color at that time. */
export interface Said {
  member: number;
  name: string;
  color: string;
  text: string;
}

/** A grab: a surface triangle's barycentric point, pulled towards `target`. */
export interface Grab {
  grab: number;
  body: number;
  triangle: number;
  u: number;
  v: number;
  target: Point;
  /** It grabs the same place on all bodies that the scene allows to grab together; absent: only this body. */
  together?: true;
}

/** The cursor and grabs of a member. */
export interface MemberGrabs {
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
  | { type: "grabs"; tick: number; members: MemberGrabs[] }
  | { type: "pong"; clientTimeMs: number; serverTick: number }
  | { type: "stats"; stats: RoomStats }
  | { type: "notice"; code: string; text: string; details: unknown }
  | { type: "reset"; tick: number; member: number }
  | { type: "spawnable"; tick: number; bodies: number[]; member: number }
  | { type: "access"; access: AccessState }
  | { type: "tuned"; tick: number; tuning: Tuning; member: number }
  | { type: "message"; member: number; kind: string; data: unknown }
  | { type: "done"; request: number }
  | { type: "reactions"; reactions: [member: number, reaction: number][] }
  | { type: "said"; lines: Said[] };

const encoder = /* @__PURE__ */ new Encoder({ forceFloat32: true, ignoreUndefined: true });
/** For values that must return unchanged, e.g. a client's own time stamp. */
const exactEncoder = /* @__PURE__ */ new Encoder();

/** @param data a keyframe of shared/snapshot */
export function encodeKeyframeMessage(tick: number, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return exactEncoder.encode([ServerMessage.keyframe, tick, data]);
}

/** @param data a delta of shared/snapshot, against the frame of `baseTick` */
export function encodeDeltaMessage(tick: number, baseTick: number, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return exactEncoder.encode([ServerMessage.delta, tick, baseTick, data]);
}

/** @param quantized x y z of every streamed particle, in the grid of its body */
export function encodePositions(tick: number, quantized: Int32Array): Uint8Array<ArrayBuffer> {
  return exactEncoder.encode([ServerMessage.positions, tick, new Uint8Array(quantized.buffer)]);
}

export function encodeWelcome(welcome: Welcome): Uint8Array {
  return encoder.encode([ServerMessage.welcome, welcome]);
}

export function encodeMembers(members: Iterable<Member>): Uint8Array {
  const rows = [...members].map((m) => [m.member, m.name, m.color, m.connected, m.role]);
  return encoder.encode([ServerMessage.members, rows]);
}

/** A member's pointer and grabs, for the other members. */
export interface GrabsOf {
  member: number;
  cursor: Point | null;
  grabs: ReadonlyMap<number, Grab>;
}

export function encodeGrabs(tick: number, members: Iterable<GrabsOf>): Uint8Array {
  const rows = [...members].map((h) => [
    h.member,
    h.cursor,
    [...h.grabs.values()].map((g) => [
      g.grab,
      g.body,
      g.triangle,
      g.u,
      g.v,
      ...g.target,
      ...(g.together ? [true] : []),
    ]),
  ]);
  return encoder.encode([ServerMessage.grabs, tick, rows]);
}

export function encodePong(clientTimeMs: number, tick: number): Uint8Array {
  return exactEncoder.encode([ServerMessage.pong, clientTimeMs, tick]);
}

export function encodeStats(stats: RoomStats): Uint8Array {
  return encoder.encode([ServerMessage.stats, stats]);
}

export function encodeNotice(code: NoticeCode, details: ErrorDetails & Record<string, unknown> = {}): Uint8Array {
  return encoder.encode([ServerMessage.notice, code, Notices[code].text, details]);
}

export function encodeDone(request: number): Uint8Array {
  return encoder.encode([ServerMessage.done, request]);
}

/** @param reactions by member */
export function encodeReactions(reactions: ReadonlyMap<number, number>): Uint8Array {
  return encoder.encode([ServerMessage.reactions, [...reactions]]);
}

export function encodeSaid(lines: readonly Said[]): Uint8Array {
  return encoder.encode([
    ServerMessage.said,
    lines.map(({ member, name, color, text }) => [member, name, color, text]),
  ]);
}

export function encodeSpawnable(tick: number, bodies: Iterable<number>, member: number): Uint8Array {
  return encoder.encode([ServerMessage.spawnable, tick, [...bodies], member]);
}

/** @param pairs of bodies */
export function encodeContacts(tick: number, pairs: readonly [number, number][]): Uint8Array {
  return encoder.encode([ServerMessage.contacts, tick, pairs]);
}

export function encodeTuned(tick: number, { gravity, bodies, ...room }: Tuning, member: number): Uint8Array {
  const rows = bodies.map(({ body, damping, friction, ...more }) => [body, damping ?? null, friction ?? null, more]);
  return exactEncoder.encode([ServerMessage.tuned, tick, gravity, rows, member, room]);
}

export function encodeAccess(state: AccessState): Uint8Array {
  return encoder.encode([ServerMessage.access, state]);
}

export function encodeReplayHead(head: ReplayHead): Uint8Array {
  return exactEncoder.encode(head);
}

export function encodeMessage(member: number, kind: string, data: unknown): Uint8Array {
  return exactEncoder.encode([ServerMessage.message, member, kind, data]);
}

/** msgpack that keeps every bit of a number. */
export function exactBytes(value: unknown): Uint8Array {
  return exactEncoder.encode(value);
}

export function encodeReset(tick: number, member: number): Uint8Array {
  return encoder.encode([ServerMessage.reset, tick, member]);
}

/**
 * @param data one binary WebSocket message
 * @returns the event, or undefined for an unknown message type (the protocol says to ignore it)
 * @throws Error naming the message type and field if a known message does not have the documented form
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
    case ServerMessage.grabs:
      return { type: "grabs", tick: number(f[0], "grabs tick"), members: list(f[1], "grabs").map(parseMemberGrabs) };
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
    case ServerMessage.spawnable:
      return {
        type: "spawnable",
        tick: number(f[0], "spawnable tick"),
        bodies: list(f[1], "spawnable bodies").map((body) => number(body, "spawnable body")),
        member: number(f[2], "spawnable member"),
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
    case ServerMessage.done:
      return { type: "done", request: number(f[0], "done request") };
    case ServerMessage.reactions:
      return { type: "reactions", reactions: list(f[0], "reactions").map(parsePair) };
    case ServerMessage.said:
      return { type: "said", lines: list(f[0], "said").map(parseSaid) };
    default:
      return undefined;
  }
}

function parseSaid(value: unknown): Said {
  const [member, name, color, text] = list(value, "said");
  return { member: number(member, "said"), name: String(name), color: safeColor(color), text: String(text) };
}

function parseAccess({ locked, password, ownersOnly, chat, bans }: Record<string, unknown>): AccessState {
  return {
    locked: locked === true,
    password: password === true,
    ownersOnly: ownersOnly === true,
    chat: chat === true,
    bans: typeof bans === "number" ? bans : 0,
  };
}

/** An entry of `contacts`, `reactions` or the methods of `stats`. */
function parsePair(value: unknown): [number, number] {
  const [a, b] = list(value, "pair");
  return [number(a, "pair"), number(b, "pair")];
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

function parseMemberGrabs(value: unknown): MemberGrabs {
  const f = list(value, "grabs entry");
  return {
    member: number(f[0], "grabs member"),
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
        ...(g[8] === true && { together: true as const }),
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
    methods: list(f.methods ?? [], "stats").map(parsePair),
    errors: list(f.errors ?? [], "stats").map((row) => {
      const [body, error] = list(row, "stats");
      return [number(body, "stats"), error === null ? null : number(error, "stats")];
    }),
  };
}

/** Only six-digit hex colors may reach the page, whatever the server relays. */
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
