/**
 * Topology of the trees: every primitive once, four in a leaf, parents before children, leaves in order; the same tree
 * for scaled positions.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { shapeTree } from "../../../server/sim/memory/contact/trees.ts";

// Few different values: equal centers, planes and lines of them.
const centers = fc.array(fc.tuple(fc.nat(6), fc.nat(2), fc.nat(12)), { maxLength: 300 });

test("every primitive is in one leaf, every leaf below one node", () => {
  fc.assert(
    fc.property(centers, (points) => {
      const { order, nodes } = shapeTree(Float64Array.from(points.flat()));
      const n = points.length;
      expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
      let next = 0;
      const seen = new Set<number>();
      const walk = (index: number, depth: number): number => {
        const { children } = nodes[index]!;
        expect(seen.has(index)).toBe(false);
        seen.add(index);
        expect(children.length).toBeGreaterThan(0);
        expect(children.length).toBeLessThanOrEqual(4);
        let deepest = depth;
        for (const child of children) {
          if (child.leaf) expect(child.index).toBe(next++);
          else {
            expect(child.index).toBeGreaterThan(index);
            deepest = Math.max(deepest, walk(child.index, depth + 1));
          }
        }
        return deepest;
      };
      const leaves = Math.ceil(n / 4);
      const deepest = n ? walk(0, 1) : 0;
      expect(next).toBe(leaves);
      expect(seen.size).toBe(nodes.length);
      // Full nodes: the depth is the minimum for a tree of four children.
      expect(deepest).toBeLessThanOrEqual(Math.max(1, Math.ceil(Math.log(leaves) / Math.log(4) - 1e-9)) + (n ? 0 : 1));
      expect(shapeTree(Float64Array.from(points.flat().map((x) => x * 2 ** -13)))).toEqual({ order, nodes });
    }),
  );
});

test("leaves contain neighbors: on a square grid each covers a compact area", () => {
  const side = 32;
  const { order } = shapeTree(
    Float64Array.from(
      { length: 3 * side * side },
      (_, k) => [Math.floor(k / 3 / side), 0, Math.floor(k / 3) % side][k % 3]!,
    ),
  );
  for (const size of [4, 16, 64, 256]) {
    for (let from = 0; from < order.length; from += size) {
      for (const of of [(i: number): number => Math.floor(i / side), (i: number): number => i % side]) {
        const places = [...order.subarray(from, from + size)].map(of);
        expect(Math.max(...places) - Math.min(...places)).toBe(Math.sqrt(size) - 1);
      }
    }
  }
});
