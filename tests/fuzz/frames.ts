/**
 * Frames of a hostile or broken client: whole messages, messages with a field of every wrong type, extreme numbers,
 * msgpack with false lengths, random bytes. `expectedEnd` gives the result that the protocol defines for each.
 */
import { Encoder } from "@msgpack/msgpack";
import { MalformedMessage, parseClientMessage, ClientMessage } from "../../shared/protocol/fromClient.ts";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../shared/protocol/protocol.ts";
import { wideLimits } from "../shared/scene/fieldLimits.ts";
import type { Random } from "./random.ts";

export interface Frame {
  bytes: Uint8Array;
  /** Sent as a text message. */
  text?: boolean;
}

/** The room that the frames are for, so that some of them apply. */
export interface Target {
  bodies: number;
  triangles: number;
  members: number;
}

/** Shape of a room with that target. */
export const shape = {
  triangles: [40, 12],
  spawnable: [1],
  together: [],
  tunable: [
    { body: 0, damping: 1, friction: 0.5, density: 500, youngsModulus: 1e4 },
    { body: 1, friction: 0.5 },
  ],
  tuning: wideLimits(2),
  reach: 100,
  origin: [0, 0, 0] as [number, number, number],
  maxImpulse: 5,
};

const encoder = new Encoder({ useBigInt64: true });
const TYPES = Object.values(ClientMessage);

const EDGES = [
  0,
  -0,
  1,
  -1,
  0.5,
  1e-3,
  1.001,
  2,
  4,
  100,
  127,
  128,
  255,
  256,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e38,
  -1e38,
  1e154,
  1e300,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  5e-324,
  NaN,
  Infinity,
  -Infinity,
];
const SECRETS = [
  "",
  "x",
  "null",
  "a.b.c",
  "eyJhbGciOiJub25lIn0.e30.",
  "__proto__",
  "\u0000",
  "\ud800",
  "../..",
  "%00",
  "ﷺ".repeat(60),
  "x".repeat(3000),
];

/** A value of a type that no field accepts. */
function stranger(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => random.pick(SECRETS),
    () => [],
    () => [1, 2, 3],
    () => ({}),
    () => ({ a: 1 }),
    () => random.bytes(random.below(40)),
    () => new Date(random.next() * 1000),
    () => random.pick(EDGES),
    () => BigInt(random.next()) << BigInt(random.below(32)),
    () => -(BigInt(random.next()) << 31n),
    () => nested(random.below(80)),
  ])();
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

const number = (random: Random): number =>
  random.chance(0.1) ? random.pick(EDGES) : (random.unit() - 0.5) * random.pick([1, 4, 300]);
const point = (random: Random): number[] => [number(random), number(random), number(random)];
const index = (random: Random, below: number): number =>
  random.chance(0.1) ? random.pick(EDGES) : random.below(below + 1);

function options(random: Random, fields: Record<string, () => unknown>): unknown[] {
  if (random.chance(0.2)) return [];
  const entries = Object.entries(fields)
    .filter(() => random.chance(0.5))
    .map(([name, make]) => [name, random.chance(0.1) ? stranger(random) : make()]);
  return [
    random.chance(0.03)
      ? stranger(random)
      : Object.fromEntries(
          random.chance(0.1)
            ? [...entries, [random.pick(["later", "constructor", "toString", "1"]), stranger(random)]]
            : entries,
        ),
  ];
}

const accessOptions = (random: Random): Record<string, () => unknown> => ({
  locked: () => random.chance(0.5),
  ownersOnly: () => random.chance(0.5),
  chat: () => random.chance(0.5),
  liftBans: () => random.chance(0.5),
  password: () => random.pick([null, "short", "long enough", "x".repeat(129)]),
});

const tuneOptions = (random: Random, bodies: number): Record<string, () => unknown> => ({
  gravity: () => point(random),
  body: () => index(random, bodies),
  damping: () => number(random),
  friction: () => number(random),
  density: () => number(random),
  youngsModulus: () => number(random),
  pins: () => random.chance(0.5),
  timeScale: () => number(random),
  wind: () => ({ velocity: point(random), intensity: number(random), seed: number(random) }),
  asScene: () => random.chance(0.9),
});

