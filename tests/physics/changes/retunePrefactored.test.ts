/**
 * Material changes of prefactored sheets in a running room (server/sim/tuning/retunePrefactored.ts): the factor
 * follows, so the sheet moves and rests as in a scene with this material. A change can be undone to the bit, and a
 * checkpoint keeps it.
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import type { ClothMaterial } from "../../../shared/scene/sceneMaterials.ts";
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import type { Input, SimEvent } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { lowest } from "../measures.ts";

type Change = Omit<BodyTuning, "body">;
const tune = (change: Change): Input => ({ type: "tune", member: 1, body: 0, ...change });

const isotropic: ClothMaterial = {
  density: 200,
  thickness: 1e-3,
  youngsModulus: 1e6,
  poissonsRatio: 0.3,
  bendingStiffness: 1e-4,
  damping: 2,
};
const { youngsModulus: _, poissonsRatio: __, ...none } = isotropic;
const woven: ClothMaterial = {
  ...none,
  model: "orthotropic",
  kWeft: 2e5,
  kWarp: 2e6,
  kShear: 1e5,
  nuWeft: 0.03,
  nuWarp: 0.3,
};

/** A sheet that hangs by a row of pins and one attachment, with a ball of 50 times its mass at its lower edge. */
const hanging = (material: ClothMaterial): Promise<Laboratory> =>
  laboratory({
    substeps: 10,
    iterations: 1,
    gravity: [0, -9.81, 0],
    bodies: [
      {
        name: "sheet",
        kind: "cloth",
        solver: "prefactored",
        mesh: { type: "grid", size: [0.1, 1], cells: [2, 20] },
        transform: { rotate: [90, 0, 0] },
        material,
        contact: { self: false, ignore: ["ball"] },
        pins: [{ select: { box: { min: [-0.06, 0.499, -1], max: [0.01, 1, 1] } } }],
      } satisfies Body,
      {
        name: "ball",
        kind: "ball",
        mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
        transform: { translate: [0, -0.62, 0] },
        material: { density: 240, damping: 2 },
      },
    ],
    attachments: [
      { from: { body: "sheet", near: [0.05, 0.5, 0] }, to: { world: [0.05, 0.5, 0] } },
      ...[-0.05, 0, 0.05].map((x) => ({
        from: { body: "sheet", near: [x, -0.5, 0] as [number, number, number] },
        to: { body: "ball", near: [0, -0.52, 0] as [number, number, number] },
      })),
    ],
  });

const refusals = (events: readonly SimEvent[]) => events.filter((event) => event.type === "inputRejected");

test.each<[string, ClothMaterial, Change, ClothMaterial]>([
  ["stiffer", isotropic, { youngsModulus: 1e8 }, { ...isotropic, youngsModulus: 1e8 }],
  ["softer", isotropic, { youngsModulus: 2e5 }, { ...isotropic, youngsModulus: 2e5 }],
  ["with another Poisson's ratio", isotropic, { poissonsRatio: 0 }, { ...isotropic, poissonsRatio: 0 }],
  ["denser", isotropic, { density: 900 }, { ...isotropic, density: 900 }],
  ["bent less", isotropic, { bendingStiffness: 1e-5 }, { ...isotropic, bendingStiffness: 1e-5 }],
  [
    "stiff in bending, and more so",
    { ...isotropic, bendingStiffness: 0.1 },
    { bendingStiffness: 1, youngsModulus: 1e7 },
    { ...isotropic, bendingStiffness: 1, youngsModulus: 1e7 },
  ],
  ["woven and stiffer", woven, { youngsModulus: 8e5 }, { ...woven, kWeft: 8e5, kWarp: 8e6, kShear: 4e5 }],
])(
  "a sheet that is %s before the first tick moves as in a scene with this material",
  async (_what, was, change, is) => {
    const [tuned, made] = [await hanging(was), await hanging(is)];
    expect(refusals(tuned.run(60, [tune(change)]))).toEqual([]);
    made.run(60);
    const [x, y] = [tuned.positions(0), made.positions(0)];
    const worst = x.reduce((most, value, k) => Math.max(most, Math.abs(value - y[k]!)), 0);
    expect(worst).toBeLessThan(2e-3);
  },
);

test("a change in a running room leads to the rest of the new material", async () => {
  const [tuned, made] = [await hanging(isotropic), await hanging({ ...isotropic, youngsModulus: 2e7, density: 400 })];
  tuned.run(60);
  const before = lowest(tuned);
  tuned.run(300, [tune({ youngsModulus: 2e7, density: 400 })]);
  made.run(360);
  expect(lowest(tuned)).toBeGreaterThan(before + 0.01);
  expect(Math.abs(lowest(tuned) - lowest(made))).toBeLessThan(2e-4);
});

test("a change can be undone to the bit", async () => {
  const [tuned, untouched] = [await hanging(isotropic), await hanging(isotropic)];
  const { world } = tuned;
  world.step([tune({ youngsModulus: 3e7, poissonsRatio: 0.1, bendingStiffness: 2e-4, density: 700 })]);
  const other = openWorld(untouched.created.memory, untouched.created.layout);
  other.step([]);
  world.step([
    { type: "tune", member: 1, asScene: true },
    { type: "reset", member: 1 },
  ]);
  other.step([{ type: "reset", member: 1 }]);
  for (let tick = 0; tick < 20; tick++) {
    world.step([]);
    other.step([]);
  }
  expect(tuned.positions(0)).toEqual(untouched.positions(0));
});

test("a checkpoint keeps a change, and both rooms continue with the same bits", async () => {
  const { created } = await hanging(isotropic);
  const { layout } = created;
  const memory = copyMemory(created.memory);
  const live = openWorld(memory, layout, created.memory);
  for (let tick = 0; tick < 10; tick++) live.step(tick === 5 ? [tune({ youngsModulus: 3e7, density: 300 })] : []);
  const restored = copyMemory(created.memory);
  loadState(restored, layout, saveState(memory, created.memory, layout));
  const other = openWorld(restored, layout, created.memory);
  for (let tick = 0; tick < 10; tick++) {
    const inputs = tick === 5 ? [tune({ youngsModulus: 5e6 })] : [];
    live.step(inputs);
    other.step(inputs);
    expect(other.stateHash(), `tick ${tick}`).toBe(live.stateHash());
  }
});

test("bending beyond what the membrane can bound is refused, with its limit", async () => {
  const lab = await hanging(isotropic);
  const [refusal] = refusals(lab.run(1, [tune({ bendingStiffness: 10 })]));
  expect(refusal).toMatchObject({ field: "bendingStiffness", value: 10 });
  const limit = Number(/^<= (\S+) /.exec(refusal!.limit)![1]);
  expect(refusals(lab.run(1, [tune({ bendingStiffness: limit * 0.999 })]))).toEqual([]);
  expect(refusals(lab.run(1, [tune({ bendingStiffness: limit * 1.01 })]))).toHaveLength(1);
});
