/**
 * Islands sleep while others move. A tick does not touch sleeping bodies. An island wakes before it is hit, with its
 * supports, by a grab, by a change of the room and by a collider. The same inputs give the same bits on any thread.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import type { Body, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { fastest, middle } from "../measures.ts";

const FLOOR: Collider = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, friction: 0.5 };
const SIZE = 0.2;

const box = (name: string, translate: Vec3, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [2, 2, 2] },
    transform: { translate },
    material: { model: "shape-matching", mode: "rigid", density: 500, friction: 0.5 },
    ...more,
  }) as Body;

const sheet = (name: string, translate: Vec3): Body => ({
  name,
  kind: "cloth",
  mesh: { type: "grid", size: [0.4, 0.4], cells: [6, 6] },
  transform: { translate },
  material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0.5 },
});

async function room(bodies: Body[], more: Partial<Scene> = {}): Promise<Laboratory> {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    damping: 2,
    substeps: 8,
    iterations: 2,
    colliders: [FLOOR],
    bodies,
    ...more,
  });
  lab.world.mayRest = true;
  return lab;
}

/** Steps until the whole room sleeps. */
function settle(lab: Laboratory): void {
  for (let tick = 0; tick < 1200 && !lab.world.resting; tick++) lab.run(1);
  expect(lab.world.resting).toBe(true);
}

const hold = (body: number, target: Vec3): Input => ({
  type: "grab",
  member: 1,
  grab: 0,
  body,
  triangle: 0,
  u: 0.3,
  v: 0.3,
  target,
});
const pull = (target: Vec3): Input => ({ type: "move", member: 1, grab: 0, target });
const push = (body: number, impulse: Vec3): Input => ({
  type: "impulse",
  member: 1,
  body,
  triangle: 0,
  u: 0.3,
  v: 0.3,
  impulse,
});

/** Returns whether the kernel skips the body. */
function isLeftOut({ created: { memory, layout } }: Laboratory, body: number): boolean {
  return new Int32Array(memory.buffer)[(layout.bodyRows + body * L.BODY_BYTES + L.BODY_INACTIVE) / 4] !== 0;
}
const header = ({ created }: Laboratory, field: number): number =>
  new Int32Array(created.memory.buffer)[(L.HEADER + field) / 4]!;
const mean = (values: Float64Array, axis: number): number => middle(values)[axis]!;

/** A pile of two boxes with a sheet on it, and a box at 1.5 m: all asleep. */
async function pileBesideBox(more: Partial<Scene> = {}): Promise<Laboratory> {
  const lab = await room(
    [
      box("low", [0, 0.101, 0]),
      box("high", [0.02, 0.305, 0]),
      sheet("sheet", [0, 0.45, 0]),
      box("far", [1.5, 0.101, 0]),
    ],
    more,
  );
  settle(lab);
  return lab;
}

/** A pile beside a box at 1.5 m, which a grab lifts and swings. */
async function pulledBesidePile(more: Partial<Scene> = {}): Promise<Laboratory> {
  const lab = await pileBesideBox(more);
  lab.run(1, [hold(3, [1.5, 0.5, 0])]);
  for (let tick = 0; tick < 20; tick++) lab.run(1, [pull([1.5 + 0.2 * Math.sin(tick / 5), 0.5, 0])]);
  return lab;
}

const PILE = [0, 1, 2];

describe("cost of sleeping bodies", () => {
  test("no particle, pair or leaf of a sleeping pile is touched while a grab pulls a body beside it", async () => {
    const lab = await pulledBesidePile();
    const { layout, memory } = lab.created;
    const f32 = new Float32Array(memory.buffer);
    expect([0, 1, 2, 3].map((b) => isLeftOut(lab, b))).toEqual([true, true, true, false]);
    expect(header(lab, L.H_LEFT_OUT)).toBe(3);
    // values that a stage for the pile, or a refit of its leaves, would overwrite
    const boxes = new Int32Array(memory.buffer)[(header(lab, L.H_FRONT) + L.FRONT_BOXES) / 4]! / 4;
    const words = PILE.flatMap((b) => [
      layout.xPrev / 4 + 4 * layout.bodies[b]!.first,
      layout.v / 4 + 4 * layout.bodies[b]!.first,
    ]);
    const kept = f32[boxes]!;
    for (const at of [...words, boxes]) f32[at] = 12345;
    const before = lab.positions(1);
    for (let tick = 0; tick < 10; tick++) lab.run(1, [pull([1.5 - 0.02 * tick, 0.5, 0])]);
    for (const at of [...words, boxes]) expect(f32[at]).toBe(12345);
    for (const at of words) f32[at] = 0;
    f32[boxes] = kept;
    expect(lab.positions(1)).toEqual(before);
    expect(header(lab, L.H_VERTEX_CONTACT_BLOCKS) + header(lab, L.H_EDGE_CONTACT_BLOCKS)).toBe(0);
    expect(new Int32Array(memory.buffer)[(header(lab, L.H_FRONT) + L.FRONT_LEAF_PAIR_COUNT) / 4]).toBeLessThan(40);
    // the pile is still known to touch
    expect(lab.world.touching()).toEqual([0, 1, 1, 2]);
  });

  test("spawnable bodies, and bodies alone in their room, are unchanged", async () => {
    const lab = await room([box("alone", [0, 0.101, 0])]);
    settle(lab);
    lab.run(1, [push(0, [0, 0.5, 0])]);
    expect(isLeftOut(lab, 0)).toBe(false);
  });
});

