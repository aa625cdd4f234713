/** The model of the benchmark part `scale`, against sums done by hand. */
import { expect, test } from "vitest";
import { predict, serialStages, type Piece } from "../../load-tests/scale/model.ts";

/** Binary fractions, so that the sums are exact. */
const PIECES: Piece[] = [
  { label: "guard", seconds: 0.5, chunks: 1 },
  { label: "constraints", seconds: 8, chunks: 8 },
  { label: "verification", seconds: 1, chunks: 1 },
  { label: "guard", seconds: 0.75, chunks: 1 },
  { label: "particles", seconds: 2, chunks: 2 },
];

test("one thread takes the sum of all pieces", () => {
  expect(predict(PIECES, 0.125, 1)).toBe(12.25);
});

test("threads share whole chunks, and at most as many threads work as there are chunks", () => {
  expect(predict(PIECES, 0, 2)).toBe(2.25 + 4 + 1);
  expect(predict(PIECES, 0, 3)).toBe(2.25 + 3 + 1);
  expect(predict(PIECES, 0, 64)).toBe(2.25 + 1 + 1);
});

test("synchronization costs n + 2 cache lines a piece, and sharing costs at most the orchestrator's own work and three lines", () => {
  expect(predict(PIECES, 0.125, 2)).toBe(2.25 + (4 + 4 * 0.125) + (1 + 4 * 0.125));
  expect(predict(PIECES, 16, 2)).toBe(12.25 + 2 * 3 * 16);
});

test("serial stages by label, largest first", () => {
  expect(serialStages(PIECES)).toEqual([
    ["guard", 1.25],
    ["verification", 1],
  ]);
});
