/**
 * server/sim/colliders/ccd.ts, which the kernel compiles as its own ccd.ts, against exact arithmetic
 * (support/exactCcd.ts) and against query sets with exact truth.
 *
 * Guarantees: no miss; no time of impact after the first touch, and none much before it; few false alarms.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edgeEdge, vertexTriangle } from "../../../server/sim/colliders/ccd.ts";
import { inLong } from "../../support/run/long.ts";
import { QUERY_FOLDER, readQuerySets, type Query } from "../../support/ccdQueries.ts";
import { lacksData } from "../../support/dataFolder.ts";
import { exactEdgeEdge, exactVertexTriangle } from "../../support/exactCcd.ts";

type Test = (q: Float64Array) => number;
const PAIRS: [string, Test, Test][] = [
  ["vertex-face", vertexTriangle, exactVertexTriangle],
  ["edge-edge", edgeEdge, exactEdgeEdge],
];
/** Rounding of exact times to float64. */
const TIME_ROUNDING = 2 ** -53;

/** Fails on a miss and on a late time; returns how early the time is, -1 for no hit, and 2 for a false alarm. */
function judge(test: Test, exact: Test, q: Float64Array): number {
  const got = test(q);
  const truth = exact(q);
  if (truth < 0) return got < 0 ? -1 : 2;
  if (!(got >= 0 && got <= truth + TIME_ROUNDING))
    throw new Error(`${test.name} returns ${got}, first touch ${truth}: [${q.join(", ")}]`);
  return truth - got;
}

const absent = lacksData(QUERY_FOLDER);

describe.skipIf(absent)("query sets with exact truth", () => {
  const sets = new Map<string, { kind: string; queries: Query[] }>();
  for (const { name, kind, queries } of absent ? [] : readQuerySets()) {
    const set = name.slice(0, name.lastIndexOf("/"));
    sets.set(set, { kind, queries: [...(sets.get(set)?.queries ?? []), ...queries] });
  }
  test.each([...sets])("%s: no miss, at most 5 % false alarms", (_, { kind, queries }) => {
    const answer = kind === "edge-edge" ? edgeEdge : vertexTriangle;
    const negatives = queries.filter(({ touches }) => !touches);
    expect(queries.length).toBeGreaterThan(0);
    expect(queries.filter(({ q, touches }) => touches && answer(q) < 0)).toEqual([]);
    expect(negatives.filter(({ q }) => answer(q) >= 0).length).toBeLessThanOrEqual(0.05 * negatives.length);
  });
  test.each([...sets])("%s: times of impact are not late and at most 2^-30 early", (_, { kind, queries }) => {
    const [, answer, exact] = PAIRS.find(([name]) => name === kind)!;
    // NARROW of ccd.ts: narrower intervals with a contact are not subdivided further.
    for (const { q, touches } of queries) if (touches) expect(judge(answer, exact, q)).toBeLessThan(2 ** -30);
  });
});

const triangle = [0, 0, 0, 1, 0, 0, 0, 1, 0];
const edge = [-1, 0, 0, 1, 0, 0];
const still = (...points: number[]): number[] => [...points, ...points];

