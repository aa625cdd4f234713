/**
 * Attacks on a cluster by a client that knows its sources: ambiguous addresses, forged tickets, evasion of limits and
 * bans through a process that only forwards, races of names and of hand-overs.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, get as getFrom, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { MESSAGE } from "../../../server/cluster/forward.ts";
import { TICKET_HEADER, Tickets } from "../../../server/cluster/ticket.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { rawAnswer, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN = "an-operators-own-token";
const SECRET = "the secret that both processes of this suite share";
const CONNECTIONS = 12;
const folder = testFolder("attacked");
let owner: TestServer;
/** A process without rooms of its own. */
let other: TestServer;
beforeAll(async () => {
  const start = (): Promise<TestServer> =>
    startTestServer({
      store: "sqlite",
      dataDir: folder,
      tokenSecrets: [SECRET],
      adminToken: ADMIN,
      emptyRoomSeconds: 3600,
      connectionsPerAddress: CONNECTIONS,
    });
  owner = await start();
  other = await start();
  await createRoom(owner.url, "cube", "far");
});
afterAll(async () => {
  await other?.close();
  await owner?.close();
});
const both = (): TestServer[] => [owner, other];

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
const get = (target: string, ...headers: string[]): string =>
  [`GET ${target} HTTP/1.1`, "host: 127.0.0.1", "connection: close", ...headers, "", ""].join("\r\n");
const bearer = (token: string): { headers: Record<string, string> } => ({
  headers: { authorization: `Bearer ${token}` },
});

describe("an address", () => {
  test.each([
    ["http://HOST/api/rooms/far", 400],
    ["//HOST/api/rooms/far", 404],
    ["/api/rooms/%66ar", 200],
    ["/api/rooms/far?x='", 200],
    ["/api/rooms/far?x=/../../metrics", 200],
    ["/api/rooms/far?x=?&y=\"<>`{}|^#'", 200],
    ["/api/rooms/far#@HOST/", 200],
    ["/api/rooms/far?x=%zz", 400],
    ["/api/rooms/far/", 404],
    ["/api/rooms/far;a=b", 404],
    ["/api/rooms/far%2f..%2f..%2fadmin", 404],
    ["/api/rooms/far/../../admin/rooms", 404],
    ["/api/rooms/far/%2e%2e/%2e%2e/admin/rooms", 404],
    ["/api/rooms/far%00", 400],
    ["/api/rooms/far%0d%0ax-pliant-hop:%20a", 404],
    ["/api/rooms/far\\@HOST/", 404],
    ["/api/rooms/far:80@HOST/positions", 404],
  ])("%s has the same answer at each process, and no other host is asked", async (target, status) => {
    let asked = 0;
    const foreign = createServer((_request, answer) => void answer.end(String(++asked)));
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    const { port } = foreign.address() as AddressInfo;
    const request = get(target.replace("HOST", `127.0.0.1:${port}`));
    const answers = await Promise.all(both().map((server) => rawAnswer(server, request)));
    foreign.close();
    expect([...answers.map(statusOf), asked]).toEqual([status, status, 0]);
  });

  test("in any notation counts for the client's address, not for the process that forwards", async () => {
    const room = await createRoom(owner.url, "cube", "banned");
    const localAddress = "127.0.0.7";
    const statusFrom = async (server: TestServer): Promise<number | undefined> => {
      const asked = getFrom(`${server.url}/api/rooms/banned/positions`, {
        ...{ localAddress, agent: false, path: "/api/rooms/banned/positions?x='" },
      });
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const lady = await Bot.join(owner.url, "banned", { joinToken: room.token! });
    const socketOf = (server: TestServer): WebSocket =>
      new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/banned/socket`, {
        ...{ localAddress, path: "/api/rooms/banned/socket?x='" },
      });
    const guest = socketOf(other);
    await once(guest, "open");
    guest.send(encode([ClientMessage.hello, PROTOCOL_VERSION, { name: "mallory" }]));
    await lady.until(() => lady.members.some(([, name]) => name === "mallory"), "the guest");
    expect(await statusFrom(other)).toBe(200);
    lady.kick(lady.members.find(([, name]) => name === "mallory")![0], 3600);
    await once(guest, "close");
    for (const server of both()) {
      expect(await statusFrom(server)).toBe(403);
      const again = socketOf(server);
      again.on("open", () => again.send(encode([ClientMessage.hello, PROTOCOL_VERSION, { name: "mallory" }])));
      expect((await once(again, "close"))[0]).toBe(CloseCode.kicked);
    }
    await lady.leave();
  });
});

test.each([
  // curl sends it with long bodies. Node has answered it already.
  "expect: 100-continue",
  "keep-alive: timeout=5",
  "te: trailers",
  "trailer: authorization",
  "proxy-connection: keep-alive",
  "upgrade: h2c",
  // Java's client asks for HTTP/2 so.
  "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__",
  "x-more: \u00e9\u00ff",
  "x-more:",
])("a request with the header %j has the same answer at each process", async (header) => {
  // The owner reads the body and refuses it.
  const head = ["POST /api/rooms/far/undo HTTP/1.1", "host: 127.0.0.1", "connection: close", header];
  const more = [`authorization: Bearer ${ADMIN}`, "content-type: application/json", "content-length: 13"];
  const request = [...head, ...more, "", '{"seconds":0}'].join("\r\n");
  const answers = await Promise.all(both().map((server) => rawAnswer(server, request)));
  for (const answer of answers)
    expect(answer).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 400 .*"seconds"/s);
});

test("a forwarded answer keeps the client's connection as the client asked, and has no chunks for HTTP/1.0", async () => {
  for (const server of both()) {
    const answer = await rawAnswer(server, get("/api/rooms/far"));
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
    const old = await rawAnswer(server, "GET /api/rooms/far/recording HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n");
    expect(statusOf(old)).toBe(200);
    expect(old.toLowerCase()).not.toContain("transfer-encoding");
  }
});

describe("a ticket", () => {
  const foreign = new Tickets(["another secret"], { process: "x" });
  const said = { identity: { role: "admin", room: "*" } };
  const forged = (method: string, url: string): string =>
    foreign.seal({ audience: "x", method, url, address: "192.0.2.1", said });
  test.each([
    ["random", () => randomBytes(90).toString("base64url")],
    ["empty", () => ""],
    ["long", () => "A".repeat(8000)],
    ["sealed with another secret", () => forged("GET", "/api/admin/rooms")],
  ])("that is %s gives no rights, once or twice in a request", async (_what, make) => {
    for (const server of both()) {
      const header = `${TICKET_HEADER}: ${make()}`;
      for (const headers of [[header], [header, header]])
        expect(statusOf(await rawAnswer(server, get("/api/admin/rooms", ...headers)))).toBe(401);
    }
  });

  test("in a client's own messages gives no rights", async () => {
    for (const server of both()) {
      const bot = await Bot.join(server.url, "far", { name: "honest" });
      const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/far/socket`);
      await once(socket, "open");
      const ticket = forged(MESSAGE, "");
      socket.send(encode([ClientMessage.hello, PROTOCOL_VERSION, { name: "mallory", ticket }]));
      await bot.until(() => bot.members.some(([, name]) => name === "mallory"), "the forger");
      expect(bot.members.find(([, name]) => name === "mallory")![4]).toBe("player");
      socket.send(encode([ClientMessage.access, { locked: true, ticket: forged(MESSAGE, "") }]));
      await bot.frames(2);
      expect(bot.access?.locked).toBe(false);
      socket.terminate();
      await bot.leave();
    }
  });
});

