/** Polygons become triangles that cover exactly their area and use every corner. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { importObj } from "../../../../server/meshing/importers/importObj.ts";
import { importPly } from "../../../../server/meshing/importers/importPly.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { triangulate } from "../../../../server/meshing/importers/polygons.ts";
import { surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";

type Point = readonly [number, number];

/** Splits one polygon in the x-y plane. */
const split = (points: readonly Point[]) =>
  triangulate(
    points.flatMap(([x, y]) => [x, y, 0]),
    { vertexOf: points.map((_, c) => c), starts: [0] },
  );
/** Signed areas of the triangles. */
const areas = (points: readonly Point[], corners: readonly number[]): number[] =>
  Array.from({ length: corners.length / 3 }, (_, t) => {
    const [a, b, c] = [0, 1, 2].map((k) => points[corners[3 * t + k]!]!) as [Point, Point, Point];
    return ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
  });
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const polygonArea = (points: readonly Point[]): number =>
  sum(
    points.map(([x, y], c) => (x * points[(c + 1) % points.length]![1] - y * points[(c + 1) % points.length]![0]) / 2),
  );

const L: Point[] = [
  [0, 0],
  [1, 0],
  [1, 0.5],
  [0.5, 0.5],
  [0.5, 1],
  [0, 1],
];

test.each(L.map((_, first) => first))("an L whose list begins with corner %i covers 0.75 m²", (first) => {
  const points = [...L.slice(first), ...L.slice(0, first)];
  const { corners, flat, crossed } = split(points);
  expect(corners).toHaveLength(3 * 4);
  expect(Math.min(...areas(points, corners))).toBeGreaterThan(0);
  expect(sum(areas(points, corners))).toBeCloseTo(0.75, 12);
  expect([flat, crossed]).toEqual([[], []]);
});

test("a convex polygon is a fan from its corner of smallest coordinates", () => {
  expect(split([[0, 0], [1, 0], [1, 1], [0, 1]]).corners).toEqual([0, 1, 2, 0, 2, 3]); // biome-ignore format: one line
});

test("a corner on a straight edge is used, so that the neighbor's triangles meet it", () => {
  const points: Point[] = [[0, 0], [0.5, 0], [1, 0], [1, 1], [0, 1]]; // biome-ignore format: one line
  for (let first = 0; first < points.length; first++) {
    const turned = [...points.slice(first), ...points.slice(0, first)];
    const { corners } = split(turned);
    expect(new Set(corners).size).toBe(5);
    expect(Math.min(...areas(turned, corners))).toBeGreaterThan(0);
  }
  // Two faces that meet there form one sheet without a crack.
  const text =
    "v 0 0 0\nv .5 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 -1 0\nv 1 -1 0\nf 1 2 3 4 5\nf 1 6 2\nf 2 6 7\nf 2 7 3\n";
  expect(surfaceTopology(importObj("a.obj", text).triangles)).toMatchObject({ openEdges: 6, euler: 1, pinched: [] });
});

test("property: any star-shaped polygon is covered once, with every corner, from any first corner", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 5, maxLength: 40 }), fc.nat(), (radii, turn) => {
      const all = radii.map((r, i): Point => {
        const angle = (2 * Math.PI * i) / radii.length;
        return [r * Math.cos(angle), r * Math.sin(angle)];
      });
      const first = turn % all.length;
      const points = [...all.slice(first), ...all.slice(0, first)];
      const { corners, crossed } = split(points);
      expect(crossed).toEqual([]);
      expect(corners).toHaveLength(3 * (points.length - 2));
      expect(Math.min(...areas(points, corners))).toBeGreaterThan(0);
      expect(sum(areas(points, corners)) / polygonArea(points)).toBeCloseTo(1, 9);
    }),
  );
});

test("a ring that is cut open along a bridge is covered without its hole", () => {
  const points: Point[] = [[0, 0], [3, 0], [3, 3], [0, 3], [0, 0], [1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]; // biome-ignore format: one line
  const { corners, crossed } = split(points);
  expect(crossed).toEqual([]);
  expect(sum(areas(points, corners))).toBeCloseTo(8, 12);
  expect(Math.min(...areas(points, corners))).toBeGreaterThan(0);
});

test.each([
  ["obj", (places: string[], face: number[]) => importObj("a.obj", obj(places, face))],
  ["ply", (places: string[], face: number[]) => importPly("a.ply", Buffer.from(ply(places, face)))],
] as const)("faces of %s that cross themselves, or have no area, get a note with line and place", (kind, read) => {
  const bow = read(["0 0 0", "2 0 0", "0 1 0", "1 2 0"], [0, 1, 2, 3]);
  expect(bow.notes).toMatchObject([{ code: "POLYGONS_CROSSED", at: expect.any(Array) }]);
  expect(bow.notes[0]!.text).toContain(kind === "obj" ? "on line 5" : "on line 14");
  const flat = read(["0 0 0", "1 0 0", "2 0 0", "3 0 0", "0 1 0"], [0, 1, 2, 3]);
  expect(flat.notes).toMatchObject([{ code: "POLYGONS_FLAT" }]);
  // The other face remains.
  expect((flat as SurfaceMesh).triangles).toHaveLength(3);
});

const corners = (face: readonly number[]): number[][] => [[...face], ...(face.length ? [[0, 1, face.length]] : [])];
function obj(places: string[], face: number[]): string {
  const faces = places.length > face.length ? corners(face) : [face];
  return [...places.map((p) => `v ${p}`), ...faces.map((f) => `f ${f.map((v) => v + 1).join(" ")}`), ""].join("\n");
}
function ply(places: string[], face: number[]): string {
  const faces = places.length > face.length ? corners(face) : [face];
  const head = `ply\nformat ascii 1.0\nelement vertex ${places.length}\nproperty float x\nproperty float y\nproperty float z\nelement face ${faces.length}\nproperty list uchar int vertex_indices\n`;
  return [`${head}end_header`, ...places, ...faces.map((f) => `${f.length} ${f.join(" ")}`), ""].join("\n");
}

test("a comb with 1,024 corners is split", () => {
  const points = Array.from({ length: 1022 }, (_, i): Point => [i / 2, i % 2 === 0 ? 0 : 10]);
  const comb: Point[] = [[0, -1], [511, -1], ...points.reverse()]; // biome-ignore format: one line
  const { corners: found, crossed } = split(comb);
  expect(crossed).toEqual([]);
  expect(sum(areas(comb, found))).toBeCloseTo(polygonArea(comb), 6);
});
