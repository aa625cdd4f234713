/**
 * The client's connection against real sockets: hello, resume, backoff, giving up. The server side is a few lines of
 * `ws`.
 */
import type { AddressInfo } from "node:net";
import { decode, encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocketServer, type WebSocket as ServerSocket } from "ws";
import { parseAddress } from "../../../../client/sdk/calls/checkArguments.ts";
import { closeError } from "../../../../client/sdk/errors.ts";
import { Connection, type ConnectionStatus, directUrl } from "../../../../client/sdk/connection/roomConnection.ts";
import { build, ClientMessage } from "../../../../shared/protocol/fromClient.ts";
import { type ServerEvent, ServerMessage } from "../../../../shared/protocol/fromServer.ts";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../../../shared/protocol/protocol.ts";

let server: WebSocketServer;
let sockets: ServerSocket[];
/** Messages of each socket, in the order of the sockets. */
let said: unknown[][][];
let connection: Connection | undefined;
let statuses: ConnectionStatus[];
let events: ServerEvent[];
/** Address of the room's own process, as in the welcome. */
let welcomeUrl: string | undefined;

beforeEach(async () => {
  sockets = [];
  said = [];
  statuses = [];
  events = [];
  welcomeUrl = undefined;
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (socket) => {
    const index = sockets.push(socket) - 1;
    said[index] = [];
    socket.on("message", (data: Buffer) => {
      const message = decode(data) as unknown[];
      said[index]!.push(message);
      if (message[0] === ClientMessage.hello)
        socket.send(
          encode([ServerMessage.welcome, { token: `token-${index}`, session: "s", member: 1, url: welcomeUrl }]),
        );
    });
  });
  await new Promise((resolve) => server.once("listening", resolve));
});

afterEach(async () => {
  vi.restoreAllMocks();
  connection?.close();
  for (const socket of sockets) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

function connect(options: { name?: () => string } = {}): Connection {
  const { port } = server.address() as AddressInfo;
  connection = new Connection({
    url: `ws://127.0.0.1:${port}`,
    profile: () => ({ name: options.name?.() ?? "Ada", color: "#112233" }),
    onEvent: (event) => events.push(event),
    onStatus: (status) => statuses.push(status),
  });
  return connection;
}

async function eventually(condition: () => boolean): Promise<void> {
  const until = performance.now() + 50_000;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`the condition was not met within 50 s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const hellos = () => said.map((messages) => messages.find(([type]) => type === ClientMessage.hello));

test("a room below a proxy's path keeps that path", () => {
  const address = { room: "my-room", scene: "bunny", token: undefined };
  expect(parseAddress("https://play.example/r/my-room?scene=bunny")).toEqual({
    ...address,
    base: "https://play.example",
  });
  const base = "https://play.example/sim";
  expect(parseAddress(`${base}/r/my-room/?scene=bunny`)).toEqual({ ...address, base });
  for (const path of ["", "/r/", "/rr/my-room", "/r/My-Room", "/r/my-room/replay"])
    expect(() => parseAddress(`https://play.example${path}`)).toThrow("the address of a room");
});

test("says hello first, and sends nothing before the welcome", async () => {
  const own = connect();
  own.send(build.reset());
  await eventually(() => own.isOpen);
  own.send(build.reset());
  await eventually(() => said[0]!.some(([type]) => type === ClientMessage.reset));
  expect(said[0]![0]).toEqual([ClientMessage.hello, PROTOCOL_VERSION, { name: "Ada", color: "#112233" }]);
  expect(said[0]!.filter(([type]) => type === ClientMessage.reset)).toHaveLength(1);
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "open"]);
});

test("a lost connection is resumed with the token", async () => {
  const own = connect();
  await eventually(() => own.isOpen);
  sockets[0]!.terminate();
  await eventually(() => sockets.length === 2 && own.isOpen);
  expect(hellos()[1]).toEqual([
    ClientMessage.hello,
    PROTOCOL_VERSION,
    { name: "Ada", color: "#112233", resume: "token-0" },
  ]);
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "open", "reconnecting", "connecting", "open"]);
});

test("a half-open line, which carries nothing and does not close, is given up and resumed; an idle one is kept", async () => {
  const realMs = performance.now.bind(performance);
  let aheadMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => realMs() + aheadMs);
  connect();
  await eventually(() => statuses.some(({ state }) => state === "open"));
  const pings = (): number => said[0]!.filter(([type]) => type === ClientMessage.ping).length;
  const pongs = (): number => events.filter(({ type }) => type === "pong").length;
  for (let times = 1; times <= 3; times++) {
    aheadMs += 0.6 * Limits.deadAfterMs;
    const before = pings();
    await eventually(() => pings() > before);
    sockets[0]!.send(encode([ServerMessage.pong, 0, 0]));
    await eventually(() => pongs() === times);
  }
  expect(sockets).toHaveLength(1);
  aheadMs += 1.1 * Limits.deadAfterMs;
  await eventually(() => hellos().length === 2 && hellos()[1] !== undefined);
  expect(statuses).toContainEqual(expect.objectContaining({ state: "reconnecting", code: CloseCode.heartbeatLost }));
  expect(hellos()[1]![2]).toMatchObject({ resume: "token-0" });
});

// Colyseus 348: browsers stop the timers of hidden pages
test("a page that is shown again reconnects without waiting for its timer", async () => {
  const page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  const wait = globalThis.setTimeout;
  const long = ((act: () => void, ms: number) => (ms > 100 ? 1 : wait(act, ms))) as typeof setTimeout;
  const own = connect();
  vi.unstubAllGlobals();
  await eventually(() => own.isOpen);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(long);
  sockets[0]!.terminate();
  await eventually(() => statuses.at(-1)!.state === "reconnecting");
  page.dispatchEvent(new Event("visibilitychange"));
  await eventually(() => sockets.length === 2 && own.isOpen);
});

