/**
 * One room on several threads: ticks of one thread and of two alternate in one run; the state is compared on 1, 2, 4
 * and 8 threads; a model (scale/model.ts) predicts the effect of more cores, including two, for comparison with the
 * measurement.
 * Times are the shortest of a run, without interference on the cores. More threads than the machine has cores are not
 * measured.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { CreatedWorld } from "../../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld, type SimWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import type { Row } from "../../part.ts";
import { lineSeconds, piecesOf } from "../../scale/measure.ts";
import { predict, serialStages } from "../../scale/model.ts";
import { SCALE_SCENES, type ScaleScene } from "../../scale/scenes.ts";

export const name = "scale";
export const about =
  "one room on 1 and 2 threads: ms a tick and speed-up; the same state on 1, 2, 4, 8; serial stages; the prediction of a model for 2 to 64 cores";
export const runs = 2;

const HASH_THREADS = [1, 2, 4, 8];
const HASH_TICKS = 6;
const CORES = [2, 4, 8, 16, 32, 64];
/** A serial stage is named from this share of the tick on. */
const NAMED = 0.01;
/** Time for the engine to optimize the kernel in the background, ms. */
const OPTIMIZING_MS = 500;

interface Stepped {
  world: SimWorld;
  workers: StepWorkers;
  memory: WebAssembly.Memory;
  least: number;
}

async function open({ memory: template, layout }: CreatedWorld, threads: number): Promise<Stepped> {
  const memory = copyMemory(template);
  const world = openWorld(memory, layout);
  const workers = await StepWorkers.start(world, memory, threads);
  world.mayRest = false;
  return { world, workers, memory, least: Infinity };
}

/** @throws Error if the state depends on the number of threads */
async function hashOf(created: CreatedWorld, scene: string): Promise<string> {
  const hashes: string[] = [];
  for (const threads of HASH_THREADS) {
    const { world, workers } = await open(created, threads);
    for (let tick = 0; tick < HASH_TICKS; tick++) workers.step([]);
    await workers.stop();
    hashes.push(world.stateHash());
  }
  if (new Set(hashes).size > 1)
    throw new Error(
      `${scene}: state after ${HASH_TICKS} ticks on ${HASH_THREADS.join(", ")} threads: ${hashes.join(", ")}`,
    );
  return hashes[0]!;
}

async function measure(
  { name: scene, build, settle, ticks, target }: ScaleScene,
  line: number | undefined,
): Promise<Row[]> {
  const created = await build();
  const hash = await hashOf(created, scene);
  const alone = await open(created, 1);
  const pair = line === undefined ? undefined : await open(created, 2);
  const both = pair ? [alone, pair] : [alone];
  for (let tick = 0; tick < settle; tick++) for (const { workers } of both) workers.step([]);
  await sleep(OPTIMIZING_MS);
  for (let tick = 0; tick < ticks; tick++) {
    for (const one of both) {
      const begin = performance.now();
      one.workers.step([]);
      one.least = Math.min(one.least, performance.now() - begin);
    }
  }
  const rows: Row[] = [
    {
      what: `${scene}, 1 thread`,
      value: alone.least,
      unit: "ms",
      hash,
      note: `the same state on ${HASH_THREADS.join(", ")} threads`,
    },
  ];
  if (pair) {
    rows.push({
      what: `${scene}, 2 threads`,
      value: pair.least,
      unit: "ms",
      hash,
      ...(target !== undefined && { target: { atMost: target } }),
    });
    rows.push({ what: `${scene}, speed-up on 2 threads`, value: alone.least / pair.least, unit: "x" });
    await pair.workers.stop();
  }
  const pieces = piecesOf(alone.memory, alone.world, Math.ceil(ticks / 2));
  const whole = predict(pieces, 0, 1);
  const serial = serialStages(pieces);
  const sum = serial.reduce((s, [, seconds]) => s + seconds, 0);
  rows.push({
    what: `${scene}, serial part of the tick`,
    value: (100 * sum) / whole,
    unit: "%",
    note: serial
      .filter(([, s]) => s >= NAMED * whole)
      .map(([label, s]) => `${label} ${((100 * s) / whole).toFixed(1)} %`)
      .join(", "),
  });
  // The tick of the pieces is not the shortest one, and it is observed, so the model's prediction is reported as a
  // factor.
  if (line !== undefined)
    for (const cores of CORES)
      rows.push({
        what: `${scene}, predicted speed-up on ${cores} cores`,
        value: whole / predict(pieces, line, cores),
        unit: "x",
      });
  await alone.workers.stop();
  return rows;
}

export async function run(): Promise<Row[]> {
  const line = availableParallelism() >= 2 ? await lineSeconds() : undefined;
  const rows: Row[] = [];
  if (line !== undefined) rows.push({ what: "until another core sees a store", value: 1e9 * line, unit: "ns" });
  for (const scene of SCALE_SCENES) rows.push(...(await measure(scene, line)));
  return rows;
}
