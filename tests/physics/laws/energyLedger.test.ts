/**
 * The energy ledger balances, changes nothing in the simulation, and books each loss under its physical cause.
 * Tolerances: the ledger sums float32 states in float64, so it balances to 1e-12 of the energy that moved. Physical
 * laws hold up to the error of the step.
 */
import { describe, expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { FLOWS } from "../../../server/sim/energy/ledger.ts";
import { laboratory } from "../laboratory.ts";
import { extent } from "../measures.ts";
import { box, JELLY, now, pendulum, sum, watched, worst } from "./watched.ts";

test("the ledger balances to rounding in every scene, and changes nothing", async () => {
  const scene: Partial<Scene> & Pick<Scene, "bodies"> = {
    gravity: [0, -9.81, 0],
    damping: 0.3,
    substeps: 4,
    iterations: 3,
    bodies: [
      box("low", 0.3, 0.2),
      {
        ...box("high", 0.2, 0.5),
        loads: [{ select: { box: { min: [-1, 0.55, -1], max: [1, 1, 1] } }, force: [1, 0, 0] }],
      } as Scene["bodies"][number],
      {
        name: "sheet",
        kind: "cloth",
        mesh: { type: "grid", size: [0.6, 0.6], cells: [6, 6] },
        transform: { translate: [0, 0.7, 0] },
        material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
      },
      { ...box("hung", 0.2, 1.2), pins: [{ select: { particles: [0] } }], solver: "paper" } as Scene["bodies"][number],
      box("clay", 0.2, 1.6, { ...JELLY, plasticity: { yield: 0.01, creep: 20, max: 0.3 } }),
      box("wood", 0.2, 1.8, {
        model: "orthotropic",
        density: 1000,
        youngsModuli: [2e4, 4e4, 3e4],
        poissonsRatios: [0.2, 0.3, 0.2],
        shearModuli: [1e4, 1e4, 1e4],
      }),
      box("pbd", 0.2, 2, { model: "pbd", density: 500, distance: { compliance: 1e-5 }, volume: { compliance: 1e-9 } }),
    ],
    colliders: [
      { type: "plane", normal: [0, 1, 0], offset: 0 },
      {
        type: "plane",
        normal: [-1, 0, 0],
        offset: -0.4,
        motion: { keys: [{ time: 0 }, { time: 0.3, translate: [-0.3, 0, 0] }] },
      },
    ],
    attachments: [{ from: { body: "sheet", particle: 0 }, to: { world: [-0.3, 0.75, -0.3] }, compliance: 1e-4 }],
  };
  const { lab, books, run } = await watched(scene);
  const plain = await laboratory(scene);
  lab.world.mayRest = plain.world.mayRest = true;
  const inputs: readonly Input[] = [
    { type: "impulse", member: 1, body: 1, triangle: 3, u: 0.3, v: 0.3, impulse: [0.5, 0.2, 0] },
    { type: "grab", member: 1, grab: 0, body: 0, triangle: 2, u: 0.3, v: 0.3, target: [0.2, 0.6, 0] },
  ];
  run(20, inputs);
  run(10, [{ type: "reset", member: 1 }]);
  run(30);
  plain.run(20, inputs);
  plain.run(10, [{ type: "reset", member: 1 }]);
  plain.run(30);
  expect(lab.world.stateHash()).toBe(plain.world.stateHash());
  expect(worst(books)).toBeLessThan(1e-12);
  const used = FLOWS.filter((f) => books.entries.some((e) => e.bodies.some((b) => b.flows[f] !== 0)));
  expect(used).toEqual(
    expect.arrayContaining([
      "inputs",
      "attachments",
      "contacts",
      "colliders",
      "drivers",
      "damping",
      "plasticity",
      "solver",
    ]),
  );
  expect(books.entries.map((e) => e.tick)).toEqual(Array.from({ length: 61 }, (_, t) => t));
});

test("an impulse is booked as the kinetic energy that it adds", async () => {
  const { books, run } = await watched({ bodies: [box("b", 0.2, 0)] });
  run(1, [{ type: "impulse", member: 1, body: 0, triangle: 0, u: 0.3, v: 0.3, impulse: [0, 0.8, 0] }]);
  expect(now(books).momentum[1]).toBeCloseTo(0.8, 5);
  expect(sum(books, "inputs")).toBeGreaterThan(0.8 ** 2 / (2 * 8)); // more than if the whole box moved as one piece
});

test("a spawned body adds its energy as an input and its removal takes it back; the ledger balances", async () => {
  const waits = { ...box("w", 0.2, 0.1), spawnable: true } as Scene["bodies"][number];
  const { books, run } = await watched({ bodies: [box("b", 0.2, 3), waits], gravity: [0, -9.81, 0] });
  run(3);
  // rounding of the float32 rest positions is a strain
  expect(now(books, 1).total).toBeCloseTo(0, 9);
  // at the place where it waits, and elsewhere
  for (const [x, y, z] of [
    [0, 0, 0],
    [1, 2, 0],
  ] as const) {
    const before = sum(books, "inputs", 1);
    run(1, [{ type: "spawn", member: 1, body: 1, position: [x, y, z], heading: [1, 0], occupied: "refuse" }]);
    // m g h of 8 kg whose middle is 0.1 m above its underside
    expect(sum(books, "inputs", 1) - before).toBeCloseTo(8 * 9.81 * (y + 0.1), 3);
    run(5);
    run(1, [{ type: "remove", member: 1, body: 1 }]);
    // rounding of the float32 rest positions is a strain
    expect(now(books, 1).total).toBeCloseTo(0, 9);
  }
  expect(worst(books)).toBeLessThan(1e-12);
});

describe("damping", () => {
  test("damping takes the kinetic energy of a free body by its law, to rounding", async () => {
    const d = 0.7;
    const { lab, books, run } = await watched({
      bodies: [{ ...box("b", 0.2, 0, { ...JELLY, damping: d }), velocity: [3, 0, 0] } as Scene["bodies"][number]],
    });
    run(60);
    const { substeps, tickHz } = lab.created.layout;
    const before = books.entries[0]!.bodies[0]!.kinetic;
    const law = before * (1 - (1 + d / (substeps * tickHz)) ** (-2 * 60 * substeps));
    // Exact except for the rounding of v: 6e-8 of it in each of 1,200 substeps, at worst in one direction. The momentum
    // stage corrects the rounding of x.
    expect(-sum(books, "damping") / law).toBeCloseTo(1, 4);
    expect(Math.abs(sum(books, "solver") + sum(books, "momentum")) / before).toBeLessThan(1e-4);
  });

  test("damping of a pendulum tends to the integral of d m v^2 as the step becomes short", async () => {
    // The integrator damps, too, by omega^2 h, and leaves less energy to the damping force: an error of first order in
    // h, which two steps extrapolate to zero.
    const coarse = await pendulum(20);
    const fine = await pendulum(40);
    expect(coarse.damping).toBeLessThan(fine.damping);
    expect(2 * fine.damping - coarse.damping).toBeGreaterThan(0.99);
    expect(2 * fine.damping - coarse.damping).toBeLessThan(1.01);
    expect(Math.abs(2 * fine.attachments - coarse.attachments)).toBeLessThan(0.01); // a hinge does no work
    expect(Math.max(coarse.unexplained, fine.unexplained)).toBeLessThan(1e-12);
  });
});

test("friction takes all of the kinetic energy of a box that slides to rest", async () => {
  const { books, run } = await watched({
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.4 }],
    bodies: [
      {
        ...box("b", 0.2, 0.1 + 2.1e-3, { model: "shape-matching", mode: "rigid", density: 500, friction: 0.4 }),
        velocity: [2, 0, 0],
      } as Scene["bodies"][number],
    ],
  });
  const before = books.entries[0]!.bodies[0]!.kinetic;
  run(60); // v/(mu g) = 0.51 s
  expect(now(books).kinetic / before).toBeLessThan(1e-3);
  expect(-sum(books, "colliders") / before).toBeGreaterThan(0.95);
  expect(-sum(books, "colliders") / before).toBeLessThan(1.05);
});

