/** The traversal is a permutation that depends on the triangles only, and refers only to earlier particles. */
import { expect, test } from "vitest";
import { createSnapshotModel } from "../../../shared/snapshot/index.ts";
import { dust, fan, grid, soup } from "./meshes.ts";

test("the order of a small grid, by hand", () => {
  // 0-1-2   0: three neighbors on the alternating diagonal 0-4; then the newest of those with most visited neighbors.
  // |\|/|   Triangles (0 3 4) (0 4 1) (1 4 2) (2 4 5) (3 6 4) (4 6 7) (4 7 8) (4 8 5).
  // 3-4-5
  // |/|\|
  // 6-7-8
  const model = createSnapshotModel([grid(3)]);
  expect([...model.order]).toEqual([0, 4, 3, 6, 7, 8, 5, 2, 1]);
  // 1, coded last: 2, then 4 and 0 (its neighbors, newest first), as ranks.
  expect(model.neighborCount[8]).toBe(3);
  expect([...model.neighbors.subarray(32, 35)]).toEqual([7, 1, 0]);
  // The triangle's neighbor across edge 0-4 has corner 3, the one across 4-2 has corner 5.
  expect(model.gateCount[8]).toBe(2);
  expect([...model.gates.subarray(48, 54)]).toEqual([0, 1, 2, 1, 7, 6]);
});

test("every rank has one particle, and refers to earlier ranks of its own body", () => {
  const bodies = [grid(20), dust(4), soup(200, 300, 7), fan(40), grid(2)];
  const model = createSnapshotModel(bodies);
  expect([...model.starts]).toEqual([0, 400, 404, 604, 645, 649]);
  expect([...model.order].sort((a, b) => a - b)).toEqual(Array.from({ length: 649 }, (_, i) => i));
  bodies.forEach((_, body) => {
    for (let i = model.starts[body]; i < model.starts[body + 1]; i++) {
      expect(model.order[i]).toBeGreaterThanOrEqual(model.starts[body]);
      expect(model.order[i]).toBeLessThan(model.starts[body + 1]);
      const referred = [
        ...model.neighbors.subarray(4 * i, 4 * i + model.neighborCount[i]),
        ...model.gates.subarray(6 * i, 6 * i + 3 * model.gateCount[i]),
      ];
      expect(referred.every((rank) => rank >= model.starts[body] && rank < i)).toBe(true);
    }
  });
});

test("nearly every particle of a grid has three neighbors and two parallelograms", () => {
  const model = createSnapshotModel([grid(61)]);
  expect(model.neighborCount.filter((n) => n >= 3).length).toBeGreaterThan(0.9 * model.total);
  expect(model.gateCount.filter((n) => n >= 2).length).toBeGreaterThan(0.9 * model.total);
});

test("the error for an invalid topology names it", () => {
  expect(() => createSnapshotModel([{ count: 3, triangles: Uint32Array.of(0, 1) }])).toThrow(
    "bodies[0].triangles has 2 indices, must be a multiple of 3",
  );
  expect(() => createSnapshotModel([dust(1), { count: 3, triangles: Uint32Array.of(0, 1, 3) }])).toThrow(
    "bodies[1].triangles[2] is 3, must be below the body's count 3",
  );
  expect(() => createSnapshotModel([{ count: 1.5, triangles: new Uint32Array(0) }])).toThrow("bodies[0].count is 1.5");
});
