/** The checker's tree of boxes against brute force. */
import { expect, test } from "vitest";
import { Tree } from "../../../../server/tools/check/tree.ts";

/** Boxes on an integer grid, so that many just touch and many centers are equal. */
function boxes(count: number, seed: number): Float64Array {
  let state = seed;
  const next = (n: number): number => (state = (Math.imul(1664525, state) + 1013904223) >>> 0) % n;
  const list = new Float64Array(6 * count);
  for (let b = 0; b < list.length; b += 6)
    for (let r = 0; r < 3; r++) list[b + 3 + r] = (list[b + r] = next(40)) + next(4);
  return list;
}

const overlap = (a: Float64Array, i: number, b: Float64Array, j: number): boolean =>
  [0, 1, 2].every((r) => a[6 * i + r]! <= b[6 * j + 3 + r]! && b[6 * j + r]! <= a[6 * i + 3 + r]!);

test.each([0, 1, 4, 5, 300])(
  "%i boxes: a query finds the overlapping ones, each once, also after the tree is fitted to other boxes",
  (count) => {
    const first = boxes(count, 7);
    const tree = new Tree(first);
    const queries = boxes(50, 11);
    let total = 0;
    for (const items of [first, boxes(count, 13)]) {
      tree.fit(items);
      for (let q = 0; q < 50; q++) {
        const out: number[] = [];
        const n = tree.query(queries, 6 * q, out);
        const wanted = Array.from({ length: count }, (_, i) => i).filter((i) => overlap(queries, q, items, i));
        expect(out.slice(0, n).sort((a, b) => a - b)).toEqual(wanted);
        total += n;
      }
    }
    if (count === 300) expect(total).toBeGreaterThan(20);
  },
);