/** Name and arguments of cases that touch or miss; times of impact where they are simple. */
const VERTEX_CASES: [string, number[], number][] = [
  ["through the face", [0.25, 0.25, 1, ...triangle, 0.25, 0.25, -3, ...triangle], 0.25],
  ["through a corner", [0, 0, 1, ...triangle, 0, 0, -1, ...triangle], 0.5],
  ["through an edge", [0.5, 0.5, 1, ...triangle, 0.5, 0.5, -1, ...triangle], 0.5],
  [
    "past an edge by one unit in the last place",
    [0.5, 0.5 + 2 ** -53, 1, ...triangle, 0.5, 0.5 + 2 ** -53, -1, ...triangle],
    -1,
  ],
  ["past an edge by 10^-14", [0.5, 0.5 + 1e-14, 1, ...triangle, 0.5, 0.5 + 1e-14, -1, ...triangle], -1],
  ["touching at t = 1 exactly", [0.25, 0.25, 1, ...triangle, 0.25, 0.25, 0, ...triangle], 1],
  ["touching at t = 0 exactly", [0.25, 0.25, 0, ...triangle, 0.25, 0.25, 1, ...triangle], 0],
  ["short of it by the smallest number", [0.25, 0.25, 1, ...triangle, 0.25, 0.25, Number.MIN_VALUE, ...triangle], 1],
  ["in its plane, through an edge", [2, 0.25, 0, ...triangle, 0, 0.25, 0, ...triangle], 0.625],
  ["in its plane, past it", [2, 2, 0, ...triangle, 0, 2, 0, ...triangle], -1],
  ["at rest inside", still(0.25, 0.25, 0, ...triangle), 0],
  ["at rest above", still(0.25, 0.25, 1e-300, ...triangle), -1],
  ["at rest beside, in the plane", still(0.75, 0.75, 0, ...triangle), -1],
  ["all in one point", still(...[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]), 0],
  ["a triangle that is a segment", [0, 0, 1, -1, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0, -1, -1, 0, 0, 1, 0, 0, 3, 0, 0], 0.5],
  [
    "past a triangle that is a segment",
    [2.5, 1, 1, -1, 0, 0, 1, 0, 0, 3, 0, 0, 2.5, 0.5, -1, -1, 0, 0, 1, 0, 0, 3, 0, 0],
    -1,
  ],
  ["a triangle that is a point", [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.5],
  ["past a triangle that is a point", [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0], -1],
  [
    "a triangle that turns inside out around it",
    [0.25, 0.25, 0.5, ...triangle, 0.25, 0.25, 0.5, 0, 0, 1, 1, 0, 1, 0, 1, 1],
    0.5,
  ],
];
const EDGE_CASES: [string, number[], number][] = [
  ["crossing", [...edge, 0, -1, 1, 0, 1, 1, ...edge, 0, -1, -3, 0, 1, -3], 0.25],
  ["end on end", [...edge, 1, 0, 1, 2, 1, 1, ...edge, 1, 0, -1, 2, 1, -1], 0.5],
  ["parallel, onto each other", [...edge, -2, 1, 0, 0, 1, 0, ...edge, -2, -1, 0, 0, -1, 0], 0.5],
  ["parallel, past each other", [...edge, 2, 1, 0, 3, 1, 0, ...edge, 2, -1, 0, 3, -1, 0], -1],
  ["on one line, onto each other", [...edge, 3, 0, 0, 4, 0, 0, ...edge, -1, 0, 0, 0, 0, 0], 0.5],
  ["on one line, apart", [...edge, 3, 0, 0, 4, 0, 0, ...edge, 2, 0, 0, 5, 0, 0], -1],
  ["one a point, onto the other", [...edge, 0, 0, 1, 0, 0, 1, ...edge, 0, 0, -1, 0, 0, -1], 0.5],
  ["one a point, past the other", [...edge, 2, 0, 1, 2, 0, 1, ...edge, 2, 0, -1, 2, 0, -1], -1],
  [
    "both the same point at t = 0.5",
    [...[0, 0, 1, 0, 0, 1], ...[0, 0, 0, 0, 0, 0], ...[0, 0, -1, 0, 0, -1], ...[0, 0, 0, 0, 0, 0]],
    0.5,
  ],
  ["at rest, crossing", still(...edge, 0, -1, 0, 0, 1, 0), 0],
  ["at rest, in one plane, apart", still(...edge, 0, 1, 0, 0, 2, 0), -1],
  ["at rest, the same edge", still(...edge, ...edge), 0],
];

/** Tolerance for early times: an ulp or two of the time and of the numbers, at most cubed. */
const CLOSE = 1e-14;

describe.each([
  ["vertex-face", vertexTriangle, exactVertexTriangle, VERTEX_CASES],
  ["edge-edge", edgeEdge, exactEdgeEdge, EDGE_CASES],
] as const)("%s by hand", (_, answer, exact, cases) => {
  test.each(cases.map((x) => [...x] as const))("%s", (name, numbers, time) => {
    const q = Float64Array.from(numbers);
    const got = answer(q);
    if (name.startsWith("short of it") || name.includes("unit in the last place"))
      // both answers are allowed: the gap is below rounding
      return void expect(judge(answer, exact, q)).toBeOneOf([-1, 2]);
    expect(exact(q)).toBe(time);
    if (time < 0) return void expect(got).toBe(-1);
    expect(got).toBeLessThanOrEqual(time);
    expect(got).toBeGreaterThanOrEqual(time - CLOSE);
  });
  test.each([-1074, -1000, -300, -150, -40, 40, 150, 300, 900, 1020])("scaled by 2^%d: never a miss", (power) => {
    const half = 2 ** Math.trunc(power / 2);
    const rest = 2 ** (power - Math.trunc(power / 2));
    for (const [, numbers] of cases)
      judge(
        answer,
        exact,
        Float64Array.from(numbers, (x) => x * half * rest),
      ); // Digits lost below 2^-1074 give another query, with its own truth.
  });
  test("far from the origin, integers beyond 2^53: never a miss", () => {
    for (const [, numbers] of cases)
      for (const origin of [2 ** 20, 2 ** 53, 2 ** 60])
        judge(
          answer,
          exact,
          Float64Array.from(numbers, (x) => origin + 2 ** 10 * x),
        );
  });
  test.each([NaN, Infinity, -Infinity])("%d anywhere returns 0", (bad) => {
    for (const [, numbers] of cases)
      for (let i = 0; i < 24; i++) expect(answer(Float64Array.from(numbers).fill(bad, i, i + 1))).toBe(0);
  });
  test("another length is refused", () => {
    expect(() => answer(new Float64Array(23))).toThrow("q has 23 numbers; expected 24");
  });
});

/** Queries of small integers: a third of them is degenerate in some way. */
const onGrid = fc
  .array(fc.integer({ min: -2, max: 2 }), { minLength: 24, maxLength: 24 })
  .map((a) => Float64Array.from(a));
/** Grid queries, with some coordinates moved by a few times 2^-52. */
const nearGrid = fc
  .tuple(
    onGrid,
    fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -3, max: 3 })), {
      minLength: 24,
      maxLength: 24,
    }),
  )
  .map(([q, ulps]) => q.map((x, i) => x + ulps[i] * 2 ** -52));