/** The fields of a message of this type, mostly valid. */
function fieldsOf(type: number, random: Random, { bodies, triangles, members }: Target): unknown[] {
  const surface = (): unknown[] => [
    index(random, bodies),
    index(random, triangles),
    random.unit() * 0.6,
    random.unit() * 0.6,
  ];
  switch (type) {
    case ClientMessage.hello:
      return [
        random.chance(0.95) ? PROTOCOL_VERSION : random.pick(EDGES),
        ...options(random, {
          name: () => random.pick(SECRETS),
          color: () => random.pick(["#aabbcc", "red", ""]),
          resume: () => random.pick(SECRETS),
          password: () => random.pick(SECRETS),
        }),
      ];
    case ClientMessage.grab:
      return [index(random, 6), ...surface(), ...point(random)];
    case ClientMessage.move:
      return [index(random, 6), ...point(random)];
    case ClientMessage.release:
      return [index(random, 6)];
    case ClientMessage.impulse:
      return [...surface(), ...point(random)];
    case ClientMessage.spawn:
      return [
        index(random, bodies),
        ...point(random),
        ...options(random, {
          heading: () => [number(random), number(random)],
          occupied: () => random.pick(["refuse", "lift", "push"]),
        }),
      ];
    case ClientMessage.remove:
      return [index(random, bodies)];
    case ClientMessage.cursor:
      return random.chance(0.2) ? [null] : point(random);
    case ClientMessage.ping:
      return [number(random)];
    case ClientMessage.kick:
      return [index(random, members), ...options(random, { ban: () => number(random) })];
    case ClientMessage.access:
    case ClientMessage.tune:
      return options(random, type === ClientMessage.access ? accessOptions(random) : tuneOptions(random, bodies));
    case ClientMessage.message:
      return [
        random.pick(["chat", "x.y:z-1", "", "9", "a".repeat(33), ...SECRETS]),
        random.chance(0.5) ? stranger(random) : [{ a: stranger(random) }, random.bytes(random.below(3000))],
      ];
    case ClientMessage.react:
      return [index(random, 6)];
    case ClientMessage.say:
      return [random.chance(0.5) ? "hello" : random.pick(SECRETS)];
    default:
      return [];
  }
}
function message(random: Random, target: Target): Uint8Array {
  const type = random.pick(TYPES);
  const array: unknown[] = [type, ...fieldsOf(type, random, target)];
  if (random.chance(0.15)) array[random.below(array.length)] = stranger(random);
  if (random.chance(0.05)) array.length = random.below(array.length + 1);
  if (random.chance(0.05)) array.push(stranger(random), stranger(random));
  return encoder.encode(array);
}

/** msgpack headers with false lengths, or of rare types. */
const HEADS = [
  [0xdd, 255, 255, 255, 255],
  [0xdc, 255, 255],
  [0xdf, 255, 255, 255, 255],
  [0xde, 0, 65],
  [0xdb, 255, 255, 255, 255],
  [0xc6, 127, 255, 255, 255],
  [0xc9, 255, 255, 255, 255, 1],
  [0xc7, 12, 255],
  [0xd6, 255],
  [0xc1],
  [0x9f],
  [0x8f],
  [0xc0],
  [0xcf, 255, 255, 255, 255, 255, 255, 255, 255],
  [0x81, 0xa9, ...Buffer.from("__proto__"), 1],
  [0x92, 7, 0xd7, 255],
];

function broken(random: Random, target: Target): Uint8Array {
  const whole = message(random, target);
  switch (random.below(6)) {
    case 0:
      return random.bytes(random.below(64));
    case 1:
      return whole.subarray(0, random.below(whole.length + 1));
    case 2:
      return Uint8Array.from([...whole, ...random.bytes(1 + random.below(8))]);
    case 3: {
      const flipped = Uint8Array.from(whole);
      for (let k = 0; k <= random.below(4); k++) flipped[random.below(flipped.length)]! ^= 1 << random.below(8);
      return flipped;
    }
    case 4:
      return Uint8Array.from([...random.pick(HEADS), ...random.bytes(random.below(16))]);
    default:
      return Uint8Array.from([
        0x92,
        random.pick(TYPES),
        ...new Array<number>(random.pick([10, 100, 1000, 4000])).fill(0x91),
      ]);
  }
}

/** One frame of any kind. */
export function anyFrame(random: Random, target: Target): Frame {
  const kind = random.unit();
  if (kind < 0.6) return { bytes: message(random, target) };
  if (kind < 0.97) return { bytes: broken(random, target) };
  if (kind < 0.98)
    return {
      bytes: encoder.encode([random.below(200) + 18, ...new Array<unknown>(random.below(70)).fill(stranger(random))]),
    };
  if (kind < 0.99) return { bytes: new TextEncoder().encode(random.pick(["", "hello", "[1,2]", "ﷺ"])), text: true };
  return { bytes: random.bytes(Limits.maxPayload - 2 + random.below(5)) };
}

/** Close code and reason that a frame must cause. */
export interface End {
  code: number;
  /** Absent if the standard leaves it open. */
  reason?: string;
}

/** @param first the first message of its connection. @returns null: the connection stays open */
export function expectedEnd({ bytes, text }: Frame, first: boolean): End | null {
  if (bytes.byteLength > Limits.maxPayload) return { code: CloseCode.tooLarge };
  if (text) return { code: CloseCode.badMessage, reason: "text frame: messages are binary msgpack" };
  try {
    const request = parseClientMessage(bytes);
    if (first && request?.type !== "hello")
      return { code: CloseCode.badMessage, reason: "the first message must be hello" };
    if (first && request?.type === "hello" && request.version !== PROTOCOL_VERSION)
      return {
        code: CloseCode.unsupportedVersion,
        reason: `protocol version ${request.version}, this server speaks ${PROTOCOL_VERSION}`,
      };
    if (!first && request?.type === "hello") return { code: CloseCode.badMessage, reason: "hello: already sent" };
    return null;
  } catch (error) {
    if (error instanceof MalformedMessage) return { code: CloseCode.badMessage, reason: error.message };
    throw error;
  }
}
