/**
 * Real processes on one store, one of them busy: some of its rooms move to the other one with all their members, and
 * stay there. Times are short and loads are simulated (quickBalance.ts).
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { Connection } from "../../../client/sdk/connection/roomConnection.ts";
import { createRoom } from "../../../load-tests/bot.ts";
import { freePort, type RunningServer, serveCommand, startServer } from "../../../load-tests/measuredServer.ts";
import type { Welcome } from "../../../shared/protocol/fromServer.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const QUICK = fileURLToPath(new URL("./quickBalance.ts", import.meta.url));
const SCENES = fileURLToPath(new URL("../scenes", import.meta.url));
const folder = testFolder("balanced");
let data = 0;
const lines: Connection[] = [];
const running: RunningServer[] = [];
afterEach(async () => {
  for (const line of lines.splice(0)) line.close();
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function start(env: Record<string, string> = {}): Promise<RunningServer> {
  const port = await freePort();
  const server = await startServer({
    port,
    command: serveCommand("--import", QUICK),
    env: {
      PLIANT_STORE: "sqlite",
      PLIANT_DATA_DIR: join(folder, String(data)),
      PLIANT_SCENES_DIR: SCENES,
      PLIANT_PREWARM: "cube",
      PLIANT_WORKERS: "1",
      PLIANT_ADMIN_TOKEN: ADMIN,
      PLIANT_PUBLIC_URL: `http://127.0.0.1:${port}`,
      LOG_LEVEL: "info",
      ...env,
    },
  });
  running.push(server);
  return server;
}

const admin = async (server: RunningServer, path: string): Promise<any> =>
  (await fetch(`${server.url}/api/admin/${path}`, { headers: { authorization: `Bearer ${ADMIN}` } })).json();

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 300_000; !(await done()); ) {
    if (performance.now() > endMs)
      throw new Error(`${what}: not within 300 s\n${running.map((server) => server.output()).join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const bothReady = (server: RunningServer): Promise<void> =>
  until("both in the operators' list", async () => {
    const { processes } = await admin(server, "processes");
    return processes.length === 2 && processes.every(({ state }: { state: string }) => state === "ready");
  });

/** Opens a page's connection to each room through this server. @returns the welcomes of each */
function visit(server: RunningServer, rooms: readonly string[]): Welcome[][] {
  return rooms.map((room) => {
    const welcomes: Welcome[] = [];
    const line = new Connection({
      url: `${server.url.replace("http", "ws")}/api/rooms/${room}/socket`,
      profile: () => ({ name: "Ada", color: "#112233" }),
      onEvent: (event) => void (event.type === "welcome" && welcomes.push(event.welcome)),
      onStatus: () => {},
    });
    lines.push(line);
    return welcomes;
  });
}

const moved = async (server: RunningServer, what: string): Promise<number> =>
  Number(
    new RegExp(`pliant_balanced_rooms_total\\{what="${what}"\\} (\\d+)`).exec(
      await (await fetch(`${server.url}/metrics`)).text(),
    )![1],
  );

const rooms = Array.from({ length: 6 }, (_, i) => `room-${i}`);

test("some rooms of a busy process move to an idle one, with their members; then no more rooms move", async () => {
  data += 1;
  const first = await start();
  for (const room of rooms) await createRoom(first.url, "cube", room);
  const welcomes = visit(first, rooms);
  await until("all members are in", () => welcomes.every((own) => own.length > 0));
  const members = welcomes.map((own) => own[0]!.member);
  const second = await start();
  await bothReady(first);
  const held = async (): Promise<number[]> =>
    (await admin(first, "processes")).processes.map(({ rooms: own }: { rooms: number }) => own);
  // Loads of six tenths and zero: half of them moves, and then both are equally busy.
  await until("half of the rooms are at the other process", async () => (await held()).every((own) => own === 3));
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(await held()).toEqual([3, 3]);
  expect([await moved(first, "moved"), await moved(second, "moved")]).toEqual([3, 0]);
  await until("all members are in again", () => lines.every((line) => line.isOpen));
  for (const [i, own] of welcomes.entries())
    expect(new Set(own.map(({ member }) => member))).toEqual(new Set([members[i]]));
  expect(welcomes.some((own) => own.at(-1)!.url === second.url)).toBe(true);
  expect(first.output()).toContain('"msg":"a room goes to a less busy process"');
});

if (inLong(true, false))
  test("with balancing switched off no room moves, and new rooms stay where they were requested", async () => {
    data += 1;
    const [first, second] = [await start({ PLIANT_BALANCE: "off" }), await start({ PLIANT_BALANCE: "off" })];
    for (const room of rooms) await createRoom(first.url, "cube", room);
    const welcomes = visit(first, rooms);
    await until("all members are in", () => welcomes.every((own) => own.length > 0));
    await until("it is busy", async () => {
      const { processes } = await admin(second, "processes");
      return processes.some(({ load }: { load: number }) => load > 0.5);
    });
    await new Promise((resolve) => setTimeout(resolve, 5000));
    expect([await moved(first, "moved"), await moved(second, "placed")]).toEqual([0, 0]);
    expect(first.output()).not.toContain("less busy");
  });

test("new rooms are created at the least busy process, and the caller gets them as if they were local", async () => {
  data += 1;
  const [first, second] = [await start({ PLIANT_MAX_ROOMS: "8" }), await start({ PLIANT_MAX_ROOMS: "8" })];
  await bothReady(first);
  const made: { room: string; url: string; token: string }[] = [];
  for (let i = 0; i < 12; i++) {
    const answer = await postJson(`${first.url}/api/rooms`, {
      scene: "cube",
      ...(i % 2 === 0 && { room: `named-${i}` }),
    });
    expect([answer.status, answer.ok || (await answer.text())]).toEqual([201, true]);
    made.push((await answer.json()) as (typeof made)[number]);
  }
  const at = (server: RunningServer): number => made.filter(({ url }) => url === server.url).length;
  expect(at(first) + at(second)).toBe(12);
  expect(Math.min(at(first), at(second))).toBeGreaterThanOrEqual(4);
  expect(await moved(first, "placed")).toBe(at(second));
  // The creator owns a room, wherever it is.
  for (const { room, token } of made) {
    const ended = await fetch(`${first.url}/api/rooms/${room}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
  }
});
