/**
 * Compliant sheets of one iteration and of several are as long as their material says (constraints/overRelaxation.ts,
 * `divideSteps`). A sheet of length L hangs by an edge: it is longer by density g L^2 / (2 k), whatever its mesh, up to
 * the strain's square.
 */
import { expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const DENSITY = 300;
const GRAVITY = 1;
const CELLS = 16;

/** Lengthening over the exact one. @param q edges that sound crosses in a small step, squared */
async function lengthening(q: number, substeps: number, iterations: number): Promise<number> {
  const h = 1 / (60 * substeps * iterations);
  const k = (q * DENSITY) / (h * CELLS) ** 2;
  const lab = await laboratory({
    bodies: [
      clothGrid("sheet", [0.5, 1], [CELLS / 2, CELLS], {
        solver: "compliant",
        transform: { rotate: [90, 0, 0] },
        pins: [{ select: { box: { min: [-1, 0.49, -1], max: [1, 0.51, 1] } } }],
        material: { density: DENSITY, thickness: 0.001, youngsModulus: k, poissonsRatio: 0 },
      }),
    ],
    gravity: [0, -GRAVITY, 0],
    damping: 8,
    substeps,
    iterations,
    refine: true,
  });
  lab.run(180);
  const lowest = lab.positions().reduce((low, y, k) => (k % 3 === 1 ? Math.min(low, y) : low), 0);
  return (-0.5 - lowest) / ((DENSITY * GRAVITY) / (2 * k));
}

test.each([
  [20, 1],
  [4, 5],
  [2, 10],
])("%i substeps x %i iterations: within 1 % where sound crosses up to 0.6 edges in a small step", async (s, n) => {
  for (const q of [0.1, 0.4]) expect(Math.abs((await lengthening(q, s, n)) - 1), `q ${q}`).toBeLessThan(0.01);
});

test("beyond, sheets are longer by the part 0.9 (q - 0.6), as `simulate` says", async () => {
  for (const q of [2, 4]) expect((await lengthening(q, 4, 5)) / (1 + 0.9 * (q - 0.6)), `q ${q}`).toBeCloseTo(1, 1);
});

/** A sheet falls on a block that moves to and fro; a jelly and a ball fall on it. Five small steps between checks. */
const heap: Partial<Scene> & Pick<Scene, "bodies"> = {
  refine: true,
  substeps: 4,
  iterations: 5,
  damping: 1,
  gravity: [0, -9.81, 0],
  bodies: [
    clothGrid("sheet", [0.6, 0.6], [18, 18], {
      solver: "compliant",
      transform: { translate: [0, 0.25, 0], rotate: [0, 10, 0] },
      material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
    }),
    softBox("jelly", [0.12, 0.12, 0.12], [3, 3, 3], {
      solver: "compliant",
      transform: { translate: [0.02, 0.5, 0] },
      material: { density: 600, youngsModulus: 8e3, poissonsRatio: 0.3 },
    }),
    {
      name: "ball",
      kind: "ball",
      mesh: { type: "ball", radius: 0.05, subdivisions: 3 },
      transform: { translate: [-0.05, 0.75, 0.03] },
      material: { density: 400 },
    },
  ],
  colliders: [
    { type: "plane", normal: [0, 1, 0], offset: 0 },
    {
      type: "box",
      name: "block",
      center: [0, 0.06, 0],
      halfExtents: [0.12, 0.06, 0.12],
      motion: { keys: [{ time: 0 }, { time: 0.5, translate: [0.2, 0, 0] }, { time: 1 }], loop: true },
    },
  ],
};

test("no surfaces cross after any tick, though contact is verified once in five small steps", async () => {
  const lab = await laboratory(heap);
  expect(lab.created.layout).toMatchObject({ substeps: 20, iterations: 1, verifyEvery: 5 });
  for (let tick = 0; tick < 120; tick++) {
    lab.run(1);
    expect(crossings(lab), `tick ${tick}`).toBe(0);
  }
  expect(lab.world.contactCounts().stops).toBe(0);
});

test("threads and a checkpoint keep the bits", async () => {
  const scene = validateScene({ version: 1, title: "heap", ...heap });
  const hashes = new Set<string>();
  for (const threads of [1, 3]) {
    const { memory, layout } = await createWorld(scene, { baseDir: "." });
    const template = copyMemory(memory);
    const world = openWorld(memory, layout);
    const workers = await StepWorkers.start(world, memory, threads);
    for (let tick = 0; tick < 40; tick++) workers.step([]);
    const state = saveState(memory, template, layout);
    for (let tick = 0; tick < 20; tick++) workers.step([]);
    await workers.stop();
    hashes.add(world.stateHash());
    loadState(template, layout, state);
    const restored = openWorld(template, layout);
    for (let tick = 0; tick < 20; tick++) restored.step([]);
    hashes.add(restored.stateHash());
  }
  expect(hashes.size).toBe(1);
});
