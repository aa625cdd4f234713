/**
 * A free body without gravity keeps its linear and angular momentum: the relative drift is below 1e-4 in 60 s, while it
 * spins, vibrates and travels several meters. Measured: 3e-6 at worst.
 *
 * Linear drift is relative to the larger of the linear momentum and the mass times the speed of the spinning surface,
 * because a body that only spins has none.
 */
import { describe, expect, test } from "vitest";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";
import { laboratory } from "../laboratory.ts";
import { FLIGHTS, fly, momentum } from "./worldMomentum.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

describe("momentum is kept in 60 s of free flight", () => {
  test.each(FLIGHTS)("k $k Pa, $substeps x $iterations, $velocity m/s, $spin rad/s", async (flight) => {
    for (const { seconds, linear, angular, spin } of await fly(flight, 60, 4)) {
      expect(linear, `linear, after ${seconds} s`).toBeLessThan(1e-4);
      expect(angular, `angular, after ${seconds} s`).toBeLessThan(1e-4);
      expect(spin).toBeGreaterThan(0.9);
    }
  });
});

test("a thrown sheet under gravity gains M g t and no spin", async () => {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    worldRadius: 1000,
    bodies: [
      clothGrid("s", [0.4, 0.4], [6, 6], {
        velocity: [1, 5, 0],
        transform: { rotate: [20, 0, 30] },
        material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
      }),
    ],
  });
  const before = momentum(lab);
  const seconds = 2;
  lab.run(60 * seconds);
  const now = momentum(lab);
  const expected: [number, number, number] = [
    before.linear[0],
    before.linear[1] - before.mass * 9.81 * seconds,
    before.linear[2],
  ];
  // g h is added 2,400 times to a float32 of up to 20 m/s, whose last place is 2e-6 m/s: 1.3e-5 measured
  expect(norm(subtract(now.linear, expected)) / norm(expected)).toBeLessThan(1e-4);
  expect(norm(now.angular)).toBeLessThan(1e-4 * norm(expected) * 0.2);
});

test("damping d divides a free body's momentum and angular momentum by 1 + h d in every substep", async () => {
  const [damping, substeps, ticks] = [2, 4, 30];
  for (const gravity of [0, -9.81]) {
    const lab = await laboratory({
      substeps,
      gravity: [0, gravity, 0],
      damping,
      worldRadius: 1000,
      bodies: [
        softBox("b", [0.3, 0.2, 0.1], [2, 2, 1], {
          material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.35 },
        }),
      ],
    });
    lab.put(
      0,
      (x) => x,
      ([x, y]) => [1 - 3 * y, 3 * x, 0.5],
    );
    const before = momentum(lab);
    lab.run(ticks);
    const now = momentum(lab);
    const h = 1 / (60 * substeps);
    const keep = (1 + h * damping) ** -(substeps * ticks);
    // v' = (v + h g)/(1 + h d): a geometric series
    const fallen = (before.mass * gravity * (1 - keep)) / damping;
    const wanted: [number, number, number] = [
      keep * before.linear[0],
      keep * before.linear[1] + fallen,
      keep * before.linear[2],
    ];
    expect(norm(subtract(now.linear, wanted)) / norm(before.linear)).toBeLessThan(1e-5);
    expect(Math.abs(norm(now.angular) / norm(before.angular) / keep - 1)).toBeLessThan(1e-4);
  }
});

test("a pinned body passes momentum to its pin", async () => {
  const lab = await laboratory({
    bodies: [
      softBox("b", [0.2, 0.2, 0.2], [2, 2, 2], {
        pins: [{ select: { particles: [0] } }],
        material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.35 },
      }),
    ],
  });
  lab.put(
    0,
    (x) => x,
    (_x, i) => (lab.x[4 * i + 3] === 0 ? [0, 0, 0] : [1, 0, 0]),
  );
  lab.run(60);
  const speed = Math.max(...lab.velocities().map(Math.abs));
  expect(speed).toBeGreaterThan(0.1);
  const v = lab.velocities();
  let px = 0;
  for (let i = 0; i < v.length / 3; i++) if (lab.x[4 * i + 3]! > 0) px += v[3 * i]! / lab.x[4 * i + 3]!;
  expect(px).toBeLessThan(0.9 * 500 * 0.008);
});

describe("a balloon on the floor", () => {
  const balloon = (friction: number): Parameters<typeof laboratory>[0] => ({
    gravity: [0, -9.81, 0],
    damping: 0.1,
    bodies: [
      {
        name: "b",
        kind: "cloth",
        mesh: { type: "ball", radius: 0.2, subdivisions: 3 },
        transform: { translate: [0, 0.25, 0] },
        material: {
          density: 300,
          thickness: 0.001,
          model: "pbd",
          friction,
          distance: { compliance: 1e-4 },
          volume: { compliance: 0, pressure: 1.3 },
        },
      },
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });

  test("without friction gets no momentum along it, and no spin about its normal", async () => {
    const lab = await laboratory(balloon(0));
    lab.run(90);
    const { linear, angular, mass } = momentum(lab);
    // of the momentum with which it landed, 1 m/s; about its center, of that times its radius
    expect(Math.hypot(linear[0], linear[2])).toBeLessThan(1e-5 * mass);
    expect(Math.abs(angular[1])).toBeLessThan(1e-3 * mass * 0.2);
  });

  // The mesh is a polyhedron. It rolls to a face of its own, and rocks there.
  test("with friction stays within two radii, and does not speed up", async () => {
    const lab = await laboratory(balloon(0.5));
    lab.run(480);
    const { linear, center, mass } = momentum(lab);
    expect(Math.hypot(center[0], center[2])).toBeLessThan(0.4);
    expect(norm(linear) / mass).toBeLessThan(0.1); // 0.6 m/s and rising when the solve turned it
  });
});
