/** Coloring of constraints: every one exactly once, no shared particles within a color, and few colors. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { boxTets, gridCloth } from "../../../server/meshing/generators.ts";
import { colorConstraints } from "../../../server/sim/constraints/color.ts";

/** All constraints once, ascending within a color; particles disjoint within a color. */
function expectColoring(colors: readonly number[][], particles: Uint32Array, k: number): void {
  expect(colors.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: particles.length / k }, (_, e) => e));
  for (const members of colors) {
    expect(members).toEqual([...members].sort((a, b) => a - b));
    const touched = members.flatMap((e) => [...particles.subarray(k * e, k * e + k)]);
    expect(new Set(touched).size).toBe(touched.length);
  }
}

/** n tetrahedra around the edge of particles 0 and 1. */
const fan = (n: number): Uint32Array =>
  Uint32Array.from(Array.from({ length: n }, (_, i) => [0, 1, 2 + i, 2 + ((i + 1) % n)]).flat());

test("random constraints", () => {
  const constraints = fc
    .constantFrom(3, 4)
    .chain((k) =>
      fc
        .array(fc.uniqueArray(fc.nat(11), { minLength: k, maxLength: k }), { minLength: 1, maxLength: 80 })
        .map((list) => ({ k, particles: Uint32Array.from(list.flat()) })),
    );
  fc.assert(
    fc.property(constraints, ({ k, particles }) => expectColoring(colorConstraints(particles, k, 12), particles, k)),
  );
});

test.each([31, 32, 33, 60, 100])("a fan of %i tetrahedra around one edge needs as many colors", (n) => {
  const particles = fan(n);
  const colors = colorConstraints(particles, 4, n + 2);
  expect(colors).toHaveLength(n);
  expectColoring(colors, particles, 4);
});

test("meshes: hardly more colors than the most crowded particle needs", () => {
  const { tets, positions } = boxTets([1, 1, 1], [6, 6, 6]);
  const colors = colorConstraints(tets, 4, positions.length / 3);
  expectColoring(colors, tets, 4);
  // A particle of this lattice is in 8 or 32 tetrahedra: at least that many colors, and with first fit at most two
  // thirds more.
  expect(colors.length).toBeGreaterThanOrEqual(32);
  expect(colors.length).toBeLessThan(54);
  const sheet = gridCloth([1, 1], [20, 20]);
  const sheetColors = colorConstraints(sheet.triangles, 3, sheet.positions.length / 3);
  expectColoring(sheetColors, sheet.triangles, 3);
  // A particle of the sheet is in 4 or 8 triangles, and eight colors share the 800 evenly.
  expect(sheetColors.map((members) => members.length)).toEqual(Array(8).fill(100));
});

/** Number of blocks of four lanes that the colors need. */
const blocksOf = (colors: readonly number[][]): number =>
  colors.reduce((n, { length }) => n + Math.ceil(length / 4), 0);

/** Number of colors of more than two blocks: the largest of them may leave their last block incomplete. */
const large = (colors: readonly number[][]): number => colors.filter(({ length }) => length > 8).length;

/** A disk of `rings` rings of `valence` particles around one: the innermost triangles all meet there. */
function disk(valence: number, rings: number): Uint32Array {
  const at = (ring: number, i: number): number => (ring === 0 ? 0 : 1 + (ring - 1) * valence + (i % valence));
  const list: number[] = [];
  for (let ring = 0; ring < rings; ring++) {
    for (let i = 0; i < valence; i++) {
      list.push(at(ring, i), at(ring + 1, i), at(ring + 1, i + 1));
      if (ring > 0) list.push(at(ring, i), at(ring + 1, i + 1), at(ring, i + 1));
    }
  }
  return Uint32Array.from(list);
}

test.each([60, 200, 1000])("a particle in %i triangles needs as many colors, but no lane stays empty", (valence) => {
  const particles = disk(valence, 6);
  const n = particles.length / 3;
  const colors = colorConstraints(particles, 3, 1 + 6 * valence);
  expectColoring(colors, particles, 3);
  expect(colors).toHaveLength(valence);
  // A color of fewer than four would be a triangle at the crowded particle without partners.
  expect(Math.min(...colors.map(({ length }) => length))).toBe(4);
  expect(blocksOf(colors)).toBeLessThanOrEqual(Math.ceil(n / 4) + large(colors));
  // The rest of the disk is in a few large ones: half of all in the first eight.
  expect(
    colors
      .map(({ length }) => length)
      .sort((a, b) => b - a)
      .slice(0, 8)
      .reduce((sum, length) => sum + length),
  ).toBeGreaterThan(n / 2);
});

test("a solid with an edge that many tetrahedra share", () => {
  const box = boxTets([1, 1, 1], [6, 6, 6]);
  const N = box.positions.length / 3;
  const particles = Uint32Array.from([...box.tets, ...fan(100).map((p) => p + N)]);
  const colors = colorConstraints(particles, 4, N + 102);
  expectColoring(colors, particles, 4);
  expect(colors).toHaveLength(100);
  expect(blocksOf(colors)).toBeLessThanOrEqual(Math.ceil(particles.length / 16) + large(colors));
  expect(blocksOf(colors) * 4).toBeLessThan(1.02 * (particles.length / 4));
});

test("the same constraints give the same colors", () => {
  const { tets, positions } = boxTets([1, 2, 3], [3, 4, 5]);
  expect(colorConstraints(tets.slice(), 4, positions.length / 3)).toEqual(
    colorConstraints(tets, 4, positions.length / 3),
  );
});

test("no constraints, no colors", () => expect(colorConstraints(new Uint32Array(0), 4, 0)).toEqual([]));
