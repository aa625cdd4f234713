/**
 * The place of a scene does not matter, because every room has its own origin (server/sim/world/origin.ts). A scene
 * moved by a round number of meters runs to the last bit like the scene at the origin. A scene at rest stays at rest.
 */
import { describe, expect, test } from "vitest";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

/**
 * A scene with everything that has a place: bodies, pins, loads, colliders, attachments and grabs. No coordinate is
 * exact in float32.
 */
async function scene(at: Vec3): Promise<Laboratory> {
  const by = (x: number, y: number, z: number): Vec3 => [at[0] + x, at[1] + y, at[2] + z];
  return laboratory({
    gravity: [0, -9.81, 0],
    worldRadius: 20000,
    substeps: 6,
    iterations: 2,
    bodies: [
      softBox("a", [0.3, 0.3, 0.3], [3, 3, 3], {
        transform: { translate: by(0.03, 0.41, 0.01), rotate: [20, 10, 0] },
        velocity: [0.5, -1, 0],
        material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.4 },
      }),
      {
        name: "b",
        kind: "soft",
        mesh: { type: "ball", radius: 0.2, subdivisions: 2 },
        tetrahedralize: { spacing: 0.1 },
        transform: { translate: by(0.5, 0.23, 0) },
        material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.3 },
        loads: [{ select: { box: { min: by(0.4, 0.3, -1), max: by(1, 1, 1) } }, force: [3, 1, 0] }],
      },
      clothGrid("c", [0.9, 0.7], [12, 9], {
        transform: { translate: by(0, 0.7, 0), rotate: [0, 30, 5] },
        material: { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
        pins: [{ select: { sphere: { center: by(0.2, 0.7, -0.5), radius: 0.1 } } }],
      }),
    ],
    colliders: [
      { type: "plane", normal: [0.1, 1, 0], offset: 0.1 * at[0] + at[1] },
      { type: "sphere", center: by(0.37, 0.12, 0.4), radius: 0.15 },
      { type: "box", center: by(-0.4, 0.12, 0), halfExtents: [0.12, 0.12, 0.25], rotate: [0, 15, 0] },
      { type: "capsule", a: by(-0.25, 0.25, -0.37), b: by(0.25, 0.3, -0.37), radius: 0.06 },
    ],
    attachments: [
      { from: { body: "c", near: by(-0.4, 0.7, 0.4) }, to: { world: by(-0.5, 0.9, 0.4) }, compliance: 1e-3 },
      { from: { body: "a", near: by(0.1, 0.6, 0.1) }, to: { body: "c", near: by(0.1, 0.7, 0.1) } },
    ],
  });
}

/** State hash after a hundred ticks with grabs. */
async function run(at: Vec3): Promise<{ hash: string; lab: Laboratory }> {
  const lab = await scene(at);
  expect(lab.run(30)).toEqual([]);
  expect(
    lab.run(40, [
      { type: "grab", member: 1, grab: 0, body: 1, triangle: 3, u: 0.25, v: 0.25, target: [0.3, 0.8, 0.3] },
      { type: "impulse", member: 1, body: 2, triangle: 30, u: 0.25, v: 0.25, impulse: [0, 0.1, 0.2] },
    ]),
  ).toEqual([]);
  expect(lab.run(30, [{ type: "release", member: 1, grab: 0 }])).toEqual([]);
  return { hash: lab.world.stateHash(), lab };
}

const home = run([0, 0, 0]);

describe("a moved scene has the same bits", () => {
  test.each<[Vec3]>([[[1000, 0, 0]], [[0, 0, -1000]], [[10000, 0, -500]], [[-300, 2000, 7000]]])(
    "moved by %j m",
    async (at) => {
      const [{ hash, lab }, { hash: expected }] = await Promise.all([run(at), home]);
      expect(lab.created.layout.origin).toEqual(at);
      expect(hash).toBe(expected);
    },
  );

  test("the compared motion moves every body away from its start", async () => {
    const [{ lab }, start] = await Promise.all([home, scene([0, 0, 0])]);
    for (const b of [0, 1, 2])
      expect(Math.max(...lab.positions(b).map((v, k) => Math.abs(v - start.positions(b)[k]!)))).toBeGreaterThan(0.1);
  });
});

