/**
 * One address that sends at the full rate of its connection, over raw sockets: refused data must cost almost nothing. A
 * broadcast must cost at most one write for each member.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { Connection } from "../../../server/rooms/members/connection.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
let port: number;
beforeAll(async () => {
  server = await startTestServer({ addressBudget: 200, workers: 1 });
  port = Number(new URL(server.url).port);
});
afterAll(() => server.close());

/** Responses to this text, by status; resolves when the connection ends or has been silent. */
async function answersTo(said: string, from: string): Promise<{ statuses: Record<string, number>; ended: boolean }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  // If unread bytes remain, the connection is reset: an end like any other.
  socket.on("error", () => {});
  const ended = new Promise((resolve) => socket.once("close", resolve));
  let heard = "";
  socket.on("data", (bytes: Buffer) => (heard += bytes.toString("latin1")));
  await once(socket, "connect");
  socket.write(said);
  const count = (): number => heard.split("HTTP/1.1 ").length - 1;
  const asked = said.split("\r\n\r\n").length - 1;
  await Promise.race([ended, vi.waitUntil(() => count() === asked, { timeout: 300_000, interval: 5 })]);
  const statuses: Record<string, number> = {};
  for (const part of heard.split("HTTP/1.1 ").slice(1)) {
    const status = part.slice(0, 3);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const { destroyed } = socket;
  socket.destroy();
  return { statuses, ended: destroyed };
}

