/**
 * Momentum of two bodies that collide in free flight, without gravity. Linear and angular momentum (about the room's
 * origin) drift by less than 1e-4. Drift is relative to the momentum of both bodies; for the
 * angular one the arm is half a body. All stages of contact keep it to rounding: forces, impulses, stops, rigid bodies
 * and balls.
 */
import { expect, test } from "vitest";
import type { Body, SoftBody } from "../../../shared/scene/scene.ts";
import { add, cross, norm, scale, subtract } from "../../../server/sim/reference/vector.ts";
import type { Momentum } from "../../../server/sim/reference/momentum.ts";
import { momentum } from "../laws/worldMomentum.ts";
import { tallyOf } from "./contactWatch.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const block = (name: string, more: Partial<Body>): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
    material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.35, friction: 0.4 },
    ...more,
  }) as Body;
const sheet = (name: string, more: Partial<Body>): Body =>
  ({
    name,
    kind: "cloth",
    mesh: { type: "grid", size: [0.4, 0.4], cells: [10, 10] },
    material: {
      density: 300,
      thickness: 0.001,
      youngsModulus: 2e5,
      poissonsRatio: 0.3,
      bendingStiffness: 1e-4,
      friction: 0.3,
    },
    ...more,
  }) as Body;
const rigid: Pick<SoftBody, "material"> = {
  material: { density: 800, model: "shape-matching", mode: "rigid", friction: 0.4 },
};
type Start = Pick<SoftBody, "transform" | "velocity">;
const left = (speed: number): Start => ({
  transform: { translate: [-0.16, 0, 0], rotate: [5, 20, 10] },
  velocity: [speed, 0, 0],
});
const right = (speed: number): Start => ({
  transform: { translate: [0.16, 0.03, 0.04], rotate: [10, 0, 30] },
  velocity: [-speed, 0.2 * speed, 0],
});

/** Momentum of bodies, the angular one about the origin. */
function momenta(lab: Laboratory, from?: number, end?: number): Momentum {
  const its = momentum(lab, from, end);
  return { ...its, angular: add(its.angular, cross(its.center, its.linear)) };
}

/**
 * Runs half a second that begins before the collision.
 * @returns largest drifts of all ticks, and the change of the first body's velocity, m/s
 */
async function meet(
  bodies: Body[],
  substeps: number,
  iterations: number,
): Promise<{ linear: number; angular: number; change: number; lab: Laboratory }> {
  const lab = await laboratory({ bodies, substeps, iterations, worldRadius: 1000 });
  const before = momenta(lab);
  const parts = [momenta(lab, 0, 1), momenta(lab, 1, 2)] as const;
  const brought = norm(parts[0].linear) + norm(parts[1].linear);
  let linear = 0;
  let angular = 0;
  for (let tick = 0; tick < 30; tick++) {
    expect(lab.run(1)).toEqual([]);
    const now = momenta(lab);
    linear = Math.max(linear, norm(subtract(now.linear, before.linear)) / brought);
    angular = Math.max(angular, norm(subtract(now.angular, before.angular)) / (0.1 * brought));
  }
  const after = momenta(lab, 0, 1);
  return {
    linear,
    angular,
    change: norm(subtract(scale(1 / after.mass, after.linear), scale(1 / parts[0].mass, parts[0].linear))),
    lab,
  };
}

/** Each pair of bodies with substeps and iterations. */
const schedules = (pairs: [name: string, bodies: Body[], change: number][]) =>
  pairs.flatMap(([name, bodies, change]) =>
    [
      [20, 1],
      [4, 5],
    ].map(([substeps, iterations]) => [name, substeps!, iterations!, bodies, change] as const),
  );

const SOFT: Record<string, [Body[], number]> = {
  "two jellies at 2 m/s": [[block("a", left(1)), block("b", right(1))], 1],
  "two jellies at 20 m/s": [[block("a", left(10)), block("b", right(10))], 5],
  "a sheet and a jelly": [
    [
      sheet("a", { transform: { translate: [0.15, 0.02, 0.01], rotate: [0, 0, 90] }, velocity: [-0.5, 0, 0] }),
      block("b", { transform: { rotate: [5, 20, 10] }, velocity: [2, 0, 0] }),
    ],
    1,
  ],
  "two sheets at 90 m/s": [
    [
      sheet("a", { transform: { translate: [0.35, 0.02, 0.01], rotate: [0, 0, 80] }, velocity: [-50, 0, 0] }),
      sheet("b", { transform: { translate: [-0.35, 0, 0], rotate: [10, 0, 95] }, velocity: [40, 0, 0] }),
    ],
    20,
  ],
};

