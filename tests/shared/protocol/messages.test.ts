/** The client accepts known messages, ignores unknown types, and refuses malformed messages of known types. */
import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";
import { build } from "../../../shared/protocol/fromClient.ts";
import { encodeNotice, parseServerMessage, safeColor, ServerMessage } from "../../../shared/protocol/fromServer.ts";
import { parseClientMessage } from "../../../shared/protocol/fromClient.ts";
import { PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";

const parse = (message: unknown) => {
  const bytes = encode(message);
  return parseServerMessage(bytes.slice().buffer);
};

describe("parseServerMessage", () => {
  test("a refused value returns as it was sent", () => {
    for (const value of [0.04, 1e-300, 1e300])
      expect(
        parseServerMessage(encodeNotice("OUT_OF_RANGE", { value, limit: undefined }).slice().buffer),
      ).toMatchObject({ code: "OUT_OF_RANGE", details: { value } });
  });

  test("frames keep their bytes", () => {
    const event = parse([ServerMessage.delta, 12, 10, Uint8Array.of(1, 2, 3)]);
    expect(event).toMatchObject({ type: "delta", tick: 12, baseTick: 10 });
    expect([...(event as { data: Uint8Array }).data]).toEqual([1, 2, 3]);
  });

  test("grabs with and without a cursor", () => {
    expect(
      parse([
        ServerMessage.grabs,
        7,
        [
          [1, null, []],
          [
            2,
            [1, 2, 3],
            [
              [5, 0, 9, 0.25, 0.5, 4, 5, 6],
              [6, 0, 9, 0.25, 0.5, 4, 5, 6, true],
            ],
          ],
        ],
      ]),
    ).toEqual({
      type: "grabs",
      tick: 7,
      members: [
        { member: 1, cursor: undefined, grabs: [] },
        {
          member: 2,
          cursor: [1, 2, 3],
          grabs: [
            { grab: 5, body: 0, triangle: 9, u: 0.25, v: 0.5, target: [4, 5, 6] },
            { grab: 6, body: 0, triangle: 9, u: 0.25, v: 0.5, target: [4, 5, 6], together: true },
          ],
        },
      ],
    });
  });

  test("an unknown type is no error", () => {
    expect(parse([200, "whatever"])).toBeUndefined();
  });

  test.each([
    ["not an array", { a: 1 }, /expected an array/],
    [
      "keyframe without bytes",
      [ServerMessage.keyframe, 3, "text"],
      `message ${ServerMessage.keyframe}: data must be bin`,
    ],
    ["delta without a base", [ServerMessage.delta, 3, null, Uint8Array.of(1)], /baseTick must be a number/],
    ["cursor that is not a point", [ServerMessage.grabs, 1, [[1, ["x", 0, 0], []]]], /cursor x must be a number/],
  ])("refuses: %s", (_name, message, reason) => {
    expect(() => parse(message)).toThrow(reason);
  });

  test("a color that is not six hex digits never reaches the page", () => {
    expect(safeColor("#a1B2c3")).toBe("#a1B2c3");
    for (const bad of ["red", "#fff", "url(https://x)", 7, null, "#12345g"]) expect(safeColor(bad)).toBe("#8a8f98");
  });
});

describe("build", () => {
  test("the server's own parser reads every message", () => {
    const at = { body: 1, triangle: 22, u: 0.25, v: 0.5 };
    expect(parseClientMessage(build.hello({ name: "Ada", color: "#112233", resume: "t" }))).toEqual({
      type: "hello",
      version: PROTOCOL_VERSION,
      name: "Ada",
      color: "#112233",
      resume: "t",
    });
    expect(parseClientMessage(build.grab(3, at, [1, 2, 3]))).toEqual({
      type: "grab",
      grab: 3,
      ...at,
      target: [1, 2, 3],
    });
    expect(parseClientMessage(build.move(3, [1, 2, 3]))).toEqual({ type: "move", grab: 3, target: [1, 2, 3] });
    expect(parseClientMessage(build.release(3))).toEqual({ type: "release", grab: 3 });
    expect(parseClientMessage(build.impulse(at, [0, -1, 0.5]))).toEqual({
      type: "impulse",
      ...at,
      impulse: [0, -1, 0.5],
    });
    expect(parseClientMessage(build.reset())).toEqual({ type: "reset" });
    expect(parseClientMessage(build.cursor([1, 2, 3]))).toEqual({ type: "cursor", at: [1, 2, 3] });
    expect(parseClientMessage(build.cursor(undefined))).toEqual({ type: "cursor", at: null });
    expect(parseClientMessage(build.ping(12.5))).toEqual({ type: "ping", clientTimeMs: 12.5 });
    expect(parseClientMessage(build.message("chat", { text: "hi" }))).toEqual({
      type: "message",
      kind: "chat",
      data: { text: "hi" },
    });
    expect(parseClientMessage(build.needKeyframe())).toEqual({ type: "needKeyframe" });
  });

  test("messages are small arrays, not maps", () => {
    expect(decode(build.move(3, [1, 2, 3]))).toEqual([3, 3, 1, 2, 3]);
    expect(build.move(65_000, [0.1, 0.2, 0.3]).length).toBeLessThan(40);
  });
});
