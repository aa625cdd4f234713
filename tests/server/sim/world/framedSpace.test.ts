/** The default camera frames all bodies of a new scene, also after they have fallen or swung. */
import { describe, expect, test } from "vitest";
import { axesOf, frame, inside, WHOLE, withSpace } from "../../../../shared/geometry/framing.ts";
import type { Scene } from "../../../../shared/scene/scene.ts";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import { openWorld, type SimWorld } from "../../../../server/sim/world.ts";

const jelly = { density: 1000, youngsModulus: 2e4, poissonsRatio: 0.4 };
const sheet = { density: 300, thickness: 0.001, youngsModulus: 3e5, poissonsRatio: 0.3 };
const cube = { kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] }, material: jelly };
const cloth = { kind: "cloth", mesh: { type: "grid", size: [1, 1], cells: [8, 8] }, material: sheet };
const floor = [{ type: "plane", normal: [0, 1, 0], offset: 0 }];
const edge = (x: number) => ({ select: { box: { min: [x - 0.01, -9, -9], max: [x + 0.01, 9, 9] } } });

const slide = { keys: [{ time: 0 }, { time: 2, translate: [4, 0, 0] }] };

/** New scenes, as a first scene file looks: no camera. */
const scenes: Record<string, Partial<Scene>> = {
  "a cube that falls to the floor": { bodies: [{ ...cube, name: "a", transform: { translate: [0, 4, 0] } }] as never },
  "a flag that swings down": {
    bodies: [{ ...cloth, name: "a", transform: { translate: [0, 2, 0] }, pins: [edge(-0.5)] }] as never,
  },
  "a hammock": {
    bodies: [{ ...cloth, name: "a", transform: { translate: [0, 2, 0] }, pins: [edge(-0.5), edge(0.5)] }] as never,
  },
  "a thrown cube": {
    bodies: [{ ...cube, name: "a", transform: { translate: [0, 1, 0] }, velocity: [3, 4, 0] }] as never,
  },
  "a cloth above a ball": {
    bodies: [{ ...cloth, name: "a", transform: { translate: [0, 2.5, 0] } }] as never,
    colliders: [{ type: "sphere", center: [0, 1, 0], radius: 0.4 }, ...floor] as never,
  },
  "cubes in a row, one attached to the world": {
    bodies: [
      { ...cube, name: "a", transform: { translate: [0, 3, 0] } },
      { ...cube, name: "b", transform: { translate: [3, 0.6, 0] } },
    ] as never,
    attachments: [{ from: { body: "a", near: [0, 3.5, 0] }, to: { world: [0, 3.5, 0] } }] as never,
  },
  "two cubes that fall together": {
    bodies: [
      { ...cube, name: "a", transform: { translate: [0, 6, 0] } },
      { ...cube, name: "b", transform: { translate: [3, 6, 0] } },
    ] as never,
    attachments: [{ from: { body: "b", near: [2.5, 6, 0] }, to: { body: "a", near: [0.5, 6, 0] } }] as never,
  },
  "a sheet that hangs from a pinned one": {
    bodies: [
      { ...cloth, name: "a", transform: { translate: [0, 4, 0] }, pins: [edge(-0.5)] },
      { ...cloth, name: "b", transform: { translate: [1.1, 4, 0] } },
    ] as never,
    attachments: [-0.5, 0.5].map((z) => ({
      from: { body: "b", near: [0.6, 4, z] },
      to: { body: "a", near: [0.5, 4, z] },
    })) as never,
  },
  "a cube before a pushing box": {
    bodies: [{ ...cube, name: "a", transform: { translate: [0, 0.51, 0] } }] as never,
    colliders: [{ type: "box", center: [-2, 0.5, 0], halfExtents: [0.5, 0.5, 0.5], motion: slide }, ...floor] as never,
  },
  "a cube that hangs from a moving ball": {
    bodies: [{ ...cube, name: "a", transform: { translate: [0, 3, 0] } }] as never,
    colliders: [{ type: "sphere", name: "crane", center: [0, 5, 0], radius: 0.2, motion: slide }, ...floor] as never,
    attachments: [{ from: { body: "a", near: [0, 3.5, 0] }, to: { collider: "crane" } }] as never,
  },
};

