/**
 * Undamped pendulums of rigid bodies keep their energy and their exact period (scheme: rigid/rigidEnds.ts in the
 * kernel). Energy oscillates in proportion to the step, as that of every symplectic method, and does not drift.
 */
import { describe, expect, test } from "vitest";
import type { Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";
import { inLong } from "../../support/run/long.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { momentum } from "../laws/worldMomentum.ts";

const G = 9.81;
/** Width of the rods, m. */
const WIDE = 0.05;

const body = (name: string, center: Vec3, size: Vec3, cells: Vec3): Scene["bodies"][number] => ({
  name,
  kind: "soft",
  mesh: { type: "box", size, cells },
  transform: { translate: center },
  material: { model: "shape-matching", mode: "rigid", density: 1000 },
});
const rod = (name: string, x: number): Scene["bodies"][number] => body(name, [x, 0, 0], [1, WIDE, WIDE], [4, 1, 1]);
const held = (name: string, at: Vec3): NonNullable<Scene["attachments"]>[number] => ({
  from: { body: name, near: at },
  to: { world: at },
});
/** Both ends of an edge: the rod turns about it. */
const hinge = [held("a", [0, WIDE / 2, WIDE / 2]), held("a", [0, WIDE / 2, -WIDE / 2])];
const joint: Vec3 = [1, WIDE / 2, WIDE / 2];

/** Bodies, attachments, and the deepest fall of their common center, m. */
const PENDULUMS: [string, Pick<Scene, "bodies" | "attachments">, number][] = [
  ["rod", { bodies: [rod("a", 0.5)], attachments: hinge }, 0.5],
  [
    "box on a corner",
    { bodies: [body("a", [0.15, -0.15, 0.15], [0.3, 0.3, 0.3], [2, 2, 2])], attachments: [held("a", [0, 0, 0])] },
    0.15 * Math.sqrt(3) - 0.15,
  ],
  [
    "double pendulum",
    {
      bodies: [{ ...rod("a", 0.5), contact: { ignore: ["b"] } }, rod("b", 1.5)],
      attachments: [
        held("a", [0, WIDE / 2, WIDE / 2]),
        { from: { body: "a", near: joint }, to: { body: "b", near: joint } },
      ],
    },
    1,
  ],
];

/** Kinetic energy and potential, J. */
function energyOf({ created, positions, velocities }: Laboratory): number {
  let sum = 0;
  created.bodies.forEach(({ mass }, b) => {
    const [x, v] = [positions(b), velocities(b)];
    mass.forEach((m, i) => {
      sum += m * (0.5 * (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2) + G * x[3 * i + 1]!);
    });
  });
  return sum;
}

describe.each(PENDULUMS)("a %s", (_, scene, fall) => {
  test.each([
    [20, inLong(60, 20)],
    [40, 15],
  ])("with %i substeps keeps its energy for %i s", async (substeps, seconds) => {
    const lab = await laboratory({ substeps, gravity: [0, -G, 0], ...scene });
    const mass = lab.created.bodies.reduce((sum, { mass }) => mass.reduce((a, m) => a + m, sum), 0);
    const before = energyOf(lab);
    let most = 0;
    for (let second = 0; second < seconds; second++) {
      lab.run(60);
      most = Math.max(most, Math.abs(energyOf(lab) - before) / (mass * G * fall));
    }
    // h omega at most: 8 1/s over 1,200 or 2,400 steps a second
    expect(most).toBeLessThan(8 / (60 * substeps));
  });
});

test("a rod swings with the exact period of a physical pendulum", async () => {
  const [, scene] = PENDULUMS[0]!;
  const lab = await laboratory({ gravity: [0, -G, 0], ...scene });
  const arm = Math.hypot(0.5, WIDE / 2);
  const inertia = (1 + WIDE ** 2) / 12 + arm ** 2; // over the mass
  const start = Math.atan2(0.5, WIDE / 2); // from the vertical
  // T = 2 pi (I/m g d)^1/2 / agm(1, cos(start/2))
  let [a, g] = [1, Math.cos(start / 2)];
  while (Math.abs(a - g) > 1e-15) [a, g] = [(a + g) / 2, Math.sqrt(a * g)];
  const period = (2 * Math.PI * Math.sqrt(inertia / (G * arm))) / a;
  /** Times at which the rod swings through its lowest position, s. */
  const times: number[] = [];
  const outside = (): number => lab.positions().reduce((sum, x, k) => sum + (k % 3 === 0 ? x : 0), 0);
  let before = outside();
  for (let tick = 1; times.length < 21; tick++) {
    lab.run(1);
    const now = outside();
    if (before > 0 !== now > 0) times.push((tick - 1 + before / (before - now)) / 60);
    before = now;
  }
  // an error of second order in the step, (8/1,200)^2
  expect(Math.abs((times[20]! - times[0]!) / 10 / period - 1)).toBeLessThan(4e-5);
});

test("a rigid body that is attached to itself falls like any other", async () => {
  const attached = { from: { body: "a", near: [0, 0, 0] as Vec3 }, to: { body: "a", near: [1, 0, 0] as Vec3 } };
  const heights = await Promise.all(
    [[], [attached]].map(async (attachments) => {
      const lab = await laboratory({ bodies: [rod("a", 0.5)], attachments });
      lab.run(30);
      return lab.positions(0)[1]!;
    }),
  );
  expect(heights[1]).toBe(heights[0]);
});

test("two rigid bodies attached to each other keep momentum and angular momentum", async () => {
  const lab = await laboratory({
    bodies: [
      { ...rod("a", 0.5), contact: { ignore: ["b"] } },
      body("b", [1.1, WIDE / 2 - 0.05, WIDE / 2 + 0.05], [0.2, 0.1, 0.1], [1, 2, 1]),
    ],
    attachments: [{ from: { body: "a", near: joint }, to: { body: "b", near: joint } }],
  });
  const spin: Vec3 = [3, 1, 5];
  lab.put(
    0,
    (x) => x,
    ([x, y, z]) => [spin[1] * z - spin[2] * y + 1, spin[2] * x - spin[0] * z, spin[0] * y - spin[1] * x],
  );
  const before = momentum(lab);
  lab.run(120);
  const after = momentum(lab);
  for (const kind of ["linear", "angular"] as const)
    expect(norm(subtract(after[kind], before[kind])) / norm(before[kind])).toBeLessThan(1e-5);
});
