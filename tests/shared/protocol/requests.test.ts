/**
 * The difference between malformed (closes the connection), refused (costs a notice) and accepted messages; no bytes
 * have another result.
 */
import { readFileSync } from "node:fs";
import { encode, ExtData } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkRanges, clampImpulse, cleanColor, cleanName } from "../../../server/rooms/inputs/requestRanges.ts";
import { MalformedMessage, parseClientMessage, ClientMessage as C } from "../../../shared/protocol/fromClient.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import { wideLimits } from "../scene/fieldLimits.ts";
import { MOST_GRAVITY, MOST_WIND, SPANS, TIME_SCALE, WIND_SPANS } from "../../../shared/members/tuningLimits.ts";

const parse = (message: unknown): unknown => parseClientMessage(encode(message));

describe("parseClientMessage", () => {
  test.each([
    [[C.hello, 1], { type: "hello", version: 1 }],
    [[C.hello, 1, null], { type: "hello", version: 1 }],
    [
      [C.hello, 1, { mode: "simple", hz: 2.5, contacts: true }],
      { type: "hello", version: 1, mode: "simple", hz: 2.5, contacts: true },
    ],
    [[C.hello, 1, { mode: null, hz: null, contacts: null }], { type: "hello", version: 1 }],
    [[C.hello, 1, { name: "Ada", other: [1] }], { type: "hello", version: 1, name: "Ada" }],
    [
      [C.grab, 1, 0, 7, 0.25, 0.5, 1, 2, 3],
      { type: "grab", grab: 1, body: 0, triangle: 7, u: 0.25, v: 0.5, target: [1, 2, 3] },
    ],
    [
      [C.grab, 1, 0, 7, 0.25, 0.5, 1, 2, 3, { together: true, later: 1 }],
      { type: "grab", grab: 1, body: 0, triangle: 7, u: 0.25, v: 0.5, target: [1, 2, 3], together: true },
    ],
    [
      [C.grab, 1, 0, 7, 0.25, 0.5, 1, 2, 3, { together: false }],
      { type: "grab", grab: 1, body: 0, triangle: 7, u: 0.25, v: 0.5, target: [1, 2, 3] },
    ],
    [[C.move, 1, 1, 2, 3, "a later version's field"], { type: "move", grab: 1, target: [1, 2, 3] }],
    [[C.release, 65535], { type: "release", grab: 65535 }],
    [[C.impulse, 0, 7, 0, 0, 1, 2, 3], { type: "impulse", body: 0, triangle: 7, u: 0, v: 0, impulse: [1, 2, 3] }],
    [[C.reset], { type: "reset" }],
    [[C.cursor, null], { type: "cursor", at: null }],
    [[C.cursor, 1, 2, 3], { type: "cursor", at: [1, 2, 3] }],
    [[C.ping, 1234.5], { type: "ping", clientTimeMs: 1234.5 }],
    [[C.needKeyframe], { type: "needKeyframe" }],
    [[C.spawn, 1, 1, 2, 3], { type: "spawn", body: 1, position: [1, 2, 3], heading: [1, 0], occupied: "refuse" }],
    [
      [C.spawn, 1, 1, 2, 3, { heading: [0, -2], occupied: "lift", later: 1 }],
      { type: "spawn", body: 1, position: [1, 2, 3], heading: [0, -2], occupied: "lift" },
    ],
    [[C.remove, 1], { type: "remove", body: 1 }],
    [[C.message, "chat", [1, { a: null }]], { type: "message", kind: "chat", data: [1, { a: null }] }],
    [[63, "unknown types are ignored"], null],
  ])("%j", (message, expected) => {
    expect(parse(message)).toEqual(expected);
  });

  test.each([
    ["a map", {}, "not a msgpack array"],
    ["an empty array", [], "type is not an integer"],
    ["a fractional type", [2.5], "type is not an integer"],
    ["a hello without version", [C.hello], "hello: version"],
    ["a hello with options of another type", [C.hello, 1, []], "options is not a map"],
    ["a name that is not a string", [C.hello, 1, { name: 7 }], "name is not a string"],
    ["an unknown mode", [C.hello, 1, { mode: "raw" }], 'mode is "raw", must be simple'],
    ["more frames than simple mode has", [C.hello, 1, { hz: 21 }], "hz is 21, not a number from 1 to 20"],
    ["contacts that are not a boolean", [C.hello, 1, { contacts: "yes" }], "contacts is not a boolean"],
    [
      "together that is not a boolean",
      [C.grab, 1, 0, 7, 0, 0, 1, 2, 3, { together: 1 }],
      "grab: together is not a boolean",
    ],
    ["a missing coordinate", [C.move, 1, 0, 0], "move: z is not a finite number"],
    ["NaN", [C.move, 1, 0, NaN, 0], "move: y is not a finite number"],
    ["an infinity", [C.cursor, 0, 0, -Infinity], "cursor: z is not a finite number"],
    ["a grab id below 0", [C.release, -1], "release: grab is -1"],
    ["a grab id above its limit", [C.release, 65536], "from 0 to 65535"],
    ["a fractional body", [C.grab, 1, 0.5, 0, 0, 0, 0, 0, 0], "grab: body is 0.5"],
    ["a string for a number", [C.ping, "now"], "clientTimeMs is not a finite number"],
    [
      "a heading of three numbers",
      [C.spawn, 1, 0, 0, 0, { heading: [1, 0, 0] }],
      "spawn: heading is not two finite numbers",
    ],
    [
      "an unknown word for an occupied place",
      [C.spawn, 1, 0, 0, 0, { occupied: "push" }],
      "spawn: occupied is neither refuse nor lift",
    ],
    ["spawn options of another type", [C.spawn, 1, 0, 0, 0, 7], "spawn: options is not a map"],
    ["bin for options", [C.reset, new Uint8Array(2)], "reset: options is not a map"],
    ["an extension for options", [C.reset, new ExtData(5, new Uint8Array(1))], "reset: options is not a map"],
    ["a time for options", [C.undo, new Date(0)], "undo: options is not a map"],
    ["bin for the wind", [C.tune, { wind: new Uint8Array(2) }], "tune: wind is not a map"],
    ["a message without a kind", [C.message, 7, 1], "message: kind is not a string"],
    ["a message without data", [C.message, "chat"], "message: data holds undefined"],
    ["an infinity in a message", [C.message, "chat", [[Infinity]]], "message: data holds a number that is not finite"],
    ["a date in a message", [C.message, "chat", new Date(0)], "message: data holds a value that JSON cannot represent"],
    ["too long an array", new Array(100).fill(0), "not one msgpack value"],
  ])("%s is malformed", (_, message, reason) => {
    expect(() => parse(message)).toThrow(MalformedMessage);
    expect(() => parse(message)).toThrow(reason);
  });

  test("bytes after the message are malformed, and so is a truncated message", () => {
    const bytes = encode([C.reset]);
    expect(() => parseClientMessage(new Uint8Array([...bytes, 0]))).toThrow(MalformedMessage);
    expect(() => parseClientMessage(encode([C.ping, 1.5]).subarray(0, 5))).toThrow(MalformedMessage);
  });

  test("any bytes are parsed, ignored or malformed", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(
          fc.integer({ min: 0, max: 15 }),
          fc.array(fc.anything({ withDate: false, withBigInt: false }), { maxLength: 9 }),
        )
        .map(([type, fields]) => {
          try {
            return encode([type, ...fields]);
          } catch {
            return new Uint8Array(0);
          }
        }),
    );
    fc.assert(
      fc.property(bytes, (data) => {
        try {
          const request = parseClientMessage(data);
          expect(request === null || typeof request.type === "string").toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessage);
          expect(Buffer.byteLength((error as Error).message)).toBeLessThanOrEqual(123);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("checkRanges", () => {
  const shape = {
    triangles: [10, 20],
    spawnable: [1],
    together: [1],
    tunable: [
      { body: 0, damping: 1, friction: 0.5, density: 500, youngsModulus: 1e4, poissonsRatio: 0.3, pins: true },
      { body: 1, friction: 0.5, steps: 4, modes: 20 },
    ],
    tuning: {
      ...wideLimits(2),
      gravity: 20,
      bodies: [{ density: { least: 50, most: 5000 }, youngsModulus: { least: 1e3, most: 1e6 } }, {}],
    },
    reach: 100,
    origin: [0, 0, 0] as [number, number, number],
    maxImpulse: 5,
  };
  const grab = { type: "grab", grab: 1, body: 1, triangle: 19, u: 0.5, v: 0.5, target: [0, 100, 0] } as const;
  const check = (change: object): unknown => checkRanges({ ...grab, target: [...grab.target], ...change }, shape);

  test("the limits themselves are inside", () => {
    expect(check({})).toBeNull();
    expect(check({ u: 0, v: 1 })).toBeNull();
    expect(check({ together: true })).toBeNull();
  });

  test.each([
    [{ body: 2 }, "body", 2, "0 to 1"],
    [{ triangle: 20 }, "triangle", 20, "0 to 19"],
    [{ body: 0, triangle: 10 }, "triangle", 10, "0 to 9"],
    [{ u: -0.01 }, "u", -0.01, "0 to 1"],
    [{ u: 1.01, v: 0 }, "u", 1.01, "0 to 1"],
    [{ v: -0.01 }, "v", -0.01, "0 to 1 - u"],
    [{ u: 0.5, v: 0.51 }, "v", 0.51, "0 to 1 - u"],
    [{ body: 0, triangle: 9, together: true }, "together", 0, "a body that one grab pulls together with others: 1"],
    [{ target: [0, 100.1, 0] }, "target", 100.1, "up to 100 m from the origin"],
    [{ target: [1e200, 0, 0] }, "target", 1e200, "up to 100 m from the origin"],
    [{ type: "move", target: [0, 0, -101] }, "target", 101, "up to 100 m from the origin"],
    [{ type: "impulse", triangle: 20, impulse: [0, 0, 0] }, "triangle", 20, "0 to 19"],
  ])("%j is refused", (change, field, value, limit) => {
    expect(check(change)).toEqual({ field, value, limit });
  });

  test("cursors have the same reach", () => {
    const spawn = {
      type: "spawn",
      body: 1,
      position: [1, 2, 3] as [number, number, number],
      heading: [1, 0] as [number, number],
      occupied: "lift",
    } as const;
    expect(checkRanges(spawn, shape)).toBeNull();
    expect(checkRanges({ ...spawn, body: 0 }, shape)).toEqual({
      field: "body",
      value: 0,
      limit: "a spawnable body: 1",
    });
    expect(checkRanges({ ...spawn, body: 7 }, { ...shape, spawnable: [] })).toEqual({
      field: "body",
      value: 7,
      limit: "a spawnable body: this scene has none",
    });
    expect(checkRanges({ ...spawn, heading: [0, 0] }, shape)).toMatchObject({ field: "heading", value: 0 });
    expect(checkRanges({ ...spawn, heading: [1e300, 1] }, shape)).toMatchObject({ field: "heading", value: Infinity });
    expect(checkRanges({ ...spawn, position: [0, 101, 0] }, shape)).toMatchObject({ field: "position", value: 101 });
    expect(checkRanges({ type: "remove", body: 1 }, shape)).toBeNull();
    expect(checkRanges({ type: "remove", body: 0 }, shape)).toMatchObject({ field: "body", value: 0 });
    expect(checkRanges({ type: "cursor", at: [0, 0, 101] }, shape)).toMatchObject({ field: "cursor" });
    expect(checkRanges({ type: "cursor", at: null }, shape)).toBeNull();
  });

  test.each([
    [{ body: 0, damping: 10_000, friction: 10 }, null],
    [{ body: 1, friction: 1 }, null],
    [
      { body: 1, damping: 1 },
      { field: "damping", value: 1, limit: expect.stringMatching(/^of a body that has it/) },
    ],
    [
      { body: 0, yield: 0.1 },
      { field: "yield", value: 0.1, limit: expect.stringMatching(/^of a body that has it/) },
    ],
    [
      { body: 0, density: 0.4 },
      { field: "density", value: 0.4, limit: "50 to 5000" },
    ],
    [
      { body: 0, youngsModulus: 2e8 },
      { field: "youngsModulus", value: 2e8, limit: "1000 to 1000000" },
    ],
    [
      { body: 0, poissonsRatio: 0.5 },
      { field: "poissonsRatio", value: 0.5, limit: "0 to 0.4999" },
    ],
    [{ body: 1, steps: 256, modes: 20 }, null],
    [
      { body: 1, modes: 21 },
      { field: "modes", value: 21, limit: "a whole number from 1 to 20" },
    ],
    [
      { body: 1, steps: 1.5 },
      { field: "steps", value: 1.5, limit: "a whole number from 1 to 256" },
    ],
    [
      { body: 1, steps: 0 },
      { field: "steps", value: 0, limit: "a whole number from 1 to 256" },
    ],
    [
      { body: 1, pins: false },
      { field: "pins", value: 0, limit: "a body that the scene pins" },
    ],
    [
      { body: 2, friction: 1 },
      { field: "body", value: 2, limit: "0 to 1" },
    ],
    [{ timeScale: 0 }, null],
    [{ timeScale: 2.5 }, { field: "timeScale", value: 2.5, limit: "0, or 0.05 to 2" }],
    [{ timeScale: 0.01 }, { field: "timeScale", value: 0.01, limit: "0, or 0.05 to 2" }],
    [{ gravity: [0, 12, -16] }, null],
    [{ gravity: [0, 12, 17] }, { field: "gravity", value: Math.hypot(12, 17), limit: "a vector of at most 20 m/s^2" }],
    [{ gravity: [1e200, 0, 0] }, { field: "gravity", value: 1e200, limit: "a vector of at most 20 m/s^2" }],
    [
      { wind: { velocity: [0, 2000, 0] } },
      { field: "wind.velocity", value: 2000, limit: "a vector of at most 1000 m/s" },
    ],
    [{ wind: { intensity: -1 } }, { field: "wind.intensity", value: -1, limit: "0 to 10" }],
    [{ wind: { seed: 1.5 } }, { field: "wind.seed", value: 1.5, limit: "a whole number from 0 to 4294967295" }],
  ])("tune %j", (change, refusal) => {
    expect(checkRanges({ type: "tune", ...change } as never, shape)).toEqual(refusal);
  });

  test("points are measured from the room's origin, their reach from the world's", () => {
    const far = { ...shape, reach: 1000, origin: [990, 0, 0] as [number, number, number] };
    expect(checkRanges({ ...grab, target: [10, 0, 0] }, far)).toBeNull();
    expect(checkRanges({ ...grab, target: [-1990, 0, 0] }, far)).toBeNull();
    expect(checkRanges({ ...grab, target: [11, 0, 0] }, far)).toMatchObject({
      field: "target",
      value: 1001,
      limit: "up to 1000 m from the origin",
    });
  });
});

test("tuned values have the limits of a scene", () => {
  const { definitions, properties } = JSON.parse(readFileSync("scenes/schema.json", "utf8")) as {
    definitions: Record<string, { properties: Record<string, object> }>;
    properties: Record<string, object>;
  };
  const span = ({ least, most }: { least: number; most: number }): object => ({ minimum: least, maximum: most });
  expect(definitions.Scalar).toMatchObject({ minimum: -MOST_GRAVITY, maximum: MOST_GRAVITY });
  expect(definitions.Damping).toMatchObject(span(SPANS.damping));
  expect(definitions.Friction).toMatchObject(span(SPANS.friction));
  expect(definitions.PoissonsRatio).toMatchObject(span(SPANS.poissonsRatio));
  expect(definitions.Modulus).toMatchObject({ maximum: SPANS.youngsModulus.most });
  expect(properties.timeScale).toMatchObject({ minimum: 0, maximum: TIME_SCALE.most });
  const { density, drag, lift, intensity, scale, seed } = WIND_SPANS;
  expect(definitions.WindSpeed).toMatchObject({ minimum: -MOST_WIND, maximum: MOST_WIND });
  expect(definitions.SceneWind!.properties).toMatchObject({
    density: span(density),
    drag: span(drag),
    lift: span(lift),
    turbulence: { properties: { intensity: span(intensity), scale: span(scale), seed: span(seed) } },
  });
});

test("an impulse keeps its direction and is reduced to its limit", () => {
  expect(clampImpulse([1, 2, 2], 3)).toEqual([1, 2, 2]);
  expect(clampImpulse([0, -30, 40], 5)).toEqual([0, -3, 4]);
  expect(clampImpulse([1e200, 0, 0], 5)).toEqual([0, 0, 0]);
});

test("names are displayable and colors are valid", () => {
  expect(cleanName("  Ada\n\u202E Lovelace ")).toBe("Ada Lovelace");
  expect(cleanName("\u0000 \u200B")).toBeUndefined();
  expect([...cleanName("\u{1F9F5}".repeat(100))!]).toHaveLength(Limits.nameLength);
  expect(cleanColor("#A1b2C3")).toBe("#a1b2c3");
  expect(cleanColor("red; background: url(x)")).toBeUndefined();
});
