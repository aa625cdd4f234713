/**
 * The built package `pliant-client`, loaded by its name from a folder without other files, against real servers:
 * joining, pulling, reconnecting, and every error code.
 */
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build as bundle, type Rolldown } from "vite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import type { JoinOptions, Point, Room, RoomEventName } from "../../../client/sdk/index.ts";
import { Answers } from "../../../client/sdk/calls/answers.ts";
import { ClientErrors, type PliantError } from "../../../client/sdk/errors.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { deleteRoom } from "../../../load-tests/bot.ts";
import { succeeds } from "../../support/program.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const BUILT = fileURLToPath(new URL("../../../build/sdk", import.meta.url));
/** Limit of the core without the decoder's WebAssembly, gzip. */
const MOST_BYTES = 30 * 1024;

let server: TestServer;
let folder: string;
let joinRoom: typeof import("../../../client/sdk/index.ts").joinRoom;
/** Codes that some test has met. */
const met = new Set<string>();

beforeAll(async () => {
  expect(await succeeds("setup.mjs", ["--quiet", "--only", "sdk"])).toBe(true);
  folder = testFolder("sdk");
  cpSync(BUILT, join(folder, "node_modules/pliant-client"), { recursive: true });
  const entry = createRequire(join(folder, "page.js")).resolve("pliant-client");
  ({ joinRoom } = (await import(pathToFileURL(entry).href)) as typeof import("../../../client/sdk/index.ts"));
  server = await startTestServer({ maxMembers: 3 });
});

afterAll(() => server?.close());

const at = (room: string, base = server.url): string => `${base}/r/${room}`;
const enter = (room: string, options: JoinOptions = {}): Promise<Room> => joinRoom(at(room), options);

async function refused(work: () => unknown): Promise<PliantError> {
  try {
    await work();
  } catch (error) {
    expect(error).toMatchObject({ name: "PliantError" });
    met.add((error as PliantError).code);
    return error as PliantError;
  }
  throw new Error("nothing was refused");
}

/** Resolves when `done` is true, which is checked at every such event. */
function until(room: Room, event: RoomEventName, done: () => boolean): Promise<void> {
  if (done()) return Promise.resolve();
  return new Promise((resolve) => {
    const off = room.on(event, () => {
      if (!done()) return;
      off();
      resolve();
    });
  });
}

function center(room: Room, body: string): Point {
  const positions = room.positions(body);
  const sum: Point = [0, 0, 0];
  positions.forEach((value, i) => void (sum[i % 3]! += value / (positions.length / 3)));
  return sum;
}

/** Creates a room. @returns its owner's token */
async function owned(room: string, scene = "cube"): Promise<string> {
  const answer = await postJson(`${server.url}/api/rooms`, { room, scene });
  return ((await answer.json()) as { token: string }).token;
}

/** Collects the sockets that were opened, so that a test can cut them. */
function cuttable(): { WebSocket: NonNullable<JoinOptions["WebSocket"]>; opened: WebSocket[] } {
  const opened: WebSocket[] = [];
  class Line extends WebSocket {
    constructor(url: string) {
      super(url);
      opened.push(this);
    }
  }
  return { WebSocket: Line as unknown as NonNullable<JoinOptions["WebSocket"]>, opened };
}

describe("the package", () => {
  test("has a core of at most 30 kB when an application's build minifies it", async () => {
    const built = await bundle({
      configFile: false,
      logLevel: "warn",
      build: {
        write: false,
        minify: true,
        lib: { entry: join(BUILT, "index.js"), formats: ["es"] },
        rolldownOptions: { external: /wasm/ },
      },
    });
    const { output } = (built as Rolldown.RolldownOutput[])[0]!;
    const chunks = output.filter((part) => part.type === "chunk");
    // Without the decoder that is loaded where WebAssembly cannot run.
    const { isEntry, imports } = chunks[0]!;
    expect(isEntry).toBe(true);
    const core = chunks.filter(({ fileName }, n) => n === 0 || imports.includes(fileName));
    expect(core.length).toBe(chunks.length - 1);
    const bytes = core.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
    console.log(`pliant-client: core ${bytes} bytes gzip, without the decoder's WebAssembly`);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });

  test("lists every error code", () => {
    const page = readFileSync(join(BUILT, "README.md"), "utf8");
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
    expect(Object.fromEntries(rows)).toEqual(ClientErrors);
  });
});

