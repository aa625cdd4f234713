/**
 * A scene stepped in this thread while hands lead it about: what a tick costs in CPU time, how far bodies are deformed,
 * and what met.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene.ts";
import { openRecording } from "../../server/tools/check/recording.ts";
import { createWorld } from "../../server/sim/createWorld.ts";
import { Recorder } from "../../server/sim/record.ts";
import { openWorld } from "../../server/sim/world.ts";
import { circles } from "./circles.ts";
import { standingFindings } from "./standing.ts";
import { strainGauge } from "./strain.ts";

/**
 * Systems that count a thread's time by the clock's interrupt are wrong by so much, ms; a tick takes no longer than the
 * clock on the wall says.
 */
const RESOLUTION_MS = 4;

export interface DriveOptions {
  hands: number;
  /** Without hands, before they take hold, s of simulated time. */
  settleSeconds: number;
  /** With them, s of simulated time. */
  seconds: number;
  /** Ticks from one that is judged to the next; the last is. */
  judgeEvery: number;
  /** Stepping ends when ticks have taken so long together, s. Default: never. */
  atMostSeconds?: number;
}

export interface Driven {
  /** CPU time of this thread for each tick with hands, or for every tick without any, ms. */
  ticks: number[];
  /** Of these ticks those that ended one of simulated time. */
  simulated: number;
  tickHz: number;
  /** Whether all of the time was stepped. */
  whole: boolean;
  /** Largest of all ticks with hands. */
  stretch: number;
  inverted: number;
  /** Of the frames judged: how many, and what was found in all of them. */
  judged: number;
  findings: number;
  /** What the room reported: bodies held, inputs refused. */
  events: string[];
  hash: string;
}

/** What `work` returns, with the CPU time of this thread that it took. */
function timed<R extends object>(work: () => R): R & { ms: number } {
  const before = process.threadCpuUsage();
  const begin = performance.now();
  const result = work();
  const wallMs = performance.now() - begin;
  const { user, system } = process.threadCpuUsage(before);
  return { ...result, ms: Math.min(wallMs, (user + system) / 1000 + RESOLUTION_MS) };
}

/** @param baseDir of the scene's files */
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
      // as rooms do: work that exceeds a tick's limit goes on in the next one
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
