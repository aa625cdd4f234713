/**
 * A scripted run of a scene for golden hashes: two members grab, push and let go, so that it contains every kind of
 * input.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../server/sim/threads/stepWorkers.ts";
import { readScene } from "../../server/sim/scene/readScene.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import { inLong } from "../support/run/long.ts";

export const SCENES_FOLDER = fileURLToPath(new URL("../../scenes/", import.meta.url));
export const GOLDEN_PATH = fileURLToPath(new URL("./golden.json", import.meta.url));
/** Hashes of the scenes in DEAR after a quarter, where `npm test` stops. */
export const SHORT_GOLDEN_PATH = fileURLToPath(new URL("./shortGolden.json", import.meta.url));
/** Two seconds: falling, first contacts, pulling. Scenes with many contacts or much water reach this in a quarter. */
const TICKS = 120;
const CROWDED = ["bullet-curtain", "cloth-through-funnel", "flag-on-pole", "hundred-bodies", "tangled-hands", "tank"];
export const ticksOf = (scene: string): number => (CROWDED.includes(scene) ? TICKS / 4 : TICKS);
/** Scenes whose full run takes seconds of processor time. */
export const DEAR = [
  "ball-on-weave",
  "bunny",
  "crush",
  "dented-dragons",
  "dragon",
  "drape",
  "funnel",
  "melt",
  "modes",
  "one-cube",
  "recovering-dragons",
  "smoke",
  "twisted-beams",
];
/** Half a second: falling, first contacts, the first pull. The cheap scenes have a release and a push in `npm test`. */
export const quarterOf = (scene: string): number => ticksOf(scene) / 4;
/** Ticks after which runs are compared: into the pull, or into the contacts. */
export const partOf = (scene: string): number => (CROWDED.includes(scene) ? TICKS / 8 : inLong(TICKS / 3, TICKS / 4));

export type Golden = Record<string, string>;

export async function build(scene: string): Promise<CreatedWorld> {
  return createWorld(await readScene(join(SCENES_FOLDER, `${scene}.json`)), { baseDir: SCENES_FOLDER });
}

/** Inputs of the members in tick `tick` (from 1). They depend only on the tick. */
export function script(tick: number): Input[] {
  const lift = (tick - 20) * 0.01;
  if (tick === 20) {
    return [
      { type: "grab", member: 1, grab: 0, body: 0, triangle: 5, u: 0.25, v: 0.5, target: [0.1, 0.5, 0.1] },
      { type: "grab", member: 2, grab: 1, body: 0, triangle: 60, u: 0.1, v: 0.1, target: [-0.3, 0.6, 0] },
    ];
  }
  if (tick > 20 && tick < 60) return [{ type: "move", member: 1, grab: 0, target: [0.1 + lift, 0.5 + lift, 0.1] }];
  if (tick === 60)
    return [
      { type: "release", member: 1, grab: 0 },
      { type: "impulse", member: 2, body: 0, triangle: 30, u: 0.3, v: 0.3, impulse: [0.2, 0.5, -0.1] },
    ];
  return tick === 90 ? [{ type: "releaseAll", member: 2 }] : [];
}

/** A built scene, ready to step. */
export type Built = Pick<CreatedWorld, "memory" | "layout">;

/** State hash after `until` ticks. @param reopen create a new world object every tick, as pool workers do */
export async function hashOf(
  created: Built,
  options: { threads?: number; reopen?: boolean; from?: number; until?: number } = {},
): Promise<string> {
  const { threads = 1, reopen = false, from = 1, until = TICKS } = options;
  let world: SimWorld = openWorld(created.memory, created.layout);
  const workers = await StepWorkers.start(world, created.memory, threads);
  try {
    for (let tick = from; tick <= until; tick++) {
      if (reopen) world = openWorld(created.memory, created.layout);
      if (reopen) world.step(script(tick));
      else workers.step(script(tick));
    }
  } finally {
    await workers.stop();
  }
  return world.stateHash();
}
