/**
 * docs/protocol.json: the tables of PROTOCOL.md for programs, and conformance vectors. `node
 * tests/server/protocolFile.ts` writes it; protocolFile.test.ts compares it with the page and the codecs.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@msgpack/msgpack";
import { build } from "../../shared/protocol/fromClient.ts";
import {
  encodeAccess,
  encodeContacts,
  encodeDeltaMessage,
  encodeDone,
  encodeGrabs,
  encodeKeyframeMessage,
  encodeMembers,
  encodeMessage,
  encodeNotice,
  encodePong,
  encodePositions,
  encodeReactions,
  encodeReset,
  encodeSaid,
  encodeStats,
  encodeTuned,
  encodeSpawnable,
  encodeWelcome,
  type Grab,
  type Member,
} from "../../shared/protocol/fromServer.ts";
import { HttpErrors, Notices } from "../../shared/errors.ts";
import { ClientMessage, CloseCode, Limits, PROTOCOL_VERSION, ServerMessage } from "../../shared/protocol/protocol.ts";
import { BODY_FIELDS } from "../../shared/tuning.ts";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../shared/snapshot/index.ts";
import { FREQUENCY_ROWS } from "../../shared/snapshot/tables.ts";
import { dust, grid, move, random, sheet, type TestBody } from "../shared/snapshot/meshes.ts";

export const PROTOCOL_FILE = fileURLToPath(new URL("../../docs/protocol.json", import.meta.url));

/** One field of a message, of a map or of a row. */
export interface Field {
  name: string;
  type: "integer" | "number" | "string" | "boolean" | "bin" | "map" | "list" | "any";
  optional?: true;
  /** nil stands for "none". */
  nullable?: true;
  /** Fields of a map; absent: any map. */
  fields?: Field[];
  /** Element type of a list. */
  items?: Field;
  /** Elements of a list, in this order. */
  row?: Field[];
}

const of =
  (type: Field["type"]) =>
  (...names: string[]): Field[] =>
    names.map((name) => ({ name, type }));
const [integer, number, string, boolean] = [of("integer"), of("number"), of("string"), of("boolean")];
const optional = (fields: Field[]): Field[] => fields.map((field) => ({ ...field, optional: true }));
const nullable = (fields: Field[]): Field[] => fields.map((field) => ({ ...field, nullable: true }));
const map = (name: string, fields: Field[]): Field => ({ name, type: "map", fields });
const rows = (name: string, row: Field[]): Field => ({ name, type: "list", items: { name: "row", type: "list", row } });

const surfacePoint = [...integer("body", "triangle"), ...number("u", "v")];
const point = number("x", "y", "z");
const answered: Field = { ...map("options", optional(integer("request"))), optional: true };

