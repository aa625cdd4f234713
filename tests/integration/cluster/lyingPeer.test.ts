/**
 * A process that has the cluster's store and secret, and lies: wrong members, owners, loads and clocks, endless or no
 * answers. It may damage its own rooms. The rooms and lists of the other processes stay as they are.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { encode } from "@msgpack/msgpack";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { MESSAGE } from "../../../server/cluster/forward.ts";
import { TICKET_HEADER, type Ticket, Tickets } from "../../../server/cluster/ticket.ts";
import type { ListedProcess } from "../../../server/store/store.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const SECRET = "the secret that all processes of this suite share";
const LEASE_SECONDS = 3600;
const PATIENCE = { timeout: 60_000 };
const folder = testFolder("lying");
const bearer = { headers: { authorization: `Bearer ${ADMIN}` } };
let honest: TestServer;
let other: TestServer;
let store: SqliteStore;
let file: DatabaseSync;
/** Answers of the lying process; null: it reads the request and never answers. */
let lie: ((request: IncomingMessage, answer: ServerResponse) => void) | null = null;
let liar: Server;
let url: string;
const lines = new Set<Socket>();
/** Requests that the lying process got since the last test. */
let asked: string[] = [];

beforeAll(async () => {
  const start = (): Promise<TestServer> =>
    startTestServer({
      store: "sqlite",
      dataDir: folder,
      clusterSecrets: [SECRET],
      tokenSecrets: [SECRET],
      adminToken: ADMIN,
      emptyRoomSeconds: 3600,
      maxRooms: 12,
      workers: 1,
    });
  honest = await start();
  other = await start();
  const path = join(folder, "pliant.sqlite");
  store = new SqliteStore({ path, leaseSeconds: LEASE_SECONDS });
  await store.open();
  file = new DatabaseSync(path, { timeout: 60_000 });
  liar = createServer((request, answer) => {
    asked.push(`${request.method} ${request.url}`);
    lie?.(request, answer);
  });
  liar.on("connection", (line: Socket) => {
    lines.add(line);
    line.on("error", () => {}).on("close", () => lines.delete(line));
  });
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  await createRoom(honest.url, "cube", "fair");
  await claimRoom("liars", { process: "liar", url });
  await claimRoom("silent", { process: "someone", url: "http://127.0.0.1:1" });
  await claimRoom("nowhere", { process: "lost", url: "http://127.0.0.1:1/admin?x=" });
});
afterEach(() => {
  lie = null;
  for (const line of lines) line.destroy();
  file.exec("DELETE FROM processes WHERE process IN ('liar', 'lost')");
  asked = [];
});
afterAll(async () => {
  liar?.close();
  file?.close();
  await store?.close();
  await other?.close();
  await honest?.close();
});

async function claimRoom(name: string, holder: { process: string; url: string }): Promise<void> {
  const createdAt = new Date().toISOString();
  await store.createRoom({ name, scene: "cube", pool: "shared", createdAt, settings: {} }, holder);
}

/** Stores a report of the lying process as it stands. */
function report(text: string, process = "liar"): void {
  const [row] = file.prepare("SELECT boot, max(lease_until) AS until FROM processes").all();
  file
    .prepare("INSERT OR REPLACE INTO processes (process, report, boot, lease_until) VALUES (?, ?, ?, ?)")
    .run(process, text, row!.boot!, Number(row!.until) + LEASE_SECONDS);
}
const adminGet = async (path: string, server = honest): Promise<Record<string, Record<string, unknown>[]>> => {
  const answer = await fetch(`${server.url}${path}`, bearer);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, Record<string, unknown>[]>;
};
const processOf = (server: TestServer): Promise<ListedProcess> =>
  adminGet("/api/admin/processes", server).then(
    ({ processes }) => processes!.find(({ url: where }) => where === server.url) as unknown as ListedProcess,
  );
const described = { room: "liars", scene: "cube", members: 0, pool: "shared", createdAt: new Date(0).toISOString() };

