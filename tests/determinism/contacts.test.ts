/**
 * The contract of golden.test.ts for contact in the large: checks and colors of enough pairs to be shared out
 * give the same bits with any number of threads.
 */
import { expect, test } from "vitest";
import type { Body } from "../../shared/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { hashOf } from "./run.ts";

const word = ({ memory }: CreatedWorld, offset: number): number =>
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;

/** Sheets that fall on each other and on the floor, shifted by less than a cell. */
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

test("one, two and three threads", async () => {
  const one = await sheets();
  const alone = await hashOf(one, { until: 12 });
  const colors = word(one, L.H_CONTACT_COLORS) / 4;
  const i32 = new Int32Array(one.memory.buffer);
  const front = word(one, L.H_FRONT);
  // enough for leaves, for pairs of them and for the check to be shared out, and for the first color of near pairs
  expect(i32[(front + L.FRONT_LEAF_COUNT) / 4]!).toBeGreaterThan(512);
  expect(i32[(front + L.FRONT_LEAF_PAIR_COUNT) / 4]!).toBeGreaterThan(512);
  expect(word(one, L.H_CONTACT_BLOCK_COUNT)).toBeGreaterThan(1024);
  expect(i32[colors + 1]! - i32[colors]!).toBeGreaterThan(96);
  for (const threads of [2, 3])
    expect(await hashOf(await sheets(), { threads, until: 12 }), `${threads} threads`).toBe(alone);
});

test("rows that do not fit into the notes of who measures are found all the same", async () => {
  const alone = await hashOf(await sheets(), { until: 4 });
  const narrow = await sheets();
  new Int32Array(narrow.memory.buffer)[(word(narrow, L.H_FRONT) + L.FRONT_RESULT_CAPACITY) / 4] = 64;
  expect(await hashOf(narrow, { until: 4 })).toBe(alone);
});
