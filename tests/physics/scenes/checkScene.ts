/**
 * Runs a scene with scripted grabs and checks every substep (server/tools/check). Each recording covers PIECE ticks and
 * is deleted after its check. A reset begins a new recording, because particles jump.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { checkRecording } from "../../../server/tools/check/check.ts";
import { STATIC, sum, SWEPT, type Finding } from "../../../server/tools/check/findings.ts";
import { openRecording } from "../../../server/tools/check/recording.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { Recorder } from "../../../server/sim/world/record.ts";
import { HOST_STAGES, openWorld } from "../../../server/sim/world.ts";
import { handsOf, type Script } from "./hands.ts";

export const SCENES_FOLDER = fileURLToPath(new URL("../../../scenes/", import.meta.url));
/** Ticks of one recording: 40 MB for 3,000 particles. */
const PIECE = 60;

export interface SceneCheck {
  scene: string;
  ticks: number;
  /** Checked substeps: those of ticks in which something was awake. */
  substeps: number;
  /** Triangles of bodies and colliders. */
  triangles: number;
  /** Contact rows, in lanes of whole blocks, mean of all ticks. */
  pairs: number;
  staticIntersections: number;
  sweptCrossings: number;
  belowPlanes: number;
  /** The deepest finding of each frame with findings, with its tick and the substep (from 1) that it ends. */
  findings: (Finding & { tick: number; substep: number })[];
  /** Events of the room: bodies held, inputs refused. */
  events: string[];
  /** Mean time of a tick, without recording. */
  meanMs: number;
  p99Ms: number;
  impulses: number;
  zones: number;
  stops: number;
  asleepTicks: number;
  hash: string;
}

export interface CheckSceneOptions {
  ticks: number;
  script: Script;
  /** Threads of the checker. */
  threads?: number;
  onTick?: (tick: number, found: number) => void;
}

const nothing = (scene: string, ticks: number): SceneCheck => ({
  scene,
  ticks,
  substeps: 0,
  triangles: 0,
  pairs: 0,
  staticIntersections: 0,
  sweptCrossings: 0,
  belowPlanes: 0,
  findings: [],
  events: [],
  meanMs: 0,
  p99Ms: 0,
  impulses: 0,
  zones: 0,
  stops: 0,
  asleepTicks: 0,
  hash: "",
});

/** Consecutive recordings of a scene, whose findings are added to a result. */
class Pieces {
  /** Time spent with writing since it was set to 0, ms. */
  aside = 0;
  readonly dir = mkdtempSync(join(tmpdir(), "pliant-"));
  private recorder: Recorder | undefined;
  private frames: { tick: number; substep: number }[] = [];
  private readonly open: (dir: string) => Recorder;
  private readonly result: SceneCheck;
  private readonly threads: number;

  constructor(open: (dir: string) => Recorder, result: SceneCheck, threads: number) {
    this.open = open;
    this.result = result;
    this.threads = threads;
  }

  get recording(): boolean {
    return this.recorder !== undefined;
  }

  begin(): void {
    this.recorder = this.open(this.dir);
  }

  write(tick: number, substep: number): void {
    const before = performance.now();
    this.recorder!.write();
    this.frames.push({ tick, substep });
    this.aside += performance.now() - before;
  }

  /** Closes and checks the current recording, if there is one. */
  async judge(): Promise<void> {
    if (!this.recorder) return;
    this.recorder.close({});
    this.recorder = undefined;
    const { result, frames } = this;
    const recording = openRecording(this.dir);
    result.triangles = recording.surfaces.reduce((n, s) => n + s.triangles.length / 3, 0);
    result.substeps += frames.length - 1;
    await checkRecording(recording, {
      threads: this.threads,
      most: 1,
      onFrames: (found) => {
        for (const { frame, counts, list } of found) {
          result.staticIntersections += sum(counts, STATIC);
          result.sweptCrossings += sum(counts, SWEPT);
          result.belowPlanes += counts.plane;
          for (const finding of list) result.findings.push({ ...finding, ...frames[frame]! });
        }
      },
    });
    this.frames = [];
  }
}

/** @param name of a file in scenes/, without its extension */
export async function checkScene(
  name: string,
  { ticks, script, threads = 1, onTick }: CheckSceneOptions,
): Promise<SceneCheck> {
  const scene = await readScene(join(SCENES_FOLDER, `${name}.json`));
  const created = await createWorld(scene, { baseDir: SCENES_FOLDER });
  const world = openWorld(created.memory, created.layout);
  const hands = handsOf(created, world, script);
  const words = new Uint32Array(created.memory.buffer);
  const header = (offset: number): number => words[(L.HEADER + offset) / 4]!;
  const result = nothing(name, ticks);
  const pieces = new Pieces((dir) => new Recorder(dir, scene, created, world, "substep"), result, threads);
  const times: number[] = [];
  let fresh = false;
  let tick = 0;
  let substep = 0;
  world.watchSubsteps(() => pieces.write(tick, ++substep));
  if (script.resets?.length) {
    world.watchPhases((phase) => {
      if (phase === HOST_STAGES.inputs && fresh) pieces.write(tick, 0);
      if (phase === HOST_STAGES.inputs) fresh = false;
    });
  }
  try {
    for (tick = 1; tick <= ticks; tick++) {
      const inputs = hands(tick);
      fresh = inputs.some((input) => input.type === "reset");
      if (fresh || (tick - 1) % PIECE === 0) await pieces.judge();
      if (!pieces.recording) {
        pieces.begin();
        if (!fresh) pieces.write(tick, 0);
      }
      substep = pieces.aside = 0;
      const before = performance.now();
      const { events } = world.step(inputs);
      times.push(performance.now() - before - pieces.aside);
      for (const event of events) if (event.type !== "reset") result.events.push(JSON.stringify(event));
      result.pairs += (4 * header(L.H_CONTACT_BLOCK_COUNT)) / ticks;
      if (world.resting) result.asleepTicks++;
      onTick?.(tick, result.findings.length);
    }
    await pieces.judge();
  } finally {
    rmSync(pieces.dir, { recursive: true, force: true });
  }
  times.sort((a, b) => a - b);
  return {
    ...result,
    meanMs: times.reduce((s, ms) => s + ms, 0) / ticks,
    p99Ms: times[Math.min(ticks - 1, Math.floor(0.99 * ticks))]!,
    impulses: header(L.H_COUNT_IMPULSES),
    zones: header(L.H_COUNT_ZONES),
    stops: header(L.H_COUNT_STOPS),
    hash: world.stateHash(),
  };
}
