/**
 * The contract of golden.test.ts for many contacts: tests and colors of enough pairs for several threads give the same
 * bits with any number of threads.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Body } from "../../shared/scene/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { foldedSheet } from "../../load-tests/folds/scene.ts";
import { loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { openWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { hashOf } from "./run.ts";
import { testFolder } from "../support/testFolder.ts";

const word = ({ memory }: CreatedWorld, offset: number): number =>
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;

/** Sheets that fall on each other and on the floor, each shifted by less than a cell. */
function sheets(): ReturnType<typeof createWorld> {
  const bodies = Array.from(
    { length: 3 },
    (_, n): Body => ({
      name: `sheet ${n}`,
      kind: "cloth",
      mesh: { type: "grid", size: [0.6, 0.6], cells: [40, 40] },
      transform: { translate: [0.004 * n, 0.005 + 0.003 * n, 0.006 * n], rotate: [0, 3 * n, 0] },
      material: { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
    }),
  );
  return createWorld(
    {
      version: 1,
      title: "contacts",
      substeps: 10,
      bodies,
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    { baseDir: "." },
  );
}

test("one, two and three threads give the same bits", async () => {
  const one = await sheets();
  const alone = await hashOf(one, { until: 12 });
  const colors = word(one, L.H_CONTACT_COLORS) / 4;
  const i32 = new Int32Array(one.memory.buffer);
  const front = word(one, L.H_FRONT);
  // large enough that threads share the leaves, their pairs, the checks and the first color of near pairs
  expect(i32[(front + L.FRONT_LEAF_COUNT) / 4]!).toBeGreaterThan(512);
  expect(i32[(front + L.FRONT_LEAF_PAIR_COUNT) / 4]!).toBeGreaterThan(512);
  expect(word(one, L.H_CONTACT_BLOCK_COUNT)).toBeGreaterThan(1024);
  expect(i32[colors + 1]! - i32[colors]!).toBeGreaterThan(96);
  for (const threads of [2, 3])
    expect(await hashOf(await sheets(), { threads, until: 12 }), `${threads} threads`).toBe(alone);
});

test("rows beyond the capacity of the pair results are still found, with the same bits", async () => {
  const alone = await hashOf(await sheets(), { until: 4 });
  const narrow = await sheets();
  new Int32Array(narrow.memory.buffer)[(word(narrow, L.H_FRONT) + L.FRONT_RESULT_CAPACITY) / 4] = 64;
  expect(await hashOf(narrow, { until: 4 })).toBe(alone);
});

/** A sheet that lies on the floor, folded onto itself: most of its contacts are not looked at in most substeps. */
async function fold(): Promise<CreatedWorld> {
  const folder = testFolder("fold");
  const { mesh, scene } = foldedSheet(30, "fold.obj");
  writeFileSync(join(folder, "fold.obj"), mesh);
  return await createWorld(scene, { baseDir: folder });
}

test("contacts at rest give the same bits on one, two and three threads", async () => {
  const one = await fold();
  // before the grabs of the script
  const until = 19;
  const alone = await hashOf(one, { until });
  const front = word(one, L.H_FRONT);
  const i32 = new Int32Array(one.memory.buffer);
  const quiet = i32.subarray(
    word(one, L.H_BLOCK_QUIET) / 4,
    word(one, L.H_BLOCK_QUIET) / 4 + word(one, L.H_VERTEX_CONTACT_BLOCKS),
  );
  expect(quiet.filter((bits) => bits >= L.QUIET_STIR).length).toBeGreaterThan(0.8 * quiet.length);
  for (const threads of [2, 3]) {
    const more = await fold();
    expect(await hashOf(more, { threads, until }), `${threads} threads`).toBe(alone);
    const j32 = new Int32Array(more.memory.buffer);
    for (const count of [L.FRONT_TESTED, L.FRONT_CHECKED])
      expect(j32[(word(more, L.H_FRONT) + count) / 4]).toBe(i32[(front + count) / 4]);
  }
});

test("contacts at rest continue with the same bits after a checkpoint", async () => {
  const { memory: template, layout } = await fold();
  const memory = copyMemory(template);
  const live = openWorld(memory, layout);
  live.mayRest = false;
  for (let tick = 0; tick < 12; tick++) live.step([]);
  const restored = copyMemory(template);
  loadState(restored, layout, saveState(memory, template, layout));
  const other = openWorld(restored, layout);
  other.mayRest = false;
  for (let tick = 0; tick < 6; tick++) {
    live.step([]);
    other.step([]);
    expect(other.stateHash(), `tick ${tick}`).toBe(live.stateHash());
  }
});
