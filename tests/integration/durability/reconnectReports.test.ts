/**
 * Connections that break at the wrong moment, rebuilt from public reports against Colyseus, socket.io and ws. The
 * comment of each test names the report.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom, deleteRoom } from "../../../load-tests/bot.ts";
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

/** A masked frame of a client; the mask is 0. */
const frame = (opcode: number, payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
const codeOf = (code: number): Buffer => Buffer.from([code >> 8, code & 255]);

// WebSocket-Node #254: a close frame with a reserved code ended the whole process
test.each([
  ["1005", codeOf(1005)],
  ["1006", codeOf(1006)],
  ["1015", codeOf(1015)],
  ["999", codeOf(999)],
  ["5000", codeOf(5000)],
  ["half a code", Buffer.from([3])],
  ["a reason that is not UTF-8", Buffer.concat([codeOf(1000), Buffer.from([0xff, 0xfe])])],
])("a close frame with %s ends only its own connection, as a protocol error", async (_, payload) => {
  await createRoom(server.url, "cube", "codes");
  const witness = await Bot.join(server.url, "codes", { name: "witness" });
  const socket = await rawMember("codes");
  await witness.until(() => ghosts(witness) === 1, "the raw member");
  const parts: Buffer[] = [];
  socket.on("data", (data: Buffer) => parts.push(data));
  socket.write(frame(8, payload));
  await once(socket, "end");
  socket.destroy();
  const bytes = Buffer.concat(parts);
  // The last frame is the close frame: 1002, or 1007 for the text.
  const at = bytes.lastIndexOf(0x88);
  expect([1002, 1007]).toContain(bytes.readUInt16BE(at + 2));
  await witness.until(() => ghosts(witness) === 0, "its departure");
  const { tick } = witness;
  await witness.until(() => witness.tick > tick + 5, "the room's next ticks");
  await witness.leave();
});

// python-websockets #1049: pings were answered after the close
test("nothing is answered after a close frame", async () => {
  await createRoom(server.url, "cube", "after");
  const witness = await Bot.join(server.url, "after", { name: "witness" });
  const socket = await rawMember("after");
  await witness.until(() => ghosts(witness) === 1, "the raw member");
  const parts: Buffer[] = [];
  socket.on("data", (data: Buffer) => parts.push(data));
  const mark = Buffer.from("a mark that no frame of the room has");
  socket.write(Buffer.concat([frame(8, codeOf(1000)), frame(9, mark)]));
  await once(socket, "end");
  socket.destroy();
  expect(Buffer.concat(parts).includes(mark)).toBe(false);
  await witness.until(() => ghosts(witness) === 0, "its departure");
  await witness.leave();
});

// port-of-mars #352 (Colyseus): a client that reconnects comes into another room
test("a session's token of one room gives nothing in another, and is still good in its own", async () => {
  const { token } = await createRoom(server.url, "cube", "home");
  await createRoom(server.url, "cube", "abroad");
  const keeper = await Bot.join(server.url, "abroad", { name: "keeper" });
  const owner = await Bot.join(server.url, "home", { joinToken: token!, name: "owner" });
  const { token: resume, session } = owner.welcome;
  owner.socket.terminate();
  const guest = await Bot.join(server.url, "abroad", { resume, name: "guest" });
  expect([guest.welcome.role, guest.welcome.session === session]).toEqual(["player", false]);
  const again = await Bot.join(server.url, "home", { resume });
  expect([again.welcome.role, again.welcome.session]).toEqual(["owner", session]);
  await Promise.all([keeper.leave(), guest.leave(), again.leave()]);
});

// Colyseus #682: a client reconnects for ever to a room that its owner has ended
test("a room that has ended says so to each reconnection, and a later room of its name knows no old session", async () => {
  const { token } = await createRoom(server.url, "cube", "ended");
  const owner = await Bot.join(server.url, "ended", { joinToken: token! });
  const { token: resume, session } = owner.welcome;
  expect(await deleteRoom(server.url, "ended", token!)).toBe(204);
  await owner.untilClosed();
  for (let attempt = 0; attempt < 3; attempt++)
    expect((await Bot.connect(server.url, "ended", { resume }).untilClosed()).code).toBe(CloseCode.roomGone);
  await createRoom(server.url, "cube", "ended");
  const later = await Bot.join(server.url, "ended", { resume });
  expect([later.welcome.role, later.welcome.session === session]).toEqual(["player", false]);
  await later.leave();
});

/** The room's facts beside its frames, as a member knows them. */
const facts = (bot: Bot): object => ({
  members: bot.members.map(([member, name]) => [member, name]),
  spawnable: bot.spawnable.bodies,
  tuning: bot.tuned?.tuning.gravity,
  looks: [...bot.looks.keys()],
  pins: [...bot.pins.pins.keys()],
  lines: bot.lines,
  chat: bot.access?.chat,
});

// Colyseus #917: the first to come into an empty room gets an old state
test("the first member of a room that was empty knows all that was changed before", async () => {
  const { token } = await createRoom(server.url, "spare", "empty");
  const owner = await Bot.join(server.url, "empty", { joinToken: token!, name: "Ada" });
  owner.spawn(1, [1, 0.2, 0]);
  owner.tune({ gravity: [0, -3, 0] });
  owner.dress(1, { text: "mine" });
  owner.setAccess({ chat: false });
  await owner.until(() => owner.access?.chat === false && owner.looks.size === 1, "access and look");
  await owner.until(() => owner.spawnable.bodies.length === 1 && owner.tick >= owner.spawnable.tick, "the spawn");
  await owner.leave();
  const members = async (): Promise<number> =>
    ((await (await fetch(`${server.url}/api/rooms/empty`)).json()) as { members: number }).members;
  await expect.poll(members, { timeout: 60_000 }).toBe(0);
  const next = await Bot.join(server.url, "empty", { name: "Ben" });
  await next.until(() => next.tuned !== null && next.access !== null, "the room's state");
  expect(facts(next)).toMatchObject({ spawnable: [2], tuning: [0, -3, 0], looks: [1], chat: false });
  expect(next.center(1)[0]).toBeCloseTo(1, 1);
  await next.leave();
});

// colyseus-haxe #72: lists grow by an entry with each reconnection
test("no list grows by reconnections", async () => {
  const { token } = await createRoom(server.url, "spare", "again");
  const witness = await Bot.join(server.url, "again", { joinToken: token!, name: "witness" });
  let bot = await Bot.join(server.url, "again", { name: "Ann" });
  bot.spawn(1, [1, 0.2, 0]);
  await bot.until(() => !bot.spawnable.bodies.includes(1), "the spawn");
  bot.dress(1, { text: "mine" });
  await witness.until(() => witness.looks.size === 1, "the look");
  bot.drop();
  await witness.until(() => ghosts(witness) === 0, "the loss");
  const known: object[] = [];
  for (let i = 0; i < 4; i++) {
    bot = await Bot.join(server.url, "again", { resume: bot.welcome.token });
    await bot.until(() => bot.members.length === 2 && bot.looks.size === 1, "the room's state");
    known.push(facts(bot));
    bot.drop();
    await witness.until(() => ghosts(witness) === 0, "the loss");
  }
  for (const state of known) expect(state).toEqual(known[0]);
  expect(witness.members).toHaveLength(2);
  await witness.leave();
});

// rogueworld #119: of two who join at once, one is invisible
test("twelve who join at once know each other, and each has a number of its own", async () => {
  await createRoom(server.url, "cube", "crowd");
  const bots = await Promise.all(
    Array.from({ length: 12 }, (_, i) => Bot.join(server.url, "crowd", { name: `n${i}` })),
  );
  const numbers = bots.map(({ welcome }) => welcome.member).sort((a, b) => a - b);
  expect(new Set(numbers).size).toBe(12);
  for (const bot of bots) {
    await bot.until(() => bot.members.length === 12, "all members");
    expect(bot.members.map(([member]) => member).sort((a, b) => a - b)).toEqual(numbers);
  }
  await Promise.all(bots.map((bot) => bot.leave()));
});

// Colyseus #516: of quick changes some never arrive
test("of a burst of moves the last one counts, for every member", async () => {
  await createRoom(server.url, "cube", "burst");
  const [puller, other] = [await Bot.join(server.url, "burst"), await Bot.join(server.url, "burst")];
  const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
  const [x, y, z] = puller.surfacePosition(point);
  puller.grab(1, point, [x, y, z]);
  for (let i = 1; i <= 30; i++) puller.move(1, [x + (i % 2 ? -0.02 : 0.02) * i, y, z]);
  puller.move(1, [x, y + 0.4, z]);
  await other.until(() => Math.abs(other.surfacePosition(point)[1] - y - 0.4) < 0.05, "the last target");
  await Promise.all([puller.leave(), other.leave()]);
});

/** Spawns a body. A member may do so four times a second. */
async function putIn(bot: Bot, body: number, place: [number, number, number]): Promise<void> {
  while (bot.spawnable.bodies.includes(body)) {
    bot.spawn(body, place);
    await bot.frames(8);
  }
}

// cs1 #171, Netcode for GameObjects #275: late joiners miss bodies that were added or removed
test("members who join amid spawns and removals have the bodies of the others", async () => {
  await createRoom(server.url, "spare", "amid");
  const first = await Bot.join(server.url, "amid");
  const late: Promise<Bot>[] = [];
  for (let i = 0; i < 3; i++) {
    late.push(Bot.join(server.url, "amid"));
    await putIn(first, 1, [1, 0.2, 0]);
    first.remove(1);
    late.push(Bot.join(server.url, "amid"));
    await first.until(() => first.spawnable.bodies.includes(1), "the removal");
  }
  await putIn(first, 2, [-1, 0.2, 0]);
  const bots = await Promise.all(late);
  await first.until(() => first.tick >= first.spawnable.tick, "the last spawn");
  for (const bot of bots) {
    await bot.until(() => bot.tick >= first.tick, "the same tick");
    expect(bot.spawnable.bodies).toEqual([1]);
    expect(bot.center(2)[0]).toBeCloseTo(-1, 1);
  }
  await Promise.all([first, ...bots].map((bot) => bot.leave()));
});
