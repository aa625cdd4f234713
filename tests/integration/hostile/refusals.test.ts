/**
 * A client that violates the protocol is disconnected with the documented code, and other members' frames keep
 * arriving.
 */
import { encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
let witness: Bot;
beforeAll(async () => {
  server = await startTestServer({ maxMembers: 9 });
  await createRoom(server.url, "sheet", "room");
  witness = await Bot.join(server.url, "room", { name: "witness" });
});
/** Ends of silent connections, and their durations, ms. They run beside the other tests. */
let wordless: ReturnType<typeof lasting>;
let silent: ReturnType<typeof lasting>;
/** A half-open peer: it neither reads nor writes, and its system does not close the line. */
let halfOpen: { number: number; holds: () => boolean };
/** An idle peer, which only answers pings: how many, and whether it is still connected. */
let idle: { pings: number; socket: WebSocket };
beforeAll(async () => {
  wordless = lasting(raw());
  const peer = raw("room", { autoPong: false });
  await peer.open;
  peer.socket.send(encode([ClientMessage.hello, PROTOCOL_VERSION]));
  silent = lasting(peer);
  const { socket } = await greeted();
  idle = { pings: 0, socket };
  socket.on("ping", () => idle.pings++);
  const bot = await Bot.join(server.url, "room", { name: "half-open" });
  bot.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 0, 0]);
  const number = bot.welcome.member;
  const holds = (): boolean => (witness.memberGrabs.get(number)?.grabs.length ?? 0) > 0;
  await witness.until(holds, "the grab of the half-open peer");
  bot.socket.pause();
  halfOpen = { number, holds };
});
afterAll(async () => {
  await witness.leave();
  await server.close();
});

