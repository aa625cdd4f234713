/** Generated meshes: exact sizes, matching faces, known topology. */
import { expect, test } from "vitest";
import { surfaceTopology } from "../../../server/meshing/surface/boundary.ts";
import { boxTets, gridCloth, icosphere } from "../../../server/meshing/generators.ts";
import { enclosedVolume, expectSound, faultOf } from "./meshShapes.ts";

test.each([[[1, 1, 1]], [[3, 2, 4]], [[1, 5, 2]]] as [[number, number, number]][])("a box of %j cells", (cells) => {
  const size: [number, number, number] = [1.5, 2, 0.5];
  const mesh = boxTets(size, cells);
  const { quality, topology } = expectSound(mesh);
  expect(quality.tets).toBe(5 * cells[0] * cells[1] * cells[2]);
  expect(quality.volume).toBeCloseTo(1.5, 12);
  expect(topology.euler).toBe(2);
  expect(topology.triangles).toBe(4 * (cells[0] * cells[1] + cells[1] * cells[2] + cells[2] * cells[0]));
  for (let k = 0; k < 3; k++) {
    const axis = mesh.positions.filter((_, i) => i % 3 === k);
    expect([Math.min(...axis), Math.max(...axis)]).toEqual([-size[k]! / 2, size[k]! / 2]);
  }
});

test("a grid lies in its plane, faces up and alternates its diagonals", () => {
  const { positions, triangles } = gridCloth([2, 3], [4, 6]);
  const topology = surfaceTopology(triangles);
  expect(topology).toMatchObject({
    vertices: 35,
    triangles: 48,
    crossedEdges: 0,
    openEdges: 20,
    euler: 1,
    pinched: [],
  });
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]!) as [number, number, number];
    const up =
      (positions[b + 2]! - positions[a + 2]!) * (positions[c]! - positions[a]!) -
      (positions[b]! - positions[a]!) * (positions[c + 2]! - positions[a + 2]!);
    expect(up).toBeGreaterThan(0);
    area += up / 2;
  }
  expect(area).toBeCloseTo(6, 12);
  // Alternating diagonals: inner vertices have 4 or 8 edges, none 6.
  const degree = new Map<number, Set<number>>();
  triangles.forEach((v, i) =>
    degree.set(
      v,
      (degree.get(v) ?? new Set())
        .add(triangles[i - (i % 3) + ((i + 1) % 3)]!)
        .add(triangles[i - (i % 3) + ((i + 2) % 3)]!),
    ),
  );
  expect([...new Set([6, 7, 8, 11, 12, 13].map((v) => degree.get(v)!.size))].sort()).toEqual([4, 8]);
});

test("icospheres are closed, on the sphere, and converge to its volume", () => {
  const errors = [1, 2, 3, 4].map((level) => {
    const surface = icosphere(2, level);
    expect(surfaceTopology(surface.triangles)).toMatchObject({
      triangles: 20 * 4 ** level,
      euler: 2,
      openEdges: 0,
      crossedEdges: 0,
      pinched: [],
    });
    for (let v = 0; v < surface.positions.length; v += 3)
      expect(Math.hypot(...surface.positions.subarray(v, v + 3))).toBeCloseTo(2, 12);
    return 1 - enclosedVolume(surface) / ((32 / 3) * Math.PI);
  });
  for (let i = 1; i < errors.length; i++) expect(errors[i - 1]! / errors[i]!).toBeCloseTo(4, 0);
});

test.each([
  [() => boxTets([1, 0, 1], [1, 1, 1]), "size[1]"],
  [() => boxTets([1, 1, Number.NaN], [1, 1, 1]), "size[2]"],
  [() => boxTets([1, 1, 1], [1, 1.5, 1]), "cells[1]"],
  [() => boxTets([1, 1, 1], [1000, 1000, 1000]), "element count"],
  [() => gridCloth([1, -1], [1, 1]), "size[1]"],
  [() => gridCloth([1, 1], [0, 1]), "cells[0]"],
  [() => icosphere(Infinity), "radius"],
  [() => icosphere(1, 10), "subdivisions"],
])("the error of %s names its field", (call, field) => {
  expect(faultOf(call).field).toBe(field);
});
