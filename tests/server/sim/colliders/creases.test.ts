/** Creases of a core mesh: edges of its shape, not cuts across flat faces. */
import { expect, test } from "vitest";
import { creases } from "../../../../server/sim/colliders/creases.ts";

const box = {
  positions: Float64Array.from([0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 3, 2, 0, 3, 2, 1, 3, 0, 1, 3]),
  triangles: Uint32Array.from([
    0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7,
  ]),
};
const pairs = (edges: Uint32Array): string[] =>
  Array.from({ length: edges.length / 2 }, (_, e) => `${edges[2 * e]}-${edges[2 * e + 1]}`);

test("a box has twelve", () => {
  expect(pairs(creases(box))).toEqual([
    "0-1",
    "0-3",
    "0-4",
    "1-2",
    "1-5",
    "2-3",
    "2-6",
    "3-7",
    "4-5",
    "4-7",
    "5-6",
    "6-7",
  ]);
});

test("rims of open sheets and folds, however slight, count; a flat sheet has its rim only", () => {
  const sheet = (y: number) => ({
    positions: Float64Array.from([0, 0, 0, 1, 0, 0, 1, y, 1, 0, 0, 1]),
    triangles: Uint32Array.from([0, 2, 1, 0, 3, 2]),
  });
  expect(pairs(creases(sheet(0)))).toEqual(["0-1", "0-3", "1-2", "2-3"]);
  expect(pairs(creases(sheet(1e-6)))).toEqual(["0-1", "0-2", "0-3", "1-2", "2-3"]);
});
