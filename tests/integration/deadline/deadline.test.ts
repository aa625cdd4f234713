/**
 * Long ticks and stuck threads, on real threads. A tick that makes progress may take any time, and other rooms do not
 * wait for it. A thread without progress is ended, and only the room that it was executing is charged.
 */
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { endlessSteps, withBody } from "../hostile/endless.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { inLong } from "../../support/run/long.ts";

const DEADLINE_MS = 300;
const HZ = 60;
const options = {
  scenesDir: fileURLToPath(new URL("./scenes", import.meta.url)),
  workers: 1,
  roomThreads: 1,
  stepDeadlineMs: DEADLINE_MS,
};
let server: TestServer;
let restore = (): void => {};

afterEach(async () => {
  restore();
  restore = () => {};
  await server.close();
});

const tickOf = (room: string): number => server.app.registry.get(room).tick;

/** CPU time of the server's threads, s. */
async function cpuSeconds(): Promise<number> {
  const used = await Promise.all(server.workers.map((worker) => worker.cpuUsage().catch(() => undefined)));
  return used.reduce((sum, cpu) => sum + (cpu ? (cpu.user + cpu.system) / 1e6 : 0), 0);
}

async function join(scene: string, room: string): Promise<Bot> {
  await createRoom(server.url, scene, room);
  return Bot.join(server.url, room);
}

test("rooms with ticks beyond the deadline lose nothing, and another room keeps its tick rate", async () => {
  server = await startTestServer(options);
  const stranger = await join("cube", "stranger");
  const hostile = inLong(["a", "b", "c", "d"], ["a", "b"]);
  const bots = await Promise.all(
    hostile.map(async (room) => {
      await createRoom(server.url, "long", room);
      return Bot.connect(server.url, room);
    }),
  );
  // One of their ticks takes longer than the deadline, and all of them complete.
  await vi.waitUntil(() => hostile.every((room) => tickOf(room) > 0), { timeout: 300_000 });
  for (const room of hostile)
    expect(server.app.registry.get(room).costs.stepTimes.summary().median).toBeGreaterThan(DEADLINE_MS / 1000);
  // Ticks a second of the thread's own time: on a busy machine it has less than one second of CPU each second.
  let rate = 0;
  for (let windows = 0; rate < 0.95 * HZ; windows++) {
    expect(windows, `${rate} ticks a second of CPU time`).toBeLessThan(10);
    const [fromTick, from] = [tickOf("stranger"), await cpuSeconds()];
    await vi.waitUntil(async () => (await cpuSeconds()) > from + 1, { timeout: 300_000, interval: 200 });
    rate = (tickOf("stranger") - fromTick) / ((await cpuSeconds()) - from);
  }
  expect(stranger.notices).toEqual([]);
  expect(stranger.resets).toBe(0);
  expect([stranger, ...bots].map(({ closed }) => closed)).toEqual([stranger, ...bots].map(() => null));
  expect(await server.metric("pliant_rooms_restored_total")).toBe(0);
  expect(await server.metric("pliant_threads_lost_total")).toBe(0);
  await Promise.all([stranger, ...bots].map((bot) => bot.leave()));
});

test("only the room of a stuck thread is charged: the other rooms' ticks are repeated, and no room is set back", async () => {
  restore = endlessSteps(withBody("endless"));
  server = await startTestServer(options);
  const bystander = await join("cube", "bystander");
  const long = Bot.connect(server.url, (await createRoom(server.url, "long", "long")).room);
  await vi.waitUntil(() => tickOf("long") > 0 && tickOf("bystander") > 0, { timeout: 300_000 });
  const { keyframes } = bystander.counts;
  await createRoom(server.url, "endless", "endless");
  const endless = Bot.connect(server.url, "endless");
  expect(await endless.untilClosed()).toEqual({ code: CloseCode.roomGone, reason: "the simulation failed" });
  // Three losses beside other rooms and one alone, twice: without a store the scene starts again once.
  expect(await server.metric("pliant_threads_lost_total", { reason: "no_progress" })).toBe(8);
  expect(await server.metric("pliant_threads_lost_total")).toBe(8);
  expect(await server.metric("pliant_rooms_restored_total", { cause: "thread" })).toBe(7);
  const tick = tickOf("long");
  await vi.waitUntil(() => tickOf("long") > tick, { timeout: 300_000 });
  await bystander.until(() => bystander.tick > tick, "the bystander's next ticks");
  // The long tick was preempted when the thread was first lost, and so was its repetition. A tick of the other room is
  // preempted only if the machine delays it.
  const beside = await server.metric("pliant_rooms_restored_total", { cause: "beside" });
  expect(beside).toBeGreaterThan(0);
  const told = [...long.notices, ...bystander.notices];
  expect(told.every(({ code }) => code === "ROOM_RESTORED")).toBe(true);
  expect(told).toHaveLength(beside);
  await bystander.until(
    () => bystander.counts.keyframes - keyframes === bystander.notices.length,
    "exactly one keyframe for each restore",
  );
  expect([long.closed, bystander.closed]).toEqual([null, null]);
  expect(long.resets + bystander.resets).toBe(0);
  await Promise.all([bystander.leave(), long.leave()]);
});

test("a room that fails beside other rooms, but not alone, continues", async () => {
  let triedAlone = 0;
  const isEndless = withBody("endless");
  restore = endlessSteps((room, kind) => {
    if (!isEndless(room)) return false;
    if (kind === "dedicated") triedAlone += 1;
    return triedAlone === 0;
  });
  server = await startTestServer(options);
  await createRoom(server.url, "endless", "endless");
  const bot = Bot.connect(server.url, "endless");
  await vi.waitUntil(() => tickOf("endless") > 30, { timeout: 300_000 });
  expect(triedAlone).toBe(1);
  expect(bot.notices.map(({ code }) => code)).toEqual(["ROOM_RESTORED", "ROOM_RESTORED", "ROOM_RESTORED"]);
  expect(bot.closed).toBeNull();
  expect(bot.resets).toBe(0);
  await bot.leave();
});
