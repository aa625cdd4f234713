/** Colliders on a path are drawn at their place in the simulation. */
import { Object3D, Vector3 } from "three";
import { expect, test } from "vitest";
import { MovingColliders } from "../../../../client/view/colliders/movingColliders.ts";
import type { Collider } from "../../../../shared/scene/scene.ts";

const paddle: Collider = {
  type: "capsule",
  a: [1, 0, 0],
  b: [3, 0, 0],
  radius: 0.1,
  motion: { keys: [{ time: 0 }, { time: 2, translate: [0, 1, 0], rotate: [0, 0, 90] }] },
};
const still: Collider = { type: "sphere", center: [0, 0, 0], radius: 1 };

test("a capsule rotates about its own center and moves; one without a path stays", () => {
  const objects = [new Object3D(), new Object3D()];
  objects[1]!.position.set(2, 0, 0);
  const movers = new MovingColliders([still, paddle], objects);
  expect(movers.update(0)).toBe(false);
  expect(movers.update(2)).toBe(true);
  expect(movers.update(2)).toBe(false);
  const end = objects[1]!.localToWorld.bind(objects[1]);
  objects[1]!.updateMatrixWorld(true);
  const tip = end(new Vector3(1, 0, 0));
  expect(tip.toArray().map((v) => Math.round(1e6 * v) / 1e6)).toEqual([2, 2, 0]);
  expect(objects[0]!.position.toArray()).toEqual([0, 0, 0]);
});
