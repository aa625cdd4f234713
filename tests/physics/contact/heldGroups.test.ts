/**
 * If contacts do not fit into the lists, the room holds only the bodies concerned. Nothing passes through anything
 * meanwhile, a reset works, and bodies move again once their contacts fit.
 */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import type { Body } from "../../../shared/scene/scene.ts";
import { crossings } from "./crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { heightOf } from "../measures.ts";

const SHEETS = 4;
const GRAVITY = 9.81;
const START = 1;

const sheet = (n: number): Body => ({
  name: `sheet ${n}`,
  kind: "cloth",
  mesh: { type: "grid", size: [0.2, 0.2], cells: [8, 8] },
  transform: { translate: [0, 0.001 + 0.0021 * n, 0] },
  material: { density: 1000, thickness: 0.0001, youngsModulus: 200_000, poissonsRatio: 0.3, friction: 0.4 },
  contact: { thickness: 0.001 },
  solver: "compliant",
});

/** A pile of sheets on the floor, and a ball that falls beside them without touching them. */
const scene = async (): Promise<Laboratory> =>
  laboratory({
    gravity: [0, -GRAVITY, 0],
    substeps: 20,
    iterations: 1,
    bodies: [
      ...Array.from({ length: SHEETS }, (_, n) => sheet(n)),
      {
        name: "ball",
        kind: "ball",
        mesh: { type: "ball", radius: 0.03, subdivisions: 1 },
        transform: { translate: [0.5, START, 0] },
        material: { density: 1000 },
      },
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });

/**
 * Fixes the size of the room's memory and limits the list of new rows to `rows`. @returns a function that undoes this
 */
function narrow({ created }: Laboratory, rows: number): () => void {
  const i32 = new Int32Array(created.memory.buffer);
  const words = [L.H_MEMORY_LIMIT, L.H_PAIR_CAPACITY].map((offset) => (L.HEADER + offset) / 4);
  const before = words.map((at) => i32[at]!);
  const set = (values: number[]): void => {
    words.forEach((at, n) => (i32[at] = values[n]!));
    i32[(L.HEADER + L.H_LIST_VALID) / 4] = 0;
  };
  set([created.memory.buffer.byteLength / 65_536, rows]);
  return () => set(before);
}

test("a pile that does not fit is held, and a ball beside it falls as if it were alone", async () => {
  const lab = await scene();
  lab.run(2);
  const widen = narrow(lab, 500);
  const before = lab.positions(0);
  const fallen = heightOf(lab, SHEETS);
  const events = lab.run(20);
  expect(events).toMatchObject([{ type: "crowded", bodies: [0, 1, 2, 3] }]);
  expect(lab.positions(0)).toEqual(before);
  // 22 ticks of free fall, up to half a substep's velocity
  const seconds = 22 / 60;
  expect(heightOf(lab, SHEETS)).toBeCloseTo(START - (GRAVITY * seconds ** 2) / 2, 2);
  expect(heightOf(lab, SHEETS)).toBeLessThan(fallen);
  expect(crossings(lab)).toBe(0);

  widen();
  expect(lab.run(90)).toMatchObject([{ type: "uncrowded" }]);
  expect(lab.positions(0)).not.toEqual(before);
  expect(crossings(lab)).toBe(0);
});

test("a reset works while bodies are held", async () => {
  const lab = await scene();
  lab.run(2);
  narrow(lab, 500);
  lab.run(10);
  lab.run(1, [{ type: "reset", member: 1 }]);
  expect(heightOf(lab, SHEETS)).toBeCloseTo(START, 2);
});

test("a room restored while bodies are held has the same bits", async () => {
  const lab = await scene();
  const { memory, layout } = lab.created;
  const template = copyMemory(memory);
  lab.run(2);
  narrow(lab, 500);
  lab.run(10);
  const restored = copyMemory(template);
  loadState(restored, layout, saveState(memory, template, layout));
  const other = openWorld(restored, layout);
  other.mayRest = false;
  for (let tick = 0; tick < 10; tick++) {
    lab.world.step([]);
    other.step([]);
    expect(other.stateHash()).toBe(lab.world.stateHash());
  }
});