test.each(schedules(Object.entries(SOFT).map(([name, [bodies, change]]) => [name, bodies, change])))(
  "%s, %i x %i: momentum is kept",
  async (_, substeps, iterations, bodies, change) => {
    const met = await meet(bodies, substeps, iterations);
    expect(met.change).toBeGreaterThan(change);
    expect(met.linear).toBeLessThan(1e-5);
    expect(met.angular).toBeLessThan(1e-5);
  },
);

test("the collision at 20 m/s includes impulses", async () => {
  const { lab } = await meet(SOFT["two jellies at 20 m/s"]![0], 4, 5);
  expect(tallyOf(lab).impulses).toBeGreaterThan(0);
});

const ball = (name: string, more: Partial<Body>): Body =>
  ({
    name,
    kind: "ball",
    mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
    material: { density: 800, friction: 0.4 },
    ...more,
  }) as Body;
const bar = block("bar", {
  transform: { translate: [-0.16, 0, 0], rotate: [5, 20, 60] },
  velocity: [1, 0, 0],
  ...rigid,
  mesh: { type: "box", size: [0.1, 0.3, 0.05], cells: [2, 5, 1] },
} as Partial<Body>);
const curtain = sheet("curtain", {
  transform: { translate: [0.05, 0.02, 0.01], rotate: [0, 0, 90] },
  velocity: [-0.5, 0.3, 0],
});

// off center, with friction: the bodies exchange a push and a spin
test.each(
  schedules([
    ["a jelly and a rigid block", [block("a", left(1)), block("b", { ...right(1), ...rigid })], 1],
    [
      "a sheet and a rigid block",
      [
        sheet("a", { transform: { translate: [0.15, 0.02, 0.01], rotate: [0, 0, 90] }, velocity: [-0.5, 0, 0] }),
        block("b", { transform: { rotate: [5, 20, 10] }, velocity: [2, 0, 0], ...rigid }),
      ],
      1,
    ],
    ["two rigid blocks", [block("a", { ...left(1), ...rigid }), block("b", { ...right(1), ...rigid })], 1],
    [
      "a rigid bar and a rigid block that bounce",
      [{ ...bar, contact: { restitution: 0.8 } }, block("b", { ...right(1), ...rigid, contact: { restitution: 0.8 } })],
      1,
    ],
    ["two balls", [ball("a", left(1)), ball("b", right(1))], 0.9],
    [
      "two balls that bounce",
      [
        ball("a", { ...left(1), contact: { restitution: 0.9 } }),
        ball("b", { ...right(1), contact: { restitution: 0.9 } }),
      ],
      1,
    ],
    ["a ball and a jelly", [ball("a", left(1)), block("b", right(1))], 1],
    ["a ball and a rigid block", [ball("a", left(1)), block("b", { ...right(1), ...rigid })], 1],
    ["a ball and a sheet", [curtain, ball("b", { transform: { translate: [-0.16, 0, 0] }, velocity: [2, 0, 0] })], 1],
  ]),
)("%s, %i x %i: momentum is kept", async (_, substeps, iterations, bodies, change) => {
  const met = await meet(bodies, substeps, iterations);
  expect(met.change).toBeGreaterThan(change);
  expect(met.linear).toBeLessThan(1e-5);
  // the bodies turn: every substep rounds its velocities, 600 times 2^-24
  expect(met.angular).toBeLessThan(600 * 2 ** -24);
});

/**
 * Velocity change of one of two rigid blocks that collide at 20 m/s, m/s, for eight starts, an eighth of a substep's
 * travel apart. The time of impact is known to a substep, so these differ.
 */
async function changesAtPhases(substeps: number, iterations: number): Promise<number[]> {
  const changes: number[] = [];
  for (let eighth = 0; eighth < 8; eighth++) {
    const apart = ((eighth / 8) * 20) / 60 / substeps;
    const moved = (start: Start, by: number): Start => {
      const [x, y, z] = start.transform!.translate!;
      return { ...start, transform: { ...start.transform, translate: [x + by, y, z] } };
    };
    const a = block("a", { ...moved(left(10), -apart / 2), ...rigid });
    const b = block("b", { ...moved(right(10), apart / 2), ...rigid });
    const met = await meet([a, b], substeps, iterations);
    expect(met.linear).toBeLessThan(1e-5);
    expect(met.angular).toBeLessThan(600 * 2 ** -24);
    changes.push(met.change);
  }
  return changes;
}

test("two rigid blocks at 20 m/s part at any phase of impact, with a first-order error in the substep", async () => {
  const usual = await changesAtPhases(20, 1);
  const coarse = await changesAtPhases(4, 5);
  const fine = await changesAtPhases(160, 1);
  const exact = fine.reduce((sum, v) => sum + v, 0) / fine.length;
  const error = (changes: number[]): number => Math.max(...changes.map((v) => Math.abs(v - exact)));
  // an error of first order in the substep, which is five times as long
  expect(error(coarse)).toBeLessThan(5 * error(usual));
  expect(error(usual)).toBeLessThan(0.05 * exact);
});
