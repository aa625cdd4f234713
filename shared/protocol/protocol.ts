/**
 * The socket protocol's version, close codes and limits. PROTOCOL.md explains each. Every message is one binary
 * WebSocket frame with one msgpack array `[number, ...fields]` (messages/). Receivers ignore unknown numbers.
 */

export const PROTOCOL_VERSION = 2;

/** Shortest and longest password of a room, characters. */
export const PASSWORD_LENGTH = { min: 6, max: 128 } as const;

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
  /** Changes of looks of bodies by one member: sustained per second, and burst. */
  looksPerSecond: 4,
  lookBurst: 12,
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
