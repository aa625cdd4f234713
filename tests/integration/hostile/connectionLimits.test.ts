/** Slow, idle or numerous connections, foreign host names, and strings with invalid UTF-8, over raw sockets. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { Lines } from "../../../server/routes/guards/connectionLimits.ts";
import { hostCheck, parseTrustProxy, proxyCheck } from "../../../server/trust.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
let port: number;
beforeAll(async () => {
  server = await startTestServer({ httpConnectionsPerAddress: 10, emptyRoomSeconds: 600 });
  port = Number(new URL(server.url).port);
  await createRoom(server.url, "victim", "room");
});
afterAll(() => server.close());

/** A connection that has sent this text, and how long it was open, ms. */
function line(said: string): { socket: Socket; ended: Promise<number> } {
  const startMs = performance.now();
  const socket = connect(port, "127.0.0.1", () => socket.write(said));
  // A server that ends a connection with unread bytes resets it: an end like any other.
  socket.on("error", () => {});
  const ended = new Promise<number>((resolve) => socket.once("close", () => resolve(performance.now() - startMs)));
  return { socket, ended };
}

test("headers have 10 s and requests 30 s to arrive, and a response has 30 s to be read", () => {
  const { headersTimeout, requestTimeout, timeout } = server.app.fastify.server;
  expect([headersTimeout, requestTimeout, timeout]).toEqual([10_000, 30_000, 30_000]);
});

