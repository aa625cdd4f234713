/** The kernel's solve of prefactored bodies against its float64 twin, and the columns' groups against the factor. */
import { expect, test } from "vitest";
import { groupColumns } from "../../server/sim/prefactored/groups.ts";
import { prefactoredModel } from "../../server/sim/prefactored/model.ts";
import { solvePrefactored } from "../../server/sim/reference/prefactored.ts";
import { tetrahedronVolume } from "../../server/sim/reference/tetrahedron.ts";
import { laboratory, type Laboratory } from "../physics/laboratory.ts";
import { clothGrid, softBox } from "../support/bodies.ts";

const H = 1 / 600;

function bent(bendingStiffness: number, orthotropic: boolean): Promise<Laboratory> {
  const moduli = orthotropic
    ? { model: "orthotropic" as const, kWeft: 2e5, kWarp: 2e6, kShear: 1e5, nuWeft: 0.03, nuWarp: 0.3 }
    : { youngsModulus: 1e6, poissonsRatio: 0.3 };
  return laboratory({
    tickHz: 60,
    substeps: 10,
    iterations: 1,
    gravity: [0, -9.81, 0],
    bodies: [
      clothGrid("sheet", [1, 0.7], [9, 7], {
        solver: "prefactored",
        contact: { self: false },
        pins: [{ select: { particles: [0, 3] } }],
        material: { density: 250, thickness: 1e-3, damping: 0, bendingStiffness, ...moduli },
      }),
    ],
  });
}

test.each([
  ["weak bending", 1e-5, false],
  ["stiff bending", 0.5, false],
  ["an orthotropic material", 1e-4, true],
])("a substep equals the float64 twin's, with %s", async (_, bendingStiffness, orthotropic) => {
  const lab = await bent(bendingStiffness, orthotropic);
  const body = lab.created.bodies[0]!;
  const wave = (k: number, i: number): number => 1e-3 * Math.sin(1.7 * k + 0.9 * i);
  const pinned = (i: number): boolean => body.pinned[i] === 1;
  lab.put(
    0,
    (at, i) => (pinned(i) ? at : [at[0] + wave(1, i), at[1] + wave(2, i), at[2] + wave(3, i)]),
    (_at, i) => (pinned(i) ? [0, 0, 0] : [100 * wave(4, i), 100 * wave(5, i), 100 * wave(6, i)]),
  );
  const { x, v, layout } = { x: lab.positions(), v: lab.velocities(), layout: lab.created.layout };
  const a = Float64Array.from({ length: x.length }, (_, k) => (k % 3 === 1 && !pinned((k - 1) / 3) ? -9.81 : 0));
  // the room's masses and stiffnesses have a unit of their own, which cancels out
  const twin = solvePrefactored(prefactoredModel(body, H, [], false), { x, v, a }, H);
  const after: Float64Array[] = [];
  lab.world.watchSubsteps(() => {
    if (after.length === 0) after.push(lab.positions());
  });
  lab.run(1);
  expect(layout.substeps).toBe(10);
  const error = Math.max(...twin.map((value, k) => Math.abs(value - after[0]![k]!)));
  const moved = Math.max(...twin.map((value, k) => Math.abs(value - x[k]!)));
  expect(moved).toBeGreaterThan(1e-4);
  expect(error).toBeLessThan(2e-6);
});

test("a substep of a solid with crushed and inverted elements equals the float64 twin's", async () => {
  const lab = await laboratory({
    tickHz: 60,
    substeps: 10,
    iterations: 1,
    gravity: [0, -9.81, 0],
    bodies: [
      softBox("solid", [0.5, 0.3, 0.2], [5, 3, 2], {
        solver: "prefactored",
        contact: { self: false },
        pins: [{ select: { particles: [0, 3] } }],
        material: { density: 250, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 0 },
      }),
    ],
  });
  const body = lab.created.bodies[0]!;
  const pinned = (i: number): boolean => body.pinned[i] === 1;
  const wave = (k: number, i: number): number => 0.05 * Math.sin(1.7 * k + 0.9 * i);
  lab.put(
    0,
    (at, i) => (pinned(i) ? at : [at[0] + wave(1, i), at[1] + wave(2, i), at[2] + wave(3, i)]),
    (_at, i) => (pinned(i) ? [0, 0, 0] : [100 * wave(4, i), 100 * wave(5, i), 100 * wave(6, i)]),
  );
  const { x, v } = { x: lab.positions(), v: lab.velocities() };
  const a = Float64Array.from({ length: x.length }, (_, k) => (k % 3 === 1 && !pinned((k - 1) / 3) ? -9.81 : 0));
  const model = prefactoredModel(body, H);
  const ratios = Array.from(
    { length: model.tets!.volume.length },
    (_, e) => tetrahedronVolume(x, model.tets!, e) / model.tets!.volume[e]!,
  );
  expect(ratios.some((J) => J < 0)).toBe(true);
  expect(ratios.some((J) => J > 0 && J < 0.3)).toBe(true);
  const twin = solvePrefactored(model, { x, v, a }, H);
  const after: Float64Array[] = [];
  lab.world.watchSubsteps(() => {
    if (after.length === 0) after.push(lab.positions());
  });
  lab.run(1);
  const error = Math.max(...twin.map((value, k) => Math.abs(value - after[0]![k]!)));
  expect(error).toBeLessThan(2e-6);
});

test.each([1e-5, 0.5])("groups of columns hold every entry of the factor once, bending %d", async (bending) => {
  const lab = await bent(bending, false);
  const { factor } = prefactoredModel(lab.created.bodies[0]!, H);
  const { groups, rows, entries } = groupColumns(factor);
  const found = new Map<string, number>();
  let at = 0;
  for (const group of groups) {
    for (let r = 1; r < group.columns; r++)
      for (let c = 0; c < r; c++)
        found.set(`${group.first + r},${group.first + c}`, group.within[(r * (r - 1)) / 2 + c]!);
    for (const end = at + group.rows; at < end; at++)
      for (let c = 0; c < group.columns; c++) found.set(`${rows[at]},${group.first + c}`, entries[4 * at + c]!);
  }
  let entriesOfFactor = 0;
  for (let c = 0; c < factor.order.length; c++)
    for (let p = factor.start[c]!; p < factor.start[c + 1]!; p++, entriesOfFactor++)
      expect(found.get(`${factor.rows[p]},${c}`)).toBe(factor.values[p]);
  expect([...found.values()].filter((value) => value !== 0)).toHaveLength(
    factor.values.filter((value) => value !== 0).length,
  );
  expect(entriesOfFactor).toBeGreaterThan(factor.order.length);
});
