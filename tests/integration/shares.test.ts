/** One heavy room beside light ones, on real threads: it goes into slow motion alone, and says so. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RoomSimulation } from "../../server/rooms/simulation.ts";
import type { SceneTemplate } from "../../server/rooms/sceneLibrary.ts";
import { Ticker } from "../../server/rooms/ticker.ts";
import type { Input } from "../../server/sim/types.ts";
import { WorkerPools } from "../../server/workers/pool.ts";
import { fileURLToPath } from "node:url";

const LIGHT_ROOMS = 4;
const SECONDS = 4;
const PUSH = { type: "impulse", member: 1, body: 0, triangle: 0, u: 0.3, v: 0.3 } as const;
let pools: WorkerPools;

const options = { roomThreads: 1, heavyMs: 4, stepDeadlineMs: 60_000 };
const onError = (error: Error): void => {
  throw error;
};

async function template(name: string): Promise<SceneTemplate> {
  const scenePath = fileURLToPath(new URL(`./scenes/${name}.json`, import.meta.url));
  const { template: memory, ...rest } = await pools.build({ scenePath });
  return { ...rest, memory, scene: name, text: "" } as unknown as SceneTemplate;
}

interface Watched {
  ticks: number;
  stop: () => Promise<void>;
}

/** Runs a room in real time until it is stopped. @param awake pushed in every tick, so that it does not fall asleep */
function watch(simulation: RoomSimulation, hz: number, awake = false): Watched {
  let last = Promise.resolve();
  let tick = 0;
  const ticker = new Ticker(hz, ({ dueMs, began }) => {
    last = (async () => {
      tick += 1;
      const inputs: Input[] = awake ? [{ ...PUSH, impulse: [0, tick % 2 ? 1e-3 : -1e-3, 0] }] : [];
      const task = { tick, dueMs, inputs, delta: "none" as const, keyframe: false };
      const outcome = await simulation.step(task, () => {
        throw new Error("a thread was lost");
      });
      if (outcome.kind !== "stepped") throw new Error("a step was not stepped", { cause: outcome });
      began(outcome.result.startMs);
      watched.ticks += 1;
    })();
    return last;
  });
  const watched: Watched = {
    ticks: 0,
    stop: async () => {
      ticker.pause();
      await last;
    },
  };
  ticker.start();
  return watched;
}

beforeAll(() => {
  pools = new WorkerPools({ ...options, workers: 1, onError });
});
afterAll(() => pools.close());

test("on one thread the light rooms are in real time, and the heavy one has what is left", async () => {
  const pool = pools.forRoom("shared");
  const light = await template("cube");
  const heavy = await template("victim");
  const rooms = await Promise.all(Array.from({ length: LIGHT_ROOMS }, () => RoomSimulation.open(light, pool)));
  // more ticks a second than a thread can step
  const greedy = watch(await RoomSimulation.open(heavy, pool), 2000, true);
  const watched = rooms.map((room) => watch(room, light.layout.tickHz));
  await sleep(1000);
  const before = watched.map(({ ticks }) => ticks);
  const greedyBefore = greedy.ticks;
  const startMs = performance.now();
  await sleep(1000 * SECONDS);
  const seconds = (performance.now() - startMs) / 1000;
  const rates = watched.map(({ ticks }, i) => (ticks - before[i]!) / seconds / light.layout.tickHz);
  const greedyTicks = greedy.ticks - greedyBefore;
  await Promise.all([greedy, ...watched].map(({ stop }) => stop()));
  // the machine may be busy with other things for some ticks
  expect(Math.min(...rates)).toBeGreaterThan(0.9);
  expect(greedyTicks / seconds).toBeLessThan(1900);
  expect(greedyTicks).toBeGreaterThan(0);
}, 60_000);