describe("with a fifth of the server's timeouts", () => {
  const HEAD_MS = 2_000;
  const BODY_MS = 6_000;
  let own: [headersTimeout: number, requestTimeout: number, timeout: number];
  /** The server's ends of the connections. */
  const accepted: Socket[] = [];
  const accept = (socket: Socket): void => void accepted.push(socket);
  beforeAll(() => {
    const { server: http } = server.app.fastify;
    http.on("connection", accept);
    own = [http.headersTimeout, http.requestTimeout, http.timeout];
    [http.headersTimeout, http.requestTimeout, http.timeout] = [HEAD_MS, BODY_MS, BODY_MS];
  });
  afterAll(() => {
    const { server: http } = server.app.fastify;
    [http.headersTimeout, http.requestTimeout, http.timeout] = own;
    http.off("connection", accept);
  });

  test("headers, bodies and responses without progress end in time; a client that waits for its response is kept", async () => {
    const silent = line("");
    const head = line("GET / HTTP/1.1\r\n");
    const body = line(
      "POST /api/rooms HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
    );
    const drip = setInterval(() => body.socket.write(" "), 1000);
    const headDrip = setInterval(() => head.socket.write("x: y\r\n"), 500);
    // Responses of megabytes, of which nothing is read.
    const unread = line("GET /api/rooms/room/positions HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(72));
    unread.socket.pause();
    for (const { socket } of [silent, head, body]) socket.resume();
    const [silentMs, headMs, bodyMs] = await Promise.all([silent.ended, head.ended, body.ended]);
    for (const timer of [drip, headDrip]) clearInterval(timer);
    for (const ms of [silentMs, headMs]) {
      expect(ms).toBeGreaterThan(0.9 * HEAD_MS);
      expect(ms).toBeLessThan(HEAD_MS + 5_000);
    }
    expect(bodyMs).toBeGreaterThan(0.9 * BODY_MS);
    expect(bodyMs).toBeLessThan(BODY_MS + 6_000);
    // The test does not read, so it cannot notice the end itself: the server's side is destroyed.
    const served = accepted.find(({ remotePort }) => remotePort === unread.socket.localPort)!;
    await vi.waitUntil(() => served.destroyed, { timeout: 300_000, interval: 200 });
    unread.socket.destroy();
  });
});

test("idle connections make room for new ones, and busy ones stay", async () => {
  const { server: http } = server.app.fastify;
  /** A connection that the server has accepted. */
  const accepted = async (said: string): Promise<ReturnType<typeof line>> => {
    const accept = once(http, "connection");
    const opened = line(said);
    await accept;
    return opened;
  };
  const idle: ReturnType<typeof line>[] = [];
  for (let i = 0; i < 9; i++) idle.push(await accepted(""));
  // A request whose body is still arriving is busy.
  const asked = once(http, "request");
  const busy = await accepted(
    "POST /api/tokens HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n",
  );
  await asked;
  const more: ReturnType<typeof line>[] = [];
  for (let i = 0; i < 5; i++) more.push(await accepted(""));
  for (const { socket } of [...idle, ...more, busy]) socket.resume();
  const open = (lines: { socket: Socket }[]): number =>
    lines.filter(({ socket }) => !socket.destroyed && !socket.readableEnded).length;
  await expect.poll(() => open(idle), { timeout: 300_000 }).toBe(4);
  expect([open(more), open([busy])]).toEqual([5, 1]);
  // Sockets of rooms count as busy.
  const bots = await Promise.all(Array.from({ length: 12 }, () => Bot.join(server.url, "room")));
  expect(bots.map(({ closed }) => closed)).toEqual(new Array(12).fill(null));
  await Promise.all(bots.map((bot) => bot.leave()));
  for (const { socket } of [...idle, ...more, busy]) socket.destroy();
});

test("an unwanted body is not read: the connection ends with the response; a small one leaves it open", async () => {
  const head = "POST /nowhere HTTP/1.1\r\nhost: localhost\r\n";
  const more = `20000\r\n${" ".repeat(0x20000)}`;
  for (const large of [`content-length: ${2 ** 30}\r\n\r\n`, `transfer-encoding: chunked\r\n\r\n${more}`]) {
    const { socket, ended } = line(head + large);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 404 [^]*\r\nconnection: close\r\n/i);
    await ended;
  }
  const { socket } = line(`${head}content-length: 2\r\n\r\n{}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 404 [^]*\r\nconnection: keep-alive\r\n/i);
  socket.destroy();
});

test("a client that sends a large body without reading finds the answer and an orderly end; the body is not read", async () => {
  const body = Buffer.alloc(2 ** 26);
  const socket = connect({ port, host: "127.0.0.1" }).pause();
  socket.write(`POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`);
  socket.write(body);
  socket.resume();
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 404 /);
  // Rejects at an error, such as a reset.
  await once(socket, "end");
  expect(socket.writableLength).toBeGreaterThan(0);
  socket.destroy();
});

test("requests on connections that were reset before the server saw them are not handled", async () => {
  const seen: (string | undefined)[] = [];
  const http = createServer(({ socket }, response) => {
    seen.push(socket.remoteAddress);
    response.end();
  });
  new Lines({ perAddress: 9, carries: () => false, count: () => true, onRefused: () => {} }).watch(http);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port: at } = http.address() as AddressInfo;
  // This process, and so the server, stands still until the client has gone.
  const client = `const socket = require("node:net").connect(${at}, "127.0.0.1", () =>
    socket.write("GET / HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n", () => socket.resetAndDestroy()))`;
  expect(spawnSync(process.execPath, ["-e", client]).status).toBe(0);
  expect((await fetch(`http://127.0.0.1:${at}`)).status).toBe(200);
  expect(seen).toEqual(["127.0.0.1"]);
  http.close();
  http.closeAllConnections();
});

test("a foreign host name is refused, even if origin and host agree", async () => {
  const ask = async (host: string, path = "/api/rooms"): Promise<string> => {
    const { socket } = line(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return first.toString().split("\r\n", 1)[0]!;
  };
  expect(await ask("evil.example")).toBe("HTTP/1.1 421 Misdirected Request");
  expect(await ask("evil.example", "/healthz")).toBe("HTTP/1.1 200 OK");
  // It names busy rooms, and listens on loopback, where a page with a rebound name reaches it.
  expect(await ask("evil.example", "/metrics")).toBe("HTTP/1.1 421 Misdirected Request");
  expect(await ask("pliant-0:9080", "/metrics")).toBe("HTTP/1.1 200 OK");
  for (const host of ["127.0.0.1:8080", "[::1]", "localhost", "pliant", "pliant.local"])
    expect([host, await ask(host)]).toEqual([host, "HTTP/1.1 200 OK"]);
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/room/socket`, {
    origin: "http://evil.example",
    headers: { host: "evil.example" },
  });
  await expect(new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))).rejects.toThrow(
    "421",
  );
});

test("the accepted host names, and the trusted proxies, follow from the configuration", () => {
  const options = {
    hosts: ["auto"],
    origins: ["same", "https://play.example:8443"],
    advertiseUrl: "http://pod-0.pliant.svc.cluster.example:8080",
    publicUrls: ["https://pod-0.play.example", "https://*.others.example"],
    trustProxy: false as const,
  };
  const check = (changes: Partial<Parameters<typeof hostCheck>[0]>, host: string): boolean =>
    hostCheck({ ...options, ...changes })(host);
  for (const host of [
    "play.example",
    "PLAY.example.:80",
    "pod-0.pliant.svc.cluster.example:8080",
    "192.168.1.7:8080",
    "a.home.arpa",
    "pod-0.play.example",
  ])
    expect([host, check({}, host)]).toEqual([host, true]);
  for (const host of [
    "",
    "evil.example",
    "play.example.evil.example",
    "127.0.0.1.evil.example",
    "b.others.example",
    "a b",
    "127.0.0.1/evil.example",
    "evil@127.0.0.1",
    "127.0.0.1?evil",
  ])
    expect([host, check({}, host)]).toEqual([host, false]);
  expect(check({ trustProxy: 1 }, "any.example")).toBe(true);
  expect(check({ hosts: ["*"] }, "any.example")).toBe(true);
  expect([check({ hosts: ["only.example"] }, "only.example"), check({ hosts: ["only.example"] }, "localhost")]).toEqual(
    [true, false],
  );
  expect(["false", "1", "16", "10.0.0.0/8, ::1"].map(parseTrustProxy)).toEqual([false, 1, 16, ["10.0.0.0/8", "::1"]]);
  for (const text of ["true", "0", "17", "10.0.0.0/33", "proxy.example", "", "1,2"])
    expect([text, parseTrustProxy(text)]).toEqual([text, null]);
  const listed = proxyCheck(["10.0.0.0/8", "2001:db8::/32"]);
  expect(["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "11.0.0.1", "nonsense"].map(listed)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect([proxyCheck(2)("192.0.2.1"), proxyCheck(false)("127.0.0.1")]).toEqual([true, false]);
});

test("a name with invalid UTF-8 is malformed, and no member sees it", async () => {
  const witness = await Bot.join(server.url, "room");
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/room/socket`);
  await once(socket, "open");
  // [hello, version, {name: ed a0 80}]
  socket.send(
    Buffer.from([
      0x93,
      ClientMessage.hello,
      PROTOCOL_VERSION,
      0x81,
      0xa4,
      ...Buffer.from("name"),
      0xa3,
      0xed,
      0xa0,
      0x80,
    ]),
  );
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([CloseCode.badMessage, "the string at byte 9 is not UTF-8"]);
  expect(
    witness.members
      .filter(([, name]) => name !== `guest ${witness.welcome.member}`)
      .map(([, , , connected]) => connected),
  ).not.toContain(true);
  await witness.leave();
});
