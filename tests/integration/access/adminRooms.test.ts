/**
 * Two real processes on one store: through either of them an operator sees, and ends, the rooms of both. Rooms of a
 * process that does not answer stay in the list.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { freePort, startServer } from "../../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../../load-tests/measuredServer.ts";
import { SCENES_DIR } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const TOKEN = "operators-own-token-of-two-processes";
const data = testFolder("two");
let first: RunningServer;
let second: RunningServer;
/** Operations port of each server: calls for the other's rooms go through its visitors' port. */
const operations = new Map<RunningServer, number>();

async function start(env: Record<string, string>): Promise<RunningServer> {
  const port = await freePort();
  const server = await startServer({ env: { ...env, PLIANT_OPERATIONS_PORT: String(port) } });
  operations.set(server, port);
  return server;
}

beforeAll(async () => {
  const env = {
    PLIANT_PREWARM: "none",
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: data,
    PLIANT_ADMIN_TOKEN: TOKEN,
    PLIANT_SCENES_DIR: SCENES_DIR,
    PLIANT_ROOM_MEMORY_MB: "96",
  };
  first = await start(env);
  second = await start(env);
});
afterAll(async () => {
  second.process.kill("SIGCONT");
  await Promise.all([first?.stop(), second?.stop()]);
});

interface AdminRoom {
  room: string;
  owner: string | null;
  scene: string;
  tick?: number;
  people?: { name: string }[];
  threadShare?: number;
  memoryBytes?: number;
  memoryUsedBytes?: number;
  memoryLimitBytes?: number;
}
const ask = async (
  server: RunningServer,
  path = "/api/admin/rooms",
  method = "GET",
): Promise<{ status: number; rooms: AdminRoom[] }> => {
  const answer = await fetch(`http://127.0.0.1:${operations.get(server)}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const body = answer.status === 200 ? ((await answer.json()) as { rooms?: AdminRoom[] }) : {};
  return { status: answer.status, rooms: (body.rooms ?? []).sort((a, b) => (a.room < b.room ? -1 : 1)) };
};

test("either process lists the rooms of both, with members and ticks, once each, and names their owner", async () => {
  await createRoom(first.url, "cube", "at-first");
  await createRoom(second.url, "cube", "at-second");
  const [here, there] = await Promise.all([
    Bot.join(first.url, "at-first", { name: "Wren" }),
    Bot.join(second.url, "at-second", { name: "Seal" }),
  ]);
  await Promise.all([here.frames(5), there.frames(5)]);
  for (const server of [first, second]) {
    const { rooms } = await ask(server);
    expect(rooms.map(({ room }) => room)).toEqual(["at-first", "at-second"]);
    expect(rooms.map(({ owner }) => Number(owner?.split(":").at(-1)))).toEqual([first.process.pid, second.process.pid]);
    expect(rooms.map(({ people }) => people?.map(({ name }) => name))).toEqual([["Wren"], ["Seal"]]);
    for (const { tick } of rooms) expect(tick).toBeGreaterThan(0);
    // WebAssembly memory comes in pages of 64 KiB; beside it is the encoder's frame.
    for (const { memoryBytes, memoryUsedBytes, memoryLimitBytes } of rooms) {
      expect(memoryUsedBytes).toBeGreaterThan(2 ** 16);
      expect(memoryUsedBytes).toBeLessThanOrEqual(memoryBytes!);
      expect(memoryLimitBytes).toBe(96 * 2 ** 20);
    }
  }
  // A thread's share is known when the room has ticked for a quarter of a second.
  await vi.waitFor(
    async () => {
      for (const { threadShare } of (await ask(first)).rooms) expect(threadShare).toBeGreaterThan(0);
    },
    { timeout: 300_000 },
  );
  expect((await ask(first, "/api/admin/rooms?of=this-process")).rooms.map(({ room }) => room)).toEqual(["at-first"]);
  expect((await fetch(`http://127.0.0.1:${operations.get(first)}/api/admin/rooms`)).status).toBe(401);
  expect((await fetch(`${first.url}/api/admin/rooms`)).status).toBe(404);
  await Promise.all([here.leave(), there.leave()]);
});

test("a paused process does not delay the list, and its rooms are in it with the store's data", async () => {
  second.process.kill("SIGSTOP");
  try {
    const { status, rooms } = await ask(first);
    expect(status).toBe(200);
    const there = rooms.find(({ room }) => room === "at-second");
    expect(there).toMatchObject({ scene: "cube", owner: second.url });
    for (const known of ["tick", "threadShare", "memoryBytes"]) expect(there).not.toHaveProperty(known);
    expect(rooms.find(({ room }) => room === "at-first")?.tick).toBeGreaterThan(0);
  } finally {
    second.process.kill("SIGCONT");
  }
});

test("a room can be ended through any process", async () => {
  const ended = await ask(second, "/api/admin/rooms/at-first", "DELETE");
  expect(ended.status).toBe(204);
  expect((await ask(first)).rooms.map(({ room }) => room)).toEqual(["at-second"]);
});
