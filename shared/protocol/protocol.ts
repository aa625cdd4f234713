/**
 * The socket protocol's numbers: message types, close codes, limits, version. PROTOCOL.md explains each in words.
 * Every message is one binary WebSocket frame holding one msgpack array `[type, ...fields]`.
 * Who receives an unknown type ignores it.
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
   * [2, grab, body, triangle, u, v, x, y, z, {together?}]: hold the point (1-u-v) a + u b + v c of a surface triangle,
   * pull it towards x y z (m); together: the same place of all bodies that the scene lets one hand pull.
   */
  grab: 2,
  /** [3, grab, x, y, z] */
  move: 3,
  /** [4, grab] */
  release: 4,
  /** [5, body, triangle, u, v, ix, iy, iz]: impulse in N s at a surface point. */
  impulse: 5,
  /** [6]: the room's scene starts again, for everyone. */
  reset: 6,
  /** [7, x, y, z] or [7, nil]: where this member points. */
  cursor: 7,
  /** [8, clientTimeMs] */
  ping: 8,
  /** [9]: send me a keyframe (after a decoding error). */
  needKeyframe: 9,
  /**
   * [10, body, x, y, z, {heading?: [x, z], occupied?: "refuse" | "lift"}]: put in a body that waits, its underside at x
   * y z (m).
   */
  spawn: 10,
  /** [11, body]: take it out again. */
  remove: 11,
  /** [12, member, {ban?: seconds}]: owners kick a member, and keep it out for a while. */
  kick: 12,
  /** [13, {locked?, ownersOnly?, password?, liftBans?}]: owners change the room's access; what is absent stays. */
  access: 13,
  /** [14, kind, data]: tells the other members something, which the room only passes on. */
  message: 14,
  /** [15, {gravity?: [x, y, z], body?, damping?, friction?, asScene?}]: owners change what the scene said of these. */
  tune: 15,
} as const;

/** Server to client. */
export const ServerMessage = {
  /**
   * [64, {version, room, scene, session, token, member, tickHz, sendHz, topology, limits, role, tuning?, mode?, url?}]
   */
  welcome: 64,
  /** [65, tick, bin]: decodes alone. */
  keyframe: 65,
  /** [66, tick, baseTick, bin]: against the frame of baseTick, which is the one sent before it. */
  delta: 66,
  /** [67, [[member, name, color, connected, role], ...]]: all members, whenever they change. */
  members: 67,
  /**
   * [68, tick, [[member, cursor | nil, [[grab, body, triangle, u, v, x, y, z, together?], ...]], ...]]: hands, at most
   * at send rate, when they change.
   */
  hands: 68,
  /** [69, clientTimeMs, serverTick] */
  pong: 69,
  /** [70, {stepMs, stages, tickLatenessMs, clients, kbpsOut, timeDilation, methods, errors}]: about once a second. */
  stats: 70,
  /** [71, code, text, details]: something went wrong that did not cost the connection. */
  notice: 71,
  /** [72, tick, member]: the scene was reset. */
  reset: 72,
  /** [73, tick, [body, ...], member]: from the frame of this tick on these bodies wait, and all others are there. */
  waiting: 73,
  /** [74, {locked, password, ownersOnly, bans}]: the room's access, after welcome and whenever it changes. */
  access: 74,
  /** [75, member, kind, data]: another member's `message`. */
  message: 75,
  /** [76, tick, bin]: in place of keyframes and deltas for who said `mode: "simple"`; int32 x y z of every particle. */
  positions: 76,
  /** [77, tick, [[body, body], ...]]: these have begun to touch; to who said `contacts: true`. */
  contacts: 77,
  /**
   * [78, tick, [x, y, z], [[body, damping, friction], ...], member]: with what the room is simulated from this tick on.
   */
  tuned: 78,
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
  parked: 4424,
  tooManyAttempts: 4425,
  flood: 4429,
  roomFull: 4430,
  tooSlow: 4431,
} as const;