describe("the list of all rooms", () => {
  const told = (rooms: unknown) => JSON.stringify({ rooms });
  test.each([
    ["null", "null"],
    ["a number of rooms", told(5)],
    ["empty rooms", told([null, 1, "x", []])],
    ["a room without fields", told([{ room: "liars" }])],
    ["a room with wrong fields", told([{ ...described, owner: "liar", people: "all", tick: "x" }])],
    ["a member without fields", told([{ ...described, owner: "liar", people: [null] }])],
    ["broken JSON", '{"rooms":['],
    ["nested lists", "[".repeat(100_000)],
    [
      "rooms of other processes",
      told([
        { ...described, room: "silent", owner: "liar" },
        { ...described, room: "fair", owner: "liar" },
      ]),
    ],
  ])("takes %s of a process as no answer", async (_what, text) => {
    lie = (_request, answer) => answer.setHeader("content-type", "application/json").end(text);
    const { rooms } = await adminGet("/api/admin/rooms");
    expect(asked).toHaveLength(1);
    const owners = new Map(rooms!.map(({ room, owner }) => [room, owner]));
    expect([...owners.keys()].sort()).toEqual(["fair", "liars", "nowhere", "silent"]);
    expect(owners.get("liars")).toBe(url);
    expect(owners.get("silent")).toBe("http://127.0.0.1:1");
    expect(owners.get("fair")).toMatch(/:\d+$/);
  });

  test("takes a right answer", async () => {
    lie = (_request, answer) => answer.end(told([{ ...described, owner: "liar", tick: 7 }]));
    const { rooms } = await adminGet("/api/admin/rooms");
    expect(rooms!.find(({ room }) => room === "liars")).toMatchObject({ owner: "liar", tick: 7 });
  });

  test("stops reading an endless answer, and does not wait for a missing one", async () => {
    let sent = 0;
    const ended = new Promise<void>((resolve) => {
      lie = (_request, answer) => {
        const chunk = Buffer.alloc(2 ** 20, 0x20);
        const more = (): void => {
          while (!answer.destroyed && answer.write(chunk)) sent += chunk.length;
        };
        answer.on("drain", more).on("close", resolve);
        more();
      };
    });
    expect((await adminGet("/api/admin/rooms")).rooms).toHaveLength(4);
    await ended;
    expect(sent).toBeLessThan(64 * 2 ** 20);
    lie = null;
    expect((await adminGet("/api/admin/rooms")).rooms).toHaveLength(4);
    expect(asked).toHaveLength(2);
  });
});

describe("a room whose owner", () => {
  test("has no usable address is moving, and the others go on", async () => {
    for (const path of ["", "/positions", "/picture"])
      expect((await fetch(`${honest.url}/api/rooms/nowhere${path}`)).status).toBe(503);
    const socket = new WebSocket(`${honest.url.replace("http", "ws")}/api/rooms/nowhere/socket`);
    socket.on("error", () => {});
    const [, { statusCode }] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
    expect(statusCode).toBe(503);
    const bot = await Bot.join(honest.url, "fair");
    await bot.frames(2);
    await bot.leave();
  });

  test("never answers a request that reads: the client learns it in seconds", async () => {
    const answer = await fetch(`${honest.url}/api/rooms/liars`);
    expect(answer.status).toBe(503);
    expect(asked).toEqual(["GET /api/rooms/liars"]);
  });

  test("keeps its side of a socket open does not keep its client's", async () => {
    const connections = (): Promise<number> =>
      new Promise((resolve) => honest.app.fastify.server.getConnections((_error, count) => resolve(count)));
    const before = await connections();
    const upgrade = once(liar, "upgrade") as Promise<[IncomingMessage, Socket]>;
    const client = connect(Number(new URL(honest.url).port), "127.0.0.1");
    client.write(
      [
        "GET /api/rooms/liars/socket HTTP/1.1",
        "host: 127.0.0.1",
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        "\r\n",
      ].join("\r\n"),
    );
    const [, line] = await upgrade;
    line.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    await once(client, "data");
    expect(await connections()).toBeGreaterThan(before);
    client.destroy();
    await expect.poll(connections, PATIENCE).toBeLessThanOrEqual(before);
  });
});