const request = (path: string, method = "GET"): string => `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

test("only a limited number of pipelined requests is answered", async () => {
  expect(await answersTo(request("/healthz").repeat(32), "127.0.2.1")).toEqual({ statuses: { 200: 32 }, ended: false });
  const { statuses, ended } = await answersTo(request("/api/scenes").repeat(2000), "127.0.2.1");
  expect(ended).toBe(true);
  expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(32);
});

test.each([
  ["that are refused for their cost", "GET", "/api/rooms/none/recording"],
  ["for health", "GET", "/healthz"],
  ["of pages of other origins", "OPTIONS", "/api/rooms"],
  ["with an invalid percent escape", "GET", "/%zz"],
])(
  "the number of responses for one address is limited, also for requests %s; another address has its own limit",
  async (_what, method, path) => {
    const from = `127.0.3.${1 + path.length}`;
    let answered = 0;
    let cut = 0;
    for (let i = 0; i < 200 && cut < 10; i++) {
      const { statuses, ended } = await answersTo(request(path, method).repeat(32), from);
      answered += Object.values(statuses).reduce((sum, n) => sum + n, 0);
      if (ended) cut += 1;
    }
    expect(cut).toBe(10);
    // 2,000 at once and 200 a second, connections included; a connection that is cut off loses its unread responses.
    expect(answered).toBeGreaterThan(1500);
    expect(answered).toBeLessThan(6000);
    expect(await answersTo(request("/healthz"), "127.0.4.1")).toEqual({ statuses: { 200: 1 }, ended: false });
  },
);

test("the number of silent connections is limited, too, and the server accepts no further ones", async () => {
  const { server: http } = server.app.fastify;
  const from = "127.0.3.200";
  let made = 0;
  const count = ({ remoteAddress }: Socket): void => void (made += Number(remoteAddress === from));
  http.on("connection", count);
  const refused = (): Promise<number> => server.metric("pliant_connections_refused_total", { reason: "address_limit" });
  const before = await refused();
  let opened = 0;
  while (opened - made < 50 && opened < 20_000) {
    const sockets = Array.from({ length: 100 }, () => connect({ port, host: "127.0.0.1", localAddress: from }));
    for (const socket of sockets) socket.on("error", () => {});
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.destroy();
    opened += sockets.length;
    // A connection after them is accepted.
    expect(await answersTo(request("/healthz"), "127.0.4.2")).toEqual({ statuses: { 200: 1 }, ended: false });
  }
  http.off("connection", count);
  expect(made).toBeGreaterThanOrEqual(2000);
  expect(opened - made).toBeGreaterThanOrEqual(50);
  expect((await refused()) - before).toBe(opened - made);
});

/** The stream under a WebSocket of this test. */
const lineOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;

test.each([
  ["pings", 0x89],
  ["pongs", 0x8a],
])(
  "WebSocket %s count as messages: a flood of them closes the connection, and later ones are not read",
  async (_, head) => {
    await createRoom(server.url, "cube", "pinged");
    const bot = await Bot.join(server.url, "pinged");
    bot.socket.ping();
    await once(bot.socket, "pong");
    const accepted = [...server.app.registry.get("pinged").members.sessions.values()].find(
      ({ member }) => member === bot.welcome.member,
    )!.connection as unknown as { isOpen: boolean };
    expect(accepted.isOpen).toBe(true);
    const frames = Buffer.concat(new Array(1000).fill(Buffer.from([head, 0x80, 0, 0, 0, 0])));
    const line = lineOf(bot.socket);
    const served = await servedBy(line);
    line.write(frames);
    line.write(frames);
    expect((await bot.untilClosed()).code).toBe(CloseCode.flood);
    // The flood continues. The operating system buffers some of it; the server reads nothing.
    const readBytes = served.bytesRead;
    for (let i = 0; i < 50; i++) line.write(frames);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(served.bytesRead - readBytes).toBeLessThanOrEqual(2 * 65_536);
  },
);

/** The server's end of a connection. */
async function servedBy(line: Socket): Promise<Socket> {
  const connections = (server.app.fastify as unknown as { websocketServer: { clients: Set<WebSocket> } })
    .websocketServer.clients;
  return vi.waitUntil(() => [...connections].map(lineOf).find((other) => other?.remotePort === line.localPort), {
    timeout: 300_000,
  });
}

test("a broadcast goes out in one write for each member", async () => {
  const { token } = await createRoom(server.url, "cube", "told");
  const bots = await Promise.all(Array.from({ length: 12 }, () => Bot.join(server.url, "told", { joinToken: token! })));
  // The number of frames meanwhile depends on the machine: each is a write, alone or together with the broadcast.
  const framesHad = (): number => bots.reduce((sum, { counts }) => sum + counts.keyframes + counts.deltas, 0);
  let [writes, frames] = [0, framesHad()];
  const write = Connection.prototype.write;
  Connection.prototype.write = function (this: Connection, frames: Uint8Array) {
    writes += 1;
    write.call(this, frames);
  };
  try {
    for (const bot of bots) for (let i = 0; i < Limits.messageBurst; i++) bot.socket.send(build.message("beat", i));
    const heard = (bot: Bot): number => bot.heard.length;
    for (const bot of bots) await bot.until(() => heard(bot) === 11 * Limits.messageBurst, "all messages");
    // 2,640 messages were 2,640 writes.
    expect(writes - (framesHad() - frames)).toBeLessThan(700);
    [writes, frames] = [0, framesHad()];
    for (let i = 0; i < 90; i++) for (const [n, bot] of bots.entries()) bot.tune({ gravity: [0, -9 - n - i / 100, 0] });
    for (const bot of bots) bot.ping();
    for (const bot of bots) await bot.until(() => bot.counts.pongs === 1, "a pong");
    // All members are in. The change that the server read last is in effect, and every member knows it.
    const room = server.app.registry.get("told");
    const last = new Set(bots.map((_, n) => -9 - n - 89 / 100));
    const known = (bot: Bot): boolean => {
      const strength = room.facts.tuning.gravity[1];
      return last.has(strength) && bot.tuned?.tuning.gravity[1] === strength;
    };
    for (const bot of bots) await bot.until(() => known(bot), "tuned");
    // 1,080 changes for 12 members were 12,960 writes.
    expect(writes - (framesHad() - frames)).toBeLessThan(1700);
  } finally {
    Connection.prototype.write = write;
  }
  await Promise.all(bots.map((bot) => bot.leave()));
});

test("the rate of changes to a room's access is limited, and so are their storage, audit and broadcast", async () => {
  const { token } = await createRoom(server.url, "cube", "moody");
  const owner = await Bot.join(server.url, "moody", { joinToken: token! });
  const audited = (): Promise<number> => server.metric("pliant_audit_actions_total");
  const before = await audited();
  for (let i = 0; i < 110; i++) owner.setAccess({ locked: i % 2 === 0 });
  await owner.until(() => owner.notices.filter(({ code }) => code === "RATE_LIMITED").length >= 30, "refusals");
  expect(owner.notices.find(({ code }) => code === "RATE_LIMITED")!.details).toMatchObject({ field: "access" });
  const changes = (await audited()) - before;
  expect(changes).toBeGreaterThanOrEqual(60);
  expect(changes).toBeLessThan(80);
  // The rate limit recovers: some seconds later the owner may change the access again.
  await vi.waitUntil(
    async () => {
      owner.setAccess({ locked: true });
      await owner.frames(1);
      return owner.access?.locked;
    },
    { timeout: 300_000, interval: 300 },
  );
  await owner.leave();
});
