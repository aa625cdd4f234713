/**
 * Steps a scene in this thread while grabs move its bodies in circles. Measures the CPU time of a tick, the deformation
 * of bodies, and intersections.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene/scene.ts";
import { openRecording } from "../../server/tools/check/recording.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { Recorder } from "../../server/sim/world/record.ts";
import { openWorld } from "../../server/sim/world.ts";
import { circles } from "./circles.ts";
import { standingFindings } from "./standing.ts";
import { strainGauge } from "./strain.ts";

/** Error of CPU times on systems that count them by timer interrupts, ms. The result is limited to the wall time. */
const RESOLUTION_MS = 4;

export interface DriveOptions {
  hands: number;
  /** Simulated time before the grabs begin, s. */
  settleSeconds: number;
  /** Simulated time with the grabs, s. */
  seconds: number;
  /** Ticks between two frames that are checked; the last one is always checked. */
  judgeEvery: number;
  /** Stepping stops after this total CPU time, s. Default: never. */
  atMostSeconds?: number;
}

export interface Driven {
  /** CPU time of this thread, ms: for each tick with grabs, or for every tick of a run without grabs. */
  ticks: number[];
  /** Number of these ticks that completed a tick of simulated time. */
  simulated: number;
  tickHz: number;
  /** False if stepping stopped at `atMostSeconds`. */
  whole: boolean;
  /** Maximum over all ticks with grabs. */
  stretch: number;
  inverted: number;
  /** Number of frames that were checked, and of findings in all of them. */
  judged: number;
  findings: number;
  /** Events of the room: bodies held, inputs refused. */
  events: string[];
  hash: string;
}

/** Calls `work`, and adds the CPU time of this thread to its result. */
function timed<R extends object>(work: () => R): R & { ms: number } {
  const before = process.threadCpuUsage();
  const begin = performance.now();
  const result = work();
  const wallMs = performance.now() - begin;
  const { user, system } = process.threadCpuUsage(before);
  return { ...result, ms: Math.min(wallMs, (user + system) / 1000 + RESOLUTION_MS) };
}

/** @param baseDir folder of the scene's files */
export async function drive(scene: Scene, baseDir: string, options: DriveOptions): Promise<Driven> {
  const { hands, settleSeconds, seconds, judgeEvery, atMostSeconds = Infinity } = options;
  const created = await createWorld(scene, { baseDir, bounded: true });
  const world = openWorld(created.memory, created.layout);
  const gauge = strainGauge(created, world);
  const dir = mkdtempSync(join(tmpdir(), "pliant-hands-"));
  const { tickHz } = created.layout;
  const settle = Math.round(settleSeconds * tickHz);
  const end = settle + Math.round(seconds * tickHz);
  const driven: Driven = {
    ticks: [],
    simulated: 0,
    tickHz,
    whole: true,
    stretch: 0,
    inverted: 0,
    judged: 0,
    findings: 0,
    events: [],
    hash: "",
  };
  try {
    const recorder = new Recorder(dir, scene, created, world, "tick");
    let pull: (() => ReturnType<ReturnType<typeof circles>>) | undefined;
    let spent = 0;
    for (let tick = 0; tick < end && driven.whole; tick++) {
      if (tick === settle && hands > 0) pull = circles(created, world, hands);
      let inputs = pull?.() ?? [];
      // Work beyond a tick's limit continues in the next tick, as in a room.
      do {
        const { ms, events } = timed(() => world.step(inputs));
        inputs = [];
        for (const event of events) driven.events.push(JSON.stringify(event));
        spent += ms / 1000;
        if (pull || hands === 0) driven.ticks.push(ms);
      } while (world.isUnfinished);
      if (pull || hands === 0) driven.simulated++;
      driven.whole = tick === end - 1 || spent < atMostSeconds;
      if (pull || hands === 0) {
        const { stretch, inverted } = gauge();
        driven.stretch = Math.max(driven.stretch, stretch);
        driven.inverted = Math.max(driven.inverted, inverted);
      }
      if (tick % judgeEvery === 0 || tick === end - 1 || !driven.whole) recorder.write();
    }
    recorder.close({});
    const found = standingFindings(openRecording(dir));
    driven.judged = found.length;
    driven.findings = found.reduce((sum, n) => sum + n, 0);
    driven.hash = world.stateHash();
    return driven;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
