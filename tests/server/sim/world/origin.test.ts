/** The room's own origin: its position, and that every position is moved with it. */
import { expect, test } from "vitest";
import type { Scene, Vec3 } from "../../../../shared/scene/scene.ts";
import { chooseOrigin, moveScene } from "../../../../server/sim/world/origin.ts";

/** A cube of edge 1 (diagonal 1.73) with its middle at this point. */
const cube = (...at: Vec3) => ({ positions: Float64Array.from([0, 1].flatMap((k) => at.map((c) => c - 0.5 + k))) });

test.each<[Vec3, Vec3]>([
  [
    [0, 0, 0],
    [0, 0, 0],
  ],
  [
    [0.3, 12, -5],
    [0, 0, 0],
  ],
  [
    [0, 27, 0],
    [0, 0, 0],
  ],
  [
    [1000, 0, 0],
    [1000, 0, 0],
  ],
  [
    [1000.7, 3.2, -10000.9],
    [1000, 0, -10000],
  ],
  [
    [-512, 0, 0],
    [-500, 0, 0],
  ],
  [
    [1024, 0, 99],
    [1000, 0, 100],
  ],
  [
    [123456.7, 0, 0],
    [123460, 0, 0],
  ],
])("a cube of 1 m at %j has the origin %j", (at, origin) => expect(chooseOrigin([cube(...at)])).toEqual(origin));

test("the rule is relative: a millimeter at a meter is as far as a meter at a kilometer", () => {
  const small = { positions: cube(1000.7, 0, 3).positions.map((x) => x / 1000) };
  expect(chooseOrigin([small])).toEqual([1, 0, 0]);
});

test("for bodies far apart a new origin gains nothing, so it stays at 0", () =>
  expect(chooseOrigin([cube(900, 0, 0), cube(1100, 0, 0)])).toEqual([0, 0, 0]));

test("every position moves, and no other value", () => {
  const scene: Scene = {
    version: 1,
    title: "t",
    bodies: [],
    camera: { position: [11, 22, 33], target: [10, 20, 30] },
    colliders: [
      { type: "plane", normal: [0, 2, 0], offset: 44 },
      { type: "sphere", center: [10, 20, 31], radius: 1 },
      { type: "box", center: [11, 20, 30], halfExtents: [1, 1, 1], rotate: [0, 10, 0] },
      { type: "capsule", a: [10, 21, 30], b: [10, 22, 30], radius: 2 },
      { type: "mesh", mesh: { type: "ball", radius: 1 }, transform: { scale: 2, translate: [10, 20, 29] } },
      { type: "mesh", mesh: { type: "ball", radius: 1 } },
    ],
    attachments: [
      { from: { body: "a", near: [10, 20, 35] }, to: { world: [15, 20, 30] } },
      { from: { body: "a", particle: 3 }, to: { body: "b", near: [10, 25, 30] } },
    ],
  };
  expect(moveScene(scene, [0, 0, 0])).toBe(scene);
  expect(moveScene(scene, [10, 20, 30])).toEqual({
    version: 1,
    title: "t",
    bodies: [],
    camera: { position: [1, 2, 3], target: [0, 0, 0] },
    colliders: [
      { type: "plane", normal: [0, 2, 0], offset: 4 },
      { type: "sphere", center: [0, 0, 1], radius: 1 },
      { type: "box", center: [1, 0, 0], halfExtents: [1, 1, 1], rotate: [0, 10, 0] },
      { type: "capsule", a: [0, 1, 0], b: [0, 2, 0], radius: 2 },
      { type: "mesh", mesh: { type: "ball", radius: 1 }, transform: { scale: 2, translate: [0, 0, -1] } },
      { type: "mesh", mesh: { type: "ball", radius: 1 }, transform: { translate: [-10, -20, -30] } },
    ],
    attachments: [
      { from: { body: "a", near: [0, 0, 5] }, to: { world: [5, 0, 0] } },
      { from: { body: "a", particle: 3 }, to: { body: "b", near: [0, 5, 0] } },
    ],
  });
});