/** A raw socket, and how it ended. */
function raw(
  room = "room",
  options: WebSocket.ClientOptions = {},
): { socket: WebSocket; open: Promise<void>; closed: Promise<{ code: number; reason: string }> } {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/${room}/socket`, options);
  const open = new Promise<void>((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  return { socket, open, closed };
}

async function lasting({ closed }: ReturnType<typeof raw>): Promise<{ code: number; ms: number }> {
  const startMs = performance.now();
  const { code } = await closed;
  return { code, ms: performance.now() - startMs };
}

async function greeted(): Promise<ReturnType<typeof raw>> {
  const peer = raw();
  await peer.open;
  peer.socket.send(encode([ClientMessage.hello, PROTOCOL_VERSION]));
  await new Promise((resolve) => peer.socket.once("message", resolve));
  return peer;
}

/** CPU time of this process, which includes the server, ms. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Frames reached the witness throughout: between two of them the server never used more than half a second of CPU (15
 * frames). Its chain never broke.
 */
async function witnessing<T>(work: () => Promise<T>): Promise<T> {
  let worstGapMs = 0;
  let lastMs = cpuMs();
  const onMessage = (): void => {
    const now = cpuMs();
    worstGapMs = Math.max(worstGapMs, now - lastMs);
    lastMs = now;
  };
  witness.socket.on("message", onMessage);
  const { keyframes } = witness.counts;
  const result = await work();
  await witness.frames(5);
  witness.socket.off("message", onMessage);
  expect(worstGapMs).toBeLessThan(500);
  expect(witness.counts.keyframes).toBe(keyframes);
  return result;
}

describe("malformed", () => {
  test.each([
    ["bytes that are not msgpack", Buffer.from([0xc1]), "not one msgpack value"],
    ["a value that is not an array", Buffer.from(encode({ a: 1 })), "not a msgpack array"],
    ["a missing field", Buffer.from(encode([ClientMessage.move, 1, 0])), "move: y is not a finite number"],
    ["NaN", Buffer.from(encode([ClientMessage.cursor, NaN, 0, 0])), "cursor: x is not a finite number"],
    ["a second hello", Buffer.from(encode([ClientMessage.hello, PROTOCOL_VERSION])), "hello: already sent"],
  ])("%s", async (_, bytes, reason) => {
    await witnessing(async () => {
      const peer = await greeted();
      peer.socket.send(bytes);
      expect(await peer.closed).toEqual({ code: CloseCode.badMessage, reason });
    });
  });

  test("a text frame", async () => {
    const peer = await greeted();
    peer.socket.send("hello");
    expect((await peer.closed).code).toBe(CloseCode.badMessage);
  });

  test("anything before hello", async () => {
    const peer = raw();
    await peer.open;
    peer.socket.send(encode([ClientMessage.ping, 1]));
    expect(await peer.closed).toEqual({ code: CloseCode.badMessage, reason: "the first message must be hello" });
  });

  test("another protocol version", async () => {
    const peer = raw();
    await peer.open;
    peer.socket.send(encode([ClientMessage.hello, PROTOCOL_VERSION + 1]));
    expect((await peer.closed).code).toBe(CloseCode.unsupportedVersion);
  });
});

test("a message above the size limit, but not at the limit", async () => {
  await witnessing(async () => {
    const peer = await greeted();
    peer.socket.send(encode([63, new Uint8Array(Limits.maxPayload - 5)]));
    peer.socket.send(Buffer.alloc(Limits.maxPayload + 1));
    expect((await peer.closed).code).toBe(CloseCode.tooLarge);
  });
});

test("a flood", async () => {
  const rejected = await server.metric("pliant_inputs_rejected_total", { reason: "rate" });
  await witnessing(async () => {
    const peer = await greeted();
    const message = encode([ClientMessage.move, 1, 0, 0, 0]);
    for (let i = 0; i < 2000; i++) peer.socket.send(message);
    expect((await peer.closed).code).toBe(CloseCode.flood);
  });
  expect(await server.metric("pliant_inputs_rejected_total", { reason: "rate" })).toBeGreaterThan(rejected + 500);
});

test("a burst above the rate costs a notice and inputs, not the connection", async () => {
  const bot = await Bot.join(server.url, "room");
  for (let i = 0; i < Limits.inputBurst + 100; i++) bot.cursor([0, 0, 0]);
  await bot.until(() => bot.notices.some(({ code }) => code === "RATE_LIMITED"), "the notice");
  await bot.frames(5);
  expect(bot.closed).toBeNull();
  await bot.leave();
});

describe("out of range", () => {
  let bot: Bot;
  beforeEach(async () => {
    bot = await Bot.join(server.url, "room");
    return () => bot.leave();
  });

  test.each([
    ["body", (b: Bot) => b.grab(1, { body: 9, triangle: 0, u: 0, v: 0 }, [0, 0, 0]), "0 to 0"],
    ["triangle", (b: Bot) => b.grab(1, { body: 0, triangle: 999_999, u: 0, v: 0 }, [0, 0, 0]), "0 to "],
    ["v", (b: Bot) => b.impulse({ body: 0, triangle: 0, u: 0.6, v: 0.6 }, [0, 0, 0]), "0 to 1 - u"],
    ["target", (b: Bot) => b.grab(1, { body: 0, triangle: 0, u: 0, v: 0 }, [0, 1e6, 0]), "up to 100 m"],
  ])("%s", async (field, act, limit) => {
    act(bot);
    await bot.until(() => bot.notices.length > 0, "the notice");
    expect(bot.notices[0]).toMatchObject({
      code: "OUT_OF_RANGE",
      details: { field, limit: expect.stringContaining(limit) as string },
    });
    await bot.frames(3);
    expect(bot.closed).toBeNull();
  });

  test("one grab too many", async () => {
    for (let grab = 0; grab <= Limits.grabsPerMember; grab++)
      bot.grab(grab, { body: 0, triangle: 0, u: 0, v: 0 }, [0, 2, 0]);
    await bot.until(() => bot.notices.length > 0, "the notice");
    expect(bot.notices[0]).toMatchObject({
      code: "GRAB_LIMIT",
      details: { value: Limits.grabsPerMember, limit: Limits.grabsPerMember },
    });
  });
});

test("more grabs than a room can hold give a notice, and no grab without effect", async () => {
  await createRoom(server.url, "cube", "crowd");
  const many: Bot[] = [];
  for (let i = 0; i < 9; i++) many.push(await Bot.join(server.url, "crowd"));
  const grabAll = (bot: Bot): void => {
    for (let grab = 0; grab < Limits.grabsPerMember; grab++)
      bot.grab(grab, { body: 0, triangle: grab, u: 0.3, v: 0.3 }, [0, 0, 0]);
  };
  const last = many.pop()!;
  for (const bot of many) grabAll(bot);
  const full = (): boolean => many.every(({ welcome }) => last.memberGrabs.get(welcome.member)?.grabs.length === 4);
  await last.until(full, "the others' hands");
  grabAll(last);
  await last.until(() => last.notices.filter(({ code }) => code === "INPUT_REJECTED").length === 4, "the notices");
  expect(last.notices[0]!.details).toMatchObject({ field: "grab", limit: "32 grabs in a room" });
  await many[0]!.until(() => many[0]!.memberGrabs.get(last.welcome.member)?.grabs.length === 0, "empty hands");
  expect(many[0]!.memberGrabs.get(many[7]!.welcome.member)?.grabs).toHaveLength(4);
  await Promise.all([...many, last].map((bot) => bot.leave()));
});

test("no hello in time", async () => {
  const { code, ms } = await wordless;
  expect(code).toBe(CloseCode.helloTimeout);
  expect(ms).toBeLessThan(2 * Limits.helloTimeoutMs);
});

test("a peer that becomes silent", async () => {
  const { code, ms } = await silent;
  expect(code).toBe(CloseCode.heartbeatLost);
  expect(ms).toBeGreaterThan(Limits.deadAfterMs - 500);
  expect(ms).toBeLessThan(2 * Limits.deadAfterMs);
});

test("a half-open peer loses its place and its grab, like any lost one; an idle peer that answers pings keeps its own", async () => {
  const isConnected = (): boolean => witness.members.some(([member, , , on]) => member === halfOpen.number && on);
  await witness.until(() => !isConnected() && !halfOpen.holds(), "the end of the half-open peer");
  expect(idle.pings).toBeGreaterThanOrEqual(2);
  expect(idle.socket.readyState).toBe(WebSocket.OPEN);
});

test("a missing room, and a full one", async () => {
  expect((await raw("nowhere").closed).code).toBe(CloseCode.roomGone);
  const bots: Bot[] = [];
  const room = "full";
  await createRoom(server.url, "cube", room);
  for (let i = 0; i < 9; i++) bots.push(await Bot.join(server.url, room));
  const extra = Bot.connect(server.url, room);
  expect((await extra.untilClosed()).code).toBe(CloseCode.roomFull);
  // The seat of a disconnected member is given to a new one.
  bots[0]!.drop();
  await bots[1]!.until(() => bots[1]!.members.some(([, , , connected]) => !connected), "the lost connection");
  const late = await Bot.join(server.url, room);
  expect(late.closed).toBeNull();
  await Promise.all([...bots.slice(1), late].map((bot) => bot.leave()));
});

test("an invalid room name, and addresses without a socket", async () => {
  for (const name of ["x".repeat(41), "x".repeat(300), "UPPER", "a%2fb", "%20"])
    expect([name, (await raw(name).closed).code]).toEqual([name, CloseCode.roomGone]);
  const refusal = (path: string): Promise<[number | undefined, string]> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${server.url.replace("http", "ws")}${path}`);
      socket.once("open", () => reject(new Error("the socket opened")));
      socket.once("error", () => {});
      socket.once("unexpected-response", (_request, answer) => {
        let body = "";
        answer.on("data", (part: Buffer) => (body += part.toString()));
        answer.on("end", () => {
          resolve([answer.statusCode, (JSON.parse(body) as { code: string }).code]);
          socket.terminate();
        });
      });
    });
  expect(await refusal("/api/rooms/%zz/socket")).toEqual([400, "BODY_INVALID"]);
  expect(await refusal("/api/rooms/%ff/socket")).toEqual([400, "BODY_INVALID"]);
  expect(await refusal("/api/nowhere")).toEqual([404, "NOT_FOUND"]);
  expect(await refusal("/socket")).toEqual([404, "NOT_FOUND"]);
  const answer = await fetch(`${server.url}/api/scenes/%zz`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: "BODY_INVALID", field: "path" }]);
});