/** By name; every message is an array of its type and these fields. */
export const FIELDS: {
  client: Record<keyof typeof ClientMessage, Field[]>;
  server: Record<keyof typeof ServerMessage, Field[]>;
} = {
  client: {
    hello: [
      ...integer("version"),
      {
        ...map(
          "options",
          optional([
            ...string("name", "color", "resume", "token", "password", "mode"),
            ...number("hz"),
            ...boolean("contacts"),
          ]),
        ),
        optional: true,
      },
    ],
    grab: [
      ...integer("grab"),
      ...surfacePoint,
      ...point,
      { ...map("options", optional(boolean("together"))), optional: true },
    ],
    move: [...integer("grab"), ...point],
    release: integer("grab"),
    impulse: [...surfacePoint, ...number("ix", "iy", "iz")],
    reset: [answered],
    cursor: [...nullable(number("x")), ...optional(number("y", "z"))],
    ping: number("clientTimeMs"),
    needKeyframe: [],
    spawn: [
      ...integer("body"),
      ...point,
      {
        ...map(
          "options",
          optional([
            { name: "heading", type: "list", row: number("hx", "hz") },
            ...string("occupied"),
            ...integer("request"),
          ]),
        ),
        optional: true,
      },
    ],
    remove: [...integer("body"), answered],
    kick: [
      ...integer("member"),
      { ...map("options", optional([...number("ban"), ...integer("request")])), optional: true },
    ],
    access: [
      map("options", [
        ...optional(boolean("locked", "ownersOnly", "chat")),
        ...optional(nullable(string("password"))),
        ...optional([...boolean("liftBans"), ...integer("request")]),
      ]),
    ],
    undo: [answered],
    message: [...string("kind"), { name: "data", type: "any" }],
    react: integer("reaction"),
    say: string("text"),
    tune: [
      map("options", [
        { name: "gravity", type: "list", row: number("gx", "gy", "gz"), optional: true },
        ...optional([
          { name: "wind", type: "map" },
          ...number("timeScale"),
          ...integer("body"),
          ...number(...BODY_FIELDS),
          ...boolean("pins", "asScene"),
          ...integer("request"),
        ]),
      ]),
    ],
  },
  server: {
    welcome: [
      map("welcome", [
        ...integer("version"),
        ...string("room", "scene", "session", "token"),
        ...integer("member"),
        ...number("tickHz", "sendHz"),
        ...string("topology"),
        { name: "limits", type: "map" },
        ...string("role"),
        ...optional([{ name: "tuning", type: "map" }, ...string("mode", "url")]),
      ]),
    ],
    keyframe: [...integer("tick"), { name: "frame", type: "bin" }],
    delta: [...integer("tick", "baseTick"), { name: "frame", type: "bin" }],
    members: [
      rows("members", [...integer("member"), ...string("name", "color"), ...boolean("connected"), ...string("role")]),
    ],
    grabs: [
      ...integer("tick"),
      rows("members", [
        ...integer("member"),
        { name: "cursor", type: "list", nullable: true, row: point },
        rows("grabs", [...integer("grab"), ...surfacePoint, ...point, ...optional(boolean("together"))]),
      ]),
    ],
    pong: [...number("clientTimeMs"), ...integer("serverTick")],
    stats: [
      map("stats", [
        ...number("stepMs"),
        { name: "stages", type: "map" },
        ...number("tickLatenessMs"),
        ...integer("clients"),
        ...number("kbpsOut", "timeDilation"),
        rows("methods", [...integer("body"), ...number("stepMs")]),
        rows("errors", [...integer("body"), ...nullable(number("error"))]),
      ]),
    ],
    notice: [...string("code", "text"), { name: "details", type: "map" }],
    reset: integer("tick", "member"),
    spawnable: [...integer("tick"), { name: "bodies", type: "list", items: integer("body")[0]! }, ...integer("member")],
    access: [map("access", [...boolean("locked", "password", "ownersOnly", "chat"), ...integer("bans")])],
    message: [...integer("member"), ...string("kind"), { name: "data", type: "any" }],
    positions: [...integer("tick"), { name: "frame", type: "bin" }],
    contacts: [...integer("tick"), rows("contacts", integer("body", "body"))],
    tuned: [
      ...integer("tick"),
      { name: "gravity", type: "list", row: number("gx", "gy", "gz") },
      rows("bodies", [
        ...integer("body"),
        ...nullable(number("damping", "friction")),
        { name: "material", type: "map" },
      ]),
      ...integer("member"),
      map("room", [{ name: "wind", type: "map" }, ...number("timeScale"), ...integer("pausedTicks")]),
    ],
    done: integer("request"),
    reactions: [rows("reactions", integer("member", "reaction"))],
    said: [rows("said", [...integer("member"), ...string("name", "color", "text")])],
  },
};

/** The cell of PROTOCOL.md's table with the same content. */
export function cellOf(fields: readonly Field[]): string {
  if (fields.some(({ name, nullable: none }) => name === "x" && none)) return "x, y, z or nil";
  const cells = fields.map(inCell).join(", ");
  const last = fields.at(-1);
  return last?.type === "map" && last.optional ? `${cells} (the map may be absent)` : cells;
}

function inCell({ name, type, fields, items, row }: Field): string {
  if (type === "map" && fields)
    return `{${fields.map((field) => field.name + (field.optional ? "?" : "")).join(", ")}}`;
  if (items?.row)
    return `[[${items.row.map((field) => (field.items ? inCell(field) : field.name + (field.optional ? "?" : ""))).join(", ")}], ...]`;
  return type === "list" && items && !row ? `[${items.name}, ...]` : name;
}

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
          {
            body: 1,
            damping: 2.5,
            friction: 0.5,
            density: 512,
            youngsModulus: 40960,
            poissonsRatio: 0.25,
            pins: true,
          },
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

/** Content of docs/protocol.json. */
export function protocolFile(): Record<string, unknown> {
  const messages = (types: Record<string, number>, fields: Record<string, Field[]>): unknown[] =>
    Object.entries(types).map(([name, type]) => ({ type, name, fields: fields[name] }));
  return {
    description:
      "The tables of PROTOCOL.md for programs, and vectors to test a client with. A message is one msgpack array: its type, then its fields.",
    version: PROTOCOL_VERSION,
    messages: { client: messages(ClientMessage, FIELDS.client), server: messages(ServerMessage, FIELDS.server) },
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

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(PROTOCOL_FILE, `${JSON.stringify(protocolFile(), null, 1)}\n`);
