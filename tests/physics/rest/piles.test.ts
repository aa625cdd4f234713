/**
 * Piles of thin sheets come to rest (docs/decisions/stacks-at-rest.md): they carry their load without exact responses,
 * stay on a slope, and fall asleep. Neither checkpoints nor threads disturb them.
 */
import { describe, expect, test } from "vitest";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import type { Body, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { heightOf, middle } from "../measures.ts";
import { inLong } from "../../support/run/long.ts";
import { clothGrid } from "../../support/bodies.ts";

const SHEETS = inLong(10, 5);
/** Distance that two sheets keep, m. */
const GAP = 0.001;
const GRAVITY: Vec3 = [0, -9.81, 0];

const sheet = (n: number): Body =>
  clothGrid(`sheet ${n}`, [0.2, 0.2], [8, 8], {
    transform: { translate: [0, 0.001 + 0.002 * n, 0] },
    material: {
      density: 1000,
      thickness: 0.0001,
      youngsModulus: 200_000,
      poissonsRatio: 0.3,
      bendingStiffness: 1e-6,
      friction: 0.4,
    },
    contact: { thickness: GAP },
    solver: "compliant",
  });

async function pile(more: Partial<Scene> = {}): Promise<Laboratory> {
  const lab = await laboratory({
    gravity: GRAVITY,
    damping: 0.5,
    substeps: 20,
    iterations: 1,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.6 }],
    bodies: Array.from({ length: SHEETS }, (_, n) => sheet(n)),
    ...more,
  });
  lab.world.mayRest = true;
  return lab;
}

/** Mean place of a body along x, m. */
const placeOf = (lab: Laboratory, body: number): number => middle(lab.positions(body))[0];

/** Steps until everything sleeps, without an intersection on the way. @returns ticks */
function settle(lab: Laboratory, most: number): number {
  let ticks = 0;
  for (; ticks < most && !lab.world.resting; ticks++) {
    lab.run(1);
    if (ticks % 20 === 0) expect(crossings(lab)).toBe(0);
  }
  expect(crossings(lab)).toBe(0);
  expect(lab.world.resting).toBe(true);
  return ticks;
}

describe(`${SHEETS} thin sheets on each other`, () => {
  test("fall asleep within six seconds, at the distance that contact keeps", async () => {
    const lab = await pile();
    settle(lab, 360);
    for (let n = 1; n < SHEETS; n++) expect(heightOf(lab, n) - heightOf(lab, n - 1)).toBeGreaterThan(0.95 * GAP);
  });

  test("carry their load without exact responses", async () => {
    const lab = await pile();
    lab.run(60);
    const before = lab.world.contactCounts();
    lab.run(10);
    const { impulses, checks } = lab.world.contactCounts();
    expect({ impulses, checks }).toEqual({ impulses: before.impulses, checks: before.checks });
  });

  test("do not sink when a checkpoint is taken, and go on from it with the same bits", async () => {
    const lab = await pile();
    const { memory, layout } = lab.created;
    const template = copyMemory(memory);
    lab.run(90);
    const before = heightOf(lab, SHEETS - 1);
    const state = saveState(memory, template, layout);
    const restored = copyMemory(template);
    loadState(restored, layout, state);
    const other = openWorld(restored, layout);
    for (let tick = 0; tick < 10; tick++) {
      lab.run(1);
      other.step([]);
      expect(other.stateHash()).toBe(lab.world.stateHash());
      expect(Math.abs(heightOf(lab, SHEETS - 1) - before)).toBeLessThan(0.02 * GAP);
    }
  });

  test("stay where they are on a slope below the angle of friction", async () => {
    const lab = await pile({ gravity: [2, -9.6, 0] });
    lab.run(90);
    const before = placeOf(lab, SHEETS - 1);
    lab.run(60);
    expect(Math.abs(placeOf(lab, SHEETS - 1) - before)).toBeLessThan(0.1 * GAP);
  });

  test("have the same bits with two threads", async () => {
    const lab = await pile();
    const memory = copyMemory(lab.created.memory);
    const world = openWorld(memory, lab.created.layout);
    const workers = await StepWorkers.start(world, memory, 2);
    try {
      for (let tick = 0; tick < 40; tick++) workers.step([]);
    } finally {
      await workers.stop();
    }
    lab.run(40);
    expect(world.stateHash()).toBe(lab.world.stateHash());
  });

  test("begin anew after a reset", async () => {
    const lab = await pile();
    lab.run(5);
    const first = lab.positions(1);
    lab.run(40);
    lab.run(5, [{ type: "reset", member: 1 }]);
    expect(lab.positions(1)).toEqual(first);
  });

  test("do not sink when they wake after a sleep beside a body that moves", async () => {
    const swing: Body = clothGrid("swing", [0.1, 0.4], [1, 4], {
      transform: { translate: [2, 1, 0] },
      material: { density: 100, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 0 },
      pins: [{ select: { box: { min: [1, 0, 0.19], max: [3, 2, 0.21] } } }],
      solver: "compliant",
    });
    const lab = await pile({ bodies: [...Array.from({ length: SHEETS }, (_, n) => sheet(n)), swing] });
    const sleeping = (): number => lab.world.asleep().filter(Boolean).length;
    for (let tick = 0; tick < 400 && sleeping() < SHEETS; tick++) lab.run(1);
    expect(sleeping()).toBe(SHEETS);
    lab.run(20);
    const before = heightOf(lab, SHEETS - 1);
    const { impulses } = lab.world.contactCounts();
    const top = { body: SHEETS - 1, triangle: 60, u: 0.3, v: 0.3 };
    lab.run(1, [{ type: "impulse", member: 1, ...top, impulse: [0, -1e-7, 0] }]);
    expect(sleeping()).toBeLessThan(SHEETS);
    lab.run(14);
    expect(Math.abs(heightOf(lab, SHEETS - 1) - before)).toBeLessThan(0.02 * GAP);
    expect(lab.world.contactCounts().impulses).toBe(impulses);
  });
});
