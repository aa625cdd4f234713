/** Prefactored sheets that are spawned and removed, that bounce, and that begin inside out. */
import { expect, test } from "vitest";
import type { Body, ClothBody } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Input } from "../../../server/sim/types.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory } from "../laboratory.ts";
import { heightOf, topSpeed } from "../measures.ts";

const G = 9.81;

const sheet = (more: Partial<ClothBody> = {}): Body => ({
  name: "sheet",
  kind: "cloth",
  solver: "prefactored",
  mesh: { type: "grid", size: [0.4, 0.4], cells: [10, 10] },
  transform: { translate: [0, 0.5, 0] },
  material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-2 },
  ...more,
});

test("a spawnable sheet is absent, falls over a sphere, and leaves nothing behind when it is removed", async () => {
  const lab = await laboratory({
    substeps: 10,
    gravity: [0, -G, 0],
    damping: 2,
    bodies: [sheet({ spawnable: true })],
    colliders: [
      { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 },
      { type: "sphere", center: [0, 0.1, 0], radius: 0.1, friction: 0.5 },
    ],
  });
  const spawn: Input = {
    type: "spawn",
    member: 1,
    body: 0,
    position: [0.02, 0.3, 0.01],
    heading: [1, 0.2],
    occupied: "refuse",
  };
  const before = lab.positions();
  lab.run(30);
  expect(lab.positions()).toEqual(before);
  const falls = (): Float64Array => {
    expect(lab.run(1, [spawn]).map(({ type }) => type)).toContain("spawned");
    lab.run(180);
    expect(crossings(lab)).toBe(0);
    expect(topSpeed(lab)).toBeLessThan(0.05);
    return lab.positions();
  };
  const first = falls();
  lab.run(40, [{ type: "remove", member: 1, body: 0 }]);
  const second = falls();
  const worst = first.reduce((most, x, k) => Math.max(most, Math.abs(x - second[k]!)), 0);
  expect(worst).toBeLessThan(1e-3);
});

test.each([0.5, 0.9])("a flat sheet with restitution %d rises by its square from a floor", async (restitution) => {
  const lab = await laboratory({
    substeps: 20,
    gravity: [0, -G, 0],
    bodies: [sheet({ contact: { restitution } })],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, restitution }],
  });
  const heights = Array.from({ length: 70 }, () => {
    lab.run(1);
    return heightOf(lab);
  });
  const impact = heights.findIndex((y, n) => n > 5 && heights[n + 1]! > y);
  const rise = Math.max(...heights.slice(impact));
  expect(impact).toBeGreaterThan(15);
  expect(Math.abs(rise / (0.5 * restitution ** 2) - 1)).toBeLessThan(0.03);
});

test("a sheet that begins mirrored returns to its size, and does not gain energy", async () => {
  const lab = await laboratory({
    substeps: 10,
    damping: 1,
    bodies: [
      sheet({
        start: "mirrored",
        contact: { self: false },
        pins: [{ select: { box: { min: [-0.21, -1, -1], max: [-0.19, 1, 1] } } }],
      }),
    ],
  });
  const { positions, triangles } = lab.created.bodies[0]!;
  lab.run(360);
  const x = lab.positions();
  const length = (at: Float64Array, a: number, b: number): number =>
    Math.hypot(...[0, 1, 2].map((r) => at[3 * a + r]! - at[3 * b + r]!));
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b] = [triangles[t]!, triangles[t + 1]!];
    expect(Math.abs(length(x, a, b) / length(positions, a, b) - 1)).toBeLessThan(0.05);
  }
});

test.each([1, 2, 4])("a hand pulls a pinned sheet, and no solve begins anew: %d iterations", async (iterations) => {
  const lab = await laboratory({
    substeps: 4,
    iterations,
    gravity: [0, -G, 0],
    damping: 2,
    bodies: [sheet({ pins: [{ select: { box: { min: [-0.201, -9, -9], max: [-0.199, 9, 9] } } }] })],
  });
  const { memory, layout } = lab.created;
  const words = new Uint32Array(memory.buffer);
  const row = words[(layout.bodyRows + L.BODY_PREFACTORED) / 4]!;
  const hand = { member: 1, grab: 0, target: [0.2, 0.6, 0.1] as [number, number, number] };
  lab.run(1, [{ type: "grab", body: 0, triangle: 190, u: 0.3, v: 0.3, ...hand }]);
  lab.run(60, [{ type: "move", ...hand }]);
  // corrections are large, and the hand's work is part of the compared potentials
  expect(words[(row + L.PREFACTORED_CHECKS) / 4]).toBeGreaterThan(0);
  expect(words[(row + L.PREFACTORED_RESTARTS) / 4]).toBe(0);
});
