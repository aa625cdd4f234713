/** Later attacks from the network: request targets, proxies' headers, ranges, upgrades, fragments, msgpack. */
import { once } from "node:events";
import { encode, ExtData } from "@msgpack/msgpack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { rawAnswer, startTestServer, type TestServer } from "../testServer.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "the-operators-own-token";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ adminToken: ADMIN, trustProxy: 1 });
  await createRoom(server.url, "cube", "room");
});
afterAll(() => server.close());

/** "": the connection ended before all was sent, and lost its answer. */
const raw = (bytes: string): Promise<string> => rawAnswer(server, bytes).catch(() => "");
const statuses = (answer: string): number[] =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
const ask = (line: string, ...headers: string[]): Promise<string> =>
  raw([line, "host: 127.0.0.1", "connection: close", ...headers, "", ""].join("\r\n"));

describe("HTTP", () => {
  test.each([
    ["an absolute target of another host", "GET http://evil.example/api/rooms HTTP/1.1"],
    ["an absolute target of an operators' route", "GET http://127.0.0.1/api/admin/rooms HTTP/1.1"],
    ["CONNECT", "CONNECT evil.example:443 HTTP/1.1"],
    ["TRACE", "TRACE / HTTP/1.1"],
    ["an unknown method", "FROB / HTTP/1.1"],
    ["a lower-case method", "get / HTTP/1.1"],
    ["HTTP/0.9", "GET /api/rooms"],
    ["HTTP/3.0", "GET /api/rooms HTTP/3.0"],
    ["a target without a slash", "GET api/rooms HTTP/1.1"],
    ["the target *", "GET * HTTP/1.1"],
    ["a tab in the target", "GET /api/rooms\t HTTP/1.1"],
    ["a long target", `GET /${"a".repeat(20_000)} HTTP/1.1`],
  ])("%s leads to nothing", async (_title, line) => {
    const answer = await ask(line);
    expect(statuses(answer).length).toBeLessThan(2);
    expect(statuses(answer)[0] ?? 400).toBeGreaterThanOrEqual(400);
    expect(statuses(answer)[0] ?? 400).toBeLessThan(500);
    expect(answer).not.toContain('"rooms"');
  });

  test.each([
    ["many headers", Array.from({ length: 3000 }, (_, i) => `x-${i}: 1`)],
    ["one header of 64 kB", [`x: ${"a".repeat(65_536)}`]],
    ["a list of codings", ["transfer-encoding: gzip, chunked"]],
    ["a coding behind a tab", ["transfer-encoding:\tchunked,\tidentity"]],
    ["a control character", ["x: a\x01b"]],
    ["a name with a bracket", ["x[y]: 1"]],
  ])("%s are refused or mean nothing", async (_title, headers) => {
    const [status = 400, ...more] = statuses(await ask("GET /api/rooms HTTP/1.1", ...headers));
    expect([status < 500, more]).toEqual([true, []]);
  });

  // CVE-2024-22019: extensions of chunks without an end
  test("a chunk with an extension of 64 kB is refused", async () => {
    const head = "POST /api/rooms HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";
    const answer = await raw(`${head}transfer-encoding: chunked\r\n\r\n2;${"a".repeat(65_536)}\r\n{}\r\n0\r\n\r\n`);
    expect(statuses(answer).filter((status) => status !== 400)).toEqual([]);
  });

  test("headers of proxies and frameworks choose no method, path, scheme or host", async () => {
    const headers = {
      "x-http-method-override": "DELETE",
      "x-original-url": "/api/admin/rooms",
      "x-rewrite-url": "/api/admin/rooms",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "gopher",
      "x-forwarded-prefix": "//evil.example",
      forwarded: "for=127.0.0.1;host=evil.example",
    };
    for (const path of ["/api/scenes", "/api/address", "/docs", "/"]) {
      const answer = await fetch(server.url + path, { headers, redirect: "manual" });
      const said = JSON.stringify([...answer.headers]) + (await answer.text());
      expect([path, said.includes("evil.example") && answer.status < 400]).toEqual([path, false]);
    }
    expect((await fetch(`${server.url}/api/rooms/room`, { method: "POST", headers })).status).toBeGreaterThan(399);
    expect((await fetch(`${server.url}/api/rooms/room`)).status).toBe(200);
  });

  test("credentials count in the authorization header only", async () => {
    const path = "/api/admin/rooms";
    const asked = async (suffix: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(server.url + path + suffix, { headers })).status;
    expect(await asked("", { authorization: `Bearer ${ADMIN}` })).toBe(200);
    for (const [suffix, headers] of [
      [`?token=${ADMIN}`, {}],
      [`?authorization=Bearer%20${ADMIN}`, {}],
      ["", { cookie: `token=${ADMIN}; authorization=Bearer ${ADMIN}` }],
      ["", { "x-authorization": `Bearer ${ADMIN}` }],
      ["", { authorization: `Basic ${Buffer.from(`admin:${ADMIN}`).toString("base64")}` }],
      ["", { authorization: `Bearer ${ADMIN} ${ADMIN}` }],
      ["", { authorization: `Bearer ${ADMIN.toUpperCase()}` }],
    ] as [string, Record<string, string>][])
      expect([suffix, headers, await asked(suffix, headers)]).toEqual([suffix, headers, 401]);
  });

  test("a thousand ranges get one whole answer, and no coding is chosen that is not offered", async () => {
    const ranges = `bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-`).join()}`;
    for (const headers of [{ range: ranges }, { range: "bytes=0-0,-1" }, { "accept-encoding": "zstd, compress;q=1, *;q=0" }] as Record<string, string>[]) {
      const answer = await fetch(`${server.url}/api/scenes`, { headers });
      expect([answer.status, answer.headers.get("content-encoding"), answer.headers.get("content-range")]).toEqual([200, null, null]);
      expect(await answer.json()).toHaveProperty("scenes");
    } // biome-ignore format: one line
  });

  test.each([
    ["POST", "POST /api/rooms/room/socket HTTP/1.1", []],
    ["HTTP/1.0", "GET /api/rooms/room/socket HTTP/1.0", []],
    ["another protocol", "GET /api/rooms/room/socket HTTP/1.1", ["upgrade: h2c"]],
    ["version 8", "GET /api/rooms/room/socket HTTP/1.1", ["upgrade: websocket", "sec-websocket-version: 8"]],
    ["a short key", "GET /api/rooms/room/socket HTTP/1.1", ["upgrade: websocket", "sec-websocket-key: abc"]],
  ])("an upgrade by %s opens no socket", async (_title, line, headers) => {
    const all = ["upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="];
    const names = headers.map((header) => header.split(":")[0]!);
    const kept = all.filter((header) => !names.includes(header.split(":")[0]!));
    const answer = await raw(
      [line, "host: 127.0.0.1", "connection: upgrade, close", ...kept, ...headers, "", ""].join("\r\n"),
    );
    expect([400, 404, 426]).toContain(statuses(answer)[0]);
  });
});

describe("a socket", () => {
  const C = ClientMessage;
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/room/socket`);
    await once(socket, "open");
    return socket;
  };

  test("takes pings between the fragments of a message, empty fragments, and pongs that it did not ask for", async () => {
    const socket = await open();
    const hello = encode([C.hello, PROTOCOL_VERSION, { name: "Ann" }]);
    const ponged = once(socket, "pong");
    const welcome = once(socket, "message");
    socket.send(hello.subarray(0, 3), { fin: false });
    socket.ping(Buffer.alloc(125, 7));
    socket.pong();
    socket.send(new Uint8Array(0), { fin: false });
    socket.send(hello.subarray(3), { fin: true });
    expect(((await ponged)[0] as Buffer).equals(Buffer.alloc(125, 7))).toBe(true);
    expect((await welcome)[1]).toBe(true);
    socket.close();
    await once(socket, "close");
  });

  const huge = (head: number): Uint8Array => Uint8Array.from([0x93, C.message, 0xa1, 0x6b, head, 255, 255, 255, 255]);
  test.each<[string, unknown]>([
    ["a map with __proto__", Buffer.from([0x93, C.message, 0xa1, 0x6b, 0x81, 0xa9, ...Buffer.from("__proto__"), 0x80])],
    ["an ext type for a number", encode([C.move, new ExtData(7, new Uint8Array(4)), 0, 0, 0])],
    ["a date for a number", encode([C.move, new Date(0), 0, 0, 0])],
    ["a timestamp of 96 bits", Buffer.from([0x93, C.message, 0xa1, 0x6b, 0xc7, 12, 0xff, ...Array(12).fill(255)])],
    ["a list of 2^32 - 1", huge(0xdd)],
    ["a map of 2^32 - 1", huge(0xdf)],
    ["bytes of 2^32 - 1", huge(0xc6)],
    ["an ext type of 2^32 - 1", Buffer.from([...huge(0xc9), 1])],
    ["bytes for a name", encode([C.hello, PROTOCOL_VERSION, { name: new Uint8Array(4) }])],
    ["2^64 - 1 for a number", Buffer.from([0x95, C.move, 0xcf, ...Array(8).fill(255), 0, 0, 0])],
    ["-2^63 for a number", Buffer.from([0x95, C.move, 0xd3, 0x80, ...Array(7).fill(0), 0, 0, 0])],
    ["the code that msgpack never uses", Buffer.from([0xc1])],
    ["nothing", new Uint8Array(0)],
  ])("that sends %s ends, or the message means nothing; other members go on", async (_title, message) => {
    const bot = await Bot.join(server.url, "room");
    const witness = await Bot.join(server.url, "room");
    bot.socket.send(message as Uint8Array);
    bot.ping();
    const ended = await Promise.race([
      bot.untilClosed().then(({ code }) => code),
      bot.until(() => bot.counts.pongs > 0, "a pong").then(() => 0),
    ]).catch(() => bot.closed!.code);
    expect([0, CloseCode.badMessage]).toContain(ended);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    for (const { data } of witness.heard) expect(data).not.toHaveProperty("polluted");
    const { tick } = witness;
    await witness.until(() => witness.tick > tick, "the next tick");
    bot.drop();
    await witness.leave();
  });

  test("that says hello again changes its name, and becomes no second member", async () => {
    const bot = await Bot.join(server.url, "room", { name: "Ann" });
    for (let i = 0; i < 5; i++) bot.socket.send(encode([C.hello, PROTOCOL_VERSION, { name: `Ann ${i}` }]));
    bot.ping();
    await Promise.race([bot.untilClosed(), bot.until(() => bot.counts.pongs > 0, "a pong")]).catch(() => {});
    const { members } = (await (await fetch(`${server.url}/api/rooms/room`)).json()) as { members: number };
    expect(members).toBeLessThanOrEqual(1);
    bot.drop();
  });
});

// Fastify 5865: the leftmost entry is the visitor's own word
test("of x-forwarded-for only the last entry counts, however it is written", async () => {
  const limited = await startTestServer({ trustProxy: 1, roomsPerMinute: 1 });
  const post = async (forwarded: string): Promise<number> =>
    (await postJson(`${limited.url}/api/rooms`, { scene: "cube" }, undefined, { "x-forwarded-for": forwarded })).status;
  for (const [i, before] of ["203.0.113.9, ", "203.0.113.9,\t", "unknown, ", "203.0.113.9, 203.0.113.8 ,"].entries()) {
    const counted = `198.51.100.${i}`;
    const asked = [before + counted, before.replace("203.0.113.9", "203.0.113.77") + counted, counted];
    expect([before, await post(asked[0]!), await post(asked[1]!), await post(asked[2]!)]).toEqual([before, 201, 429, 429]); // biome-ignore format: one line
  }
  await limited.close();
});
