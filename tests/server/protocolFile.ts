/**
 * docs/protocol.json: the tables of PROTOCOL.md for programs, and conformance vectors. `node
 * tests/server/protocolFile.ts` writes it and those tables; protocolFile.test.ts compares both with the codecs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@msgpack/msgpack";
import type { Field, MessageDescription } from "../../shared/protocol/fields.ts";
import { build, ClientMessage, REQUEST_DESCRIPTIONS } from "../../shared/protocol/fromClient.ts";
import {
  encodeAccess,
  encodeContacts,
  encodeDeltaMessage,
  encodeDone,
  encodeGrabs,
  encodeKeyframeMessage,
  encodeLooks,
  encodeMembers,
  encodeMessage,
  encodeMovers,
  encodeNotice,
  encodePins,
  encodePong,
  encodePositions,
  encodeReactions,
  encodeReset,
  encodeSaid,
  encodeStats,
  encodeTuned,
  encodeSpawnable,
  encodeWelcome,
  MESSAGE_DESCRIPTIONS,
  type Grab,
  type Member,
  ServerMessage,
} from "../../shared/protocol/fromServer.ts";
import { HttpErrors, Notices } from "../../shared/errorCodes.ts";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../shared/protocol/protocol.ts";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../shared/snapshot/index.ts";
import { FREQUENCY_ROWS } from "../../shared/snapshot/tables.ts";
import { PROTOCOL_PAGE, SDK_PAGE, SDK_PARTS, withTables } from "./protocolTables.ts";
import { dust, grid, move, random, sheet, type TestBody } from "../shared/snapshot/meshes.ts";

export const PROTOCOL_FILE = fileURLToPath(new URL("../../docs/protocol.json", import.meta.url));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** A message as JSON: bytes as `{"bin": hex}`. */
export const asJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => {
      if (inner instanceof Uint8Array) return { bin: hex(inner) };
      // A Buffer converts itself to JSON before the replacer is called.
      const { type, data } = (inner ?? {}) as { type?: unknown; data?: number[] };
      return type === "Buffer" && data ? { bin: hex(Uint8Array.from(data)) } : inner;
    }),
  );

const at = { body: 1, triangle: 20, u: 0.25, v: 0.5 };
const held: Grab = { grab: 3, ...at, target: [0.5, -1, 2] };
const memberOf = (member: number, name: string, connected: boolean): Member => ({
  member,
  name,
  color: "#2e86ab",
  connected,
  role: "player",
});

// All numbers fit into 32 bits, so that every reader gets the same values.
const CLIENT: [string, Uint8Array][] = [
  ["hello", build.hello({ name: "Zoë", color: "#2e86ab", resume: "00ff" })],
  ["hello", encode([ClientMessage.hello, PROTOCOL_VERSION])],
  ["hello", encode([ClientMessage.hello, PROTOCOL_VERSION, { mode: "simple", hz: 10 }])],
  ["grab", build.grab(3, at, [0.5, -1, 2])],
  ["grab", build.grab(4, at, [0.5, -1, 2], { together: true })],
  ["move", build.move(3, [0.5, 70000, -0.125])],
  ["release", build.release(65535)],
  ["impulse", build.impulse(at, [0, 0, -8])],
  ["reset", build.reset()],
  ["cursor", build.cursor([1, 2, 3])],
  ["cursor", build.cursor(undefined)],
  ["ping", build.ping(1234567.125)],
  ["needKeyframe", build.needKeyframe()],
  ["spawn", build.spawn(2, [0, 0.5, 0], { occupied: "lift" })],
  ["spawn", encode([ClientMessage.spawn, 2, 0, 0.5, 0, { heading: [0, -1], occupied: "refuse" }])],
  ["remove", build.remove(2)],
  ["undo", build.undo()],
  ["kick", build.kick(7, 60)],
  ["access", build.access({ locked: true, password: null })],
  ["tune", build.tune({ gravity: [0, -1.5, 0.25] })],
  ["tune", build.tune({ body: 1, damping: 2.5, friction: 0 })],
  ["tune", build.tune({ wind: { velocity: [4, 0, -0.5], density: 1.25, seed: 7 }, timeScale: 0.5 })],
  ["tune", build.tune({ body: 2, youngsModulus: 40960, poissonsRatio: 0.25, density: 512, yield: 0.125 })],
  ["tune", build.tune({ body: 0, bendingStiffness: 0.015625, pressure: 1.5, pins: false })],
  ["tune", build.tune({ asScene: true })],
  ["dress", build.dress(2, { color: "#2e86ab", finish: "metal", text: "Zoë’s" })],
  ["dress", build.dress(2, { color: null })],
  ["pin", build.pin(3)],
  ["unpin", build.unpin(15, { request: 4 })],
  ["unpin", build.unpin(null)],
  ["react", build.react(3)],
  ["say", build.say("Zoë pulls")],
  ["message", build.message("score", { points: 7, by: [1, 2.5], note: null })],
];

