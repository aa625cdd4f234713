/**
 * The socket protocol's numbers: message types, close codes, limits, version. PROTOCOL.md explains each. Every message
 * is one binary WebSocket frame with one msgpack array `[type, ...fields]`. Receivers ignore unknown types.
 */

import type { Role } from "../roles.ts";
import type { TuningLimits } from "../tuning.ts";

export const PROTOCOL_VERSION = 2;

/** Client to server. */
export const ClientMessage = {
  /**
   * [1, version, {name?, color?, resume?, token?, password?, mode?, hz?, contacts?}] must come first, within
   * `helloTimeoutMs`.
   */
  hello: 1,
  /**
   * [2, grab, body, triangle, u, v, x, y, z, {together?}]: grab the point (1-u-v) a + u b + v c of a surface triangle
   * and pull it towards x y z (m). together: grab the same place on all bodies that the scene allows to grab together.
   */
  grab: 2,
  /** [3, grab, x, y, z] */
  move: 3,
  /** [4, grab] */
  release: 4,
  /** [5, body, triangle, u, v, ix, iy, iz]: impulse in N s at a surface point. */
  impulse: 5,
  /** [6, {request?}]: restarts the room's scene for all members. */
  reset: 6,
  /** [7, x, y, z] or [7, nil]: position of this member's cursor. */
  cursor: 7,
  /** [8, clientTimeMs] */
  ping: 8,
  /** [9]: requests a keyframe (after a decoding error). */
  needKeyframe: 9,
  /**
   * [10, body, x, y, z, {heading?: [x, z], occupied?: "refuse" | "lift", request?}]: spawns a body with its underside
   * at x y z (m).
   */
  spawn: 10,
  /** [11, body, {request?}]: removes a spawned body. */
  remove: 11,
  /** [12, member, {ban?: seconds, request?}]: an owner kicks a member, optionally with a ban. */
  kick: 12,
  /**
   * [13, {locked?, ownersOnly?, chat?, password?, liftBans?, request?}]: an owner changes the room's access; absent
   * fields stay the same.
   */
  access: 13,
  /** [14, kind, data]: application message to the other members; the room only forwards it. */
  message: 14,
  /** [15, {gravity?: [x, y, z], body?, damping?, friction?, asScene?}]: an owner changes these values of the scene. */
  tune: 15,
  /** [16, {request?}]: undoes this member's last act; an owner's request undoes the last act of any member. */
  undo: 16,
  /** [17, reaction]: a place in REACTIONS (shared/reactions.ts), shown at this member's cursor for a moment. */
  react: 17,
  /** [18, text]: a line of chat. */
  say: 18,
} as const;

/** Shortest and longest password of a room, characters. */
export const PASSWORD_LENGTH = { min: 6, max: 128 } as const;

/** Server to client. */
export const ServerMessage = {
  /**
   * [64, {version, room, scene, session, token, member, tickHz, sendHz, topology, limits, role, tuning?, mode?, url?}]
   */
  welcome: 64,
  /** [65, tick, bin]: decodes alone. */
  keyframe: 65,
  /** [66, tick, baseTick, bin]: against the frame of baseTick, which is the frame sent before it. */
  delta: 66,
  /** [67, [[member, name, color, connected, role], ...]]: all members, whenever they change. */
  members: 67,
  /**
   * [68, tick, [[member, cursor | nil, [[grab, body, triangle, u, v, x, y, z, together?], ...]], ...]]: cursors and
   * grabs of members, when they change, at most at the send rate.
   */
  grabs: 68,
  /** [69, clientTimeMs, serverTick] */
  pong: 69,
  /** [70, {stepMs, stages, tickLatenessMs, clients, kbpsOut, timeDilation, methods, errors}]: about once a second. */
  stats: 70,
  /** [71, code, text, details]: a refusal or an event; the connection stays open. */
  notice: 71,
  /** [72, tick, member]: the scene was reset. */
  reset: 72,
  /**
   * [73, tick, [body, ...], member]: from this tick's frame on, these spawnable bodies are out of the scene, and all
   * others are in it.
   */
  spawnable: 73,
  /** [74, {locked, password, ownersOnly, chat, bans}]: the room's access, after welcome and whenever it changes. */
  access: 74,
  /** [75, member, kind, data]: another member's `message`. */
  message: 75,
  /**
   * [76, tick, bin]: for members with `mode: "simple"`, in place of keyframes and deltas; int32 x y z of every
   * particle.
   */
  positions: 76,
  /** [77, tick, [[body, body], ...]]: pairs that have begun to touch; for members with `contacts: true`. */
  contacts: 77,
  /** [78, tick, [x, y, z], [[body, damping, friction], ...], member]: the tuning that applies from this tick on. */
  tuned: 78,
  /** [79, request]: the request of this number has taken effect and, if it is about access, is stored. */
  done: 79,
  /** [80, [[member, reaction], ...]]: reactions of the last moment. */
  reactions: 80,
  /** [81, [[member, name, color, text], ...]]: new lines of chat; after welcome the last ones. */
  said: 81,
} as const;