/** Grid queries, with some coordinates increased by a power of two between 2^-60 and 2^-3. */
const besideGrid = fc
  .tuple(
    onGrid,
    fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 3, max: 60 })), {
      minLength: 24,
      maxLength: 24,
    }),
  )
  .map(([q, bits]) => q.map((x, i) => x + (bits[i] === 0 ? 0 : 2 ** -bits[i])));
const anywhere = fc
  .array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { minLength: 24, maxLength: 24 })
  .map((a) => Float64Array.from(a, (x) => x / 2 ** 40));
/** Coordinates of all sizes in one query. */
const wild = fc
  .array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -90, max: 90 })), { minLength: 24, maxLength: 24 })
  .map((a) => Float64Array.from(a, ([m, e]) => m * 2 ** e));
/** Number of runs; and whether every miss has a gap above rounding, so that a false alarm is an error. */
const SOURCES = {
  "on a grid": { queries: onGrid, runs: 4000, clear: true },
  "on a grid but for units in the last place": { queries: nearGrid, runs: 4000, clear: false },
  "on a grid but for powers of two": { queries: besideGrid, runs: 3000, clear: true },
  "in a box": { queries: anywhere, runs: 2000, clear: true },
  "of all sizes": { queries: wild, runs: 1000, clear: false },
};

describe.each(PAIRS)("%s at random", (_, answer, exact) => {
  test.each(Object.entries(SOURCES))("%s: no miss, nothing late", (_source, { queries, runs, clear }) => {
    const count = inLong(runs, runs / 2);
    let alarms = 0;
    let negatives = 0;
    fc.assert(
      fc.property(queries, (q) => {
        const early = judge(answer, exact, q);
        if (early === 2 || early === -1) negatives++;
        if (early === 2) alarms++;
      }),
      { seed: 20021, numRuns: count },
    );
    expect(negatives).toBeGreaterThan(0.1 * count);
    if (clear) expect(alarms).toBeLessThanOrEqual(0.05 * negatives);
  });
  test("scaling by any power of two keeps the bits", () => {
    fc.assert(
      fc.property(nearGrid, fc.integer({ min: -800, max: 800 }), (q, power) => {
        const scale = 2 ** power;
        expect(answer(q.map((x) => x * scale))).toBe(answer(q));
      }),
      { seed: 20022, numRuns: inLong(2000, 1000) },
    );
  });
});
