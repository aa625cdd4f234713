/**
 * Refined substeps: which scenes get them, and that a body too stiff for the scene's own substeps settles at its
 * equilibrium.
 */
import { describe, expect, test } from "vitest";
import type { Body, Scene, SoftBody } from "../../../shared/scene/scene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { caseOf } from "../../statics/cases.ts";
import { fidelity } from "../../statics/fidelity.ts";
import { laboratory } from "../laboratory.ts";

/** Bar with cells of 0.1 m. */
const bar = (youngsModulus: number, over: Partial<SoftBody> = {}): SoftBody => ({
  name: "bar",
  kind: "soft",
  mesh: { type: "box", size: [1, 0.2, 0.2], cells: [10, 2, 2] },
  material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
  solver: "compliant",
  ...over,
});

async function steps(scene: Partial<Scene>, ...bodies: Body[]): Promise<[number, number]> {
  const { layout } = await createWorld({ version: 1, title: "steps", tickHz: 60, ...scene, bodies }, { baseDir: "." });
  return [layout.substeps, layout.iterations];
}

describe("substeps are refined", () => {
  test("until sound crosses 0.6 of an edge in each, with as much fewer iterations", async () => {
    // a box of 0.1 m is five tetrahedra of 2e-4 m^3 on average: edges of 0.119 m, 31.6 m/s/(0.119 m) = 265/s = 4.4 in
    // 1/60 s
    expect(await steps({ substeps: 1, iterations: 5 }, bar(1e6))).toEqual([8, 1]);
    // then divided into small steps
    expect(await steps({ substeps: 2, iterations: 40 }, bar(1e6))).toEqual([8 * 10, 1]);
    expect(await steps({ substeps: 1, iterations: 10 }, bar(1e4))).toEqual([1 * 10, 1]); // a tenth of the speed
    // the stiffest body decides
    expect(await steps({ substeps: 1, iterations: 1 }, bar(1e3), bar(1e6))).toEqual([8, 1]);
  });
  test("for Neo-Hookean bodies by the speed of pressure waves", async () => {
    // nu 0.45: (1 - nu)/((1 + nu)(1 - 2 nu)) = 3.8 times as stiff, 4.4 * 1.95 = 8.6 edges in 1/60 s
    for (const model of ["neo-hookean", "stable-neo-hookean"] as const) {
      expect(
        await steps(
          { substeps: 1, iterations: 1 },
          bar(1e6, { material: { model, density: 1000, youngsModulus: 1e6, poissonsRatio: 0.45 } }),
        ),
      ).toEqual([15, 1]);
    }
  });
  test("but not if the scene's suffice, and never beyond the work of a default scene or its own", async () => {
    expect(await steps({ substeps: 8, iterations: 1 }, bar(1e6))).toEqual([8, 1]);
    expect(await steps({}, bar(1e9))).toEqual([20, 1]);
    expect(await steps({ substeps: 1, iterations: 1 }, bar(1e9))).toEqual([20, 1]);
    expect(await steps({ substeps: 1, iterations: 50 }, bar(1e9))).toEqual([50, 1]);
    expect(await steps({ tickHz: 120, substeps: 1, iterations: 1 }, bar(1e9))).toEqual([10, 1]);
  });
  test("but not for models defined by the length of a substep, or if the scene forbids it", async () => {
    const few = { substeps: 1, iterations: 5 };
    expect(await steps({ ...few, refine: false }, bar(1e7))).toEqual([1, 5]);
    expect(await steps(few, bar(1e7), bar(1e7, { solver: "paper" }))).toEqual([1, 5]);
    expect(
      await steps(few, bar(1e7), bar(1, { material: { model: "pbd", density: 1000, distance: { stiffness: 0.5 } } })),
    ).toEqual([1, 5]);
    expect(
      await steps(few, bar(1, { material: { model: "pbd", density: 1000, distance: { compliance: 1e-6 } } })),
    ).toEqual([1 * 5, 1]); // no sound
    expect(
      await steps(few, {
        name: "ball",
        kind: "ball",
        mesh: { type: "ball", radius: 0.1 },
        material: { density: 7800 },
      } as Body),
    ).toEqual([1, 5]);
  });
});

/** A cube of 1 kg, and over it a rigid one of twice its size. */
const loaded = (youngsModulus: number, mass: number, over: Partial<SoftBody> = {}): Body[] => [
  {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [4, 4, 4] },
    transform: { translate: [0, 0.052, 0] },
    material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
  },
  {
    name: "load",
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
    transform: { translate: [0, 0.206, 0] },
    material: { density: mass / 0.2 ** 3, model: "shape-matching", mode: "rigid" },
    ...over,
  },
];

describe("heavy bodies on stiff solids", () => {
  test("ask for more substeps, unless they cannot weigh on them or the solids are large", async () => {
    // 31.6 edges of 2.98 cm in 1/60 s, strain 0.0098: (0.3/18)/0.0098 = 1.7 times too soft, q = 1.38
    // 100 m/s/(0.0298 m)/sqrt(1.38) = 2,860/s, in parts of 1,200
    expect(await steps({}, ...loaded(1e7, 100))).toEqual([60, 1]);
    expect(await steps({}, ...loaded(1e7, 9))).toEqual([20, 1]);
    expect(await steps({ gravity: [0, 0, 0] }, ...loaded(1e7, 100))).toEqual([20, 1]);
    expect(await steps({ refine: false }, ...loaded(1e7, 100))).toEqual([20, 1]);
    expect(await steps({}, ...loaded(1e7, 100, { contact: { ignore: ["cube"] } }))).toEqual([20, 1]);
    const [cube, load] = loaded(1e7, 800) as [SoftBody, SoftBody];
    expect(
      await steps({}, { ...cube, mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [12, 12, 12] } }, load),
    ).toEqual([20, 1]);
  });
  test.each([1e7, 1e8])("stand on them: a hundred times the mass, %d Pa", async (youngsModulus) => {
    const lab = await laboratory({
      refine: true,
      gravity: [0, -9.81, 0],
      damping: 0.5,
      bodies: loaded(youngsModulus, 100),
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 }],
    });
    lab.run(180);
    const heights = lab.positions(1).filter((_, i) => i % 3 === 1);
    // on its side or on the floor its lowest particle is below 2 cm
    expect(Math.min(...heights)).toBeGreaterThan(0.09);
  });
});

// 60 substeps a second x 5 iterations: without refinement this body is 937 % off and moves at 6 m/s
test("a beam eight times too stiff for 60 x 5 settles within 10 % of static equilibrium, and is still", async () => {
  const { error, fastest } = await fidelity(caseOf("stiff"), 60, 5, true);
  expect(error).toBeLessThan(10);
  expect(fastest).toBeLessThan(0.01);
  const exact = await fidelity(caseOf("stiff", { exact: true }), 60, 5, true);
  expect(exact.error).toBeGreaterThan(10);
});

// Warm-start stress is complete before the beam is slow. Iterations that add almost nothing to it must not count as
// iterations that need none.
test("with strong damping and nearly converged iterations a body keeps its warm-start stress", async () => {
  expect((await fidelity(caseOf("stiff"), 240, 20, true)).error).toBeLessThan(2);
});
