/**
 * Two processes, and a page's connection (client/sdk/connection/roomConnection.ts) to the process that does not have
 * the room. The page connects to the process with the room, and follows the room at a hand-over.
 */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Connection, type ConnectionStatus } from "../../../client/sdk/connection/roomConnection.ts";
import { encode } from "@msgpack/msgpack";
import { Bot } from "../../../load-tests/bot.ts";
import { freePort } from "../../../load-tests/measuredServer.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { CloseCode, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import type { Welcome } from "../../../shared/protocol/fromServer.ts";
import { sleep, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN = "an-operators-own-token";
const folder = testFolder("directly");
const ended: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ended) await end();
});

/** @returns a server that knows its public address, and that address */
async function startNamed(): Promise<{ server: TestServer; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const common = { store: "sqlite", dataDir: folder, tokenSecrets: ["x".repeat(32)], adminToken: ADMIN };
  const server = await startTestServer({ ...common, publicUrls: [url, "http://*.play.example"] }, port);
  ended.push(() => server.close());
  return { server, url };
}

let first: Awaited<ReturnType<typeof startNamed>>;
let second: Awaited<ReturnType<typeof startNamed>>;
beforeAll(async () => {
  first = await startNamed();
  second = await startNamed();
});

test("a page connects to the process that has its room, and follows the room to the next one, with its session", async () => {
  await first.server.app.registry.create({ scene: "cube", name: "far" });
  const described = (await (await fetch(`${second.url}/api/rooms/far`)).json()) as { url: string };
  expect(described.url).toBe(first.url);
  const welcomes: Welcome[] = [];
  const statuses: ConnectionStatus[] = [];
  const line = new Connection({
    url: `${second.url.replace("http", "ws")}/api/rooms/far/socket`,
    profile: () => ({ name: "Ada", color: "#112233" }),
    onEvent: (event) => void (event.type === "welcome" && welcomes.push(event.welcome)),
    onStatus: (status) => statuses.push(status),
  });
  ended.unshift(async () => line.close());
  const until = async (what: string, done: () => boolean | Promise<boolean>): Promise<void> => {
    for (const endMs = performance.now() + 300_000; !(await done()); await sleep(20))
      if (performance.now() > endMs) throw new Error(`${what}: not within five minutes`);
  };
  // One welcome through the other process, one of the direct connection.
  await until("the direct line", () => welcomes.length === 2 && line.isOpen);
  expect(welcomes.map(({ url }) => url)).toEqual([first.url, first.url]);
  expect(statuses.some(({ state }) => state === "reconnecting")).toBe(false);
  const sockets = (server: TestServer): Promise<number> => server.metric("pliant_forwarded_total", { way: "proxy" });
  const passedOn = await sockets(second.server);

  const handed = await fetch(`${first.url}/api/admin/rooms/far/hand-over`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  expect(handed.status).toBe(200);
  await until("the room at the other process", () => welcomes.at(-1)!.url === second.url && line.isOpen);
  expect(new Set(welcomes.map(({ member }) => member)).size).toBe(1);
  // It first connects to the page's own process. If that does not have the room yet, it is forwarded once more.
  expect((await sockets(second.server)) - passedOn).toBeLessThanOrEqual(1);
});

test("pages of the cluster's origins read recordings and replays at the process that has the room; other pages do not", async () => {
  await first.server.app.registry.create({ scene: "cube", name: "near" });
  const ask = async (path: string, origin: string | undefined, method = "GET"): Promise<Headers> => {
    const answer = await fetch(`${first.url}/api/rooms/near/${path}`, {
      method,
      headers: {
        ...(origin !== undefined && { origin }),
        ...(method === "OPTIONS" && {
          "access-control-request-method": "GET",
          "access-control-request-headers": "authorization",
        }),
      },
    });
    const allowed = answer.headers.has("access-control-allow-origin");
    expect(answer.status).toBe(method === "GET" ? 200 : allowed ? 204 : 404);
    await answer.arrayBuffer();
    expect(answer.headers.get("vary")?.toLowerCase()).toBe("origin");
    return answer.headers;
  };
  for (const path of ["recording", "replay"]) {
    for (const origin of [first.url, "http://one.play.example"]) {
      expect((await ask(path, origin)).get("access-control-allow-origin")).toBe(origin);
      const preflight = await ask(path, origin, "OPTIONS");
      expect(preflight.get("access-control-allow-origin")).toBe(origin);
      expect(preflight.get("access-control-allow-headers")).toBe("authorization");
      expect(preflight.get("access-control-allow-methods")).toBe("GET");
      expect(preflight.get("access-control-allow-credentials")).toBeNull();
    }
    for (const origin of [
      undefined,
      "null",
      "http://evil.example",
      "https://one.play.example",
      "http://play.example",
      "http://a.b.play.example",
      "http://evil.example/.play.example",
      "http://one.play.example.evil.example",
      `${first.url}0`,
    ]) {
      expect([origin, (await ask(path, origin)).get("access-control-allow-origin")]).toEqual([origin, null]);
      expect([origin, (await ask(path, origin, "OPTIONS")).get("access-control-allow-origin")]).toEqual([origin, null]);
    }
  }
  // Error responses are also readable for our own pages, so that they can show the reason.
  const refused = await fetch(`${first.url}/api/rooms/nowhere/replay`, { headers: { origin: first.url } });
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([404, first.url]);
  // Other routes are not readable for pages of other origins.
  const other = await fetch(`${first.url}/api/rooms/near/positions`, { headers: { origin: first.url } });
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
});

test("a visitor who enters during a hand-over, or at the end of a room, is told to retry, not that the room does not exist", async () => {
  const { registry } = first.server.app;
  const { room } = await registry.create({ scene: "cube", name: "leaving" });
  const handOver = async (): Promise<void> => {
    const answer = await fetch(`${first.url}/api/admin/rooms/leaving/hand-over`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}` },
    });
    expect(answer.status).toBe(200);
  };
  const silent = new WebSocket(`${first.url.replace("http", "ws")}/api/rooms/${room.name}/socket`);
  await once(silent, "open");
  const closed = once(silent, "close") as Promise<[CloseEvent]>;
  await handOver();
  silent.send(encode([ClientMessage.hello, PROTOCOL_VERSION, {}]));
  expect((await closed)[0].code).toBe(CloseCode.restarting);
  // The room exists for visitors who retry.
  const bot = await Bot.join(first.url, "leaving");
  await bot.leave();
});

test("pages may open sockets to all processes of the cluster, and to no other address", async () => {
  const policy = (await fetch(`${first.url}/`)).headers.get("content-security-policy") ?? "";
  expect(policy).toContain(
    `connect-src 'self' blob: ${first.url} ${first.url.replace("http", "ws")} http://*.play.example ws://*.play.example;`,
  );
});
