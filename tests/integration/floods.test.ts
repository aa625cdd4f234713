/**
 * One address that sends as fast as its line goes, over raw sockets: what is refused must cost next to nothing, and
 * what many are told must not cost more writes than there are members.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type WebSocket from "ws";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { Connection } from "../../server/rooms/connection.ts";
import { build } from "../../shared/protocol/fromClient.ts";
import { CloseCode, Limits } from "../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "./server.ts";

let server: TestServer;
let port: number;
beforeAll(async () => {
  server = await startTestServer({ addressBudget: 200, workers: 1 });
  port = Number(new URL(server.url).port);
});
afterAll(() => server.close());

/** What is answered to this text, by status; resolves when the line ends or has been silent. */
async function answersTo(said: string, from: string): Promise<{ statuses: Record<string, number>; ended: boolean }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  // What is cut off with bytes of ours unread is reset: an end like any other.
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

test("of what comes in one piece only so much is answered", async () => {
  expect(await answersTo(request("/healthz").repeat(32), "127.0.2.1")).toEqual({ statuses: { 200: 32 }, ended: false });
  const { statuses, ended } = await answersTo(request("/api/scenes").repeat(2000), "127.0.2.1");
  expect(ended).toBe(true);
  expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(32);
});

test.each([
  ["that are refused for their cost", "GET", "/api/rooms/none/recording"],
  ["for health", "GET", "/healthz"],
  ["of pages of other origins that may not", "OPTIONS", "/api/rooms"],
  ["with a percent escape that is none", "GET", "/%zz"],
])("an address has so many answers, to requests %s, too; another one has its own", async (_what, method, path) => {
  const from = `127.0.3.${1 + path.length}`;
  let answered = 0;
  let cut = 0;
  for (let i = 0; i < 200 && cut < 10; i++) {
    const { statuses, ended } = await answersTo(request(path, method).repeat(32), from);
    answered += Object.values(statuses).reduce((sum, n) => sum + n, 0);
    if (ended) cut += 1;
  }
  expect(cut).toBe(10);
  // 2,000 at once and 200 a second, connections among them; what is cut off loses the answers that it has not got.
  expect(answered).toBeGreaterThan(1500);
  expect(answered).toBeLessThan(6000);
  expect(await answersTo(request("/healthz"), "127.0.4.1")).toEqual({ statuses: { 200: 1 }, ended: false });
});

test("of connections that say nothing, too, and no more of them are made anything of", async () => {
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
    // Whoever comes after them is let in after them.
    expect(await answersTo(request("/healthz"), "127.0.4.2")).toEqual({ statuses: { 200: 1 }, ended: false });
  }
  http.off("connection", count);
  expect(made).toBeGreaterThanOrEqual(2000);
  expect(opened - made).toBeGreaterThanOrEqual(50);
  expect((await refused()) - before).toBe(opened - made);
});

/** The stream under a WebSocket of ours. */
const lineOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;

test.each([
  ["pings", 0x89],
  ["pongs", 0x8a],
])(
  "%s of WebSocket count as messages: a flood of them ends the line, and what follows is not read",
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
    // It goes on, and the server's kernel takes what it has room for; the server reads nothing of it.
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

test("what many are told at once goes out in one write to each", async () => {
  const { token } = await createRoom(server.url, "cube", "told");
  const bots = await Promise.all(Array.from({ length: 12 }, () => Bot.join(server.url, "told", { joinToken: token! })));
  // How many frames go out meanwhile is the machine's to say: each is a write, alone or with what is told.
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
    // All of them are in. What was read last holds, whoever's line that was on, and everybody knows it.
    const room = server.app.registry.get("told");
    const last = new Set(bots.map((_, n) => -9 - n - 89 / 100));
    const known = (bot: Bot): boolean => {
      const strength = room.tuning.gravity[1];
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

test("a room's access is changed so often, and no more of it is stored, audited and told", async () => {
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
  // Some seconds later it is theirs again.
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
