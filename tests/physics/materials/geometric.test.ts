/**
 * Position based bodies and the hexahedral block: they rest, recover from being crushed or inverted, hold their given
 * volume, and have the stiffness k.
 */
import { describe, expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import type { SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { enclosedVolume } from "../../../server/sim/body/meshes.ts";
import { stiffnessOfIteration } from "../../../server/sim/constraints/geometric.ts";
import type { SimEvent } from "../../../server/sim/types.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { softBox } from "../../support/bodies.ts";

/** Drops the tangle events: a body that starts flat, inverted or in a point is tangled until it has unfolded. */
const untroubled = (events: readonly SimEvent[]): SimEvent[] =>
  events.filter(({ type }) => type !== "tangled" && type !== "untangled");

const MATERIALS: Record<string, SoftMaterial> = {
  "by stiffness": { model: "pbd", density: 500, damping: 1, distance: { stiffness: 0.9 }, volume: { stiffness: 0.9 } },
  "by compliance": {
    model: "pbd",
    density: 500,
    damping: 1,
    distance: { compliance: 1e-4 },
    volume: { compliance: 1e-10 },
  },
  "whole volume": {
    model: "pbd",
    density: 500,
    damping: 1,
    distance: { compliance: 1e-4 },
    volume: { of: "body", compliance: 0 },
  },
  hexahedral: { model: "hexahedral", density: 500, damping: 1, youngsModulus: 3e4, poissonsRatio: 0.4 },
};

const box = (material: SoftMaterial, size: number, at = 0): Body =>
  softBox("b", [size, size, size], [4, 4, 4], { transform: { translate: [at, at, -at] }, material });

describe.each(Object.entries(MATERIALS))("a body %s", (_, material) => {
  const WRECKS: Record<string, (x: readonly [number, number, number]) => [number, number, number]> = {
    "every y zero": (x) => [x[0], 0, x[2]],
    mirrored: (x) => [-x[0], x[1], x[2]],
    "in a point": () => [0.1, 0.2, 0.3],
  };

  test.each(Object.keys(WRECKS))(
    "recovers from %s within 5 s, its volume within 1 percent and nothing inverted",
    async (wreck) => {
      const lab = await laboratory({ bodies: [box(material, 0.3)] });
      const { tets } = lab.created.bodies[0]!;
      const whole = volumeOf(lab.positions(), tets).volume;
      lab.put(0, WRECKS[wreck]!);
      expect(untroubled(lab.run(300))).toEqual([]);
      const now = volumeOf(lab.positions(), tets);
      expect(now.inverted).toBe(0);
      expect(Math.abs(now.volume / whole - 1)).toBeLessThan(0.01);
    },
  );

  test.each([0, 1024])("keeps every bit at rest, %i m from the origin", async (at) => {
    for (const steps of [
      { substeps: 20, iterations: 1 },
      { substeps: 2, iterations: 5 },
    ]) {
      const lab = await laboratory({ ...steps, worldRadius: 10000, bodies: [box(material, 0.25, at)] });
      const before = lab.positions();
      expect(untroubled(lab.run(100))).toEqual([]);
      expect(lab.positions()).toEqual(before);
      expect(lab.velocities().every((v) => v === 0)).toBe(true);
    }
  });
});

const inside = (lab: Laboratory): number =>
  enclosedVolume({ positions: lab.positions(), triangles: lab.created.bodies[0]!.triangles });

const balloon = (volume: object, distance: { compliance: number }): Body => ({
  name: "b",
  kind: "cloth",
  mesh: { type: "ball", radius: 0.2, subdivisions: 2 },
  material: {
    model: "pbd",
    density: 900,
    thickness: 0.001,
    damping: 4,
    distance,
    volume: volume as { compliance: number },
  },
});

test("a balloon without compliance holds pressure times its volume", async () => {
  for (const pressure of [0.7, 1, 1.5]) {
    const lab = await laboratory({ bodies: [balloon({ compliance: 0, pressure }, { compliance: 0.01 })] });
    const whole = inside(lab);
    expect(untroubled(lab.run(240))).toEqual([]);
    // the volume is solved after the skin: only the position rounding of the last iteration is left, 2^-24 of the
    // radius, relative to it
    expect(Math.abs(inside(lab) / (pressure * whole) - 1)).toBeLessThan(1e-5);
  }
});

// Pressure inside: p = (V* - V)/alpha, balanced by the skin. Twice the pressure on the same skin needs a compliance of
// (V* - V)/p, for any step.
test("with compliance, the volume does not depend on substeps and iterations", async () => {
  const ends: number[] = [];
  for (const steps of [
    { substeps: 20, iterations: 2 },
    { substeps: 10, iterations: 8 },
    { substeps: 40, iterations: 1 },
  ]) {
    const lab = await laboratory({
      ...steps,
      bodies: [balloon({ compliance: 2e-6, pressure: 1.5 }, { compliance: 0.002 })],
    });
    const whole = inside(lab);
    expect(untroubled(lab.run(300))).toEqual([]);
    ends.push(inside(lab) / whole);
  }
  expect(ends[0]).toBeGreaterThan(1.02);
  expect(ends[0]).toBeLessThan(1.48);
  for (const end of ends) expect(Math.abs(end / ends[0]! - 1)).toBeLessThan(0.002);
});

test("a unilateral whole volume lets a body grow but not shrink", async () => {
  const grown = await laboratory({
    bodies: [
      {
        ...box({ model: "pbd", density: 500, damping: 4, volume: { of: "body", stiffness: 1, unilateral: true } }, 0.3),
      },
    ],
  });
  const whole = inside(grown);
  grown.put(0, (x) => [1.2 * x[0], x[1], x[2]]);
  grown.run(30);
  expect(inside(grown) / whole).toBeCloseTo(1.2, 6);
  grown.put(0, (x) => [0.5 * x[0], x[1], x[2]]);
  grown.run(60);
  expect(inside(grown) / whole).toBeGreaterThan(1 - 1e-5);
});

test("a cloth with a volume needs a closed mesh", async () => {
  await expect(
    laboratory({
      bodies: [
        { ...balloon({ compliance: 0 }, { compliance: 0 }), mesh: { type: "grid", size: [1, 1], cells: [2, 2] } },
      ],
    }),
  ).rejects.toThrow(
    "scene /bodies/0/material/volume: 8 open edges is not allowed, must be a closed mesh, such as a ball",
  );
});

test("hexahedral cells must be cubes", async () => {
  const bar = (size: [number, number, number]): Body =>
    softBox("b", size, [3, 2, 1], { material: MATERIALS.hexahedral! });
  await laboratory({ bodies: [bar([0.3, 0.2, 0.1])] });
  await expect(laboratory({ bodies: [bar([0.3, 0.2, 0.11])] })).rejects.toThrow(
    /^scene \/bodies\/0\/mesh\/cells: \[0.1,0.1,0.11\] is not allowed, must be cells that are cubes/,
  );
});

test("n iterations with k' leave 1 - k of one substep, and k = 1 is rigid for any number of substeps", () => {
  for (const k of [1e-3, 0.3, 0.9, 0.999]) {
    for (const n of [1, 2, 7, 40])
      expect((1 - stiffnessOfIteration(k, { substeps: 1, iterations: n })) ** n).toBeCloseTo(1 - k, 12);
    for (const s of [2, 20]) {
      const kh = 1 - (1 - stiffnessOfIteration(k, { substeps: s, iterations: 5 })) ** 5;
      // the same sag, C = w f (T/s)^2 (1 - k_h)/k_h
      expect(((1 - kh) / kh / (s * s)) * (k / (1 - k))).toBeCloseTo(1, 9);
    }
  }
  for (const s of [1, 20]) expect(stiffnessOfIteration(1, { substeps: s, iterations: 3 })).toBe(1);
});