test("clients receive the same data, except for the origin", async () => {
  const [{ topology: far }, { topology: near }] = [
    (await scene([1000, 0, 0])).created,
    (await scene([0, 0, 0])).created,
  ];
  expect(far.origin).toEqual([1000, 0, 0]);
  expect(far.bodies).toEqual(near.bodies);
  expect(near.camera.target.every((c, r) => Math.abs(c - far.camera.target[r]!) < 1e-9)).toBe(true);
});

test("the limit of the world does not move: a body beyond it is held, a grab beyond it is refused", async () => {
  const thrown = async (velocity: Vec3) =>
    laboratory({
      worldRadius: 1001,
      bodies: [
        softBox("b", [0.3, 0.3, 0.3], [1, 1, 1], {
          transform: { translate: [1000, 0, 0] },
          velocity,
          material: { density: 500, youngsModulus: 1e4, poissonsRatio: 0.3 },
        }),
      ],
    });
  const out = await thrown([10, 0, 0]);
  expect(out.run(60)).toMatchObject([
    {
      type: "bodyHeld",
      reason: "a particle was not finite or beyond 1001 m from the origin; rolled back one tick and held until a reset",
    },
  ]);
  const grab = { type: "grab", member: 1, grab: 0, body: 0, triangle: 0, u: 0.3, v: 0.3 } as const;
  expect(out.run(1, [{ ...grab, target: [1.5, 0, 0] }])).toMatchObject([
    { type: "inputRejected", field: "target", value: 1001.5 },
  ]);
  const back = await thrown([-10, 0, 0]);
  expect(back.run(60)).toEqual([]);
  expect(back.run(1, [{ ...grab, target: [-100, 0, 0] }])).toEqual([]);
});

const resting = (at: Vec3): Body[] => [
  softBox("cube", [0.3, 0.2, 0.3], [2, 2, 2], {
    transform: { translate: [at[0], at[1] + 0.1, at[2]] },
    material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.35 },
  }),
  clothGrid("sheet", [0.3, 0.2], [4, 4], {
    transform: { translate: [at[0] + 0.6, at[1] + 0.01, at[2]] },
    material: { density: 500, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
  }),
];
const floor = (y: number) => [{ type: "plane" as const, normal: [0, 1, 0] as Vec3, offset: y }];

test("a scene asleep a kilometer away keeps every bit over an hour of ticks", async () => {
  const lab = await laboratory({
    worldRadius: 2000,
    gravity: [0, -9.81, 0],
    bodies: resting([1000, 0, 300]),
    colliders: floor(0),
  });
  lab.world.mayRest = true;
  lab.run(600);
  expect(lab.world.resting).toBe(true);
  const before = [lab.positions(0), lab.positions(1)];
  lab.run(3600 * 60);
  expect([lab.positions(0), lab.positions(1)]).toEqual(before);
});

test("awake at uneven coordinates a kilometer away, bodies drift by less than a float32 step a minute", async () => {
  const lab = await laboratory({ worldRadius: 2000, bodies: resting([1000.37, 20.11, 300.83]) });
  const before = [lab.positions(0), lab.positions(1)];
  lab.run(3600);
  for (const b of [0, 1])
    lab.positions(b).forEach((v, k) => expect(Math.abs(v - before[b]![k]!)).toBeLessThan(2 ** -14));
  // and by less than one float32 step at the scene's size of 1 m, which is the simulation's own resolution
  for (const b of [0, 1])
    lab.positions(b).forEach((v, k) => expect(Math.abs(v - before[b]![k]!)).toBeLessThanOrEqual(2 ** -23));
});
