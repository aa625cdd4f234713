/**
 * Cost of a continuous collision test of one pair, called as any program calls it (sim/colliders/ccd.ts), including the
 * copy of the query and the call.
 *
 * Queries: two folds of cloth near contact, and the sets with exact truth if the data folder exists. "Filtered" queries
 * have disjoint swept boxes; "surviving" ones are all others, which a broad phase would pass on. The fastest of many
 * passes over the same queries counts.
 */
import { edgeEdge, vertexTriangle } from "../../../server/sim/colliders/ccd.ts";
import { QUERY_FOLDER, readQuerySets } from "../../../tests/support/ccdQueries.ts";
import { lacksData } from "../../../tests/support/dataFolder.ts";
import { randomStream } from "../../../tests/parity/kit.ts";
import type { Row } from "../../part.ts";

export const name = "collisions";
export const about =
  "one vertex-triangle or edge-edge pair: ns a query, filtered by its boxes or surviving them; false alarms against exact truth";
export const runs = 3;

type Test = (q: Float64Array) => number;

const QUERIES = 2000;
const PASSES = 60;
/** Edge of the cloth, gap between the folds, and movement of a point in a substep, m. */
const EDGE = 0.01;
const GAP = 0.002;
const MOTION = 0.003;

/** Four corners of two nearly parallel sheets, at random places within two edges of each other. */
function clothQueries(kind: "vertex-face" | "edge-edge", seed: number): Float64Array[] {
  const random = randomStream(seed);
  return Array.from({ length: QUERIES }, () => {
    const x = EDGE * random();
    const z = EDGE * random();
    const lower = [0, 0, EDGE, 0, 0, EDGE];
    const upper = [x, z, x + EDGE * random(), z + EDGE * random()];
    const flat = kind === "vertex-face" ? [...upper.slice(0, 2), ...lower] : [...upper, ...lower.slice(0, 4)];
    const above = kind === "vertex-face" ? 1 : 2;
    const q = new Float64Array(24);
    for (let point = 0; point < 4; point++) {
      const at = [flat[2 * point], (point < above ? GAP : 0) + 0.2 * GAP * random(), flat[2 * point + 1]];
      for (let axis = 0; axis < 3; axis++)
        q[12 + 3 * point + axis] = (q[3 * point + axis] = at[axis]) + MOTION * random();
    }
    return q;
  });
}

/** True if the swept boxes of both primitives overlap. The first `first` points belong to one primitive. */
function survives(q: Float64Array, first: number): boolean {
  return [0, 1, 2].every((axis) => {
    const along = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, i) => [q[3 * (from + i) + axis], q[12 + 3 * (from + i) + axis]]).flat();
    const a = along(0, first);
    const b = along(first, 4);
    return Math.max(...a) >= Math.min(...b) && Math.max(...b) >= Math.min(...a);
  });
}

/** Time per query, ns. */
function fastest(test: Test, queries: readonly Float64Array[]): number {
  let best = Infinity;
  const repeats = Math.ceil(QUERIES / queries.length);
  for (let pass = 0; pass < PASSES; pass++) {
    const begin = performance.now();
    for (let repeat = 0; repeat < repeats; repeat++) for (const q of queries) test(q);
    best = Math.min(best, (performance.now() - begin) / (repeats * queries.length));
  }
  return 1e6 * best;
}

function timings(what: string, kind: "vertex-face" | "edge-edge", queries: readonly Float64Array[]): Row[] {
  const test = kind === "edge-edge" ? edgeEdge : vertexTriangle;
  const first = kind === "edge-edge" ? 2 : 1;
  const surviving = queries.filter((q) => survives(q, first));
  const filtered = queries.filter((q) => !survives(q, first));
  const cleared = surviving.filter((q) => test(q) < 0);
  const touching = surviving.filter((q) => test(q) >= 0);
  const row = (part: string, some: readonly Float64Array[], atMost?: number): Row[] =>
    some.length === 0
      ? []
      : [
          {
            what: `${what}, ${part}`,
            value: fastest(test, some),
            unit: "ns",
            ...(atMost === undefined ? {} : { target: { atMost } }),
            note: `${some.length} queries`,
          },
        ];
  return [
    ...row("filtered", filtered, 100),
    ...row("surviving", surviving, 250),
    ...row("surviving, cleared", cleared),
    ...row("surviving, touching", touching),
  ];
}

export async function run(): Promise<Row[]> {
  const rows = (["vertex-face", "edge-edge"] as const).flatMap((kind, i) =>
    timings(`cloth, ${kind}`, kind, clothQueries(kind, 7 + i)),
  );
  if (lacksData(QUERY_FOLDER)) return rows;
  const sets = Map.groupBy(readQuerySets(), ({ name }) => name.slice(0, name.lastIndexOf("/")));
  for (const [set, parts] of sets) {
    const { kind } = parts[0];
    const queries = parts.flatMap((part) => part.queries);
    const answer = kind === "edge-edge" ? edgeEdge : vertexTriangle;
    rows.push(
      ...timings(
        set,
        kind,
        queries.map(({ q }) => q),
      ),
    );
    const negatives = queries.filter(({ touches }) => !touches);
    const alarms = negatives.filter(({ q }) => answer(q) >= 0).length;
    rows.push({
      what: `${set}, false alarms`,
      value: (100 * alarms) / negatives.length,
      unit: "%",
      target: { atMost: 5 },
      note: `${alarms} of ${negatives.length}`,
    });
    rows.push({
      what: `${set}, misses`,
      value: queries.filter(({ q, touches }) => touches && answer(q) < 0).length,
      unit: "",
      target: { atMost: 0 },
    });
  }
  return rows;
}
