/**
 * Two processes, and a page's own line (client/net/connection.ts) that comes to the one which has not the room: it goes
 * to the one that has it, and follows the room when that is handed over.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Connection, type ConnectionStatus } from "../../client/net/connection.ts";
import { freePort } from "../../load-tests/server.ts";
import type { Welcome } from "../../shared/protocol.ts";
import { sleep, startTestServer, type TestServer } from "./server.ts";

const ADMIN = "an-operators-own-token";
const folder = mkdtempSync(join(tmpdir(), "pliant-directly-"));
const ended: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ended) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns a server that says where it is, and its line to visitors */
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

test("a page goes to the process that has its room, and along with the room to the next one, as who it was", async () => {
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
    for (const endMs = performance.now() + 20_000; !(await done()); await sleep(20))
      if (performance.now() > endMs) throw new Error(`${what}: not within 20 s`);
  };
  // One welcome through the other process, one of the line that goes directly.
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
  expect(await sockets(second.server)).toBe(passedOn);
});

test("pages may open sockets to all processes, and to nobody else", async () => {
  const policy = (await fetch(`${first.url}/`)).headers.get("content-security-policy") ?? "";
  expect(policy).toContain(`connect-src 'self' ${first.url.replace("http", "ws")} ws://*.play.example;`);
});
