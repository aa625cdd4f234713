/** Shape matching of mode linear: it gains no energy, keeps momentum, and returns to its volume. */
import { expect, test } from "vitest";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { momentum } from "./worldMomentum.ts";

const SIZE: Vec3 = [0.01, 0.008, 0.012];
const shaped = (linearity: number, stiffness: number): Body => ({
  name: "body",
  kind: "soft",
  mesh: { type: "box", size: SIZE, cells: [1, 1, 1] },
  material: { density: 500, model: "shape-matching", mode: "linear", linearity, stiffness },
});

function kineticEnergy(lab: Laboratory): number {
  const v = lab.velocities();
  return lab.created.bodies[0]!.mass.reduce(
    (sum, m, i) => sum + (m / 2) * Math.hypot(...v.slice(3 * i, 3 * i + 3)) ** 2,
    0,
  );
}

// the volume-correcting part of the goals was no gradient: such bodies had up to 13, 14, 90 and 12 times their energy
test.each([
  [0.9, 0.1, 10],
  [0.97, 0.1, 10],
  [0.99, 0.5, 10],
  [0.97, 0.5, 30],
])(
  "linearity %d, stiffness %d: a body that spins and swings at %d/s gains no energy",
  async (linearity, stiffness, rate) => {
    const lab = await laboratory({ refine: true, worldRadius: 1000, bodies: [shaped(linearity, stiffness)] });
    const spin = ([x, y, z]: readonly [number, number, number]): Vec3 => [
      (rate / 3) * (2 * x + 3 * y - z),
      (rate / 3) * (y - 3 * x + 2 * z),
      (rate / 3) * (x - 3 * z),
    ];
    lab.put(0, (x) => x, spin);
    const [start, before] = [kineticEnergy(lab), momentum(lab)];
    let highest = 0;
    for (let tick = 0; tick < 1200; tick++) {
      expect(lab.run(1)).toEqual([]);
      highest = Math.max(highest, kineticEnergy(lab));
    }
    expect(highest).toBeLessThan(start);
    const after = momentum(lab);
    expect(norm(subtract(after.angular, before.angular))).toBeLessThan(1e-5 * norm(before.angular));
  },
);

test.each([
  ["squeezed", [0.4, 1, 1]],
  ["stretched", [1.2, 1.5, 1.7]],
  ["twice as long", [2.1, 2.1, 2.1]],
  ["flat", [1, 0, 1]],
  ["turned inside out", [1, -0.5, 1]],
] as [string, Vec3][])("a body that begins %s returns to its volume", async (_, by) => {
  const body = shaped(0.9, 0.5);
  const lab = await laboratory({ refine: true, worldRadius: 1000, damping: 5, bodies: [body] });
  lab.put(0, (x) => x.map((c, r) => c * by[r]!) as Vec3);
  lab.run(600);
  const { volume, inverted } = volumeOf(lab.positions(), lab.created.bodies[0]!.tets!);
  expect(volume / (SIZE[0] * SIZE[1] * SIZE[2])).toBeCloseTo(1, 3);
  expect(inverted).toBe(0);
});