test("a page of another site is refused by each process, also for rooms of the other", async () => {
  for (const server of both()) {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/rooms/far/socket`, {
      headers: { origin: "http://evil.example" },
    });
    socket.on("error", () => {});
    const [, { statusCode }] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
    expect(statusCode).toBe(403);
    for (const [method, path] of [
      ["POST", "/api/rooms/far/undo"],
      ["DELETE", "/api/rooms/far"],
      ["POST", "/api/admin/rooms/far/hand-over"],
    ] as const) {
      const headers = { origin: "http://evil.example", authorization: `Bearer ${ADMIN}` };
      expect((await fetch(`${server.url}${path}`, { method, headers })).status).toBe(403);
    }
  }
});

test("the sockets of an address are counted by the owner, through any process and with any query", async () => {
  const localAddress = "127.0.0.8";
  const sockets: WebSocket[] = [];
  const outcomes: string[] = [];
  for (let i = 0; i < CONNECTIONS + 4; i++) {
    const { url } = i % 2 ? owner : other;
    const path = `/api/rooms/far/socket?x='${i}`;
    const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, { localAddress, path });
    socket.on("error", () => {});
    sockets.push(socket);
    const opened = once(socket, "open").then(() => "open");
    const refused = once(socket, "unexpected-response").then(([, answer]) => String(answer.statusCode));
    outcomes.push(await Promise.race([opened, refused]));
  }
  for (const socket of sockets) socket.terminate();
  expect(outcomes).toEqual([...Array(CONNECTIONS).fill("open"), ...Array(4).fill("429")]);
});

describe("races", () => {
  test("of one name at both processes give one owner's token, which ends with its room", async () => {
    for (let i = 0; i < 10; i++) {
      const name = `race-${i}`;
      const made = await Promise.all([...both(), ...both()].map(({ url }) => createRoom(url, "cube", name)));
      const tokens = made.flatMap(({ token }) => (token === undefined ? [] : [token]));
      expect(tokens).toHaveLength(1);
      const end = async ({ url }: TestServer, token: string): Promise<number> =>
        (await fetch(`${url}/api/rooms/${name}`, { method: "DELETE", ...bearer(token) })).status;
      expect(await end(other, tokens[0]!)).toBe(204);
      const again = await createRoom(other.url, "cube", name);
      // The owner of the first room may believe for a moment that there is none.
      await expect.poll(() => end(owner, tokens[0]!), { timeout: 30_000 }).toBe(403);
      expect(await end(owner, again.token!)).toBe(204);
    }
  });

  test("of hand-overs leave one owner, and only operators hand over", async () => {
    const room = await createRoom(owner.url, "cube", "moved");
    const handOver = async ({ url }: TestServer, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`${url}/api/admin/rooms/moved/hand-over`, { method: "POST", headers })).status;
    for (const server of both())
      expect([await handOver(server), await handOver(server, bearer(room.token!).headers)]).toEqual([401, 403]);
    const handed = await Promise.all(
      [...both(), ...both()].map(async ({ url }) => {
        const answer = await fetch(`${url}/api/admin/rooms/moved/hand-over`, { method: "POST", ...bearer(ADMIN) });
        return ((await answer.json()) as { handedOver?: string[] }).handedOver ?? [];
      }),
    );
    expect(handed.flat()).toEqual(["moved"]);
    const where = `${other.url}/api/rooms/moved`;
    const statuses = new Set<number>();
    await expect
      .poll(async () => statuses.add((await fetch(where)).status).has(200), { timeout: 60_000, interval: 20 })
      .toBe(true);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const member = await Bot.join(other.url, "moved", { joinToken: room.token! });
    await member.frames(2);
    expect(both().filter(({ app }) => app.registry.find("moved"))).toHaveLength(1);
    await member.leave();
  });
});