/** WebSocket close codes. 1009 (too large) comes from the transport itself. */
export const CloseCode = {
  normal: 1000,
  tooLarge: 1009,
  restarting: 1012,
  badMessage: 4400,
  tokenNeeded: 4401,
  kicked: 4403,
  roomGone: 4404,
  passwordNeeded: 4407,
  helloTimeout: 4408,
  unsupportedVersion: 4409,
  heartbeatLost: 4410,
  locked: 4423,
  quarantined: 4424,
  tooManyAttempts: 4425,
  flood: 4429,
  roomFull: 4430,
  tooSlow: 4431,
} as const;

export const Limits = {
  /** Largest client message, bytes. */
  maxPayload: 4096,
  helloTimeoutMs: 5000,
  /** Inputs: sustained per second, and burst. */
  inputsPerSecond: 60,
  inputBurst: 120,
  /** A client this much over its burst is closed with `flood`. */
  floodBudget: 600,
  heartbeatMs: 3000,
  deadAfterMs: 10000,
  /** Above: the client skips frames and gets a keyframe when its buffer is empty. */
  backpressureBytes: 64 * 1024,
  /** Above: closed with `tooSlow`. */
  tooSlowBytes: 1024 * 1024,
  grabsPerMember: 4,
  /** Impulses of one member, in impulses of the largest size: sustained per second, and burst. */
  impulsesPerSecond: 4,
  nameLength: 24,
  /** A `message`: limit of its data as msgpack, bytes, and nesting depth of lists and maps. */
  messageBytes: 2048,
  messageDepth: 8,
  /** Messages of one member: sustained per second, and burst. */
  messagesPerSecond: 10,
  messageBurst: 20,
  /** Bytes per second of messages that a room sends to all its members together. */
  messageRoomBytes: 1024 * 1024,
  /** Longest line of chat, characters. */
  lineLength: 200,
  /** Simple mode: frames per second that a member may request, and bytes per second of frames that it gets. */
  simpleHz: 20,
  simpleBytes: 2 * 1024 * 1024,
  /** Reported pairs of bodies that begin to touch, per second and room. */
  contactsPerSecond: 60,
} as const;

/** Fields of `welcome`. */
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
  /** Role of this member; see shared/roles.ts. */
  role: Role;
  /** Frames are sent as `positions`. */
  mode?: "simple";
  /** Public address of the process that has the room, http(s)://host[:port]; absent: not configured. */
  url?: string;
}

/** Fields of `stats`. */
export interface RoomStats {
  /** Mean time of a whole tick in the worker over the last second, ms. */
  stepMs: number;
  /** Mean of each stage, ms, by stage name. */
  stages: Record<string, number>;
  /** Largest lateness of a tick in the last second, ms. */
  tickLatenessMs: number;
  clients: number;
  /** Payload to all clients of the room together, kbit/s. */
  kbpsOut: number;
  timeDilation: number;
  /** Bodies with a method of their own that were stepped, and the mean time of one of their steps, ms. */
  methods: [body: number, stepMs: number][];
  /** Error of bodies that the scene compares with a reference: distance over their largest side; null: unknown. */
  errors: [body: number, error: number | null][];
}

/** First part of a replay (PROTOCOL.md, section 11). */
export interface ReplayHead {
  format: "pliant-replay-1";
  room: string;
  scene: string;
  /** Content hash. */
  topology: string;
  tickHz: number;
  sendHz: number;
  /** Ticks. */
  from: number;
  until: number;
}
