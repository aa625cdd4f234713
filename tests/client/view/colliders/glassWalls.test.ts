/** Panes of vertical planes end at the other planes, and hands reach through them. */
import { Raycaster, Vector3 } from "three";
import { expect, test } from "vitest";
import { glassWall, isWall, panesOf, type Wall } from "../../../../client/view/colliders/glassWalls.ts";

const wall = (normal: [number, number, number], offset: number): Wall => ({ type: "plane", normal, offset });
const sorted = (pane: readonly number[] | undefined): number[] | undefined => {
  if (!pane) return undefined;
  const ends = [pane.slice(0, 2), pane.slice(2)].sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
  return ends.flat().map((c) => Math.round(1e6 * c) / 1e6 + 0);
};

test("four walls make a tank", () => {
  const walls = [wall([1, 0, 0], -0.6), wall([-1, 0, 0], -0.6), wall([0, 0, 2], -0.5), wall([0, 0, -1], -0.25)];
  expect(walls.every(isWall)).toBe(true);
  expect(panesOf(walls, [0, 0], 5).map(sorted)).toEqual([
    [-0.6, -0.25, -0.6, 0.25],
    [0.6, -0.25, 0.6, 0.25],
    [-0.6, -0.25, 0.6, -0.25],
    [-0.6, 0.25, 0.6, 0.25],
  ]);
});

test("a wall without neighbors ends at the edge of the scene, and a wall beyond it is not drawn", () => {
  expect(panesOf([wall([1, 0, 0], -1)], [0, 0], 3).map(sorted)).toEqual([[-1, -3, -1, 3]]);
  expect(panesOf([wall([1, 0, 0], -7)], [0, 0], 3)).toEqual([undefined]);
  expect(glassWall(undefined, 0, 1, 1).visible).toBe(false);
  expect(isWall({ normal: [0, 1, 0] })).toBe(false);
});

test("a ray passes through glass", () => {
  const mesh = glassWall([-1, 0, 1, 0], 0, 1, 1);
  mesh.updateMatrixWorld(true);
  const ray = new Raycaster(new Vector3(0, 0.5, 1), new Vector3(0, 0, -1));
  expect(ray.intersectObject(mesh, true)).toEqual([]);
});
