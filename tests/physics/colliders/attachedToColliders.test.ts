/**
 * Points attached to a collider follow it. An iteration solves rigid attachments last, so at the end of a tick the
 * particle is at s + R (p - center), up to float32 rounding over a path of some meters: 1e-6 m.
 */
import { describe, expect, test } from "vitest";
import type { Attachment, Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { compileMotion, matrixOf, poseAt } from "../../../shared/geometry/colliderMotion.ts";
import { HOST_STAGES } from "../../../server/sim/world.ts";
import { laboratory } from "../laboratory.ts";

const cloth: Body = {
  name: "flag",
  kind: "cloth",
  mesh: { type: "grid", size: [0.4, 0.2], cells: [8, 4] },
  transform: { translate: [0.3, 1, 0] },
  material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 1 },
};
/** Only the attachments move this sheet. */
const free: Body = { ...cloth, contact: { ignore: ["holder"], self: false } };
const motion: Collider["motion"] = {
  keys: [
    { time: 0 },
    { time: 0.5, rotate: [0, 200, 0], translate: [0.1, 0, 0] },
    { time: 1.2, rotate: [0, 40, 0], translate: [0, 0.2, -0.1] },
    { time: 1.5 },
  ],
  loop: true,
};
const box: Collider = { type: "box", name: "holder", center: [0, 1, 0], halfExtents: [0.04, 0.1, 0.1], motion };
/** The side of the sheet next to the box: the particles with the least x. */
const SIDE = [0, 9, 18, 27, 36];
const attachments: Attachment[] = SIDE.map((particle) => ({
  from: { body: "flag", particle },
  to: { collider: "holder" },
}));

/** Position of a point of the moving box after `seconds`. */
function carried(point: readonly number[], seconds: number, from: Vec3 = [0, 1, 0]): number[] {
  const { translate, quaternion } = poseAt(compileMotion(motion!), seconds);
  const R = matrixOf(quaternion);
  const arm = point.map((c, r) => c - from[r]!);
  return from.map(
    (c, r) => c + translate[r]! + R[3 * r]! * arm[0]! + R[3 * r + 1]! * arm[1]! + R[3 * r + 2]! * arm[2]!,
  );
}

const rows = (x: Float64Array): number[][] =>
  Array.from({ length: x.length / 3 }, (_, i) => [...x.subarray(3 * i, 3 * i + 3)]);
const apart = (a: readonly number[], b: readonly number[]): number => Math.max(...a.map((c, r) => Math.abs(c - b[r]!)));

describe.each([1, 3])("%i iterations", (iterations) => {
  test("attached particles follow the collider, also where its path jumps", async () => {
    const lab = await laboratory({ gravity: [0, -9.81, 0], iterations, bodies: [free], colliders: [box], attachments });
    const { origin } = lab.created.bodies[0]!;
    const start = rows(lab.positions());
    const held = SIDE.map((n) => origin.indexOf(n));
    let farthest = 0;
    for (let tick = 1; tick <= 150; tick++) {
      lab.run(1);
      const now = rows(lab.positions());
      for (const i of held) {
        expect(apart(now[i]!, carried(start[i]!, tick / 60)), `tick ${tick}`).toBeLessThan(2e-6);
        farthest = Math.max(farthest, apart(now[i]!, start[i]!));
      }
    }
    expect(farthest).toBeGreaterThan(0.2);
  });
});

test("attached particles follow the collider a kilometer from the origin", async () => {
  const far: Vec3 = [1000, 1, -500];
  const lab = await laboratory({
    worldRadius: 5000,
    quantum: 0.001,
    bodies: [{ ...free, transform: { translate: [1000.3, 1, -500] } }],
    colliders: [{ ...box, center: far } as Collider],
    attachments,
  });
  const { origin } = lab.created.bodies[0]!;
  const start = rows(lab.positions());
  lab.run(47);
  const now = rows(lab.positions());
  for (const n of SIDE)
    expect(apart(now[origin.indexOf(n)]!, carried(start[origin.indexOf(n)]!, 47 / 60, far))).toBeLessThan(2e-6);
});

test("a reset puts the body at the collider's current place", async () => {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    bodies: [
      { ...cloth, velocity: [0, 0, 3] },
      { ...cloth, name: "other", transform: { translate: [2, 1, 0] } },
    ],
    colliders: [box],
    attachments,
  });
  const start = rows(lab.positions());
  const other = rows(lab.positions(1));
  lab.run(40);
  const turned = carried([0, 1, 3], 40 / 60).map((c, r) => c - carried([0, 1, 0], 40 / 60)[r]!);
  let looked = 0;
  lab.world.watchPhases((phase) => {
    if (phase !== HOST_STAGES.inputs) return; // the state after the reset, before anything moves
    looked++;
    rows(lab.positions()).forEach((at, i) => expect(apart(at, carried(start[i]!, 40 / 60))).toBeLessThan(1e-6));
    for (const velocity of rows(lab.velocities())) expect(apart(velocity, turned)).toBeLessThan(1e-6);
    expect(rows(lab.positions(1))).toEqual(other);
  });
  expect(lab.run(1, [{ type: "reset", member: 1 }])).toHaveLength(1);
  expect(looked).toBe(1);
});

test("an attachment to a static collider equals an attachment to the world", async () => {
  const standing = { ...box } as Collider;
  delete standing.motion;
  const lab = await laboratory({ gravity: [0, -9.81, 0], bodies: [cloth], colliders: [standing], attachments });
  const { origin } = lab.created.bodies[0]!;
  const start = rows(lab.positions());
  lab.run(60);
  const now = rows(lab.positions());
  for (const n of SIDE) expect(apart(now[origin.indexOf(n)]!, start[origin.indexOf(n)]!)).toBeLessThan(1e-6);
  expect(Math.min(...now.map((at) => at[1]!))).toBeLessThan(0.9);
});

test.each<[string, Collider[], string]>([
  ["no collider of the name", [{ ...box, name: "post" }], "the name of a collider: post"],
  [
    "two of it",
    [box, { type: "sphere", name: "holder", center: [5, 5, 5], radius: 1 }],
    "a unique name: 2 colliders have it",
  ],
  [
    "a path that begins elsewhere",
    [{ ...box, motion: { keys: [{ time: 0, rotate: [0, 10, 0] }, { time: 1 }] } } as Collider],
    "a collider whose path begins at its place in the scene",
  ],
])("%s is refused", async (_, colliders, limit) => {
  await expect(laboratory({ bodies: [cloth], colliders, attachments })).rejects.toMatchObject({
    path: "/attachments/0/to/collider",
    value: "holder",
    limit: expect.stringContaining(limit),
  });
});
