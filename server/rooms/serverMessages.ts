/**
 * Builds the server's socket messages that are not frames. Coordinates travel as float32: finer than any wire grid,
 * half the bytes.
 */
import { Encoder } from "@msgpack/msgpack";
import { type ErrorDetails, Notices, type NoticeCode } from "../../shared/errors.ts";
import { type ReplayHead, ServerMessage, type RoomStats, type Tuning, type Welcome } from "../../shared/protocol.ts";
import type { AccessState } from "../auth/roomAccess.ts";
import type { Session } from "./session.ts";

const encoder = new Encoder({ forceFloat32: true, ignoreUndefined: true });
/** For what must come back as it came: a client's own time stamp. */
const exactEncoder = new Encoder();

export function encodeWelcome(welcome: Welcome): Uint8Array {
  return encoder.encode([ServerMessage.welcome, welcome]);
}

export function encodeMembers(sessions: Iterable<Session>): Uint8Array {
  const rows = [...sessions].map((s) => [s.member, s.name, s.color, s.connection !== null, s.entry.role]);
  return encoder.encode([ServerMessage.members, rows]);
}

/** What others see of a member's hands. */
export type HandsOf = Pick<Session, "member" | "cursor" | "grabs">;

export function encodeHands(tick: number, sessions: Iterable<HandsOf>): Uint8Array {
  const rows = [...sessions].map((s) => [
    s.member,
    s.cursor,
    [...s.grabs.values()].map((g) => [g.grab, g.body, g.triangle, g.u, g.v, ...g.target]),
  ]);
  return encoder.encode([ServerMessage.hands, tick, rows]);
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

export function encodeWaiting(tick: number, bodies: Iterable<number>, member: number): Uint8Array {
  return encoder.encode([ServerMessage.waiting, tick, [...bodies], member]);
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
