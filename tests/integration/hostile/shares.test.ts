/** One heavy room beside light ones, on a real thread: it gets the remaining time, and does not delay their ticks. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RoomSimulation } from "../../../server/rooms/ticks/simulation.ts";
import type { SceneTemplate } from "../../../server/rooms/scenes/sceneLibrary.ts";
import { Ticker } from "../../../server/rooms/ticks/ticker.ts";
import type { Input } from "../../../server/sim/types.ts";
import { WorkerPools } from "../../../server/workers/pool.ts";
import { fileURLToPath } from "node:url";

const LIGHT_ROOMS = 4;
/** Ticks of every light room, after the heavy one has begun. */
const TICKS = 140;
const PUSH = { type: "impulse", member: 1, body: 0, triangle: 0, u: 0.3, v: 0.3 } as const;
let pools: WorkerPools;

const options = { roomThreads: 1, heavyMs: 4, stepDeadlineMs: 60_000 };
const onError = (error: Error): void => {
  throw error;
};

async function template(name: string): Promise<SceneTemplate> {
  const scenePath = fileURLToPath(new URL(`../scenes/${name}.json`, import.meta.url));
  const { template: memory, ...rest } = await pools.build({ scenePath });
  return { ...rest, memory, scene: name, text: "" } as unknown as SceneTemplate;
}

interface Watched {
  /** For every tick: when the thread began it, ms of performance.now(), and its own time on the thread. */
  ticks: { startMs: number; ownMs: number }[];
  stop: () => Promise<void>;
}

/** @param awake pushed in every tick, so that the room does not fall asleep */
const tickOf = (tick: number, awake: boolean): { tick: number; inputs: Input[]; delta: "none"; keyframe: false } => ({
  tick,
  inputs: awake ? [{ ...PUSH, impulse: [0, tick % 2 ? 1e-3 : -1e-3, 0] }] : [],
  delta: "none",
  keyframe: false,
});

const lost = (): never => {
  throw new Error("a thread was lost");
};

/** Runs a room in real time until it is stopped. */
function watch(simulation: RoomSimulation, hz: number, awake = false): Watched {
  const ticks: Watched["ticks"] = [];
  let last = Promise.resolve();
  let tick = 0;
  const ticker = new Ticker(hz, ({ dueMs, began }) => {
    last = (async () => {
      tick += 1;
      const outcome = await simulation.step({ ...tickOf(tick, awake), dueMs }, lost);
      if (outcome.kind !== "stepped") throw new Error("a step was not executed", { cause: outcome });
      const { startMs, wholeSeconds } = outcome.result;
      began(startMs);
      ticks.push({ startMs, ownMs: 1000 * wholeSeconds });
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

/** The state after this many ticks without other rooms. */
async function alone(scene: SceneTemplate, ticks: number, awake: boolean): Promise<string> {
  const simulation = await RoomSimulation.open(scene, pools.forRoom("shared"));
  for (let tick = 1; tick <= ticks; tick++) await simulation.step(tickOf(tick, awake), lost);
  return (await simulation.inspect()).stateHash;
}

beforeAll(() => {
  pools = new WorkerPools({ ...options, workers: 1, onError });
});
afterAll(() => pools.close());

test("on one thread the light rooms come first, and the heavy one gets the remaining time", async () => {
  const pool = pools.forRoom("shared");
  const light = await template("cube");
  const heavy = await template("victim");
  const rooms = await Promise.all(Array.from({ length: LIGHT_ROOMS }, () => RoomSimulation.open(light, pool)));
  // More ticks a second than a thread can step, so that its next tick is always the longest overdue.
  const big = await RoomSimulation.open(heavy, pool);
  const greedy = watch(big, 2000, true);
  await vi.waitUntil(() => greedy.ticks.length > 0, { timeout: 300_000 });
  const watched = rooms.map((room) => watch(room, light.layout.tickHz));
  await vi.waitUntil(() => watched.every(({ ticks }) => ticks.length > TICKS), { timeout: 300_000 });
  await Promise.all([greedy, ...watched].map(({ stop }) => stop()));
  // tests/server/workers/stepping/threadLoop.test.ts checks that no tick of the heavy room begins while a light one
  // could.
  expect(greedy.ticks.length).toBeGreaterThan(LIGHT_ROOMS);
  // Once their rooms are known, light ticks that come due during one of its ticks begin in the middle of it.
  const inTheMiddle = watched.flatMap(({ ticks }) =>
    ticks
      .slice(TICKS / 2)
      .filter(({ startMs }) =>
        greedy.ticks.some((other) => other.startMs < startMs && startMs < other.startMs + other.ownMs),
      ),
  );
  expect(inTheMiddle.length).toBeGreaterThan(0);
  // Each room's result equals its result alone.
  expect((await big.inspect()).stateHash).toBe(await alone(heavy, greedy.ticks.length, true));
  expect((await rooms[0]!.inspect()).stateHash).toBe(await alone(light, watched[0]!.ticks.length, false));
});
