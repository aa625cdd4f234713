/**
 * A soak in half a minute: a crowd comes and goes, rooms are opened and deleted, connections are lost, scenes start
 * again. After all clients have left, nothing remains: no room, no session, no socket, and no room object in memory.
 * The number of timers is that after the first crowd, which creates the permanent ones. `npm run bench -- --only soak`
 * is the long form.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Crowd } from "../../load-tests/load/generator.ts";
import { readScenario } from "../../load-tests/load/scenario.ts";
import type { Room } from "../../server/rooms/room.ts";
import { sleep, startTestServer, type TestServer } from "../integration/testServer.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    workers: 1,
    scenesDir: fileURLToPath(new URL("../../load-tests/scenes", import.meta.url)),
    resumeSeconds: 0.5,
    emptyRoomSeconds: 3,
  });
});
afterAll(() => server.close());

/**
 * Running timers and intervals, counted by this process. Sockets are counted by the WebSocket server, because other
 * sockets stay open for the next HTTP request.
 */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

const WITHIN_MS = 60_000;

async function until(done: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!(await done())) {
    if (performance.now() > end) expect.fail(`not within ${WITHIN_MS} ms: ${what}`);
    await sleep(100);
  }
}

/**
 * @param replaced how many rooms are deleted and opened anew before the crowd leaves: a number, not a time, so that a
 * busy machine does the same work; each goes with a hundred frames
 * @returns the rooms, and the clients' failures
 */
async function crowd(replaced: number): Promise<{ rooms: Map<string, WeakRef<Room>>; failures: number }> {
  const scenario = readScenario("soak");
  const faults: Error[] = [];
  const rooms = new Map<string, WeakRef<Room>>();
  const clients = new Crowd(
    server.url,
    { ...scenario, churn: { clientsPerMinute: 600, resetsPerMinute: 120, roomsPerMinute: 120 } },
    (error) => void faults.push(error),
  );
  const note = setInterval(() => {
    for (const room of server.app.registry.list()) if (!rooms.has(room.name)) rooms.set(room.name, new WeakRef(room));
  }, 100);
  await clients.open();
  await clients.join();
  const opened = rooms.size;
  await until(
    () => rooms.size >= opened + replaced && clients.counts.frames >= 100 * replaced,
    `${replaced} rooms replaced`,
  );
  clients.stop();
  clearInterval(note);
  expect(faults).toEqual([]);
  await until(
    async () => server.app.registry.size === 0 && (await server.metric("pliant_sessions")) === 0,
    "all rooms gone",
  );
  await until(async () => (await server.metric("pliant_worker_queue_depth")) === 0, "no tick waits");
  return { rooms, failures: clients.counts.failures };
}

test("a crowd leaves nothing behind", async () => {
  await crowd(2);
  const before = timers();
  const { rooms, failures } = await crowd(5);
  expect(rooms.size).toBeGreaterThan(readScenario("soak").rooms.reduce((sum, { count }) => sum + count, 0));
  expect(failures).toBe(0);
  await until(() => {
    collect();
    return [...rooms.values()].every((room) => room.deref() === undefined);
  }, "every room object collected");
  await until(() => server.app.fastify.websocketServer.clients.size === 0, "every socket closed");
  await until(() => timers() <= before, `timers back to ${before}`);
});