describe("a room", () => {
  test("is pulled by one member, and every member has the server's integers", async () => {
    const ann = await enter("pulled", { scene: "cube", name: "Ann" });
    const ben = await enter("pulled", { name: "Ben" });
    await until(ann, "members", () => ann.members.length === 2);
    expect(ann.members.map(({ name }) => name)).toEqual(["Ann", "Ben"]);
    expect(ann.bodies.map(({ kind, count }) => [kind, count])).toEqual(
      ann.topology.bodies.map(({ kind, count }) => [kind, count]),
    );
    const { name } = ann.bodies[0]!;
    const start = center(ann, name);
    const hand = ann.grab(name, [start[0] + 1, start[1], start[2]]);
    expect(hand.target[0]).toBeGreaterThan(start[0]);
    for (let step = 1; step <= 50; step++) hand.move([hand.target[0] + 0.01, start[1], start[2]]);
    await until(ben, "frame", () => center(ben, name)[0] > start[0] + 0.1);
    hand.release();
    expect([hand.held, ann.grabs.length]).toEqual([false, 0]);

    const seen = [ann, ben].map((room) => {
      const frames = new Map<number, number[]>();
      room.on("frame", ({ tick }) =>
        frames.set(
          tick,
          room.bodies.flatMap((body) => [...room.quantized(body)]),
        ),
      );
      return { room, frames };
    });
    await Promise.all(seen.map(({ room, frames }) => until(room, "frame", () => frames.size >= 5)));
    const state = (await (await fetch(`${server.url}/api/rooms/pulled/positions`)).json()) as {
      frameTick: number;
      quantized: number[];
    };
    for (const { room, frames } of seen) {
      await until(room, "frame", () => room.tick >= state.frameTick);
      expect(frames.get(state.frameTick)).toEqual(state.quantized);
    }
    ann.leave();
    ben.leave();
  });

  test("reconnects automatically when the connection is lost; its grabs have ended", async () => {
    const { WebSocket, opened } = cuttable();
    const room = await enter("back", { scene: "cube", WebSocket });
    const { member } = room;
    const hand = room.grab(0, [0, 1, 0]);
    opened[0]!.terminate();
    await until(room, "state", () => room.state === "reconnecting");
    expect(hand.held).toBe(false);
    expect((await refused(() => room.grab(0, [0, 1, 0]))).code).toBe("OFFLINE");
    await until(room, "state", () => room.state === "open");
    const { tick } = room;
    await until(room, "frame", () => room.tick > tick);
    expect([room.member, opened.length]).toEqual([member, 2]);
    room.leave();
    room.leave();
    expect((await refused(() => room.reset())).code).toBe("LEFT");
  });

  test("puts in and takes out a spawnable body", async () => {
    const room = await enter("spares", { scene: "spare" });
    expect(room.spawnable).toEqual([1, 2]);
    expect((await refused(() => room.grab("spare", [0, 0, 0]))).code).toBe("BODY_ABSENT");
    room.spawn("spare", [0, 1, 0], { heading: [0, 1], occupied: "lift" });
    await until(room, "spawnable", () => !room.spawnable.includes(1));
    const hand = room.grab("spare", center(room, "spare"));
    room.push("spare", { triangle: 0, u: 0.3, v: 0.3 }, [0, 0.1, 0]);
    room.remove("spare");
    await until(room, "spawnable", () => room.spawnable.includes(1));
    expect(hand.held).toBe(false);
    room.leave();
  });

  test("pins what it holds, for all members, and removes pins", async () => {
    const ann = await enter("pinned", { scene: "cube", name: "Ann" });
    const ben = await enter("pinned", { name: "Ben" });
    const hand = ann.grab(0, center(ann, "cube"));
    hand.move([0, 0.5, 0]);
    hand.move([0, 1, 0]);
    await ann.pin(hand);
    expect([hand.held, ann.grabs.length]).toEqual([false, 0]);
    // The newest target counts, although it had to wait for its turn.
    const pin = { ...hand.at, by: ann.member, target: [0, 1, 0] };
    await until(ben, "pins", () => ben.pins[0] !== undefined);
    expect(ben.pins).toEqual({ 0: { ...pin, u: Math.fround(pin.u), v: Math.fround(pin.v) } });
    expect((await refused(() => ann.pin(hand))).code).toBe("BAD_ARGUMENT");
    expect((await refused(() => ben.unpin(-1))).code).toBe("BAD_ARGUMENT");
    await ben.unpin(0);
    expect(ben.pins).toEqual({});
    const another = ben.grab(0, center(ben, "cube"));
    ann.leave();
    await ben.pin(another);
    expect(ben.pins[0]).toMatchObject({ by: ben.member });
    ben.leave();
  });

  test("is tuned by its owner only", async () => {
    const owner = await enter("tuned", { token: await owned("tuned") });
    const guest = await enter("tuned");
    owner.tune({ gravity: [0, 2, 0], body: 0, friction: 1.25 });
    await until(guest, "tuned", () => guest.tuning!.gravity[1] === 2);
    expect(guest.tuning!.bodies[0]).toMatchObject({ body: 0, friction: 1.25 });
    expect(await refused(() => guest.tune({ asScene: true }))).toMatchObject({ code: "NOT_ALLOWED", limit: "owner" });
    for (const [field, change] of [
      ["gravity", { gravity: [0, 1] as unknown as Point }],
      ["gravity", { gravity: [0, 1e7, 0] as Point }],
      ["body", { damping: 1 }],
      ["damping", { body: 0, damping: -1 }],
      ["friction", { body: 0, friction: 11 }],
    ] as const)
      expect(await refused(() => owner.tune(change))).toMatchObject({ code: "BAD_ARGUMENT", field });
    owner.tune({ asScene: true });
    await until(guest, "tuned", () => guest.tuning!.gravity[1] === 0);
    owner.leave();
    guest.leave();
  });

  test("one grab pulls two bodies, for all members", async () => {
    const ann = await enter("twins", { scene: "twins" });
    const ben = await enter("twins");
    const seen: unknown[] = [];
    for (const what of ["grabbed", "released"] as const)
      ben.on(what, ({ body, together }) => void seen.push([what, body, together]));
    const [left, right] = [center(ben, "left"), center(ben, "right")];
    const hand = ann.grab("left", left, { together: true });
    hand.move([hand.target[0], hand.target[1] + 0.5, hand.target[2]]);
    const went = (): number[] => [center(ben, "left")[1] - left[1], center(ben, "right")[1] - right[1]];
    await until(ben, "frame", () => went().every((way) => way > 0.3));
    hand.release();
    await until(ben, "frame", () => seen.length === 2);
    expect([hand.together, seen]).toEqual([
      true,
      [
        ["grabbed", 0, true],
        ["released", 0, true],
      ],
    ]);
    ann.leave();
    ben.leave();
  });

  test("reports grabs and releases, and spawned and removed bodies, with the member", async () => {
    const ann = await enter("happenings", { scene: "spare" });
    const seen: unknown[] = [];
    ann.on("grabbed", ({ member, body }) => seen.push([member, body]));
    const early = ann.grab("there", center(ann, "there"));
    await until(ann, "grabbed", () => seen.length === 1);
    expect(seen).toEqual([[ann.member, 0]]);
    const told: unknown[] = [];
    const ben = await enter("happenings");
    const record =
      (what: string) =>
      ({ member, body }: { member: number; body: number }) =>
        void told.push([what, member, body]);
    for (const what of ["grabbed", "released", "spawned", "removed"] as const) ben.on(what, record(what));
    early.release();
    await until(ben, "frame", () => told.length === 1);
    ann.spawn("spare", [0, 1, 0], { occupied: "lift" });
    await until(ben, "frame", () => told.length === 2);
    await until(ann, "spawnable", () => !ann.spawnable.includes(1));
    ann.grab("spare", center(ann, "spare"));
    await until(ben, "frame", () => told.length === 3);
    ann.remove("spare");
    await until(ben, "frame", () => told.length === 5);
    const by = ann.member;
    expect(told.slice(0, 3)).toEqual([
      ["released", by, 0],
      ["spawned", by, 1],
      ["grabbed", by, 1],
    ]);
    expect(told.slice(3).sort()).toEqual([
      ["released", by, 1],
      ["removed", by, 1],
    ]);
    ann.leave();
    ben.leave();
  });

  test("passes messages to the other members unchanged, in order", async () => {
    const ann = await enter("talk", { scene: "cube" });
    const ben = await enter("talk");
    const heard: unknown[] = [];
    const echoed: unknown[] = [];
    ben.on("message", (message) => heard.push(message));
    ann.on("message", (message) => echoed.push(message));
    const data = { text: "Zoë", at: [0.1, -1e300, null, true], bytes: Uint8Array.of(0, 255) };
    ann.send("chat", data);
    ann.send("wave");
    await until(ben, "message", () => heard.length === 2);
    expect(heard).toEqual([
      { member: ann.member, type: "chat", data },
      { member: ann.member, type: "wave", data: null },
    ]);
    ben.send("chat", 7);
    await until(ann, "message", () => echoed.length > 0);
    expect(echoed).toEqual([{ member: ben.member, type: "chat", data: 7 }]);
    ann.leave();
    ben.leave();
  });

  test("passes on every message or refuses it as too fast", async () => {
    const ann = await enter("flood", { scene: "cube" });
    const ben = await enter("flood");
    const refusals: unknown[] = [];
    const heard: unknown[] = [];
    ann.on("notice", ({ code, details }) => refusals.push({ code, details }));
    ben.on("message", ({ data }) => heard.push(data));
    for (let n = 0; n < 100; n++) ann.send("n", n);
    await until(ann, "notice", () => refusals.length > 0);
    await until(ben, "frame", () => heard.length + refusals.length === 100);
    expect(refusals[0]).toEqual({
      code: "RATE_LIMITED",
      details: { field: "message", value: "n", limit: "10 per second" },
    });
    expect(heard.length).toBeGreaterThanOrEqual(20);
    expect(heard.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    ann.leave();
    ben.leave();
  });

  test("is left when its signal is aborted later", async () => {
    const stop = new AbortController();
    const room = await enter("signal", { scene: "cube", signal: stop.signal });
    stop.abort();
    expect(room.state).toBe("ended");
  });
});

describe("refusals", () => {
  test("invalid arguments, with field, value and limit", async () => {
    const joins: [string, unknown, unknown][] = [
      ["url", "play.example/r/x", {}],
      ["url", `${server.url}/r/NO`, {}],
      ["name", at("x"), { name: 7 }],
      ["color", at("x"), { color: "red" }],
      ["token", at("x"), { token: "t".repeat(3000) }],
      ["password", at("x"), { password: "p".repeat(200) }],
      ["scene", at("x"), { scene: {} }],
      ["signal", at("x"), { signal: "stop" }],
      ["timeoutMs", at("x"), { timeoutMs: 0 }],
    ];
    for (const [field, url, options] of joins)
      expect(await refused(() => joinRoom(url as string, options as JoinOptions))).toMatchObject({
        code: "BAD_ARGUMENT",
        field,
        limit: expect.any(String),
      });
    const room = await enter("arguments", { scene: "spare" });
    const hand = room.grab(0, [0, 0, 0]);
    const calls: [string, () => unknown][] = [
      ["body", () => room.positions(3)],
      ["body", () => room.positions("nobody")],
      ["body", () => room.spawn("there", [0, 0, 0])],
      ["point", () => room.grab(0, [0, Number.NaN, 0])],
      ["triangle", () => room.grab(0, { triangle: -1, u: 0, v: 0 })],
      ["v", () => room.grab(0, { triangle: 0, u: 0.5, v: 0.6 })],
      ["together", () => room.grab(0, [0, 0, 0], { together: true })],
      ["to", () => hand.move([0, 1e6, 0])],
      ["impulse", () => room.push(0, [0, 0, 0], [0, 0] as unknown as Point)],
      ["position", () => room.spawn(1, [0, 1e6, 0])],
      ["heading", () => room.spawn(1, [0, 1, 0], { heading: [0, 0] })],
      ["occupied", () => room.spawn(1, [0, 1, 0], { occupied: "push" as "lift" })],
      ["at", () => room.point([1e6, 0, 0])],
      ["reaction", () => room.react("x" as "🎉")],
      ["text", () => room.say("")],
      ["type", () => room.send("no spaces")],
      ["data", () => room.send("x", Number.NaN)],
      ["data", () => room.send("x", new Map())],
      ["data", () => room.send("x", new Array(65).fill(0))],
      ["data", () => room.send("x", [[[[[[[[[]]]]]]]]])],
      ["data", () => room.send("x", "x".repeat(2048))],
      ["lock", () => room.setAccess({ lock: true } as object)],
      ["locked", () => room.setAccess({ locked: "yes" as unknown as boolean })],
      ["gravitation", () => room.tune({ gravitation: [0, 0, 0] } as object)],
      ["event", () => room.on("none" as RoomEventName, () => {})],
      ["listener", () => room.on("frame", undefined as unknown as () => void)],
    ];
    for (const [field, call] of calls)
      expect(await refused(call)).toMatchObject({ code: "BAD_ARGUMENT", field, limit: expect.any(String) });
    for (let more = 1; more < 4; more++) room.grab(0, [0, 0, 0]);
    expect(await refused(() => room.grab(0, [0, 0, 0]))).toMatchObject({ code: "GRAB_LIMIT", limit: 4 });
    room.leave();
  });

  test("by the server over HTTP: with the server's code", async () => {
    expect(await refused(() => enter("nowhere"))).toMatchObject({ code: "ROOM_NOT_FOUND", status: 404 });
    expect(await refused(() => enter("nowhere", { scene: "none" }))).toMatchObject({ code: "SCENE_NOT_FOUND" });
  });

  test("a full, locked or closed room, a password, a spectator's grab, a kicked member", async () => {
    const token = await owned("guarded");
    const { WebSocket, opened } = cuttable();
    const owner = await enter("guarded", { token, WebSocket });
    const issued = await postJson(`${server.url}/api/tokens`, { room: "guarded", role: "spectator" }, token);
    const { path } = (await issued.json()) as { path: string };
    const spectator = await joinRoom(`${server.url}${path}`);
    expect(await refused(() => spectator.grab(0, [0, 0, 0]))).toMatchObject({
      code: "NOT_ALLOWED",
      value: "spectator",
    });
    expect(await refused(() => spectator.send("chat"))).toMatchObject({ code: "NOT_ALLOWED", value: "spectator" });
    const third = await enter("guarded");
    expect(await refused(() => enter("guarded"))).toMatchObject({ code: "ROOM_FULL", closeCode: CloseCode.roomFull });
    await until(owner, "members", () => owner.members.length === 3);
    const ended = until(third, "state", () => third.state === "ended");
    third.on("state", (state) => void (state.state === "ended" && met.add(state.error.code)));
    opened[0]!.send(build.kick(third.member, undefined));
    await ended;
    expect(met).toContain("KICKED");
    await until(owner, "members", () => owner.members.length === 2);
    opened[0]!.send(build.access({ password: "open sesame" }));
    await until(owner, "access", () => owner.access?.password === true);
    expect(await refused(() => enter("guarded"))).toMatchObject({ code: "PASSWORD_NEEDED" });
    (await enter("guarded", { password: "open sesame" })).leave();
    opened[0]!.send(build.access({ locked: true }));
    await until(owner, "access", () => owner.access?.locked === true);
    expect(await refused(() => enter("guarded"))).toMatchObject({ code: "ROOM_LOCKED" });
    const gone = until(spectator, "state", () => spectator.state === "ended");
    spectator.on("state", (state) => void (state.state === "ended" && met.add(state.error.code)));
    expect(await deleteRoom(server.url, "guarded", token)).toBe(204);
    await gone;
    expect(met).toContain("ROOM_GONE");
  });

  /** A server that has every room, and closes sockets with a code before the welcome. */
  async function closing(code: number): Promise<{ url: string; end(): void }> {
    const http: Server = createServer((_request, response) => void response.end("{}"));
    new WebSocketServer({ server: http }).on("connection", (socket) => socket.close(code, "says the test"));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    return { url, end: () => void http.close() };
  }

  test.each([
    ["VERSION_UNSUPPORTED", CloseCode.unsupportedVersion],
    ["TOKEN_NEEDED", CloseCode.tokenNeeded],
    ["TOO_MANY_ATTEMPTS", CloseCode.tooManyAttempts],
    ["ROOM_QUARANTINED", CloseCode.quarantined],
    ["REFUSED", CloseCode.badMessage],
  ])("a connection that is closed before the welcome: %s", async (code, closeCode) => {
    const server = await closing(closeCode);
    expect(await refused(() => joinRoom(`${server.url}/r/x`))).toMatchObject({ code, closeCode });
    server.end();
  });

  test("a server that does not answer, answers nonsense, or too late, and a caller that gives up", async () => {
    const broken = createServer((_request, response) => void response.writeHead(500).end("<html>"));
    const silent = createServer(() => {});
    for (const one of [broken, silent]) {
      one.listen(0, "127.0.0.1");
      await once(one, "listening");
    }
    const url = (one: Server): string => at("x", `http://127.0.0.1:${(one.address() as AddressInfo).port}`);
    expect(await refused(() => joinRoom(url(broken)))).toMatchObject({ code: "BAD_ANSWER", status: 500 });
    expect(await refused(() => joinRoom(url(silent), { timeoutMs: 50 }))).toMatchObject({ code: "TIMEOUT", limit: 50 });
    const asked = once(silent, "request");
    const stop = new AbortController();
    const joining = refused(() => joinRoom(url(silent), { signal: stop.signal }));
    await asked;
    stop.abort(new Error("enough"));
    expect(await joining).toMatchObject({ code: "ABORTED", cause: { message: "enough" } });
    expect((await refused(() => joinRoom(url(silent), { signal: AbortSignal.abort() }))).code).toBe("ABORTED");
    const closed = url(broken);
    for (const one of [broken, silent]) {
      one.closeAllConnections();
      one.close();
    }
    expect(await refused(() => joinRoom(closed))).toMatchObject({ code: "UNREACHABLE", status: 0 });
  });

  test("a runtime without sockets", async () => {
    const { WebSocket: own } = globalThis;
    Object.assign(globalThis, { WebSocket: undefined });
    try {
      expect((await refused(() => enter("x"))).code).toBe("NO_WEBSOCKET");
    } finally {
      Object.assign(globalThis, { WebSocket: own });
    }
  });

  test("a request without an answer fails with its own code, and a late answer changes nothing", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const answers = new Answers();
    const { request, answer } = answers.begin();
    vi.advanceTimersByTime(30_000);
    vi.useRealTimers();
    expect(await refused(() => answer)).toMatchObject({ code: "NO_ANSWER", limit: 30_000 });
    answers.done(request);
  });

  test("every code of the table was met", () => {
    expect(Object.keys(ClientErrors).filter((code) => !met.has(code))).toEqual([]);
  });
});