describe("reports", () => {
  test("that are broken hide no other process, and speak for no other", async () => {
    const [fair] = await Promise.all([processOf(honest), processOf(other)]);
    const texts = ["null", "{", "[]", JSON.stringify({ ...fair, load: -1, given: [] })];
    for (const [i, text] of texts.entries()) report(text, `broken ${i}`);
    // In the name of the other process, with a clock that would make all its tickets invalid.
    const { process } = await processOf(other);
    const stolen = { ...fair, process, url, state: "ready", clockMs: 0, given: [] };
    report(JSON.stringify(stolen));
    await expect
      .poll(async () => (await adminGet("/api/admin/processes")).processes!.map((one) => one.process), PATIENCE)
      .toContain("liar");
    const { processes } = await adminGet("/api/admin/processes");
    expect(processes!.map((one) => one.url).sort()).toEqual([honest.url, other.url, url].sort());
    await createRoom(other.url, "cube", "far");
    const asAdmin = await postJson(`${honest.url}/api/admin/rooms/far/announce`, { text: "hello" }, ADMIN);
    expect(asAdmin.status).toBeLessThan(300);
    file.exec("DELETE FROM processes WHERE process LIKE 'broken%'");
  });

  test("of an idle process that never answers hold back at most 8 new rooms", async () => {
    const fair = await processOf(honest);
    // Both honest processes have so many rooms that an empty one is preferred.
    for (const { app } of [honest, other]) while (app.registry.size < 9) await app.registry.create({ scene: "cube" });
    const idle = { ...fair, url, state: "ready", load: 0, rooms: 0, maxRooms: 10_000, members: 0, given: [] };
    report(JSON.stringify(idle));
    await expect
      .poll(async () => {
        const { processes } = await adminGet("/api/admin/processes");
        return Object.fromEntries(processes!.map((one) => [one.url, one.rooms]));
      }, PATIENCE)
      .toEqual({ [honest.url]: 9, [other.url]: 9, [url]: 0 });
    const leaving = new AbortController();
    const create = (): Promise<Response> =>
      fetch(`${honest.url}/api/rooms`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ scene: "cube" }),
        signal: leaving.signal,
      });
    const waiting = Array.from({ length: 8 }, () => create().catch(() => null));
    await expect.poll(() => asked.length, PATIENCE).toBe(8);
    expect((await create()).status).toBe(201);
    expect(asked).toHaveLength(8);
    leaving.abort();
    await Promise.all(waiting);
  });
});

describe("a ticket with the right secret and", () => {
  const tickets = new Tickets([SECRET], { process: "liar" });
  const path = "/api/admin/rooms?of=this-process";
  const identity = { room: "*", role: "admin", subject: "x", expiresAtMs: null };
  const ticket = async (changes: object): Promise<Record<string, string>> => {
    const { process: audience } = await processOf(honest);
    const whole = { audience, method: "GET", url: path, address: "192.0.2.1", said: { identity }, ...changes };
    return { [TICKET_HEADER]: tickets.seal(whole as Ticket) };
  };
  test("a right identity is accepted", async () => {
    expect((await fetch(`${honest.url}${path}`, { headers: await ticket({}) })).status).toBe(200);
  });

  test.each<[string, object]>([
    ["no address", { address: undefined }],
    ["a list as address", { address: ["192.0.2.1"] }],
    ["an empty address", { address: null }],
    ["nothing said", { said: null }],
    ["a text said", { said: "admin" }],
    ["a role alone", { said: { identity: { role: "admin" } } }],
    ["a list as room", { said: { identity: { ...identity, room: ["*"] } } }],
    ["an unknown role", { said: { identity: { ...identity, role: "root" } } }],
    ["a number as subject", { said: { identity: { ...identity, subject: 5 } } }],
    ["an end that is no time", { said: { identity: { ...identity, expiresAtMs: "never" } } }],
    ["an end in the past", { said: { identity: { ...identity, expiresAtMs: 1 } } }],
  ])("%s gives no rights", async (_what, changes) => {
    expect((await fetch(`${honest.url}${path}`, { headers: await ticket(changes) })).status).toBe(401);
  });

  test.each<[string, unknown]>([
    ["a number as password", { identity: null, password: 5 }],
    ["a map as session", { identity: null, resume: { a: 1 } }],
    ["a list as problem", { identity: null, problem: [1] }],
  ])("%s closes its socket as malformed", async (_what, said) => {
    const where = "/api/rooms/fair/socket";
    const headers = await ticket({ url: where, said: null });
    const socket = new WebSocket(`${honest.url.replace("http", "ws")}${where}`, { headers });
    await once(socket, "open");
    const { [TICKET_HEADER]: sealed } = await ticket({ method: MESSAGE, url: headers[TICKET_HEADER], said });
    socket.send(encode([ClientMessage.hello, PROTOCOL_VERSION, { name: "x", ticket: sealed }]));
    expect((await once(socket, "close"))[0]).toBe(CloseCode.badMessage);
  });
});
