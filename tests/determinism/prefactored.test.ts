/**
 * The contract of golden.test.ts for solver "prefactored", with a weight, sheets, and a solid: any number of threads, a
 * reset and a checkpoint give the same bits.
 */
import { expect, test } from "vitest";
import type { Body } from "../../shared/scene/scene.ts";
import { loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { hashOf, script } from "./run.ts";
import { clothGrid, softBox } from "../support/bodies.ts";

const TICKS = 30;

function build(): Promise<CreatedWorld> {
  const sheet = (n: number): Body =>
    clothGrid(`sheet ${n}`, [0.5, 0.5], [12, 12], {
      solver: "prefactored",
      contact: { ignore: [`sheet ${1 - n}`] },
      transform: { translate: [0.8 * n, 0.25, 0], rotate: [0, 30, 0] },
      material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
    });
  return createWorld(
    {
      version: 1,
      title: "prefactored",
      substeps: 10,
      iterations: 1,
      bodies: [
        sheet(0),
        softBox("weight", [0.1, 0.1, 0.1], [2, 2, 2], {
          transform: { translate: [0, 0.5, 0] },
          material: { model: "shape-matching", mode: "rigid", density: 100 },
        }),
        sheet(1),
        softBox("cube", [0.2, 0.2, 0.2], [4, 4, 4], {
          solver: "prefactored",
          transform: { translate: [0.8, 0.4, 0], rotate: [10, 0, 20] },
          material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3 },
        }),
      ],
      colliders: [
        { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.4 },
        { type: "sphere", center: [0, 0.1, 0], radius: 0.1, friction: 0.4 },
      ],
      attachments: [{ from: { body: "weight", near: [0, 0.45, 0] }, to: { body: "sheet 0", near: [0, 0.25, 0] } }],
    },
    { baseDir: "." },
  );
}

test("one, two and three threads give the same bits", async () => {
  const alone = await hashOf(await build(), { until: TICKS });
  for (const threads of [2, 3])
    expect(await hashOf(await build(), { threads, until: TICKS }), `${threads} threads`).toBe(alone);
});

test("a checkpoint continues with the same bits", async () => {
  const created = await build();
  const { layout } = created;
  const memory = copyMemory(created.memory);
  const live = openWorld(memory, layout);
  for (let tick = 1; tick <= TICKS; tick++) live.step(script(tick));
  const restored = copyMemory(created.memory);
  loadState(restored, layout, saveState(memory, created.memory, layout));
  const other = openWorld(restored, layout);
  for (let tick = TICKS + 1; tick <= TICKS + 5; tick++) {
    live.step(script(tick));
    other.step(script(tick));
    expect(other.stateHash(), `tick ${tick}`).toBe(live.stateHash());
  }
});

test("a reset restores the initial state of the scene", async () => {
  const { memory, layout } = await build();
  const world = openWorld(memory, layout);
  const positions = (): number[] => [...new Float32Array(memory.buffer, layout.x, 4 * layout.particleCount)];
  const run = (first: readonly Input[]): number[][] =>
    [first, ...Array.from({ length: 15 }, () => [])].map((inputs) => {
      world.step(inputs);
      return positions();
    });
  const once = run([]);
  expect(run([{ type: "reset", member: 1 }])).toEqual(once);
});

test("the hash includes kept contact forces", async () => {
  const { memory, layout } = await build();
  const world = openWorld(memory, layout);
  const kept = layout.states.find(({ body }) => body === 2)!;
  const words = new Uint32Array(memory.buffer, kept.address, kept.lastLane);
  const pushed = (): boolean => words.some((word) => word !== 0);
  for (let tick = 1; tick <= 60 && !pushed(); tick++) world.step([]);
  expect(pushed()).toBe(true);
  const before = world.stateHash();
  words[0]! ^= 1;
  expect(world.stateHash()).not.toBe(before);
});
