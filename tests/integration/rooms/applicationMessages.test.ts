/**
 * Application messages on the socket: a refused message costs a notice and reaches no member, a malformed one closes
 * the connection.
 */
import { encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
let ann: Bot;
let ben: Bot;
beforeAll(async () => {
  server = await startTestServer();
  await createRoom(server.url, "cube", "room");
  ann = await Bot.join(server.url, "room", { name: "Ann" });
  ben = await Bot.join(server.url, "room", { name: "Ben" });
});
afterAll(async () => {
  await Promise.all([ann.leave(), ben.leave()]);
  await server.close();
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

/** A string whose msgpack has this many bytes: 3 encode its length. */
const text = (bytes: number): string => "x".repeat(bytes - 3);

const KINDS = ["", "two words", "9", "x".repeat(33), `x${"\u{1F9F5}".repeat(60)}`];

test("a message beyond a limit is refused with field, value and limit, and reaches no member", async () => {
  for (const kind of KINDS) ann.send([ClientMessage.message, kind, null]);
  ann.send([ClientMessage.message, "deep", nested(Limits.messageDepth + 1)]);
  ann.send([ClientMessage.message, "long", text(Limits.messageBytes + 1)]);
  ann.send([ClientMessage.message, "deepest", nested(Limits.messageDepth)]);
  ann.send([ClientMessage.message, "longest", text(Limits.messageBytes)]);
  ann.send([ClientMessage.message, "last", 1]);
  const kinds = (): string[] => ben.heard.map(({ kind }) => kind);
  await ben.until(() => kinds().includes("last"), "the last message");
  expect(kinds()).toEqual(["deepest", "longest", "last"]);
  expect(ann.heard).toEqual([]);
  await ann.until(() => ann.notices.length >= KINDS.length + 2, "all refusals");
  const details = ann.notices.map(({ code, details: { field, value, limit } }) => [code, field, value, limit]);
  const form = "1 to 32 of A-Z, a-z, 0-9 and . _ : -, starting with a letter";
  expect(details).toEqual([
    ...KINDS.map((kind) => ["OUT_OF_RANGE", "kind", [...kind].slice(0, 40).join(""), form]),
    ["OUT_OF_RANGE", "data", 9, "8 levels"],
    ["OUT_OF_RANGE", "data", 2049, "2048 bytes"],
  ]);
});

test("malformed data close the sender's connection, and no other", async () => {
  const eve = await Bot.join(server.url, "room", { name: "Eve" });
  const closed = new Promise<number>((resolve) => eve.socket.once("close", resolve));
  eve.socket.send(encode([ClientMessage.message, "at", new Date(0)]));
  expect(await closed).toBe(CloseCode.badMessage);
  await ben.frames(2);
});
