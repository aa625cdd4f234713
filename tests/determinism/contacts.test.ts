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

test("one, two and three threads", async () => {
  // sheets that fall on each other and on the floor, shifted by less than a cell
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
  const build = (): ReturnType<typeof createWorld> =>
    createWorld(
      {
        version: 1,
        title: "contacts",
        substeps: 10,
        bodies,
        colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
      },
      { baseDir: "." },
    );
  const one = await build();
  const alone = await hashOf(one, { until: 12 });
  const colors = word(one, L.H_CONTACT_COLORS) / 4;
  const i32 = new Int32Array(one.memory.buffer);
  // enough for the check to be shared out, and for the first color of near pairs
  expect(word(one, L.H_CONTACT_BLOCK_COUNT)).toBeGreaterThan(1024);
  expect(i32[colors + 1]! - i32[colors]!).toBeGreaterThan(96);
  for (const threads of [2, 3])
    expect(await hashOf(await build(), { threads, until: 12 }), `${threads} threads`).toBe(alone);
}, 120_000);
