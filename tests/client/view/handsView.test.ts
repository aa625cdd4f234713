/** When hands need another picture: as they come, move, change colour and go, and not while they rest. */
import { PerspectiveCamera } from "three";
import { expect, test } from "vitest";
import { HandsView, type DrawnGrab } from "../../../client/view/handsView.ts";

test("hands need another picture when one comes, moves, wears another colour or goes, and not at rest", () => {
  const hands = new HandsView();
  const view = { camera: new PerspectiveCamera(), width: 100, height: 100 };
  const surface = { positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]), triangles: new Uint32Array([0, 1, 2]) };
  const held: DrawnGrab = { id: "own:1", color: "#d55e00", body: 0, triangle: 0, u: 0.2, v: 0.2, target: [0, 0, 1] };
  const changes = (...grabs: DrawnGrab[]): boolean => hands.update(grabs, [], [surface], view, 16);
  expect([changes(), changes(held), changes(held)]).toEqual([false, true, false]);
  const moved: DrawnGrab = { ...held, target: [0, 0, 2] };
  expect([changes(moved), changes(moved)]).toEqual([true, false]);
  const recoloured = { ...moved, color: "#0072b2" };
  expect([changes(recoloured), changes(recoloured)]).toEqual([true, false]);
  expect([changes(), changes()]).toEqual([true, false]);
});
