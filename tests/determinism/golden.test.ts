/**
 * The contract: the same scene and inputs give the same bits on any machine, with any number of threads, on repeat, whatever thread steps
 * a tick, and when the memory is copied and carried on elsewhere. golden.json pins what those bits are; `npm run golden` changes it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { copyMemory } from "../../server/workers/memoryCopy.ts";
import { build, GOLDEN_PATH, hashOf, SCENES_FOLDER, ticksOf, type Golden } from "./run.ts";

const golden = JSON.parse(readFileSync(GOLDEN_PATH, "utf8")) as Golden;
const scenes = readdirSync(SCENES_FOLDER).filter((f) => f.endsWith(".json") && f !== "schema.json").map((f) => f.slice(0, -5)).sort();

test("every bundled scene has a golden hash, and no other", () => {
  expect(Object.keys(golden).sort()).toEqual(scenes);
});

describe.each(scenes)("%s", (scene) => {
  const until = ticksOf(scene);

  test("golden hash; again after a reset-free repeat from a copy of the built memory", async () => {
    const created = await build(scene), copy = { ...created, memory: copyMemory(created.memory) };
    expect(await hashOf(created, { until })).toBe(golden[scene]);
    expect(await hashOf(copy, { until })).toBe(golden[scene]);
  });

  test.each([2, 3])("%i threads", async (threads) => {
    expect(await hashOf(await build(scene), { threads, until })).toBe(golden[scene]);
  });

  test("a new world object for every tick, and a memory that moves half-way", async () => {
    const created = await build(scene), half = Math.floor(until / 2);
    await hashOf(created, { reopen: true, until: half });
    const moved = { ...created, memory: copyMemory(created.memory) };
    expect(await hashOf(moved, { reopen: true, from: half + 1, until })).toBe(golden[scene]);
  });
});

test("another input gives another hash", async () => {
  const created = await build("jelly-stack");
  await hashOf(created, { until: 30 });
  expect(await hashOf(created, { from: 32 })).not.toBe(golden["jelly-stack"]);
});
