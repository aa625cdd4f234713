/**
 * Rows of constraint blocks with state (plastic strain): reset, roll-back of a held body and the state hash include
 * them, body by body.
 */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Body } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../physics/laboratory.ts";
import { plasticStrains } from "../../physics/materials/plasticStrains.ts";

/** 15 and 40 tetrahedra, so that some blocks have lanes of both bodies. */
const body = (name: string, x: number, cells: [number, number, number]): Body => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells },
  transform: { translate: [x, 0, 0] },
  material: {
    density: 500,
    youngsModulus: 1e5,
    poissonsRatio: 0.3,
    damping: 5,
    plasticity: { yield: 0.01, creep: 20, max: 0.3 },
  },
});

async function two(): Promise<Laboratory> {
  return laboratory({ substeps: 5, bodies: [body("a", 0, [3, 1, 1]), body("b", 1, [2, 2, 2])] });
}

const squeeze = (lab: Laboratory, b: number): void => lab.put(b, ([x, y, z]) => [x, 0.7 * y, z]);

test("each body's lanes are its own, and all of them", async () => {
  const lab = await two();
  expect(plasticStrains(lab, 0)).toHaveLength(15);
  expect(plasticStrains(lab, 1)).toHaveLength(40);
  squeeze(lab, 1);
  lab.run(10);
  expect(
    plasticStrains(lab, 0)
      .flat()
      .every((s) => s === 0),
  ).toBe(true);
  expect(plasticStrains(lab, 1).every((s) => s.some((part) => Math.abs(part) > 1e-3))).toBe(true);
});

test("a reset restores the beginning, to the bit", async () => {
  const lab = await two();
  squeeze(lab, 0);
  lab.run(20);
  expect(
    plasticStrains(lab)
      .flat()
      .some((s) => s !== 0),
  ).toBe(true);
  lab.run(1, [{ type: "reset", member: 1 }]);
  expect(
    plasticStrains(lab)
      .flat()
      .every((s) => s === 0),
  ).toBe(true);
  // An untouched room, the same number of ticks later.
  const again = await two();
  again.run(1);
  expect(lab.positions()).toEqual(again.positions());
  new Uint32Array(lab.created.memory.buffer)[(L.HEADER + L.H_TICK) / 4] = again.world.tickNumber;
  expect(lab.world.stateHash()).toBe(again.world.stateHash());
});

test("the state hash depends on plastic strain alone, too", async () => {
  const lab = await two();
  const before = lab.world.stateHash();
  const s = lab.created.layout.states[0]!;
  const f32 = new Float32Array(lab.created.memory.buffer);
  const at = (s.address + s.offset) / 4;
  f32[at] = 1e-6;
  expect(lab.world.stateHash()).not.toBe(before);
  f32[at] = 0;
  expect(lab.world.stateHash()).toBe(before);
});

test("a held body goes back to the plastic strain of its last good tick, its neighbor's stays", async () => {
  const lab = await two();
  squeeze(lab, 0);
  squeeze(lab, 1);
  lab.run(2);
  const good = plasticStrains(lab, 0);
  const other = plasticStrains(lab, 1);
  expect(good.flat().some((s) => s !== 0)).toBe(true);
  lab.put(
    0,
    ([x, y, z]) => [x, 0.9 * y, z],
    () => [NaN, 0, 0],
  );
  expect(lab.run(1)).toMatchObject([{ type: "bodyHeld", body: 0 }]);
  expect(plasticStrains(lab, 0)).toEqual(good);
  expect(plasticStrains(lab, 1)).not.toEqual(other);
});
