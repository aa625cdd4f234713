/** One greedy room beside light ones, on a real thread: it has what they leave. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RoomSimulation } from "../../server/rooms/simulation.ts";
import type { SceneTemplate } from "../../server/rooms/sceneLibrary.ts";
import { Ticker } from "../../server/rooms/ticker.ts";
import type { Input } from "../../server/sim/types.ts";
import { WorkerPools } from "../../server/workers/pool.ts";
import { fileURLToPath } from "node:url";

const LIGHT_ROOMS = 4;
/** Of every light room, after the greedy one has begun. */
const TICKS = 200;
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
  /** Of every tick: from when on the thread could have run it, and when it did, ms of performance.now(). */
  ticks: { readyMs: number; startMs: number }[];
  stop: () => Promise<void>;
}

/** Runs a room in real time until it is stopped. @param awake pushed in every tick, so that it does not fall asleep */
function watch(simulation: RoomSimulation, hz: number, awake = false): Watched {
  const ticks: Watched["ticks"] = [];
  let last = Promise.resolve();
  let tick = 0;
  const ticker = new Ticker(hz, ({ dueMs, began }) => {
    last = (async () => {
      tick += 1;
      const inputs: Input[] = awake ? [{ ...PUSH, impulse: [0, tick % 2 ? 1e-3 : -1e-3, 0] }] : [];
      const task = { tick, dueMs, inputs, delta: "none" as const, keyframe: false };
      const stepped = simulation.step(task, () => {
        throw new Error("a thread was lost");
      });
      const readyMs = Math.max(dueMs, performance.now());
      const outcome = await stepped;
      if (outcome.kind !== "stepped") throw new Error("a step was not stepped", { cause: outcome });
      const { startMs } = outcome.result;
      began(startMs);
      ticks.push({ readyMs, startMs });
    })();
    return last;
  });
  ticker.start();
  return {
    ticks,
    stop: async () => {
      ticker.pause();
      await last;
    },
  };
}

beforeAll(() => {
  pools = new WorkerPools({ ...options, workers: 1, onError });
});
afterAll(() => pools.close());

test("on one thread the light rooms come first, and the greedy one has what is left", async () => {
  const pool = pools.forRoom("shared");
  const light = await template("cube");
  const heavy = await template("victim");
  const rooms = await Promise.all(Array.from({ length: LIGHT_ROOMS }, () => RoomSimulation.open(light, pool)));
  // More ticks a second than a thread can step: the next one has always been due for longer than anybody else's.
  const greedy = watch(await RoomSimulation.open(heavy, pool), 2000, true);
  await vi.waitUntil(() => greedy.ticks.length > 0, { timeout: 20_000 });
  const watched = rooms.map((room) => watch(room, light.layout.tickHz));
  await vi.waitUntil(() => watched.every(({ ticks }) => ticks.length > TICKS), { timeout: 60_000 });
  await Promise.all([greedy, ...watched].map(({ stop }) => stop()));
  const all = watched.flatMap(({ ticks }) => ticks);
  // A tick that is under way is not interrupted; none of the greedy room's begins while a light one could.
  const overtaken = all.filter(({ readyMs, startMs }) =>
    greedy.ticks.some((other) => other.startMs > readyMs && other.startMs < startMs),
  );
  // An order is on its way to the thread for a moment: a tick that the thread chose then has not overtaken it.
  expect(overtaken.length / all.length).toBeLessThan(0.1);
  expect(greedy.ticks.length).toBeGreaterThan(LIGHT_ROOMS);
}, 120_000);
