/**
 * A real server is killed in the middle of a pull, and another one continues. Also two servers on one store, in this
 * process, and a visitor at the server that does not have the room.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Bot, createRoom, type SurfacePoint } from "../../../load-tests/bot.ts";
import { type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { inLong } from "../../support/run/long.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const folder = testFolder("survival");
const ends: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

async function startProcess(data: string): Promise<RunningServer> {
  const server = await startServer({
    env: { PLIANT_STORE: "sqlite", PLIANT_DATA_DIR: join(folder, data), PLIANT_PREWARM: "none", PLIANT_WORKERS: "1" },
  });
  ends.push(() => server.stop());
  return server;
}

async function start(data: string): Promise<TestServer> {
  const server = await startTestServer({
    scenesDir: "scenes",
    store: "sqlite",
    dataDir: join(folder, data),
    workers: 1,
  });
  ends.push(() => server.close());
  return server;
}

/** A restored room answers 503 until it is ready; a page retries automatically. */
async function joinWhenThere(url: string, room: string): Promise<Bot> {
  for (const untilMs = performance.now() + 300_000; ; ) {
    const answer = await fetch(`${url}/api/rooms/${room}`);
    if (answer.ok) return Bot.join(url, room);
    if (performance.now() > untilMs) throw new Error(`${room}: ${answer.status} ${await answer.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Rooms of one server, and the bodies that are pulled in each, with one grab each. */
const ROOMS: Record<string, number[]>[] = [
  // Scene one-cube: one grab for all bodies with warped elements, and one each for modes and points.
  { "put-in": [0], "stretched-cloth": [0], "one-cube": [3, 6, 7] },
  // Scene melt: a crystal and two solids.
  { melt: [1, 2, 3], integrators: [0, 1, 2], smoke: [0, 0, 0] },
  { tank: [0, 1, 2] },
  // Its ticks end early while all bodies land at once.
  { "hundred-bodies": [0] },
];

/** The short form: spawned bodies, and most of the methods that a body may have. */
const SMALL: Record<string, number[]>[] = [{ "put-in": [0], "one-cube": [3, 6] }];

/** The point of a body that this grab holds. */
const pointOf = (hand: number, body: number): SurfacePoint => ({ body, triangle: 3 + 20 * hand, u: 0.3, v: 0.3 });

/** Changes of methods by their owners before the kill. */
const TUNED: Record<string, { body: number; steps?: number; modes?: number }[]> = {
  "one-cube": [
    { body: 3, steps: 3 },
    { body: 6, modes: 9 },
  ],
  integrators: [{ body: 0, steps: 9 }],
};

test.each(inLong<Record<string, number[]>[]>(ROOMS, SMALL))(
  "a server killed in the middle of a pull continues with the same bits: the recordings before and after it replay as one: %o",
  async (pulled) => {
    const data = `killed-${Object.keys(pulled)[0]}`;
    const first = await startProcess(data);
    const scenes = Object.keys(pulled);
    const bots: Bot[] = [];
    for (const scene of scenes) {
      const { token: joinToken } = await createRoom(first.url, scene, scene);
      const bot = await Bot.join(first.url, scene, { name: `the grab in ${scene}`, joinToken });
      for (const change of TUNED[scene] ?? []) bot.tune(change);
      for (const [hand, body] of pulled[scene]!.entries()) {
        const point = pointOf(hand, body);
        const [x, y, z] = bot.surfacePosition(point);
        bot.grab(hand, point, [x, y, z], { together: hand === 0 && bot.topology.interaction.together !== undefined });
      }
      bots.push(bot);
    }
    // Moves in later ticks than their grab are inputs of their own. An impulse that is recorded twice pushes twice.
    for (const bot of bots) await bot.until(() => bot.tick > 40, "the grabs");
    for (const [i, bot] of bots.entries())
      for (const [hand, body] of pulled[scenes[i]!]!.entries()) {
        const point = pointOf(hand, body);
        const [x, y, z] = bot.surfacePosition(point);
        bot.move(hand, [x + 0.05, y + 0.1, z]);
        bot.impulse(point, [0, 0.01, 0]);
      }
    for (const bot of bots) await bot.until(() => bot.tick > 130, "two seconds");
    const ticks = bots.map(({ tick }) => tick);
    if (scenes.includes("hundred-bodies")) expect(await unfinished(first.url)).toBeGreaterThan(0);
    first.process.kill("SIGKILL");
    await once(first.process, "exit");

    const second = await start(data);
    const { rooms } = (await (await fetch(`${second.url}/api/rooms`)).json()) as { rooms: { room: string }[] };
    expect(rooms.map(({ room }) => room).sort()).toEqual([...scenes].sort());
    const again = await Promise.all(scenes.map((scene) => joinWhenThere(second.url, scene)));
    for (const [i, bot] of again.entries()) {
      // At most the journal's interval is lost: 0.5 s and the time until the kill took effect.
      expect(bot.tick).toBeGreaterThan(ticks[i]! - 60);
      await bot.until(() => bot.tick > ticks[i]! + 30, "half a second more");
      for (const change of TUNED[scenes[i]!] ?? []) expect(bot.tuned!.tuning.bodies[change.body]).toMatchObject(change);
    }
    for (const [i, scene] of scenes.entries()) await stepsAgain(second.url, scene, ticks[i]!);
  },
);

/** Ticks that ended early because their work reached its limit. */
async function unfinished(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^pliant_ticks_unfinished_total (\d+)$/m.exec(metrics)?.[1]);
}

/** @param tick at which the server was killed */
async function stepsAgain(url: string, scene: string, tick: number): Promise<void> {
  const bytes = new Uint8Array(await (await fetch(`${url}/api/rooms/${scene}/recording`)).arrayBuffer());
  const recording = decodeRecording(bytes);
  // The grab was active, and ended when its owner was gone.
  expect(recording.records.flatMap(({ inputs }) => inputs).map(({ type }) => type)).toEqual(
    expect.arrayContaining(["grab", "move", "impulse", "releaseAll"]),
  );
  expect(recording.hashes.filter((noted) => noted.tick <= tick - 60).length).toBeGreaterThan(0);
  expect(recording.until).toBeGreaterThan(tick);
  const file = join(folder, `${scene}.pliant`);
  writeFileSync(file, bytes);
  const again = spawnSync(process.execPath, ["server/tools/replay.ts", file], { encoding: "utf8", timeout: 300_000 });
  expect(`${again.stdout}${again.stderr}`).toContain("all match");
}

test("a visitor at the process that does not have the room sees it, scene and all, and an earlier member is recognized after a restart", async () => {
  const [a, b] = [await start("two"), await start("two")];
  await createRoom(a.url, "stretched-cloth", "far");
  // b has built no scene: it is asked for the room, its topology and its socket.
  const far = await Bot.join(b.url, "far", { name: "far" });
  const near = await Bot.join(a.url, "far");
  await far.frames(5);
  const point = { body: 0, triangle: 100, u: 0.3, v: 0.3 };
  const [x, y, z] = near.surfacePosition(point);
  far.grab(1, point, [x, y + 0.3, z]);
  await near.until(() => near.surfacePosition(point)[1] > y + 0.02, "the pull through the other process");
  const { member, token } = far.welcome;
  await a.close();
  ends.shift();
  const back = await (async (): Promise<Bot> => {
    for (const untilMs = performance.now() + 300_000; ; ) {
      const answer = await fetch(`${b.url}/api/rooms/far`);
      if (answer.ok) return Bot.join(b.url, "far", { resume: token });
      if (performance.now() > untilMs) throw new Error(`far: ${answer.status}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  expect(back.welcome.member).toBe(member);
  await back.frames(3);
  await back.leave();
});
