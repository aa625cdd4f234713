/**
 * The contract: the same scene and inputs give the same bits on any machine, with any number of threads, on repeat,
 * whatever thread steps a tick, and when the memory is copied and carried on elsewhere. golden.json pins what those
 * bits are; `npm run golden` changes it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { copyMemory } from "../../server/workers/memoryCopy.ts";
import { inLong } from "../support/long.ts";
import { build, GOLDEN_PATH, hashOf, partOf, SCENES_FOLDER, ticksOf, type Built, type Golden } from "./run.ts";

// more threads than cores wait for each other
vi.setConfig({ testTimeout: 240_000 });
const golden = JSON.parse(readFileSync(GOLDEN_PATH, "utf8")) as Golden;
const scenes = readdirSync(SCENES_FOLDER)
  .filter((f) => f.endsWith(".json") && f !== "schema.json")
  .map((f) => f.slice(0, -5))
  .sort();

/** One of each mesher: what a scene is built to is in every golden hash, so the rest is built again in the long run. */
const BUILT_AGAIN = ["bunny", "drape", "jelly-stack", "position-based"];
/**
 * And of each kind of body and stage: three threads, and worlds opened anew for every tick. The rest is in the long run;
 * two threads, and worlds that go on from a checkpoint (checkpoints.test.ts), are tried with every scene.
 */
const ALL_WAYS = [
  ...BUILT_AGAIN,
  "flag-in-the-wind",
  "funnel",
  "one-cube",
  "rigid-playground",
  "smoke",
  "tangled-hands",
  "tank",
];

test("every bundled scene has a golden hash, and no other", () => {
  expect(Object.keys(golden).sort()).toEqual(scenes);
});

describe.each(scenes)("%s", (scene) => {
  const until = ticksOf(scene);
  const part = partOf(scene);
  const half = Math.floor(part / 2);
  let started: Promise<{ created: Built; copy: () => Built; middle: () => Built; hash: string }> | undefined;
  /** The first part of the run, by one thread: what everybody else's is held to; what it began with; its middle. */
  const begun = (): NonNullable<typeof started> =>
    (started ??= build(scene).then(async (created) => {
      const { layout } = created;
      const copier = (): (() => Built) => {
        const memory = copyMemory(created.memory);
        return () => ({ memory: copyMemory(memory), layout });
      };
      const copy = copier();
      await hashOf(created, { until: half });
      const middle = copier();
      return { created, copy, middle, hash: await hashOf(created, { from: half + 1, until: part }) };
    }));

  test("golden hash", async () => {
    expect(await hashOf((await begun()).created, { from: part + 1, until })).toBe(golden[scene]);
  });

  test("2 threads, from a copy of the built memory", async () => {
    const { copy, hash } = await begun();
    expect(await hashOf(copy(), { threads: 2, until: part })).toBe(hash);
  });

  // Threads that outnumber the cores spin while they wait.
  if (inLong(true, BUILT_AGAIN.includes(scene)))
    test("3 threads, built again", async () => {
      expect(await hashOf(await build(scene), { threads: 3, until: part })).toBe((await begun()).hash);
    });
  else if (ALL_WAYS.includes(scene))
    test("3 threads, on from the middle", async () => {
      const { middle, hash } = await begun();
      expect(await hashOf(middle(), { threads: 3, from: half + 1, until: part })).toBe(hash);
    });

  if (inLong(true, ALL_WAYS.includes(scene)))
    test("a new world object for every tick, and a memory that moves half-way", async () => {
      const { copy, hash } = await begun();
      const { memory, layout } = copy();
      await hashOf({ memory, layout }, { reopen: true, until: half });
      const moved = { memory: copyMemory(memory), layout };
      expect(await hashOf(moved, { reopen: true, from: half + 1, until: part })).toBe(hash);
    });
});

test("another input gives another hash", async () => {
  const created = await build("jelly-stack");
  await hashOf(created, { until: 30 });
  expect(await hashOf(created, { from: 32 })).not.toBe(golden["jelly-stack"]);
});