test("a client that leaves when the connection is lost does not come back", async () => {
  let onLost = (): void => {};
  const { port } = server.address() as AddressInfo;
  const own = new Connection({
    url: `ws://127.0.0.1:${port}`,
    profile: () => ({}),
    onEvent: () => {},
    onStatus: ({ state }) => {
      statuses.push({ state } as ConnectionStatus);
      if (state === "reconnecting") onLost();
    },
  });
  await eventually(() => own.isOpen);
  onLost = () => own.close();
  sockets[0]!.terminate();
  await eventually(() => statuses.at(-1)!.state === "ended");
  // Longer than the longest first wait: 250 ms times 1.3.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(sockets).toHaveLength(1);
});

test("a new name is sent in a hello of the same session", async () => {
  let name = "Ada";
  const own = connect({ name: () => name });
  await eventually(() => own.isOpen);
  name = "Ben";
  own.reintroduce();
  await eventually(() => sockets.length === 2 && own.isOpen);
  expect(hellos()[1]).toEqual([
    ClientMessage.hello,
    PROTOCOL_VERSION,
    { name: "Ben", color: "#112233", resume: "token-0" },
  ]);
  expect(statuses.some(({ state }) => state === "reconnecting")).toBe(false);
});

test("a missing room is not tried again", async () => {
  const own = connect();
  await eventually(() => own.isOpen);
  sockets[0]!.close(CloseCode.roomGone, "deleted");
  await eventually(() => statuses.at(-1)!.state === "ended");
  expect(statuses.at(-1)).toMatchObject({ code: CloseCode.roomGone, reason: "deleted" });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(sockets).toHaveLength(1);
});

test("the reason of a refused upgrade is requested over HTTP", async () => {
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  connection = new Connection({
    url: `ws://127.0.0.1:${port}`,
    profile: () => ({ name: "Ada", color: "#112233" }),
    onEvent: () => {},
    onStatus: (status) => statuses.push(status),
    whyRefused: async () => closeError(CloseCode.roomGone, "no such room"),
  });
  await eventually(() => statuses.at(-1)!.state === "ended");
  expect(statuses.at(-1)).toMatchObject({ code: CloseCode.roomGone });
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
});

test("a message that violates the protocol is dropped, and the connection stays open", async () => {
  const errors: unknown[] = [];
  const original = console.error;
  console.error = (error: unknown) => errors.push(error);
  try {
    const own = connect();
    await eventually(() => own.isOpen);
    sockets[0]!.send(encode({ not: "an array" }));
    sockets[0]!.send(encode([ServerMessage.reset, 7, 1]));
    await eventually(() => events.some(({ type }) => type === "reset"));
    expect(own.isOpen).toBe(true);
    expect(String(errors[0])).toMatch(/expected an array/);
  } finally {
    console.error = original;
  }
});

/** The room's own process: it takes the session over, as the server does, by closing the earlier connection. */
async function ownProcess(): Promise<{ server: WebSocketServer; url: string; resumed: unknown[]; end: () => void }> {
  const own = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => own.once("listening", resolve));
  const resumed: unknown[] = [];
  own.on("connection", (socket) =>
    socket.on("message", (data: Buffer) => {
      const message = decode(data) as [number, number, { resume?: string }];
      if (message[0] !== ClientMessage.hello) return;
      resumed.push(message[2].resume);
      sockets[0]!.close(CloseCode.normal, "resumed on another socket");
      socket.send(encode([ServerMessage.welcome, { token: "token-own", session: "s", member: 1, url: welcomeUrl }]));
    }),
  );
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  const end = (): void => {
    for (const socket of own.clients) socket.terminate();
    own.close();
  };
  return { server: own, url, resumed, end };
}

test("connects to the room's own process with its session, and returns to the first address when that connection is lost", async () => {
  const own = await ownProcess();
  welcomeUrl = own.url;
  const line = connect();
  await eventually(() => own.resumed.length === 1 && own.server.clients.size === 1 && line.isOpen);
  expect(own.resumed).toEqual(["token-0"]);
  expect(statuses.some(({ state }) => state === "reconnecting")).toBe(false);
  // Its welcome names itself, so the client stays there.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([own.resumed.length, sockets.length]).toEqual([1, 1]);
  own.end();
  await eventually(() => sockets.length === 2 && line.isOpen);
  expect(hellos()[1]![2]).toMatchObject({ resume: "token-own" });
  // The client does not try it again, because that connection was lost without a close frame.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([own.resumed.length, line.isOpen]).toEqual([1, true]);
});

test("an unreachable process of the room changes nothing", async () => {
  const own = await ownProcess();
  own.end();
  welcomeUrl = own.url;
  const line = connect();
  await eventually(() => line.isOpen);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([line.isOpen, sockets.length]).toEqual([true, 1]);
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "open"]);
});

test.each([
  ["https://a.example", "wss://play.example/api/rooms/x/socket", "wss://a.example/api/rooms/x/socket"],
  ["http://10.0.0.5:8080", "ws://localhost/api/rooms/x/socket", "ws://10.0.0.5:8080/api/rooms/x/socket"],
  ["http://a.example", "wss://play.example/api/rooms/x/socket", undefined],
  ["javascript:alert(1)", "ws://localhost/api/rooms/x/socket", undefined],
  ["", "ws://localhost/api/rooms/x/socket", undefined],
])("a process at %s, for a page that came by %s", (base, url, direct) => {
  expect(directUrl(base, url)).toBe(direct);
});
