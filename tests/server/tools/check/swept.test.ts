/** Exact answers for moving primitives: against cases solved by hand, and against the true answers in the data. */
import { describe, expect, test } from "vitest";
import { QUERY_FOLDER, readQuerySets } from "../../../support/ccdQueries.ts";
import { lacksData } from "../../../support/dataFolder.ts";
import {
  edgeEdge as exactEdgeEdge,
  vertexTriangle as exactVertexTriangle,
} from "../../../../server/tools/check/exact/swept.ts";

const triangle = [0, 0, 0, 1, 0, 0, 0, 1, 0];
const vertexTriangle = (from: number[], to: number[], at0 = triangle, at1 = at0): number =>
  exactVertexTriangle(Float64Array.from([...from, ...at0, ...to, ...at1]));
const edgeEdge = (a: number[], b0: number[], b1 = b0): number =>
  exactEdgeEdge(Float64Array.from([...a, ...b0, ...a, ...b1]));

test("a vertex through a triangle, beside it, onto its edge, onto its corner", () => {
  expect(vertexTriangle([0.25, 0.25, 1], [0.25, 0.25, -3])).toBe(0.25);
  expect(vertexTriangle([0.75, 0.75, 1], [0.75, 0.75, -3])).toBe(-1);
  expect(vertexTriangle([0.5, 0.5, 1], [0.5, 0.5, -1])).toBe(0.5);
  expect(vertexTriangle([0.5, 0.5 + 2 ** -53, 1], [0.5, 0.5 + 2 ** -53, -1])).toBe(-1);
  expect(vertexTriangle([1, 0, 1], [1, 0, 0])).toBe(1);
  expect(vertexTriangle([1, 0, 1], [1, 0, Number.MIN_VALUE])).toBe(-1);
});

test("an irrational root: free fall onto a tilting triangle", () => {
  // The plane is z = t x, the vertex (1 + t, 1, 4 - 8t) / 4.
  const got = vertexTriangle([0.25, 0.25, 1], [0.5, 0.25, -1], triangle, [0, 0, 0, 1, 0, 1, 0, 1, 0]);
  expect(1 - 2 * got - got * (0.25 + 0.25 * got)).toBeCloseTo(0, 14);
});

test("all in one plane, for all t", () => {
  expect(vertexTriangle([2, 0.25, 0], [0, 0.25, 0])).toBe(0.625); // enters through the long edge, at x = 0.75
  expect(vertexTriangle([2, 2, 0], [0, 2, 0])).toBe(-1);
  expect(edgeEdge([0, 0, 0, 1, 0, 0], [2, 0, 0, 3, 0, 0], [0, 0, 0, 1, 0, 0])).toBe(0.5);
  expect(edgeEdge([0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 1, 0], [0, -1, 0, 1, -1, 0])).toBe(0.5);
  expect(edgeEdge([0, 0, 0, 1, 0, 0], [2, 1, 0, 3, 1, 0], [2, -1, 0, 3, -1, 0])).toBe(-1);
});

test("triangles and edges without extent", () => {
  expect(vertexTriangle([0, 0, 1], [0, 0, -1], [-1, 0, 0, 1, 0, 0, 3, 0, 0])).toBe(0.5);
  expect(vertexTriangle([4, 0, 1], [4, 0, -1], [-1, 0, 0, 1, 0, 0, 3, 0, 0])).toBe(-1);
  expect(vertexTriangle([0, 0, 1], [0, 0, -1], [0, 0, 0, 0, 0, 0, 0, 0, 0])).toBe(0.5);
  expect(edgeEdge([0, 0, 0, 0, 0, 0], [0, 0, 3, 0, 0, 3], [0, 0, -1, 0, 0, -1])).toBe(0.75);
  expect(edgeEdge([0, 0, 0, 0, 0, 0], [0, 1, 3, 0, 0, 3], [0, 1, -1, 0, 0.5, -1])).toBe(-1);
});

test("refuses invalid numbers, and names them", () => {
  expect(() => exactVertexTriangle(new Float64Array(23))).toThrow("q has 23 numbers; expected 24");
  expect(() => exactEdgeEdge(new Float64Array(24).fill(NaN, 5, 6))).toThrow("q[5] is NaN");
});

const absent = lacksData(QUERY_FOLDER);

describe.skipIf(absent)("the data's true answers", () => {
  test.each(absent ? [] : readQuerySets())("$name", ({ kind, queries }) => {
    const exact = kind === "edge-edge" ? exactEdgeEdge : exactVertexTriangle;
    expect(queries.filter(({ q, touches }) => exact(q) >= 0 !== touches)).toEqual([]);
  });
});
