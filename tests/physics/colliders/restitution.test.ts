/**
 * Restitution at analytic colliders: a body that arrives with v leaves with e v (e is the geometric mean of both).
 * Velocities before and after are those of substeps, so they are known to g h: with 9.81 m/s^2 and h = 1/1200 s, 8.2
 * mm/s of a few m/s.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const G = 9.81;
const H = 1 / 1200;
const contact = (restitution: number): { contact: { restitution: number } } => ({ contact: { restitution } });
const BODIES: Record<string, (y: number, restitution: number, rotate?: Vec3) => Body> = {
  ball: (y, e) => ({
    name: "ball",
    kind: "ball",
    mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
    transform: { translate: [0, y + 0.1, 0] },
    material: { density: 500, friction: 0 },
    ...contact(e),
  }),
  "rigid box": (y, e, rotate = [0, 20, 0]) => ({
    name: "die",
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
    transform: { rotate, translate: [0, y + 0.1, 0] },
    material: { density: 500, model: "shape-matching", mode: "rigid", friction: 0 },
    ...contact(e),
  }),
  // flat: every particle meets the floor at once
  cloth: (y, e) => ({
    name: "cloth",
    kind: "cloth",
    mesh: { type: "grid", size: [0.4, 0.4], cells: [4, 4] },
    transform: { translate: [0, y, 0] },
    material: { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0 },
    ...contact(e),
  }),
};
const floor = (restitution: number): Collider => ({ type: "plane", normal: [0, 1, 0], offset: 0, restitution });

/** Masses of a body's particles in the unit of the memory; only ratios are used. */
const massOf = (lab: Laboratory): number[] => [...lab.created.bodies[0]!.mass];
const fallSpeed = (lab: Laboratory): number => {
  const v = lab.velocities();
  const m = massOf(lab);
  return m.reduce((sum, mass, i) => sum + mass * v[3 * i + 1]!, 0) / m.reduce((a, b) => a + b, 0);
};

/** Vertical velocities of the body before and after its first impact. */
async function impact(lab: Laboratory): Promise<{ before: number; after: number }> {
  let last = fallSpeed(lab);
  let found: { before: number; after: number } | undefined;
  lab.world.watchSubsteps(() => {
    const now = fallSpeed(lab);
    if (!found && now > last + G * H) found = { before: last, after: now };
    last = now;
  });
  lab.run(60);
  return found!;
}

describe.each(Object.entries(BODIES))("%s", (_, make) => {
  test.each([
    [0.5, 0.5, 0.5],
    [1, 0.64, 0.8],
    [1, 1, 1],
  ])("of %d on %d leaves with %d of its speed", async (own, other, e) => {
    const { before, after } = await impact(
      await laboratory({ substeps: 20, gravity: [0, -G, 0], bodies: [make(0.5, own)], colliders: [floor(other)] }),
    );
    expect(before).toBeLessThan(-2.5); // sqrt(2 g 0.5 m) = 3.1 m/s
    expect(Math.abs(after + e * before)).toBeLessThan(2 * G * H);
  });

  test("without restitution on either side the body stays down", async () => {
    const lab = await laboratory({ substeps: 20, gravity: [0, -G, 0], bodies: [make(0.5, 1)], colliders: [floor(0)] });
    await impact(lab);
    expect(Math.abs(fallSpeed(lab))).toBeLessThan(2 * G * H);
  });

  test("a body at rest does not hop", async () => {
    const lab = await laboratory({
      substeps: 20,
      gravity: [0, -G, 0],
      bodies: [make(0.004, 0.9)],
      colliders: [floor(0.9)],
    });
    lab.run(300);
    const before = lab.positions();
    lab.run(60);
    // its margin, 2 % of an edge, is at least a tenth of a millimeter
    expect(Math.max(...lab.positions().map((x, k) => Math.abs(x - before[k]!)))).toBeLessThan(1e-4);
  });

  test("a body at rest, hit by a wall at 2 m/s, leaves with 1 + e of that", async () => {
    const wall: Collider = {
      type: "box",
      center: [0, -0.5, 0],
      halfExtents: [1, 0.3, 1],
      restitution: 0.25,
      motion: { keys: [{ time: 0 }, { time: 0.2, translate: [0, 0.4, 0] }, { time: 0.21, translate: [0, 0.2, 0] }] },
    };
    const lab = await laboratory({ substeps: 20, gravity: [0, 0, 0], bodies: [make(0, 1)], colliders: [wall] });
    lab.run(20);
    expect(Math.abs(fallSpeed(lab) - 2 * 1.5)).toBeLessThan(0.01 * 3);
  });
});

test("a rigid box that falls on a corner, without friction and e = 1, keeps its energy", async () => {
  const lab = await laboratory({
    substeps: 20,
    gravity: [0, -G, 0],
    bodies: [BODIES["rigid box"]!(0.5, 1, [30, 10, 40])],
    colliders: [{ ...floor(1), friction: 0 } as Collider],
  });
  const m = massOf(lab);
  const energy = (): number => {
    const x = lab.positions();
    const v = lab.velocities();
    return m.reduce(
      (sum, mass, i) =>
        sum + mass * (0.5 * (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2) + G * x[3 * i + 1]!),
      0,
    );
  };
  const before = energy();
  const total = m.reduce((a, b) => a + b, 0);
  lab.run(22); // the corner arrives after 0.3 s
  expect(lab.velocities().some((v) => Math.abs(v) > 3)).toBe(true);
  // the error of an impact is the fall of a substep at 3 m/s; damping by implicit steps in rotation and flight is far
  // smaller
  expect(Math.abs(energy() - before)).toBeLessThan(2 * total * G * 3.2 * H * 2);
});
