/**
 * Stacks of rigid bodies. In theory they do not move at all. Limits: a millimeter in the given time, and speeds below
 * what gravity adds in a substep. A body counts as thrown if it is faster than a fall from its start.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { inLong } from "../../support/run/long.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const G = 9.81;
const SIZE = 0.2;
const GAP = 0.0045;
const PLANE: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 };
const MESH: Collider = {
  type: "mesh",
  mesh: { type: "box", size: [2, 0.5, 2], cells: [1, 1, 1] },
  transform: { translate: [0.013, -0.25, 0.027] },
  friction: 0.5,
};

const box = (n: number, density: number, above: number): Body =>
  ({
    name: `box ${n}`,
    kind: "soft",
    mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [2, 2, 2] },
    transform: { translate: [0, SIZE / 2 + n * (SIZE + GAP) + above, 0] },
    material: { density, model: "shape-matching", mode: "rigid", friction: 0.5 },
  }) as Body;
/** @param above height over the floor, m: 0.002 is within the contact gap */
const tower = (densities: readonly number[], floor: Collider = PLANE, above = 0.002): Promise<Laboratory> =>
  laboratory({
    bodies: densities.map((density, n) => box(n, density, above)),
    colliders: [floor],
    substeps: 20,
    iterations: 1,
    gravity: [0, -G, 0],
  });
const middleOf = (lab: Laboratory, body: number): Vec3 => middle(lab.positions(body));
const drifts = (lab: Laboratory, from: readonly Vec3[]): number[] =>
  from.map((a, b) => Math.hypot(...middleOf(lab, b).map((c, r) => c - a[r]!)));
const fastest = (lab: Laboratory): number =>
  Math.max(...lab.created.bodies.flatMap((_, b) => Array.from(lab.velocities(b), Math.abs)));

test("two boxes stand still on a mesh", async () => {
  const lab = await tower([500, 500], MESH);
  lab.run(60);
  const from = [0, 1].map((b) => middleOf(lab, b));
  lab.run(60 * inLong(15, 6));
  expect(Math.max(...drifts(lab, from))).toBeLessThan(1e-3);
  expect(fastest(lab)).toBeLessThan(G / 1200);
});

test("one box on a floor does not move", async () => {
  const lab = await tower([500]);
  lab.run(60);
  const from = [middleOf(lab, 0)];
  lab.run(300);
  expect(Math.max(...drifts(lab, from))).toBeLessThan(1e-6);
});

const STANDS_SECONDS = inLong(10, 3);
test(`a tower of eight stands within a millimeter for ${STANDS_SECONDS} s without sleep`, async () => {
  const lab = await tower(Array<number>(8).fill(500));
  lab.run(120);
  const from = lab.created.bodies.map((_, b) => middleOf(lab, b));
  for (let second = 0; second < STANDS_SECONDS; second++) {
    expect(lab.run(60)).toEqual([]);
    expect(Math.max(...drifts(lab, from)), `after ${second + 1} s`).toBeLessThan(1e-3);
  }
});

test("a tower sleeps, and stands for a minute", async () => {
  const lab = await tower(Array<number>(8).fill(500));
  lab.world.mayRest = true;
  lab.run(120);
  const from = lab.created.bodies.map((_, b) => middleOf(lab, b));
  let ticks = 120;
  while (lab.world.asleep().includes(0) && ticks < 3600) {
    lab.run(1);
    ticks++;
  }
  expect(ticks).toBeLessThan(15 * 60);
  lab.run(3600 - ticks);
  expect(Math.max(...drifts(lab, from))).toBeLessThan(1e-3);
});

/** Kinetic and potential energy, J. */
const energy = (lab: Laboratory, densities: readonly number[]): number =>
  densities.reduce((sum, density, b) => {
    const v = lab.velocities(b);
    const square = v.reduce((all, c) => all + c * c, 0) / (v.length / 3);
    return sum + density * SIZE ** 3 * (square / 2 + G * middleOf(lab, b)[1]);
  }, 0);

describe.each([100, 1000])("a box %i times as heavy on a light one", (ratio) => {
  const densities = [500, 500 * ratio];

  test("never gains energy over its start, and creeps by less than 0.1 mm/s", async () => {
    // outside of the floor's gap, in which the floor would lift it
    const lab = await tower(densities, PLANE, GAP + 1e-4);
    const start = energy(lab, densities);
    // positions are float32: half a last place of each of 27, at worst all with the same sign
    const rounding = start * 2 ** -23;
    for (let tick = 0; tick < 120; tick++) {
      expect(lab.run(1)).toEqual([]);
      expect(energy(lab, densities), `after tick ${tick + 1}`).toBeLessThan(start + rounding);
    }
    const from = [0, 1].map((b) => middleOf(lab, b));
    lab.run(300);
    expect(Math.max(...drifts(lab, from))).toBeLessThan(5 * 1e-4);
    expect(fastest(lab)).toBeLessThan(G / 1200);
  });
});

test.each([
  [10, 0, 0],
  [100, 0.002, 0.002],
  [1000, 0.002, 0.002],
  [1000, 0, 1e-5],
])(
  "a box %i times as heavy that begins within its gap stands: %d m over the floor, %d m over the light one",
  async (ratio, above, gap) => {
    const bodies = [box(0, 500, above), box(1, 500 * ratio, above + gap - GAP)];
    const lab = await laboratory({ bodies, colliders: [PLANE], gravity: [0, -G, 0], refine: true });
    lab.run(60);
    const from = [0, 1].map((b) => middleOf(lab, b));
    lab.run(300);
    expect(Math.max(...drifts(lab, from))).toBeLessThan(5 * 1e-4);
    // The contact gaps of both boxes keep them apart.
    expect(middleOf(lab, 1)[1] - middleOf(lab, 0)[1]).toBeGreaterThan(SIZE);
  },
);

test("a ball ten times as heavy on another one intersects it in no frame, although balls have no thickness", async () => {
  const ball = (name: string, y: number, density: number): Body => ({
    name,
    kind: "ball",
    mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
    transform: { translate: [0, y, 0], rotate: [20, 30, 40] },
    material: { density, friction: 0.5 },
  });
  const walls = [[1, 0], [-1, 0], [0, 1], [0, -1]].map(([x, z]): Collider => ({ type: "plane", normal: [x!, 0, z!], offset: -0.103, friction: 0 })); // biome-ignore format: one line
  const lab = await laboratory({
    bodies: [ball("heavy", 0.312, 5000), ball("light", 0.106, 500)],
    colliders: [PLANE, ...walls],
    gravity: [0, -G, 0],
    damping: 1,
    refine: true,
  });
  for (let tick = 1; tick <= 30; tick++) {
    lab.run(1);
    expect(crossings(lab, true)).toBe(0);
  }
  expect(lab.world.contactCounts().checks).toBeGreaterThan(0);
});
