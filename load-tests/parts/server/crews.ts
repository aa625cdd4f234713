/**
 * One heavy room beside seven light rooms on the same threads, in the server's own room engine (ticker, simulation,
 * pool), without sockets. Measures how late the light rooms' ticks start, how long they wait for a thread, and how fast
 * the heavy room is: alone on one thread, with a crew, and the light rooms without it. The heavy room borrows idle
 * threads: light rooms must not notice, and the heavy room must gain. This process's main thread needs a share of a
 * core, too.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../../../shared/scene/scene.ts";
import { RoomSimulation } from "../../../server/rooms/ticks/simulation.ts";
import { Ticker } from "../../../server/rooms/ticks/ticker.ts";
import type { BuildResult } from "../../../server/workers/messages.ts";
import { WorkerPools } from "../../../server/workers/pool.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "crews";
export const about =
  "a heavy room (50,400 tetrahedra) beside seven light ones on two threads, with and without a crew: lateness and waiting of the light rooms, ticks of the heavy one";
export const runs = 2;

const THREADS = 2;
const LIGHT_ROOMS = 7;
const SECONDS = 6;
const WARM_UP_SECONDS = 3;
const HZ = 30;
/** A tick that starts later than this counts as late, ms: half of its period. */
const LATE_MS = 500 / HZ;

const HEAVY: Scene = {
  version: 1,
  title: "heavy",
  tickHz: HZ,
  substeps: 10,
  refine: false,
  bodies: [
    {
      name: "block",
      kind: "soft",
      mesh: { type: "box", size: [1, 1, 1], cells: [24, 21, 20] },
      material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
    },
  ],
};
const LIGHT: Scene = {
  version: 1,
  title: "light",
  tickHz: HZ,
  substeps: 4,
  refine: false,
  bodies: [
    {
      name: "block",
      kind: "soft",
      mesh: { type: "box", size: [1, 1, 1], cells: [6, 6, 6] },
      material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
    },
  ],
};

interface Watched {
  latenessMs: number[];
  /** Time from handing a tick to the pool until its return, without its time in the worker, ms. */
  waitMs: number[];
  tickMs: number[];
  skipped: number;
  threads: number;
}

/** Runs a room in real time until it is stopped. */
function watch(simulation: RoomSimulation, hz: number): { seen: Watched; stop: () => Promise<void> } {
  let tick = 0;
  let last: Promise<void> = Promise.resolve();
  const seen: Watched = { latenessMs: [], waitMs: [], tickMs: [], skipped: 0, threads: 0 };
  const ticker = new Ticker(hz, ({ dueMs, began }) => {
    last = (async () => {
      tick += 1;
      // A pushed body does not fall asleep.
      const outcome = await simulation.step(
        {
          tick,
          dueMs,
          inputs: [
            {
              type: "impulse",
              member: 1,
              body: 0,
              triangle: 0,
              u: 0.3,
              v: 0.3,
              impulse: [0, tick % 2 ? 1e-3 : -1e-3, 0],
            },
          ],
          delta: tick % 2 ? "none" : "moving",
          keyframe: false,
        },
        () => {
          throw new Error("the pool lost a thread");
        },
      );
      if (outcome.kind !== "stepped") throw new Error("the simulation did not step", { cause: outcome });
      const { latenessMs, skipped } = began(outcome.result.startMs);
      const whole = 1000 * outcome.result.wholeSeconds;
      seen.latenessMs.push(latenessMs);
      seen.skipped += skipped;
      seen.waitMs.push(1000 * outcome.roundTripSeconds - whole);
      seen.tickMs.push(whole);
      seen.threads += outcome.result.work.threads;
    })();
    return last;
  });
  ticker.start();
  return {
    seen,
    stop: async () => {
      ticker.pause();
      await last;
    },
  };
}

async function beside(
  built: { heavy: BuildResult; light: BuildResult },
  roomThreads: number,
  withHeavy: boolean,
): Promise<Row[]> {
  const pools = new WorkerPools({
    workers: THREADS,
    roomThreads,
    heavyMs: 4,
    stepDeadlineMs: 60_000,
    onError: (error) => {
      throw error;
    },
  });
  const pool = pools.forRoom("shared");
  const open = ({ template, ...rest }: BuildResult): Promise<RoomSimulation> =>
    RoomSimulation.open({ ...rest, memory: template }, pool);
  const heavy = withHeavy ? watch(await open(built.heavy), HZ) : undefined;
  const light: ReturnType<typeof watch>[] = [];
  for (let n = 0; n < LIGHT_ROOMS; n++) {
    light.push(watch(await open(built.light), HZ));
    await sleep(1000 / HZ / LIGHT_ROOMS);
  }
  await sleep(1000 * WARM_UP_SECONDS);
  const all = [...light, ...(heavy ? [heavy] : [])];
  for (const { seen } of all) Object.assign(seen, { latenessMs: [], waitMs: [], tickMs: [], skipped: 0, threads: 0 });
  await sleep(1000 * SECONDS);
  await Promise.all(all.map(({ stop }) => stop()));
  await pools.close();
  const where = !withHeavy
    ? "no heavy room"
    : roomThreads === 1
      ? "heavy room on one thread"
      : "heavy room with a crew";
  const lateness = light.flatMap(({ seen }) => seen.latenessMs);
  const wait = light.flatMap(({ seen }) => seen.waitMs);
  const skipped = light.reduce((sum, { seen }) => sum + seen.skipped, 0);
  const rows: Row[] = [
    { what: `${where}: light rooms, lateness p99`, value: quantile(lateness, 0.99), unit: "ms", absolute: true },
    {
      what: `${where}: light rooms, ticks late by half a period or dropped`,
      value: (100 * (lateness.filter((ms) => ms > LATE_MS).length + skipped)) / (lateness.length + skipped),
      unit: "%",
      absolute: true,
    },
    { what: `${where}: light rooms, waiting for a thread and back p50`, value: quantile(wait, 0.5), unit: "ms" },
    { what: `${where}: light rooms, waiting for a thread and back p99`, value: quantile(wait, 0.99), unit: "ms" },
  ];
  if (heavy) {
    const { tickMs, threads, skipped: dropped } = heavy.seen;
    rows.push({
      what: `${where}: its tick p50`,
      value: quantile(tickMs, 0.5),
      unit: "ms",
      note: `${(threads / tickMs.length).toFixed(2)} threads on average`,
    });
    rows.push({
      what: `${where}: its ticks dropped`,
      value: (100 * dropped) / (dropped + tickMs.length),
      unit: "%",
      absolute: true,
    });
  }
  return rows;
}

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "pliant-crews-"));
  try {
    const pools = new WorkerPools({
      workers: 1,
      roomThreads: 1,
      heavyMs: 4,
      stepDeadlineMs: 60_000,
      onError: (error) => {
        throw error;
      },
    });
    const build = async (scene: Scene): Promise<BuildResult> => {
      const scenePath = join(folder, `${scene.title}.json`);
      writeFileSync(scenePath, JSON.stringify(scene));
      return pools.build({ scenePath });
    };
    const built = { heavy: await build(HEAVY), light: await build(LIGHT) };
    await pools.close();
    return [
      ...(await beside(built, 1, false)),
      ...(await beside(built, 1, true)),
      ...(await beside(built, THREADS, true)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
