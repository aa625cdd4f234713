/**
 * The contract: the same scene and inputs give the same bits on any machine, with any number of threads and on repeat.
 * A copy of the memory, a restored checkpoint and another stepping thread change nothing.
 *
 * golden.json stores these state hashes. shortGolden.json stores the hashes of the scenes in DEAR after a quarter,
 * where `npm test` stops. `npm run golden` writes both.
 */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import { openWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { inLong } from "../support/run/long.ts";
import {
  build,
  DEAR,
  GOLDEN_PATH,
  hashOf,
  partOf,
  quarterOf,
  SCENES_FOLDER,
  SHORT_GOLDEN_PATH,
  script,
  ticksOf,
  type Built,
  type Golden,
} from "./run.ts";

const golden = JSON.parse(readFileSync(GOLDEN_PATH, "utf8")) as Golden;
const shortGolden = JSON.parse(readFileSync(SHORT_GOLDEN_PATH, "utf8")) as Golden;
const scenes = readdirSync(SCENES_FOLDER)
  .filter((f) => f.endsWith(".json") && f !== "schema.json")
  .map((f) => f.slice(0, -5))
  .sort();

/**
 * One scene for each mesher. Every golden hash includes the built template; the long run builds the other scenes again,
 * too.
 */
const BUILT_AGAIN = ["bunny", "drape", "jelly-stack", "position-based"];
/**
 * One scene for each kind of body and each stage: run with a new world object every tick. The long run does so for all
 * scenes. Two threads (in the short run from the middle on) and checkpoints are tested with every scene.
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

test("every bundled scene has a golden hash, and no other scene has one", () => {
  expect(Object.keys(golden).sort()).toEqual(scenes);
  expect(Object.keys(shortGolden).sort()).toEqual(DEAR);
});

interface Run {
  /** Start, middle of the first part, and the worlds at the checkpoints, by tick. */
  copy: () => Built;
  middle: () => Built;
  taken: Map<number, () => Built>;
  /** Hash after the first part, which the other runs must reproduce; and hash at the end. */
  hash: string;
  golden: string;
}

/** Ticks to compare after a checkpoint. */
const ON = inLong(8, 4);

describe.each(scenes)("%s", (scene) => {
  const isShort = inLong(false, DEAR.includes(scene));
  const until = isShort ? quarterOf(scene) : ticksOf(scene);
  const part = partOf(scene);
  const half = Math.floor(part / 2);
  /** free fall, and the middle of the pull or of many contacts */
  const taken = [...inLong([7], []), Math.min(33, until)];
  let started: Promise<Run> | undefined;
  /** The whole run on one thread, the reference of all other runs. */
  const begun = (): Promise<Run> => (started ??= build(scene).then(wholeRun));
  afterAll(() => (started = undefined));

  function wholeRun({ memory, layout }: Built): Run {
    const copier = (): (() => Built) => {
      const kept = copyMemory(memory);
      return () => ({ memory: copyMemory(kept), layout });
    };
    const copy = copier();
    const run: Run = { copy, middle: copy, taken: new Map(), hash: "", golden: "" };
    const world = openWorld(memory, layout);
    for (let tick = 1; tick <= until; tick++) {
      world.step(script(tick));
      if (tick === half) run.middle = copier();
      if (taken.includes(tick)) run.taken.set(tick, copier());
      if (tick === part) run.hash = world.stateHash();
    }
    run.golden = world.stateHash();
    return run;
  }

  test("the whole run ends with the golden hash", async () => {
    expect((await begun()).golden).toBe((isShort ? shortGolden : golden)[scene]);
  });

  test("a world restored from a checkpoint has the same bits", async () => {
    const run = await begun();
    const template = run.copy().memory;
    for (const [from, at] of run.taken) {
      const { memory, layout } = at();
      const state = saveState(memory, template, layout);
      const restored = run.copy().memory;
      loadState(restored, layout, state);
      const [live, other] = [openWorld(memory, layout), openWorld(restored, layout)];
      expect(other.stateHash()).toBe(live.stateHash());
      for (let tick = from + 1; tick <= from + ON; tick++) {
        const [one, two] = [live, other].map((world) => world.step(script(tick)).events);
        expect(two).toEqual(one);
        expect(other.stateHash(), `tick ${tick}, after a checkpoint at ${from}`).toBe(live.stateHash());
        expect(other.contactCounts()).toEqual(live.contactCounts());
      }
      // checkpoints of both worlds have the same bytes
      expect(Buffer.compare(saveState(restored, template, layout), saveState(memory, template, layout))).toBe(0);
    }
  });

  test("2 threads, from a copy of the memory, give the same hash", async () => {
    const { copy, middle, hash } = await begun();
    const from = inLong(0, half);
    expect(await hashOf(from ? middle() : copy(), { threads: 2, from: from + 1, until: part })).toBe(hash);
  });

  // more threads than cores: they spin while they wait
  if (inLong(true, BUILT_AGAIN.includes(scene)))
    test("3 threads on a world built again give the same hash", async () => {
      expect(await hashOf(await build(scene), { threads: 3, until: part })).toBe((await begun()).hash);
    });

  if (inLong(true, ALL_WAYS.includes(scene)))
    test("a new world object every tick, and a memory that moves half-way, give the same hash", async () => {
      const { copy, hash } = await begun();
      const { memory, layout } = copy();
      await hashOf({ memory, layout }, { reopen: true, until: half });
      const moved = { memory: copyMemory(memory), layout };
      expect(await hashOf(moved, { reopen: true, from: half + 1, until: part })).toBe(hash);
    });
});

test("another input gives another hash", async () => {
  const created = await build("one-sheet");
  await hashOf(created, { until: 30 });
  expect(await hashOf(created, { from: 32 })).not.toBe(golden["one-sheet"]);
});