export const Limits = {
  /** Largest client frame, bytes. */
  maxPayload: 4096,
  helloTimeoutMs: 5000,
  /** Inputs: sustained per second, and burst. */
  inputsPerSecond: 60,
  inputBurst: 120,
  /** A client this much over its burst is closed with `flood`. */
  floodBudget: 600,
  heartbeatMs: 3000,
  deadAfterMs: 10000,
  /** Above: the client skips frames and gets a keyframe when it has drained. */
  backpressureBytes: 64 * 1024,
  /** Above: closed with `tooSlow`. */
  tooSlowBytes: 1024 * 1024,
  grabsPerMember: 4,
  /** Impulses of one member, in impulses of the largest size: sustained per second, and burst. */
  impulsesPerSecond: 4,
  nameLength: 24,
  /** Of a `message`: bytes of its data as msgpack, and lists and maps within one another. */
  messageBytes: 2048,
  messageDepth: 8,
  /** Of one member: sustained per second, and burst. */
  messagesPerSecond: 10,
  messageBurst: 20,
  /** Bytes per second of messages that a room sends to all its members together. */
  messageRoomBytes: 1024 * 1024,
  /** Simple mode: frames per second that a member may ask for, and bytes per second of them that it gets. */
  simpleHz: 20,
  simpleBytes: 2 * 1024 * 1024,
  /** Pairs of bodies of a room that are told to have begun to touch, a second. */
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
  /** What this member may do; see shared/roles.ts. */
  role: Role;
  /** Frames come as `positions`. */
  mode?: "simple";
  /** Where visitors reach the process that has the room, http(s)://host[:port]; absent: nobody has said so. */
  url?: string;
}

/** The air of a room; `density` 0: there is none. */
export interface Wind {
  /** m/s */
  velocity: [number, number, number];
  /** kg/m^3 */
  density: number;
  /** C_D and C_L, dimensionless (server/kernel/assembly/wind/wind.ts). */
  drag: number;
  lift: number;
  /**
   * Turbulence: root mean square of its velocity over the wind's, m of its largest waves, and which of all there are.
   */
  intensity: number;
  scale: number;
  seed: number;
}

/** What a body is simulated with now; absent: of this body it is not to be changed. */
export interface BodyTuning {
  body: number;
  /** 1/s */
  damping?: number;
  friction?: number;
  /** kg/m^3 */
  density?: number;
  /** Pa; of an orthotropic material its first modulus, to which the others are in proportion. */
  youngsModulus?: number;
  poissonsRatio?: number;
  /** Flexural rigidity of a cloth, N m. */
  bendingStiffness?: number;
  /** Wanted volume of a balloon, in volumes at rest. */
  pressure?: number;
  /** Strain at which plastic flow begins. */
  yield?: number;
  /** Eigenmodes that a modal body keeps: at most the scene's. */
  modes?: number;
  /** Steps a tick of the body's method. */
  steps?: number;
  /** Do the scene's pins hold it? */
  pins?: boolean;
}

/** What a room is simulated with now, where its owners may change it. */
export interface Tuning {
  /** m/s^2 */
  gravity: [number, number, number];
  wind: Wind;
  /** Simulated time over wall time; 0: it stands still. */
  timeScale: number;
  /** Ticks before this one in which it stood: simulated time is that of the others. */
  stood: number;
  bodies: BodyTuning[];
}

/** What is absent stays. The fields of a body are those of `body`. */
export interface TuningChange extends Partial<BodyTuning> {
  gravity?: [number, number, number];
  wind?: Partial<Wind>;
  timeScale?: number;
  /** All of it as the scene says, whatever else is given. */
  asScene?: true;
}

/** Fields of `stats`. */
export interface RoomStats {
  /** Mean whole tick in the worker over the last second, ms. */
  stepMs: number;
  /** Mean of each stage, ms, by stage name. */
  stages: Record<string, number>;
  /** Largest lateness of a tick in the last second, ms. */
  tickLatenessMs: number;
  clients: number;
  /** To all clients of the room together, kbit/s of payload. */
  kbpsOut: number;
  timeDilation: number;
  /** Bodies with a method of their own that were stepped, and mean milliseconds of a step of it. */
  methods: [body: number, stepMs: number][];
  /**
   * Bodies that the scene compares with a reference: how far they are from it, over their largest side; null: unknown.
   */
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
