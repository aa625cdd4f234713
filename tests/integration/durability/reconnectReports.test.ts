/**
 * Connections that break at the wrong moment, rebuilt from public reports against Colyseus, socket.io and ws. The
 * comment of each test names the report.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ resumeSeconds: 300, connectionsPerAddress: 30 });
});
afterAll(() => server.close());

const ghosts = (witness: Bot): number => witness.members.filter(([, , , connected]) => connected).length - 1;

/** Opens a WebSocket without a library. @returns the connection, after its hello */
async function rawMember(room: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  const key = Buffer.alloc(16).toString("base64");
  socket.write(
    [
      `GET /api/rooms/${room}/socket HTTP/1.1`,
      "host: 127.0.0.1",
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${key}`,
      "\r\n",
    ].join("\r\n"),
  );
  await once(socket, "data");
  const hello = build.hello({ name: "raw" });
  // Masked with zeros.
  socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | hello.length, 0, 0, 0, 0]), hello]));
  return socket;
}

// Colyseus #633: a client that is gone before its admission is decided
test("sockets that close while their password is checked leave no member behind", async () => {
  const { token } = await createRoom(server.url, "cube", "gone");
  const owner = await Bot.join(server.url, "gone", { joinToken: token! });
  owner.setAccess({ password: "open sesame" });
  await owner.until(() => owner.access?.password === true, "the password");
  for (let i = 0; i < 10; i++) {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/gone/socket`);
    await once(socket, "open");
    socket.send(build.hello({ name: `gone ${i}`, password: "open sesame" }), () => socket.terminate());
    await once(socket, "close");
  }
  // Passwords are checked in turn: this one after all of the others.
  const guest = await Bot.join(server.url, "gone", { name: "guest", password: "open sesame" });
  await owner.until(() => owner.members.some(([, name]) => name === "guest"), "the guest");
  expect(owner.members.filter(([, , , connected]) => connected)).toHaveLength(2);
  await Promise.all([guest.leave(), owner.leave()]);
});

// socket.io #4880: recovery works only once
test("a session is resumed eight times in a row, as the same member", async () => {
  await createRoom(server.url, "cube", "often");
  let bot = await Bot.join(server.url, "often", { name: "Ann" });
  const { member } = bot.welcome;
  for (let i = 0; i < 8; i++) {
    bot.drop();
    bot = await Bot.join(server.url, "often", { resume: bot.welcome.token });
    expect(bot.welcome.member).toBe(member);
  }
  await bot.until(() => bot.members.length > 0, "the list of members");
  expect(bot.members).toHaveLength(1);
  await bot.leave();
});

// socket.io #4733, #4968: changes during an absence are not delivered
test("a resumed member knows what changed while it was away", async () => {
  const { token } = await createRoom(server.url, "spare", "missed");
  const owner = await Bot.join(server.url, "missed", { joinToken: token!, name: "Ada" });
  const guest = await Bot.join(server.url, "missed", { name: "Ben" });
  guest.drop();
  await owner.until(() => ghosts(owner) === 0, "the loss of the guest");
  owner.tune({ gravity: [0, -3, 0] });
  await owner.until(() => owner.tuned?.tuning.gravity[1] === -3, "the tuning");
  owner.setAccess({ password: "open sesame", chat: false });
  await owner.until(() => owner.access?.password === true, "the password");
  const back = await Bot.join(server.url, "missed", { resume: guest.welcome.token });
  expect(back.welcome.member).toBe(guest.welcome.member);
  await back.until(() => back.access !== null && back.members.length === 2, "the room's state");
  expect(back.access).toMatchObject({ password: true, chat: false });
  expect(back.tuned?.tuning.gravity ?? back.welcome.tuning?.gravity).toEqual([0, -3, 0]);
  await Promise.all([back.leave(), owner.leave()]);
});

// Colyseus #343, C15 #1987: two connections with one session
test("of six sockets that resume one session at once, one stays, and the others are told why", async () => {
  await createRoom(server.url, "cube", "twice");
  const witness = await Bot.join(server.url, "twice", { name: "witness" });
  const first = await Bot.join(server.url, "twice", { name: "Ann" });
  const { token: resume, member } = first.welcome;
  const bots = Array.from({ length: 6 }, () => Bot.connect(server.url, "twice", { resume }));
  await Promise.all(bots.map((bot) => bot.until(() => bot.welcome !== undefined, "the welcome")));
  await expect.poll(() => bots.filter(({ closed }) => closed === null).length).toBe(1);
  for (const { closed, welcome } of bots) {
    expect(welcome.member).toBe(member);
    expect([null, CloseCode.normal]).toContain(closed?.code ?? null);
  }
  expect((await first.untilClosed()).reason).toBe("resumed on another socket");
  expect(ghosts(witness)).toBe(1);
  for (const bot of bots) bot.drop();
  await witness.leave();
});

// ws #2225: a client that closes only its own direction
test("a client that closes its half of the connection is lost at once", async () => {
  await createRoom(server.url, "cube", "half");
  const witness = await Bot.join(server.url, "half", { name: "witness" });
  const socket = await rawMember("half");
  await witness.until(() => ghosts(witness) === 1, "the member");
  socket.end();
  await witness.until(() => ghosts(witness) === 0, "its loss");
  socket.destroy();
  await witness.leave();
});

// ws #1125, faye-websocket #58: a client that never answers the closing handshake
test("a kicked client that ignores its close is out of the room at once, and its connection ends", async () => {
  const { token } = await createRoom(server.url, "cube", "deaf");
  const owner = await Bot.join(server.url, "deaf", { joinToken: token! });
  const socket = await rawMember("deaf");
  socket.resume();
  await owner.until(() => ghosts(owner) === 1, "the member");
  const ended = once(socket, "end");
  owner.kick(owner.members.find(([, name]) => name === "raw")![0]);
  await owner.until(() => owner.members.length === 1, "its removal");
  await ended;
  socket.destroy();
  await owner.leave();
});

// Colyseus #717: counts that drift
test("counts of members and sockets are right after many joins, losses, departures and kicks", async () => {
  const { token } = await createRoom(server.url, "cube", "counted");
  const owner = await Bot.join(server.url, "counted", { joinToken: token! });
  for (let round = 0; round < 8; round++) {
    const bots = await Promise.all(Array.from({ length: 5 }, () => Bot.join(server.url, "counted")));
    bots[0]!.drop();
    const resumed = Bot.connect(server.url, "counted", { resume: bots[1]!.welcome.token });
    await resumed.until(() => resumed.welcome !== undefined, "the welcome");
    owner.kick(bots[2]!.welcome.member);
    await Promise.all([bots[1]!, bots[2]!].map((bot) => bot.untilClosed()));
    bots[3]!.send([99]);
    await Promise.all([bots[3]!, bots[4]!, resumed].map((bot) => bot.leave()));
  }
  await owner.until(() => ghosts(owner) === 0, "the departures");
  await expect.poll(() => server.metric("pliant_sessions", { state: "connected" }), { timeout: 60_000 }).toBe(1);
  const { members } = (await (await fetch(`${server.url}/api/rooms/counted`)).json()) as { members: number };
  expect(members).toBe(1);
  await owner.leave();
});