const placesOf = (bodies: readonly { particleCount: number }[], world: SimWorld): number[] =>
  bodies.flatMap(({ particleCount }, b) =>
    Array.from({ length: particleCount }, (_, p) => world.position(b, p)).flat(),
  );

/** Steps a scene and returns its topology's camera, and its positions at every fifth tick. */
async function play(scene: Partial<Scene>, ticks: number) {
  const created = await createWorld({ version: 1, title: "new", colliders: floor, ...scene } as Scene, {
    baseDir: ".",
  });
  const world = openWorld(created.memory, created.layout);
  const { camera } = created.topology;
  const moments: Float32Array[] = [];
  for (let t = 0; t <= ticks; t++) {
    if (t % 5 === 0) moments.push(Float32Array.from(placesOf(created.bodies, world)));
    world.step([]);
  }
  return { camera, moments };
}

describe.each(Object.entries(scenes))("%s", (_, scene) => {
  test.each([16 / 9, 9 / 16])("stays in the picture for two seconds, at an aspect of %f", async (aspect) => {
    const { camera, moments } = await play(scene, 120);
    const tanY = Math.tan((38 * Math.PI) / 360);
    const lens = { tanX: tanY * aspect, tanY };
    const towards = camera.position.map((p, k) => p - camera.target[k]!) as [number, number, number];
    // Pages leave a margin between the bodies and the tools.
    const free = { left: -0.9, right: 0.9, bottom: -0.9, top: 0.9 };
    const { position } = frame(withSpace(moments[0]!, camera.space), towards, lens, free);
    moments.forEach((points, m) => expect([m, inside(points, position, towards, lens, WHOLE)]).toEqual([m, true]));
    // It is no farther than needed: the moving bodies fill a third of the picture or more in some direction.
    const { right, up, back } = axesOf(towards);
    const dot = (a: ArrayLike<number>, i: number, b: readonly number[]) =>
      (a[i]! - position[0]) * b[0]! + (a[i + 1]! - position[1]) * b[1]! + (a[i + 2]! - position[2]) * b[2]!;
    let widest = 0;
    for (const points of moments)
      for (let i = 0; i < points.length; i += 3)
        for (const [axis, tan] of [[right, lens.tanX], [up, lens.tanY]] as const) // biome-ignore format: one line
          widest = Math.max(widest, Math.abs(dot(points, i, axis) / (-dot(points, i, back) * tan)));
    expect(widest).toBeGreaterThan(0.33);
  });
});

test("without gravity the space is that of the bodies; a scene's own camera has none", async () => {
  const bodies = [{ ...cube, name: "a" }] as never;
  const { camera } = await play({ bodies, gravity: [0, 0, 0], colliders: [] }, 0);
  expect(camera.space).toEqual({ min: [-0.5, -0.5, -0.5], max: [0.5, 0.5, 0.5] });
  const own = { position: [0, 1, 5] as [number, number, number], target: [0, 0, 0] as [number, number, number] };
  expect((await play({ bodies, camera: own, colliders: [] }, 0)).camera).toEqual(own);
});

test("a press on a cube is shown with its way, and makes no space below the floor", async () => {
  const bodies = [{ ...cube, name: "a", transform: { translate: [0, 0.51, 0] } }] as never;
  const motion = { keys: [{ time: 0 }, { time: 2, translate: [0, -1, 0] }] };
  const press = { type: "box", center: [0, 1.7, 0], halfExtents: [1, 0.2, 1], motion };
  const { camera } = await play({ bodies, colliders: [press, ...floor] as never }, 0);
  expect(camera.space!.min[1]).toBeCloseTo(0, 6);
  expect(camera.space!.max[1]).toBeCloseTo(1.9, 6);
});
