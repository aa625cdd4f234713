/** The unit of mass: which scenes need one, that it is a power of two, and that the converted scene is equivalent. */
import { expect, test } from "vitest";
import type { Scene } from "../../../../shared/scene/scene.ts";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import { inMassUnit } from "../../../../server/sim/world/massUnit.ts";
import { verificationRate } from "../../../../server/sim/scene/substeps.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import { clothGrid, softBox } from "../../../support/bodies.ts";

/** A beam of 2 x 1 x 1 cubes of edge `edge`, m. */
const beam = (name: string, edge: number, density = 1000): Scene["bodies"][number] =>
  softBox(name, [2 * edge, edge, edge], [2, 1, 1], {
    solver: "compliant",
    transform: { translate: [0, edge, 0] },
    material: { density, youngsModulus: 1e5, poissonsRatio: 0.3 },
  });
const build = (bodies: Scene["bodies"]) =>
  createWorld({ version: 1, title: "t", gravity: [0, 0, 0], worldRadius: 1e6, bodies }, { baseDir: "." });

test.each([1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.1, 10, 1e3, 1e4, 1e5])(
  "elements of %s m: a power of two of a kilogram, and 1 from half a millimeter to 100 m",
  async (edge) => {
    const { massUnit } = (await build([beam("a", edge)])).layout;
    expect(Number.isInteger(Math.log2(massUnit))).toBe(true);
    if (edge >= 5e-4 && edge <= 100) expect(massUnit).toBe(1);
    // An element of this size weighs about density edge^3, and K is proportional to 1/(density edge^5).
    else if (edge < 2e-4 || edge > 1e4) expect(Math.abs(Math.log10(massUnit / (1000 * edge ** 5)))).toBeLessThan(3);
  },
);

test("at every size a body stretched by a tenth springs back", async () => {
  for (const edge of [1e-3, 1e-4, 5e-5, 1e-5, 1e-6]) {
    const { memory, layout } = await build([beam("a", edge)]);
    const world = openWorld(memory, layout);
    const f32 = new Float32Array(memory.buffer);
    world.mayRest = false;
    for (let i = 0; i < layout.particleCount; i++) f32[layout.x / 4 + 4 * i]! *= 1.1;
    for (let t = 0; t < 60; t++) world.step([]);
    // The diagonal, for any rotation. Sound crosses a millimeter in a tenth of a substep, so implicit Euler has damped
    // all waves.
    let longest = 0;
    for (let a = 0; a < layout.particleCount; a++)
      for (let b = 0; b < a; b++)
        longest = Math.max(longest, Math.hypot(...world.position(0, a).map((c, r) => c - world.position(0, b)[r]!)));
    expect(longest / (edge * Math.sqrt(6))).toBeCloseTo(1, 5);
  }
});

test("grains of a micrometer beside a body of a kilometer exceed float32's range", async () => {
  await expect(build([beam("hill", 1e3), beam("dust", 1e-6)])).rejects.toThrow(
    /^scene \/bodies\/1: dust, whose smallest element has 10\^4\d times less density size\^5 than the largest of hill is not allowed, must be within a factor of 10\^30, which float32 can hold$/,
  );
  await build([beam("house", 1), beam("sand", 1e-4)]);
});

test("every value with kilograms is converted, and no other value", () => {
  const scene: Scene = {
    version: 1,
    title: "t",
    gravity: [0, -9.81, 0],
    bodies: [
      softBox("o", [1, 1, 1], [1, 1, 1], {
        material: {
          model: "orthotropic",
          density: 800,
          youngsModuli: [8, 16, 32],
          poissonsRatios: [0.1, 0.2, 0.3],
          shearModuli: [4, 8, 16],
          damping: 2,
          friction: 0.5,
          axes: [1, 2, 3],
        },
        loads: [{ select: { particles: [0] }, force: [8, 0, -4] }],
      }),
      softBox("p", [1, 1, 1], [1, 1, 1], {
        material: {
          model: "pbd",
          density: 80,
          distance: { compliance: 0.5, unilateral: true },
          volume: { stiffness: 0.5 },
        },
      }),
      clothGrid("c", [1, 1], [1, 1], {
        material: {
          density: 300,
          thickness: 0.001,
          kWeft: 8,
          kWarp: 16,
          kShear: 4,
          nuWeft: 0.1,
          nuWarp: 0.2,
          bendingStiffness: 32,
        },
      }),
    ],
    attachments: [{ from: { body: "o", particle: 0 }, to: { world: [0, 0, 0] }, compliance: 3, maxForce: 8 }],
    interaction: { grabCompliance: 1, grabMaxForce: 1, maxImpulse: 1 },
  };
  const expected = structuredClone(scene) as any;
  Object.assign(expected.bodies[0].material, { density: 200, youngsModuli: [2, 4, 8], shearModuli: [1, 2, 4] });
  expected.bodies[0].loads[0].force = [2, 0, -1];
  expected.bodies[1].material.density = 20;
  expected.bodies[1].material.distance.compliance = 2;
  Object.assign(expected.bodies[2].material, { density: 75, kWeft: 2, kWarp: 4, kShear: 1, bendingStiffness: 8 });
  Object.assign(expected.attachments[0], { compliance: 12, maxForce: 2 });
  expect(inMassUnit(scene, 4)).toEqual(expected);
  expect(inMassUnit(scene, 1)).toBe(scene);
});

test("templates and messages to clients stay in kilograms and newtons", async () => {
  const { bodies, topology, layout } = await build([beam("a", 1e-5)]);
  expect(layout.massUnit).toBeLessThan(1);
  expect(bodies[0]!.mass.reduce((a, b) => a + b)).toBeCloseTo(1000 * 2e-15, 20);
  expect(topology.interaction).toEqual({
    grabCompliance: 1e-4,
    grabMaxForce: 200,
    // The body moves by at most 4 of its sizes between two verifications of contact.
    grabSpeed: 4 * layout.bodies[0]!.size * verificationRate(layout),
    grabMaxStretch: 2,
    maxImpulse: 20,
  });
});