describe("a hit wakes a sleeping body", () => {
  /** Velocities along x after a box at rest is hit at 3 m/s by another of its mass, m/s. */
  async function hit(mayRest: boolean): Promise<{ struck: number; striker: number; slept: boolean }> {
    const smooth = { model: "shape-matching", mode: "rigid", density: 500, friction: 0 } as const;
    const lab = await room(
      [box("struck", [0, 0.101, 0], { material: smooth }), box("striker", [0.9, 0.101, 0], { material: smooth })],
      { colliders: [{ ...FLOOR, friction: 0 }], damping: 0 },
    );
    settle(lab);
    lab.world.mayRest = mayRest;
    lab.put(
      1,
      (x) => x,
      () => [-3, 0, 0],
    );
    lab.run(1, [push(1, [0, 0, 0])]);
    const slept = isLeftOut(lab, 0);
    lab.run(24);
    return { struck: mean(lab.velocities(0), 0), striker: mean(lab.velocities(1), 0), slept };
  }

  test("it receives at least 95 % of the momentum that an awake box receives", async () => {
    const awake = await hit(false);
    const asleep = await hit(true);
    expect(awake.slept).toBe(false);
    expect(asleep.slept).toBe(true);
    expect(awake.struck).toBeLessThan(-1);
    expect(asleep.struck / awake.struck).toBeGreaterThan(0.95);
    expect(asleep.struck / awake.struck).toBeLessThan(1.05);
    expect(asleep.struck + asleep.striker).toBeCloseTo(awake.struck + awake.striker, 2);
  });

  test("the impact causes no intersections", async () => {
    const lab = await pulledBesidePile();
    for (let tick = 0; tick < 60; tick++) {
      lab.run(1, [pull([Math.max(0, 1.5 - 0.05 * tick), 0.3, 0])]);
      expect(lab.world.kernel.findIntersections(lab.created.layout.x), `tick ${tick}`).toBe(0);
    }
    expect(PILE.some((b) => isLeftOut(lab, b))).toBe(false);
    expect(Math.abs(mean(lab.positions(0), 0)) + Math.abs(mean(lab.positions(1), 0))).toBeGreaterThan(0.05);
  });
});

