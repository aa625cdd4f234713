/**
 * The contract: the same scene and inputs give the same bits on any machine, with any number of threads, on repeat, whatever thread steps
 * a tick, and when the memory is copied and carried on elsewhere. golden.json pins what those bits are; `npm run golden` changes it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import type { CreatedWorld } from "../../server/sim/createWorld.ts";
import { copyMemory } from "../../server/workers/memoryCopy.ts";
import { build, GOLDEN_PATH, hashOf, SCENES_FOLDER, ticksOf, type Golden } from "./run.ts";

// more threads than cores wait for each other
vi.setConfig({ testTimeout: 240_000 });
const golden = JSON.parse(readFileSync(GOLDEN_PATH, "utf8")) as Golden;
const scenes = readdirSync(SCENES_FOLDER).filter((f) => f.endsWith(".json") && f !== "schema.json").map((f) => f.slice(0, -5)).sort();

test("every bundled scene has a golden hash, and no other", () => {
  expect(Object.keys(golden).sort()).toEqual(scenes);
});

describe.each(scenes)("%s", (scene) => {
  const until = ticksOf(scene), half = Math.floor(until / 2);
  let started: Promise<{ created: CreatedWorld; copy: CreatedWorld; hash: string }> | undefined;
  /** Half of the run, by one thread: what everybody else's is held to. */
  const begun = (): NonNullable<typeof started> => (started ??= build(scene).then(async (created) => {
    const copy = { ...created, memory: copyMemory(created.memory) };
    return { created, copy, hash: await hashOf(created, { until: half }) };
  }));

  test("golden hash", async () => {
    expect(await hashOf((await begun()).created, { from: half + 1, until })).toBe(golden[scene]);
  });

  test("again from a copy of the built memory", async () => {
    const { copy, hash } = await begun();
    expect(await hashOf(copy, { until: half })).toBe(hash);
  });

  test.each([2, 3])("%i threads", async (threads) => {
    expect(await hashOf(await build(scene), { threads, until: half })).toBe((await begun()).hash);
  });

  test("a new world object for every tick, and a memory that moves half-way", async () => {
    const created = await build(scene), quarter = Math.floor(half / 2);
    await hashOf(created, { reopen: true, until: quarter });
    const moved = { ...created, memory: copyMemory(created.memory) };
    expect(await hashOf(moved, { reopen: true, from: quarter + 1, until: half })).toBe((await begun()).hash);
  });
});

test("another input gives another hash", async () => {
  const created = await build("jelly-stack");
  await hashOf(created, { until: 30 });
  expect(await hashOf(created, { from: 32 })).not.toBe(golden["jelly-stack"]);
});
