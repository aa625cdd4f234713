/** When grabs and cursors need another picture: if they appear, move, change color or disappear, and not at rest. */
import { PerspectiveCamera, type Vector3 } from "three";
import { expect, test } from "vitest";
import { CursorsView, type DrawnGrab } from "../../../../client/view/grabs/cursorsView.ts";

test("grabs and cursors need another picture when one appears, moves, changes color or disappears, and not at rest", () => {
  const hands = new CursorsView();
  const view = { camera: new PerspectiveCamera(), width: 100, height: 100 };
  const rest = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  const surface = { positions: rest, rest, triangles: new Uint32Array([0, 1, 2]) };
  const held: DrawnGrab = { id: "own:1", color: "#d55e00", body: 0, triangle: 0, u: 0.2, v: 0.2, target: [0, 0, 1] };
  const changes = (...grabs: DrawnGrab[]): boolean => hands.update(grabs, [], [surface], view, 16);
  expect([changes(), changes(held), changes(held)]).toEqual([false, true, false]);
  const moved: DrawnGrab = { ...held, target: [0, 0, 2] };
  expect([changes(moved), changes(moved)]).toEqual([true, false]);
  const recoloured = { ...moved, color: "#0072b2" };
  expect([changes(recoloured), changes(recoloured)]).toEqual([true, false]);
  expect([changes(), changes()]).toEqual([true, false]);
});

test("a grab of several bodies has a line on each, with the same pull; a release removes all of them", () => {
  const hands = new CursorsView();
  hands.together = [0, 2];
  const view = { camera: new PerspectiveCamera(), width: 100, height: 100 };
  const triangle = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  const surfaces = [0, 5, 9].map((x) => {
    const rest = Float32Array.from(triangle, (place, k) => (k % 3 === 0 ? place + x : place));
    return { rest, positions: rest, triangles: new Uint32Array([0, 1, 2]) };
  });
  const held: DrawnGrab = { id: "own:1", color: "#d55e00", body: 0, triangle: 0, u: 0.2, v: 0.2, target: [0, 0, 1] };
  const bandsAt = (grab?: DrawnGrab): number[][] => {
    hands.update(grab ? [grab] : [], [], surfaces, view, 1e9);
    return hands.group.children.map(({ children: [band] }) => {
      const { from, to } = (band as unknown as { material: { uniforms: Record<string, { value: Vector3 }> } }).material
        .uniforms;
      return [...from!.value.toArray(), ...to!.value.toArray()].map((x) => Number(x.toFixed(5)));
    });
  };
  const [here, there] = [
    [0.2, 0.2, 0, 0, 0, 1],
    [9.2, 0.2, 0, 9, 0, 1],
  ];
  expect(bandsAt(held)).toEqual([here]);
  expect(bandsAt({ ...held, together: true })).toEqual([here, there]);
  // The same id with another place: another place on all bodies.
  expect(bandsAt({ ...held, u: 0.4, target: [0, 0, 2], together: true })).toEqual([
    [0.4, 0.2, 0, 0, 0, 2],
    [9.4, 0.2, 0, 9, 0, 2],
  ]);
  expect(bandsAt()).toEqual([]);
});
