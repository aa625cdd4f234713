/**
 * Bodies with a method that meet other bodies: their surfaces never intersect, momentum goes both ways and is
 * conserved, the energy ledger balances, and threads and checkpoints change no bit.
 */
import { describe, expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { floor } from "../pairs/act.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { watched, worst } from "../laws/watched.ts";
import { cube } from "./kit.ts";

const METHODS: [name: string, method: Method][] = [
  ["springs, implicit", { type: "mass-spring" }],
  ["springs, symplectic", { type: "mass-spring", integrator: "symplectic", steps: 8 }],
  ["elements", { type: "finite-elements" }],
  ["volumes", { type: "finite-volumes" }],
  ["modes", { type: "modal" }],
];
type Memory = WebAssembly.Memory;
const HALF = 0.25;
const GAP = 0.02;
const soft = (material: object): object => ({
  kind: "soft",
  mesh: { type: "box", size: [0.4, 0.4, 0.4], cells: [2, 2, 2] },
  material: { density: 800, ...material },
});
const OTHERS: [name: string, body: object, half: number][] = [
  ["a rigid box", soft({ model: "shape-matching", mode: "rigid" }), 0.2],
  ["shape matching", soft({ model: "shape-matching", mode: "linear", linearity: 0.5 }), 0.2],
  ["a compliant solid", soft({ youngsModulus: 1e5, poissonsRatio: 0.3 }), 0.2],
  ["an implicit solid", { ...soft({ youngsModulus: 1e5, poissonsRatio: 0.3 }), solver: "implicit" }, 0.2],
  ["a ball", { kind: "ball", mesh: { type: "ball", radius: 0.2, subdivisions: 2 }, material: { density: 800 } }, 0.2],
  [
    "cloth",
    {
      kind: "cloth",
      mesh: { type: "grid", size: [0.4, 0.4], cells: [6, 6] },
      material: { density: 1000, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3 },
    },
    0,
  ],
  ["elements", { ...soft({ youngsModulus: 2e4, poissonsRatio: 0.3 }), method: { type: "finite-elements" } }, 0.2],
];

/** A free body with a method below another one, which falls on it at 2 m/s. */
const pair = (method: Method, other: object, half: number): Body[] => [
  { ...cube(method, { pins: [] }), material: { ...cube(method).material, damping: 0 } } as Body,
  {
    ...other,
    name: "other",
    transform: { translate: [0.03, 2 * HALF + GAP + half, 0.05] },
    velocity: [0, -2, 0],
  } as unknown as Body,
];

function momentum(lab: Laboratory, body: number): number[] {
  const v = lab.velocities(body);
  const { mass } = lab.created.bodies[body]!;
  return [0, 1, 2].map((r) => mass.reduce((sum, m, i) => sum + m * v[3 * i + r]!, 0));
}

describe.each(METHODS)("%s", (_, method) => {
  test.each(OTHERS)("pushes and is pushed by %s: nothing intersects, momentum stays", async (_name, other, half) => {
    const lab = await laboratory({ refine: true, bodies: pair(method, other, half) });
    const before = momentum(lab, 1)[1]!;
    for (let tick = 0; tick < 20; tick++) {
      lab.run(1);
      expect(crossings(lab, true)).toBe(0);
      const [a, b] = [momentum(lab, 0), momentum(lab, 1)];
      [0, before, 0].forEach((p, r) => expect(Math.abs(a[r]! + b[r]! - p)).toBeLessThan(1e-5 * Math.abs(before)));
    }
    // bodies that part exchange at least the momentum of a perfectly plastic collision
    const [m, M] = [0, 1].map((b) => lab.created.bodies[b]!.mass.reduce((sum, each) => sum + each, 0)) as [
      number,
      number,
    ];
    expect(momentum(lab, 0)[1]! / before).toBeGreaterThan(0.95 * (m / (m + M)));
  });
});

test("the energy ledger balances", async () => {
  const { books, run } = await watched({
    refine: true,
    bodies: pair(...([METHODS[2]![1], ...OTHERS[0]!.slice(1)] as [Method, object, number])),
  });
  run(20);
  expect(worst(books)).toBeLessThan(1e-9);
});

test("a body attached to another one holds it", async () => {
  const [below, other] = pair({ type: "finite-elements" }, OTHERS[2]![1], 0.2) as [Body, Body];
  const lab = await laboratory({
    refine: true,
    bodies: [{ ...other, velocity: [0, 0, 0] } as Body, { ...below, velocity: [0, -1, 0] } as Body],
    attachments: [{ from: { body: "other", near: [0.03, 0.52, 0.05] }, to: { body: below.name, near: [0, 0.5, 0] } }],
  });
  lab.run(60);
  expect(momentum(lab, 0)[1]!).toBeLessThan(-1);
  expect(crossings(lab, true)).toBe(0);
});

test("threads, and a checkpoint in the middle of a collision, change no bit", async () => {
  const bodies = METHODS.map(([name, method], n) => ({
    ...cube(method, { pins: [] }),
    name,
    transform: { translate: [0.1 * n, 0.3 + 0.55 * n, 0] },
    contact: {},
  })) as Body[];
  const create = () => createWorld({ version: 1, title: "joined", bodies, colliders: [floor(0.5)] }, { baseDir: "." });
  const { memory: template, layout } = await create();
  const [live, restored, threaded] = [0, 1, 2].map(() => copyMemory(template)) as [Memory, Memory, Memory];
  const world = openWorld(live, layout);
  for (let tick = 0; tick < 12; tick++) world.step([]);
  const shared = openWorld(threaded, layout);
  const workers = await StepWorkers.start(shared, threaded, 3);
  for (let tick = 0; tick < 12; tick++) workers.step([]);
  await workers.stop();
  expect(shared.stateHash()).toBe(world.stateHash());
  loadState(restored, layout, saveState(live, template, layout));
  const other = openWorld(restored, layout);
  for (let tick = 0; tick < 12; tick++) {
    world.step([]);
    other.step([]);
  }
  expect(other.stateHash()).toBe(world.stateHash());
});