test("plastic flow takes elastic energy and never adds any", async () => {
  const { lab, books, run } = await watched(
    { damping: 20, bodies: [box("b", 0.2, 0, { ...JELLY, plasticity: { yield: 0.02, creep: 50, max: 0.5 } })] },
    ([x, y, z]) => [1.3 * x, y, z],
  );
  run(60);
  const stretched = books.entries[0]!.bodies[0]!.elastic;
  expect(stretched).toBeGreaterThan(0.1);
  expect(-sum(books, "plasticity") / stretched).toBeGreaterThan(0.1);
  expect(-sum(books, "plasticity") / stretched).toBeLessThan(1);
  expect(books.entries.every((e) => e.bodies[0]!.flows.plasticity <= 1e-12 * stretched)).toBe(true);
  expect(worst(books)).toBeLessThan(1e-12);
  expect(extent(lab.positions(), 0)).toBeGreaterThan(1.02 * 0.2); // it stays longer than before
});

test("a rising floor does the work of lifting", async () => {
  const V = 0.2;
  const { lab, books, run } = await watched({
    gravity: [0, -9.81, 0],
    damping: 0,
    colliders: [
      {
        type: "box",
        center: [0, -0.5, 0],
        halfExtents: [2, 0.5, 2],
        motion: { keys: [{ time: 0 }, { time: 10, translate: [0, 10 * V, 0] }] },
      },
    ],
    bodies: [box("b", 0.2, 0.1 + 2.1e-3, { model: "shape-matching", mode: "rigid", density: 500 })],
  });
  run(60);
  const from = books.entries.length;
  const start = now(books).gravity;
  run(60);
  const lifted = now(books).gravity - start;
  expect(lifted).toBeCloseTo(lab.created.bodies[0]!.mass.reduce((a, b) => a + b, 0) * 9.81 * V, 2);
  expect(sum(books, "drivers", 0, from) / lifted).toBeGreaterThan(0.98);
  expect(sum(books, "drivers", 0, from) / lifted).toBeLessThan(1.02);
  expect(Math.abs(sum(books, "colliders", 0, from)) / lifted).toBeLessThan(0.02);
});
