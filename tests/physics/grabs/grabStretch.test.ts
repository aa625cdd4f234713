/**
 * Grabs of any strength tear nothing (server/sim/grabs/grabLimits.ts). Where the worst edge is stretched by
 * `grabMaxStretch`, a grab has no force left, so only the body's momentum stretches it further: by at most v / c, with
 * the grab's speed v and the wave speed c. Here c is at least 6 m/s.
 */
import { expect, test } from "vitest";
import { strainGauge } from "../../../load-tests/hands/strain.ts";
import type { Input } from "../../../server/sim/types.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const SPEED = 1;
const STRONG = { grabMaxForce: 1e6, grabCompliance: 1e-9, grabSpeed: SPEED };
const TICKS = 90;

const jelly: Body = softBox("jelly", [0.3, 0.3, 0.3], [5, 5, 5], {
  material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.3, damping: 1 },
  pins: [{ select: { box: { min: [-1, -1, -1], max: [1, -0.149, 1] } } }],
});
const sheet: Body = clothGrid("sheet", [0.6, 0.4], [18, 12], {
  material: {
    density: 300,
    thickness: 0.001,
    youngsModulus: 2e5,
    poissonsRatio: 0.3,
    bendingStiffness: 1e-5,
    damping: 1,
  },
});

/** A grab on the triangle nearest to a point, m, that moves to another point. */
function hand({ created, positions }: Laboratory, member: number, at: Vec3, target: Vec3): Input {
  const { triangles } = created.bodies[0]!;
  const x = positions(0);
  let triangle = 0;
  let least = Infinity;
  for (let t = 0; t < triangles.length / 3; t++) {
    const away = [0, 1, 2].map((r) =>
      [0, 1, 2].reduce((sum, k) => sum + x[3 * triangles[3 * t + k]! + r]! / 3, -at[r]!),
    );
    const distance = Math.hypot(...away);
    if (distance < least) [triangle, least] = [t, distance];
  }
  return { type: "grab", member, grab: 0, body: 0, triangle, u: 1 / 3, v: 1 / 3, target };
}

test.each<[string, Body, [Vec3, Vec3][], number]>([
  [
    "a jelly that stands firm, pulled up",
    jelly,
    [
      [
        [0, 0.15, 0],
        [0, 5, 0],
      ],
    ],
    2,
  ],
  [
    "the same by an edge, to the side",
    jelly,
    [
      [
        [0.15, 0.15, 0],
        [5, 0.15, 0],
      ],
    ],
    2,
  ],
  [
    "a sheet between two hands",
    sheet,
    [
      [
        [0.28, 0, 0],
        [5, 0, 0],
      ],
      [
        [-0.28, 0, 0],
        [-5, 0, 0],
      ],
    ],
    2,
  ],
  [
    "a jelly whose scene allows a tenth",
    jelly,
    [
      [
        [0, 0.15, 0],
        [0, 5, 0],
      ],
    ],
    1.1,
  ],
])("%s: grabs stretch no edge beyond `grabMaxStretch`, up to inertia", async (_, body, hands, grabMaxStretch) => {
  const lab = await laboratory({ bodies: [body], substeps: 20, interaction: { ...STRONG, grabMaxStretch } });
  const gauge = strainGauge(lab.created, lab.world);
  const inputs = hands.map(([at, target], n) => hand(lab, n + 1, at, target));
  let stretch = 0;
  let inverted = 0;
  for (let tick = 0; tick < TICKS; tick++) {
    expect(lab.run(1, tick === 0 ? inputs : [])).toEqual([]);
    const now = gauge();
    stretch = Math.max(stretch, now.stretch);
    inverted = Math.max(inverted, now.inverted);
  }
  const wave = Math.sqrt(2e4 / 500);
  expect(stretch).toBeLessThan(grabMaxStretch + SPEED / wave);
  // they did pull: grabs begin to slow down at a quarter of the allowed stretch
  expect(stretch).toBeGreaterThan(1 + 0.25 * (grabMaxStretch - 1));
  expect(inverted).toBe(0);
});

test("the momentum of a free body equals the impulses of the grabs, also where a grab eases off", async () => {
  const free: Body = { ...jelly, pins: [], material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.3 } };
  const lab = await laboratory({ bodies: [free], substeps: 20, interaction: { ...STRONG, grabMaxStretch: 1.2 } });
  const { layout, memory } = lab.created;
  const f32 = new Float32Array(memory.buffer);
  const h = 1 / (60 * 20);
  const given = [0, 0, 0];
  let forces = 0;
  lab.world.watchSubsteps(() => {
    for (let slot = 0; slot < 2; slot++) {
      const lambda = (layout.grabFirst + slot * L.POINT_BYTES + L.POINT_LAMBDA) / 4;
      // C decreases along the sign of -lambda: x += w b lambda, so lambda / h is the impulse of the substep
      for (let r = 0; r < 3; r++) given[r]! += (f32[lambda + r]! / h) * layout.massUnit;
      forces += Math.hypot(...f32.subarray(lambda, lambda + 3)) > 0 ? 1 : 0;
    }
  });
  lab.run(TICKS, [hand(lab, 1, [0, 0.15, 0], [0.4, 5.15, 0]), hand(lab, 2, [0.15, 0, 0], [0.55, 5, 0])]);
  const velocities = lab.velocities(0);
  const momentum = [0, 0, 0];
  for (let i = 0; i < velocities.length; i++)
    momentum[i % 3]! += lab.created.bodies[0]!.mass[Math.floor(i / 3)]! * velocities[i]!;
  expect(forces).toBeGreaterThan(TICKS * 20);
  // float32 velocities are differences of positions over h: each substep rounds by 2^-24 of the largest coordinate over
  // h
  const mass = lab.created.bodies[0]!.mass.reduce((sum, m) => sum + m, 0);
  const rounding = mass * (2 ** -24 / h) * Math.sqrt(TICKS * 20);
  momentum.forEach((p, r) => expect(Math.abs(p - given[r]!)).toBeLessThan(rounding + 1e-4 * Math.hypot(...momentum)));
  expect(Math.hypot(...momentum)).toBeGreaterThan(0.5 * mass * SPEED);
});
