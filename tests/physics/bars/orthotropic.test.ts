/**
 * Orthotropic solids against their tensor: a bar loaded along x with material axes along and across it, at 45 degrees
 * and oblique. Stretch and both lateral contractions within 1 %. With oblique axes the bar also shears, and the error
 * is relative to the largest of the six strains. Measured: 0.05 % at worst.
 */
import { expect, test } from "vitest";
import type { SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { orthotropicCompliance, orthotropicTensor } from "../../../server/sim/scene/materialConstants.ts";
import { laboratory } from "../laboratory.ts";
import { equilibrium } from "./statics.ts";
import { strainsUnder, stretchOrthotropicBar, type OrthotropicConstants } from "./orthotropicBar.ts";

const WOOD: OrthotropicConstants = {
  youngsModuli: [4e5, 1e5, 6e4],
  poissonsRatios: [0.4, 0.3, 0.5],
  shearModuli: [4e4, 2e4, 5e4],
};
const WEAVE: OrthotropicConstants = {
  youngsModuli: [2e5, 5e5, 1e5],
  poissonsRatios: [0.1, 0.35, 0.2],
  shearModuli: [1.2e5, 3e4, 9e4],
};

test.each([
  ["axis 1", [0, 0, 0]],
  ["axis 2", [0, 0, 90]],
  ["axis 3", [0, 90, 0]],
  ["between 1 and 2", [0, 0, 45]],
  ["between 1 and 3", [0, 45, 0]],
  ["askew", [30, 50, -70]],
] as [string, [number, number, number]][])("wood along %s: the six strains follow its tensor", async (name, axes) => {
  for (const material of [WOOD, WEAVE]) {
    const stiffness = 0.15 / strainsUnder(1, { ...material, axes })[0]; // a stretch of about 14 %
    const { measured, predicted } = await stretchOrthotropicBar({ material: { ...material, axes }, stress: stiffness });
    const largest = Math.max(...predicted.map(Math.abs));
    const along = name.startsWith("axis");
    measured.forEach((strain, k) => {
      expect(Math.abs(strain - predicted[k]!), `strain ${k}: ${strain} against ${predicted[k]}`).toBeLessThan(
        0.01 * (along && k < 3 ? Math.abs(predicted[k]!) : largest),
      );
    });
  }
});

// 3 % of compression: dead loads slowly turn a compressed cube around, like a bar that buckles
test("compression, and a few large steps, follow the tensor", async () => {
  for (const [stress, steps] of [
    [-3e3, {}],
    [1e4, { substeps: 4, iterations: 30 }],
  ] as const) {
    const { measured, predicted } = await stretchOrthotropicBar({
      material: { ...WOOD, axes: [0, 0, 90] },
      stress,
      ...steps,
      size: [0.1, 0.1, 0.1],
      cells: [2, 2, 2],
    });
    measured
      .slice(0, 3)
      .forEach((strain, k) => expect(Math.abs(strain / predicted[k]! - 1), `strain ${k}`).toBeLessThan(0.01));
  }
});

test("the tensor is the inverse of the compliance, symmetric, and isotropic for isotropic constants", () => {
  const s = orthotropicCompliance(WOOD);
  const C = orthotropicTensor(s);
  const [a, b, c, bc, ac, ab, ...g] = s;
  const S = [
    [a, ab, ac, 0, 0, 0],
    [ab, b, bc, 0, 0, 0],
    [ac, bc, c, 0, 0, 0],
    [0, 0, 0, g[0]!, 0, 0],
    [0, 0, 0, 0, g[1]!, 0],
    [0, 0, 0, 0, 0, g[2]!],
  ];
  C.forEach((row, i) =>
    S.forEach((_, j) => expect(row.reduce((sum, v, k) => sum + v * S[k]![j]!, 0)).toBeCloseTo(i === j ? 1 : 0, 12)),
  );
  C.forEach((row, i) => row.forEach((v, j) => expect(v).toBeCloseTo(C[j]![i]!, 6)));
  const k = 1e5;
  const nu = 0.3;
  const mu = k / (2 * (1 + nu));
  const lambda = (k * nu) / ((1 + nu) * (1 - 2 * nu));
  const plain = orthotropicTensor(
    orthotropicCompliance({ youngsModuli: [k, k, k], poissonsRatios: [nu, nu, nu], shearModuli: [mu, mu, mu] }),
  );
  plain.forEach((row, i) =>
    row.forEach((v, j) =>
      expect(Math.abs(v - (i > 2 ? (i === j ? mu : 0) : j > 2 ? 0 : lambda + (i === j ? 2 * mu : 0)))).toBeLessThan(
        1e-6 * k,
      ),
    ),
  );
});

// Clamped beams under their own weight with 60 and 240 substeps a second of 5 iterations, within 10 and 2 %, against
// Newton's method on the same mesh. A plastic material below yield is elastic.
test.each([
  ["orthotropic", { model: "orthotropic", ...WOOD, axes: [0, 0, 20] }],
  [
    "plastic, not yet flowing",
    { youngsModulus: 2e5, poissonsRatio: 0.3, plasticity: { yield: 10, creep: 1, max: 20 } },
  ],
] as const)("a settled beam is the static finite element solution: %s", async (_name, constants) => {
  for (const [steps, limit] of [
    [{ substeps: 1, iterations: 5 }, 0.1],
    [{ substeps: 4, iterations: 5 }, 0.02],
  ] as const) {
    const lab = await laboratory({
      ...steps,
      gravity: [0, -9.81, 0],
      bodies: [
        {
          name: "beam",
          kind: "soft",
          mesh: { type: "box", size: [0.4, 0.1, 0.1], cells: [6, 2, 2] },
          material: { density: 300, damping: 8, ...constants } as SoftMaterial,
          pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.1999, 1, 1] } } }],
        },
      ],
    });
    const body = lab.created.bodies[0]!;
    const rest = lab.positions();
    const weight = rest.map((_, k) => (k % 3 === 1 ? -9.81 * body.mass[Math.floor(k / 3)]! : 0));
    lab.run(60 * 20);
    const found = lab.positions();
    const exact = equilibrium(body.elements, found, body.pinned, weight, 0.05);
    let error = 0;
    let sag = 0;
    for (let i = 0; i < rest.length; i++) {
      error = Math.max(error, Math.abs(found[i]! - exact[i]!));
      sag = Math.max(sag, Math.abs(exact[i]! - rest[i]!));
    }
    expect(sag).toBeGreaterThan(0.01);
    expect(error / sag, `${steps.substeps} x ${steps.iterations}`).toBeLessThan(limit);
  }
});
