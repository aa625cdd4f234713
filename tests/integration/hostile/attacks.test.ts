/** Attacks from the network that must keep failing: compression, depth, paths, ambiguous requests, old TLS. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls, type SecureVersion, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { findOpenssl, makeCertificate } from "../../support/certificate.ts";
import { lacks } from "../../support/run/tools.ts";
import { rawAnswer, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const SECRET_TEXT = "nobody may read this";
const folder = testFolder("attacks");
const clientDir = join(folder, "client");
let server: TestServer;
beforeAll(async () => {
  mkdirSync(clientDir);
  writeFileSync(join(clientDir, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, "secret.txt"), SECRET_TEXT);
  server = await startTestServer({ clientDir });
  await createRoom(server.url, "cube", "room");
});
afterAll(() => server.close());

const raw = (bytes: string): Promise<string> => rawAnswer(server, bytes);
const statuses = (answer: string): number[] =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));

describe("compression", () => {
  test("a socket that offers permessage-deflate gets none, so no frame can inflate", async () => {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/room/socket`, {
      perMessageDeflate: true,
    });
    await once(socket, "open");
    expect(socket.extensions).toBe("");
    socket.terminate();
  });

  test.each(["gzip", "deflate", "br"])("a body in %s is not unpacked", async (encoding) => {
    const bomb = gzipSync(`{"scene":"cube"${" ".repeat(1_000_000)}}`);
    const answer = await fetch(`${server.url}/api/rooms`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: bomb,
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, "BODY_INVALID"]);
  });
});

test.each([
  ["lists", 0x91],
  ["maps", 0x81],
])("a message of 4,000 nested %s closes its socket as malformed, and the room goes on", async (_what, byte) => {
  const witness = await Bot.join(server.url, "room");
  const bot = await Bot.join(server.url, "room");
  const nested = byte === 0x91 ? [byte] : [byte, 0xa1, 0x61];
  const deep = Array.from({ length: Math.floor(4000 / nested.length) }, () => nested).flat();
  bot.socket.send(Buffer.from([0x93, 14, 0xa1, 0x6b, ...deep, 0xc0]));
  await Promise.race([
    bot.untilClosed().then(({ code }) => expect(code).toBe(CloseCode.badMessage)),
    bot.until(() => bot.notices.some(({ code }) => code === "OUT_OF_RANGE"), "the refusal"),
  ]);
  const { tick } = witness;
  await witness.until(() => witness.tick > tick, "the next tick");
  expect(witness.heard).toEqual([]);
  await witness.leave();
  bot.drop();
});

test.each([
  "/../secret.txt",
  "/../../secret.txt",
  "/%2e%2e/secret.txt",
  "/%2e%2e%2fsecret.txt",
  "/..%2fsecret.txt",
  "/..%5csecret.txt",
  "/%252e%252e%252fsecret.txt",
  "/assets/../../secret.txt",
  "/assets/..;/..;/secret.txt",
  "//secret.txt",
  "/r/../../secret.txt",
  "/thumbnails/%2e%2e/%2e%2e/secret.txt",
  "/docs/static/../../../../secret.txt",
  "/docs/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret.txt",
  "/..%c0%afsecret.txt",
  "/secret.txt%00.html",
])("the path %s leads to no file outside of the client", async (path) => {
  const answer = await raw(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  expect(statuses(answer)).toHaveLength(1);
  expect(answer).not.toContain(SECRET_TEXT);
  expect([400, 403, 404]).toContain(statuses(answer)[0]);
});

const HIDDEN = "GET /api/rooms HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
describe("an ambiguous request is refused, and the request hidden in it is not answered", () => {
  const post = (...lines: string[]): string =>
    ["POST /api/rooms HTTP/1.1", "host: 127.0.0.1", "content-type: application/json", ...lines].join("\r\n");
  test.each([
    ["length and chunks", `${post("content-length: 6", "transfer-encoding: chunked")}\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["chunks and length", `${post("transfer-encoding: chunked", "content-length: 6")}\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["two lengths", `${post("content-length: 2", "content-length: 60")}\r\n\r\n{}${HIDDEN}`],
    ["a list of lengths", `${post("content-length: 2, 60")}\r\n\r\n{}${HIDDEN}`],
    ["a negative length", `${post("content-length: -1")}\r\n\r\n${HIDDEN}`],
    ["a length with a sign", `${post("content-length: +2")}\r\n\r\n{}${HIDDEN}`],
    ["a length in hex", `${post("content-length: 0x2")}\r\n\r\n{}${HIDDEN}`],
    ["an unknown coding", `${post("transfer-encoding: xchunked")}\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["chunked twice", `${post("transfer-encoding: chunked, chunked, identity")}\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["a space before the colon", `${post("content-length : 2")}\r\n\r\n{}${HIDDEN}`],
    ["a folded header", `${post("x: 1\r\n content-length: 60", "content-length: 2")}\r\n\r\n{}${HIDDEN}`],
    ["a bare line feed", `${post("x: 1\ncontent-length: 60", "content-length: 2")}\r\n\r\n{}${HIDDEN}`],
    [
      "a chunk of 2^64 bytes",
      `${post("transfer-encoding: chunked")}\r\n\r\n10000000000000000\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
    ],
    ["a chunk with a bad end", `${post("transfer-encoding: chunked")}\r\n\r\n2\r\n{}xx0\r\n\r\n${HIDDEN}`],
    ["a NUL in a header", `${post("x: a\0b", "content-length: 2")}\r\n\r\n{}${HIDDEN}`],
    ["no host", `GET /api/rooms HTTP/1.1\r\n\r\n${HIDDEN}`],
  ])("%s", async (_title, bytes) => {
    const answer = await raw(bytes);
    expect(statuses(answer)).toEqual([400]);
    expect(answer).not.toContain('"rooms"');
  });
});

const UPGRADE =
  "GET /api/rooms/room/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13";
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
test.each([
  ["a TLS greeting", "\x16\x03\x01\x00\xa5\x01"],
  ["a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a socket without a key", `${UPGRADE}\r\n\r\n`],
  [
    "a socket with broken subprotocols",
    `${UPGRADE}\r\nsec-websocket-key: ${KEY}\r\nsec-websocket-protocol: a, a\r\n\r\n`,
  ],
])("%s is answered like any other error", async (_title, bytes) => {
  const answer = await raw(bytes);
  expect(statuses(answer)).toEqual([400]);
  expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n[^]*"code":"BODY_INVALID"/);
});

test("a request with two hosts is refused", async () => {
  const answer = await raw(
    "GET /api/rooms HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n",
  );
  expect(statuses(answer)).toEqual([400]);
});

const openssl = findOpenssl();
describe.skipIf(lacks("openssl", openssl))("TLS", () => {
  test("1.2 and 1.3 are spoken, older versions are not", async () => {
    const { cert, key } = makeCertificate(openssl!, folder);
    const secure = await startTestServer({ tlsCert: cert, tlsKey: key });
    const { port } = new URL(secure.url);
    const version = async (one: SecureVersion): Promise<string> => {
      const options = { minVersion: one, maxVersion: one, rejectUnauthorized: false, ciphers: "ALL:@SECLEVEL=0" };
      const socket: TLSSocket = connectTls({ port: Number(port), host: "127.0.0.1", ...options });
      const spoken = await Promise.race([
        once(socket, "secureConnect").then(() => String(socket.getProtocol())),
        once(socket, "error").then(() => "refused"),
      ]).catch(() => "refused");
      socket.destroy();
      return spoken;
    };
    const spoken = await Promise.all((["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const).map(version));
    expect(spoken).toEqual(["refused", "refused", "TLSv1.2", "TLSv1.3"]);
    await secure.close();
  });
});
