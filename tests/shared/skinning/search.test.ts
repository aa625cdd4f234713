/** The parts of the search: the tree against brute force, the cubic against cubics made from their roots. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cubicRoots } from "../../../shared/skinning/cubic.ts";
import { buildSearchTree, searchAround } from "../../../shared/skinning/searchTree.ts";
import { random } from "../snapshot/meshes.ts";

test("the tree visits every triangle whose box is within the radius, and few others", () => {
  const next = random(3);
  const count = 500;
  const positions = Float64Array.from(
    { length: 9 * count },
    (_, i) => 10 * Math.sin(1 + Math.floor(i / 9) * [1, 7, 13][i % 3]) + next(),
  );
  const triangles = Uint32Array.from({ length: 3 * count }, (_, i) => i);
  const tree = buildSearchTree(positions, triangles);
  expect([...tree.items].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, t) => t));
  let visits = 0;
  for (let query = 0; query < 100; query++) {
    const p = [0, 1, 2].map(() => 24 * next() - 12);
    const radius = 4 * next();
    const seen = new Set<number>();
    searchAround(tree, p[0], p[1], p[2], radius, (t, r) => {
      seen.add(t);
      return r;
    });
    visits += seen.size;
    for (let t = 0; t < count; t++) {
      const gap = p.map((x, r) => {
        const xs = [0, 1, 2].map((k) => positions[9 * t + 3 * k + r]);
        return Math.max(Math.min(...xs) - x, 0, x - Math.max(...xs));
      });
      if (Math.hypot(...gap) <= radius) expect(seen.has(t)).toBe(true);
    }
  }
  expect(visits).toBeLessThan(100 * count * 0.2);
  searchAround(buildSearchTree([], []), 0, 0, 0, Infinity, () => {
    throw new Error("an empty tree has nothing to visit");
  });
});

test("cubics give the roots that they were made from", () => {
  const root = fc.integer({ min: -900, max: 900 }).map((n) => n / 100);
  fc.assert(
    fc.property(root, root, root, fc.constantFrom(1, -3, 0.01, 1e6), (a, b, c, scale) => {
      fc.pre(Math.min(Math.abs(a - b), Math.abs(b - c), Math.abs(a - c)) > 0.005);
      const found = cubicRoots(-a * b * c * scale, (a * b + b * c + a * c) * scale, -(a + b + c) * scale, scale, 10);
      const expected = [a, b, c].sort((x, y) => x - y);
      expect(found).toHaveLength(3);
      found.forEach((x, i) => expect(Math.abs(x - expected[i])).toBeLessThan(1e-7));
    }),
  );
});

test("cubics of lower degree, without roots, and with roots beyond the limit", () => {
  expect(cubicRoots(-2, 1, 0, 0, 10)).toEqual([2]);
  expect(cubicRoots(-4, 0, 1, 0, 10).map((x) => Math.round(x * 1e9) / 1e9)).toEqual([-2, 2]);
  expect(cubicRoots(4, 0, 1, 0, 10)).toEqual([]);
  expect(cubicRoots(1, 0, 0, 0, 10)).toEqual([]);
  expect(cubicRoots(-8, 0, 0, 1, 1.9)).toEqual([]);
  expect(cubicRoots(-8, 0, 0, 1, 2.1)[0]).toBeCloseTo(2, 12);
});