const limits = { ...Limits, reach: 8, maxImpulse: 0.5 };
const SERVER: [string, Uint8Array][] = [
  [
    "welcome",
    encodeWelcome({
      version: PROTOCOL_VERSION,
      room: "bunny-1",
      scene: "bunny",
      session: "a1b2c3d4",
      token: "00ff00ff",
      member: 1,
      tickHz: 60,
      sendHz: 30,
      topology: "0123456789abcdef0123456789abcdef",
      limits,
      role: "owner",
      url: "https://a.example",
    }),
  ],
  ["keyframe", encodeKeyframeMessage(2, Uint8Array.of(0x21, 0xff))],
  ["delta", encodeDeltaMessage(4, 2, Uint8Array.of(0x22, 0x00))],
  ["members", encodeMembers([memberOf(1, "Zoë", true), memberOf(300, "guest 300", false)])],
  [
    "grabs",
    encodeGrabs(70000, [
      {
        member: 1,
        cursor: null,
        grabs: new Map([
          [3, held],
          [4, { ...held, grab: 4, together: true }],
        ]),
      },
      { member: 2, cursor: [1, 2.5, -3], grabs: new Map() },
    ]),
  ],
  ["pong", encodePong(1234567.125, 70000)],
  [
    "stats",
    encodeStats({
      stepMs: 2.5,
      stages: { contact: 1.25 },
      tickLatenessMs: 0.5,
      clients: 2,
      kbpsOut: 64,
      timeDilation: 1,
      methods: [[1, 0.25]],
      errors: [
        [1, 0.125],
        [2, null],
      ],
    }),
  ],
  ["notice", encodeNotice("GRAB_LIMIT", { field: "grab", value: 5, limit: 4 })],
  ["reset", encodeReset(70001, 1)],
  ["spawnable", encodeSpawnable(70001, [1, 2], 0)],
  ["access", encodeAccess({ locked: true, password: false, ownersOnly: false, chat: true, bans: 0 })],
  [
    "tuned",
    encodeTuned(
      70001,
      {
        gravity: [0, -9.75, 0],
        wind: { velocity: [4, 0, -0.5], density: 1.25, drag: 1.5, lift: 1, intensity: 0.25, scale: 2, seed: 7 },
        timeScale: 0.5,
        pausedTicks: 12,
        bodies: [
          { body: 0, friction: 0.5 },
          { body: 1, damping: 2.5, friction: 0.5, density: 512, youngsModulus: 40960, poissonsRatio: 0.25, pins: true },
        ],
      },
      1,
    ),
  ],
  ["done", encodeDone(9)],
  [
    "reactions",
    encodeReactions(
      new Map([
        [2, 0],
        [300, 5],
      ]),
    ),
  ],
  ["said", encodeSaid([{ member: 2, name: "Zoë", color: "#2e86ab", text: "higher!" }])],
  [
    "looks",
    encodeLooks(70001, [
      [2, { color: "#2e86ab", finish: "metal", text: "Zoë’s", by: 1 }, 1],
      [3, {}, 0],
    ]),
  ],
  [
    "pins",
    encodePins(
      70001,
      [
        [0, { by: 2, ...at, target: [0.5, -1, 2] }],
        [15, { by: 300, ...at, target: [0.5, -1, 2], together: true }],
      ],
      2,
    ),
  ],
  [
    "movers",
    encodeMovers(70001, [
      [0, 0.5, -0.25, 0],
      [300, 0, 2, 0],
    ]),
  ],
  ["message", encodeMessage(2, "score", { points: 7, by: [1, 2.5], note: null })],
  [
    "contacts",
    encodeContacts(70001, [
      [0, 2],
      [1, 300],
    ]),
  ],
  ["positions", encodePositions(6, Int32Array.of(1, -2, 2 ** 28 - 1))],
];

function messageVectors(): { client: Vector[]; server: Vector[] } {
  const vector = ([name, bytes]: [string, Uint8Array]): Vector => ({
    name,
    hex: hex(bytes),
    message: asJson(decode(bytes)),
  });
  return { client: CLIENT.map(vector), server: SERVER.map(vector) };
}

export interface Vector {
  name: string;
  hex: string;
  message: unknown;
}