describe("causes that wake a sleeping body", () => {
  test("a grab that pulls its support away", async () => {
    const lab = await pulledBesidePile();
    const before = mean(lab.positions(1), 1);
    lab.run(1, [hold(0, [0, 0.1, 0])]);
    expect(PILE.some((b) => isLeftOut(lab, b))).toBe(false);
    for (let tick = 0; tick < 60; tick++) lab.run(1, [pull([0, 0.1, Math.min(1.2, 0.06 * tick)])]);
    expect(before - mean(lab.positions(1), 1)).toBeGreaterThan(0.1);
  });

  test("removal of its support", async () => {
    const lab = await room([
      box("plate", [0, 0.101, 0], { spawnable: true }),
      box("on it", [0, 0.42, 0]),
      box("far", [1.5, 0.101, 0]),
    ]);
    const put: Input = {
      type: "spawn",
      member: 1,
      body: 0,
      position: [0, 0.01, 0],
      heading: [1, 0],
      occupied: "refuse",
    };
    expect(lab.run(1, [put]).map(({ type }) => type)).toEqual(["spawned"]);
    settle(lab);
    expect(mean(lab.positions(1), 1)).toBeGreaterThan(0.29);
    lab.run(20, [hold(2, [1.5, 0.5, 0])]);
    expect([0, 1, 2].map((b) => isLeftOut(lab, b))).toEqual([true, true, false]);
    const before = mean(lab.positions(1), 1);
    lab.run(30, [{ type: "remove", member: 1, body: 0 }]);
    expect(before - mean(lab.positions(1), 1)).toBeGreaterThan(0.1);
    expect([0, 1, 2].map((b) => isLeftOut(lab, b))).toEqual([true, false, false]);
  });

  test("a change of gravity", async () => {
    const lab = await pulledBesidePile();
    const before = mean(lab.positions(0), 1);
    lab.run(20, [{ type: "tune", member: 1, gravity: [0, 3, 0] }]);
    for (const b of PILE) expect(fastest(lab, b)).toBeGreaterThan(0.3);
    expect(mean(lab.positions(0), 1)).toBeGreaterThan(before + 0.05);
  });

  test("a reset", async () => {
    const lab = await pulledBesidePile();
    lab.run(1, [{ type: "reset", member: 1 }]);
    expect(PILE.some((b) => isLeftOut(lab, b))).toBe(false);
    settle(lab);
  });

  test("an approaching collider, and not before", async () => {
    const start = 40;
    const keys = [{ time: 0 }, { time: start }, { time: start + 1, translate: [1.2, 0, 0] as Vec3 }];
    const ball: Collider = { type: "sphere", center: [-1.2, 0.15, 0], radius: 0.05, motion: { keys } };
    const lab = await pulledBesidePile({ colliders: [FLOOR, ball] });
    expect(lab.world.tickNumber).toBeLessThan(60 * start);
    let woken = 0;
    const before = mean(lab.positions(0), 0);
    for (let tick = lab.world.tickNumber; tick < 60 * (start + 1) + 30; tick++) {
      lab.run(1, [pull([1.5 + 0.2 * Math.sin(tick / 5), 0.5, 0])]);
      if (!woken && !isLeftOut(lab, 0)) woken = lab.world.tickNumber;
    }
    // in the last third of its path it comes within 5 cm plus its size of the pile
    expect(woken).toBeGreaterThan(60 * start + 20);
    expect(mean(lab.positions(0), 0)).toBeGreaterThan(before + 0.05);
  });

  test("a resting body beside it does not wake it", async () => {
    const lab = await pulledBesidePile();
    for (let tick = 0; tick < 200; tick++) lab.run(1, tick === 0 ? [pull([1.2, 0.5, 0])] : []);
    expect(PILE.every((b) => isLeftOut(lab, b) || lab.world.resting)).toBe(true);
  });
});

describe("same bits", () => {
  /** A grab pulls the far box to the pile and through it. */
  const script = (tick: number): Input[] => [pull([Math.max(-0.6, 1.5 - 0.04 * tick), 0.3, 0])];
  const TICKS = 50;

  test("with 1, 2 and 3 threads", async () => {
    const { created } = await pulledBesidePile();
    const hashes: string[] = [];
    for (const threads of [1, 2, 3]) {
      const memory = copyMemory(created.memory);
      const world = openWorld(memory, created.layout);
      const workers = await StepWorkers.start(world, memory, threads);
      try {
        for (let tick = 0; tick < TICKS; tick++) workers.step(script(tick));
      } finally {
        await workers.stop();
      }
      hashes.push(world.stateHash());
    }
    expect(new Set(hashes).size).toBe(1);
  });

  test("after a checkpoint with sleeping islands, and with a new world object every tick", async () => {
    const bodies = [
      box("low", [0, 0.101, 0]),
      box("high", [0.02, 0.305, 0]),
      sheet("sheet", [0, 0.45, 0]),
      box("far", [1.5, 0.101, 0]),
    ];
    const fresh = (await room(bodies)).created.memory;
    const lab = await pulledBesidePile();
    const { layout, memory } = lab.created;
    expect(isLeftOut(lab, 0)).toBe(true);
    const state = saveState(memory, fresh, layout);
    const restored = copyMemory(fresh);
    loadState(restored, layout, state);
    expect(openWorld(restored, layout).stateHash()).toBe(lab.world.stateHash());
    for (let tick = 0; tick < TICKS; tick++) {
      lab.world.step(script(tick));
      const other = openWorld(restored, layout);
      other.step(script(tick));
      expect(other.stateHash(), `tick ${tick}`).toBe(lab.world.stateHash());
    }
    expect(isLeftOut(lab, 0)).toBe(false);
  });
});
