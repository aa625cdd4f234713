/** Failures that are not defects: a store that is away, and clients that go away during their request. */
import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { createRoom } from "../../load-tests/bot.ts";
import { type App, buildApp } from "../../server/app.ts";
import { readConfig } from "../../server/config.ts";
import { SqliteStore } from "../../server/store/sqlite/sqliteStore.ts";
import { StoreUnavailable } from "../../server/store/store.ts";
import { SCENES_DIR, startTestServer } from "./testServer.ts";
import { testFolder } from "../support/testFolder.ts";
import { postJson } from "../support/request.ts";

interface Line {
  level: number;
  msg: string;
}
const lines: Line[] = [];
const dataDir = testFolder("failures");
let app: App;
let url: string;
beforeAll(async () => {
  const write = (text: string): number => lines.push(JSON.parse(text) as Line);
  const config = { ...readConfig({}), scenesDir: SCENES_DIR, prewarm: "none", store: "sqlite", dataDir } as const;
  app = await buildApp(config, { level: "info", stream: { write } });
  url = await app.fastify.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => app.close());

describe("while the store is away", () => {
  test("a socket of a room elsewhere is refused with 503 STORE_AWAY, and so are requests", async () => {
    await createRoom(url, "cube", "kept");
    const reads = vi
      .spyOn(SqliteStore.prototype, "room")
      .mockRejectedValue(new StoreUnavailable("the disk", new Error("disk I/O error")));
    const before = lines.length;
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/elsewhere/socket`);
    socket.on("error", () => {});
    const [, answer] = (await once(socket, "unexpected-response")) as [unknown, import("node:http").IncomingMessage];
    const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as object;
    expect([answer.statusCode, body]).toMatchObject([
      503,
      { code: "STORE_AWAY", message: "The server cannot reach its store; try again in a moment." },
    ]);
    for (const path of ["/api/rooms/elsewhere", "/api/rooms/elsewhere/positions"])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 503]);
    // A room that is open here is served.
    expect((await fetch(`${url}/api/rooms/kept`)).status).toBe(200);
    reads.mockRestore();
    expect(lines.slice(before).filter(({ level, msg }) => level >= 50 && msg === "request failed")).toEqual([]);
  });
});

test("a visitor who opens rooms too fast is told when to try again", async () => {
  const server = await startTestServer({ roomsPerMinute: 2 });
  const open = (room: string): Promise<Response> => postJson(`${server.url}/api/rooms`, { scene: "cube", room });
  expect([(await open("one")).status, (await open("two")).status]).toEqual([201, 201]);
  const refused = await open("three");
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([429, "TOO_MANY_REQUESTS"]);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  await server.close();
});

describe("a client that goes away", () => {
  const CUT = "the client closed the connection during its request";
  test.each([
    ["an upload with its length", "/api/objects?name=a.stl", "content-length: 100000"],
    ["an upload in chunks", "/api/objects?name=a.stl", "transfer-encoding: chunked"],
    ["a JSON body", "/api/rooms", "content-type: application/json\r\ncontent-length: 1000"],
  ])("during %s is logged as information", async (_title, path, head) => {
    const before = lines.length;
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    const part = head.includes("chunked") ? "a\r\n0123456789\r\n" : '{"scene":';
    socket.write(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${head}\r\n\r\n${part}`);
    await expect
      .poll(() => lines.slice(before).some(({ msg }) => msg === "incoming request"), { timeout: 300_000 })
      .toBe(true);
    socket.destroy();
    await expect.poll(() => lines.slice(before).some(({ msg }) => msg === CUT), { timeout: 300_000 }).toBe(true);
    const later = lines.slice(before);
    expect(later.find(({ msg }) => msg === CUT)!.level).toBe(30);
    expect(later.filter(({ level }) => level > 30)).toEqual([]);
  });
});