/** Messages of a client that end the connection with 4400. */
const MALFORMED: [string, Uint8Array][] = [
  ["not msgpack", Uint8Array.of(0xc1)],
  ["not an array", encode({ type: 2 })],
  ["more than one value", Uint8Array.of(0x91, 0x06, 0x00)],
  ["a type that is not an integer", encode(["grab"])],
  ["a field is missing", encode([ClientMessage.move, 3, 0, 0])],
  ["not a number", encode([ClientMessage.ping, Number.NaN])],
  ["infinite", encode([ClientMessage.move, 3, 0, 0, Number.POSITIVE_INFINITY])],
  ["a grab above 65535", encode([ClientMessage.release, 65536])],
  ["half of a surrogate pair", Uint8Array.from(Buffer.from("93010281a46e616d65a3eda080", "hex"))],
  ["a name that is not UTF-8", Uint8Array.from(Buffer.from("93010281a46e616d65a2fffe", "hex"))],
  ["an overlong NUL in a key", Uint8Array.from(Buffer.from("93010281a2c080c0", "hex"))],
  ["an unknown mode", encode([ClientMessage.hello, PROTOCOL_VERSION, { mode: "raw" }])],
  ["contacts that are not a boolean", encode([ClientMessage.hello, PROTOCOL_VERSION, { contacts: 1 }])],
  ["more frames than simple mode has", encode([ClientMessage.hello, PROTOCOL_VERSION, { mode: "simple", hz: 60 }])],
  ["together that is not a boolean", encode([ClientMessage.grab, 3, 0, 0, 0, 0, 0, 0, 0, { together: 1 }])],
  ["gravity of two numbers", encode([ClientMessage.tune, { gravity: [0, -1] }])],
  ["damping without a body", encode([ClientMessage.tune, { damping: 1 }])],
  ["wind that is not a map", encode([ClientMessage.tune, { wind: [1, 0, 0] }])],
  ["a density that is not a number", encode([ClientMessage.tune, { body: 0, density: "1" }])],
  ["a color that is a number", encode([ClientMessage.dress, 2, { color: 0xff0000 }])],
  ["a text that is a number", encode([ClientMessage.dress, 2, { text: 7 }])],
  ["a pin without a number", encode([ClientMessage.unpin])],
  ["pins without a body", encode([ClientMessage.tune, { pins: true }])],
  ["data with a date", encode([ClientMessage.message, "at", new Date(0)])],
  ["data with NaN", encode([ClientMessage.message, "at", [Number.NaN]])],
  ["an array of more than 64", encode([99, new Array(65).fill(0)])],
];

interface FrameVectors {
  name: string;
  bodies: { count: number; triangles: number[] }[];
  /** A keyframe, then deltas, each against the frame before it. */
  frames: { hex: string; positions: number[] }[];
}

function frameVectors(name: string, bodies: TestBody[], frames: Int32Array[]): FrameVectors {
  const model = createSnapshotModel(bodies);
  return {
    name,
    bodies: bodies.map(({ count, triangles }) => ({ count, triangles: [...triangles] })),
    frames: frames.map((frame, i) => ({
      hex: hex(i === 0 ? encodeKeyframe(model, frame) : encodeDelta(model, frames[i - 1]!, frame)),
      positions: [...frame],
    })),
  };
}

/** A sheet and loose particles: at rest, trembling, falling, thrown, and further than any listed residual. */
function movingFrames(): FrameVectors {
  const bodies = [grid(5), dust(3)];
  const next = random(7);
  const frames = [Int32Array.of(...sheet(5, 40, 1), -5, 0, 7, 1000, -1000, 3, 2 ** 28 - 1, 0, -(2 ** 28) + 1)];
  for (const noise of [0, 0.6, 3, 40, 3000]) {
    const moved = move(frames.at(-1)!, [0, -Math.round(noise * 4), 1], noise, next);
    frames.push(moved.map((value) => Math.max(-(2 ** 28) + 1, Math.min(2 ** 28 - 1, value))));
  }
  return frameVectors("a sheet of 5 x 5 and three particles", bodies, frames);
}

/** Ranges are words for PROTOCOL.md. */
function withoutRanges({ range: _, fields, ...field }: Field): Field {
  return { ...field, ...(fields && { fields: fields.map(withoutRanges) }) };
}

/** Content of docs/protocol.json. */
export function protocolFile(): Record<string, unknown> {
  const messages = (types: Record<string, number>, of: Record<string, MessageDescription>): unknown[] =>
    Object.entries(types).map(([name, type]) => ({ type, name, fields: of[name]!.fields.map(withoutRanges) }));
  return {
    description:
      "The tables of PROTOCOL.md for programs, and vectors to test a client with. A message is one msgpack array: its type, then its fields.",
    version: PROTOCOL_VERSION,
    messages: {
      client: messages(ClientMessage, REQUEST_DESCRIPTIONS),
      server: messages(ServerMessage, MESSAGE_DESCRIPTIONS),
    },
    closeCodes: CloseCode,
    limits: Limits,
    errors: HttpErrors,
    notices: Notices,
    frame: { frequencies: FREQUENCY_ROWS },
    vectors: {
      messages: messageVectors(),
      malformed: MALFORMED.map(([why, bytes]) => ({ why, hex: hex(bytes), closes: CloseCode.badMessage })),
      frames: [movingFrames()],
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PROTOCOL_FILE, `${JSON.stringify(protocolFile(), null, 1)}\n`);
  writeFileSync(PROTOCOL_PAGE, withTables(readFileSync(PROTOCOL_PAGE, "utf8")));
  writeFileSync(SDK_PAGE, withTables(readFileSync(SDK_PAGE, "utf8"), SDK_PARTS));
}