test("a page of another origin", async () => {
  const refused = raw("room", { origin: "https://elsewhere.example" });
  await expect(refused.open).rejects.toThrow("403");
  const own = raw("room", { origin: server.url });
  await own.open;
  own.socket.close();
  await own.closed;
});

test("numbers of sockets and members fall again, however their lines end", async () => {
  const connected = (): Promise<number> => server.metric("pliant_sessions", { state: "connected" });
  const open = async (): Promise<number> =>
    (await server.metric("pliant_sockets_opened_total")) - (await server.metric("pliant_sockets_closed_total"));
  const { token } = await createRoom(server.url, "cube", "counted");
  const listed = async (): Promise<unknown> =>
    ((await (await fetch(`${server.url}/api/rooms/counted`)).json()) as { members: number }).members;
  const before = [await connected(), await open()];
  const join = (): Promise<Bot> => Bot.join(server.url, "counted");
  const [left, cut, broken, flooding, kicked] = await Promise.all([join(), join(), join(), join(), join()]);
  const owner = await Bot.join(server.url, "counted", { joinToken: token });
  const refused = raw("nowhere");
  expect([await connected(), await listed()]).toEqual([before[0]! + 6, 6]);
  await left.leave();
  cut.drop();
  broken.socket.send(Buffer.from([0xc1]));
  for (let n = 0; n < 2 * (Limits.inputBurst + Limits.floodBudget); n++)
    flooding.socket.send(encode([ClientMessage.needKeyframe]));
  owner.socket.send(encode([ClientMessage.kick, kicked.welcome.member]));
  await Promise.all([refused.closed, broken.untilClosed(), flooding.untilClosed(), kicked.untilClosed()]);
  await owner.leave();
  await vi.waitFor(async () => expect([await connected(), await open()]).toEqual(before), 60_000);
  expect(await listed()).toBe(0);
});

test("more connections from one address than allowed", async () => {
  const small = await startTestServer({ connectionsPerAddress: 2 });
  await createRoom(small.url, "cube", "room");
  const bots = [await Bot.join(small.url, "room"), await Bot.join(small.url, "room")];
  const third = Bot.connect(small.url, "room");
  await expect(third.untilClosed()).rejects.toThrow("429");
  await bots[0]!.leave();
  // The place becomes free when the server notices that the first bot has left.
  const next = await vi.waitFor(() => Bot.join(small.url, "room"), { timeout: 300_000 });
  expect(next.closed).toBeNull();
  await small.close();
});
