/** Renumbering: a permutation, surface first, neighbors near each other. */
import { expect, test } from "vitest";
import { boundarySurface } from "../../../../server/meshing/surface/boundary.ts";
import { boxTets } from "../../../../server/meshing/generators.ts";
import type { TetMesh } from "../../../../server/meshing/mesh.ts";
import { loadPackageMesh } from "../../../../server/meshing/importers/packageMesh.ts";
import { renumber } from "../../../../server/meshing/tetrahedra/renumber.ts";
import { tetrahedralize } from "../../../../server/meshing/tetrahedra/tetrahedralize.ts";
import { expectSound } from "../meshShapes.ts";

/** Elements as sorted corner positions, sorted: the mesh without its numbering. */
function shape(mesh: TetMesh): string[] {
  const at = (v: number): string => mesh.positions.subarray(3 * v, 3 * v + 3).join();
  return Array.from({ length: mesh.tets.length / 4 }, (_, e) =>
    [...mesh.tets.subarray(4 * e, 4 * e + 4)].map(at).sort().join(";"),
  ).sort();
}

function shuffled(mesh: TetMesh): TetMesh {
  const count = mesh.positions.length / 3;
  // Multiplication by a number prime to the count is a permutation that looks random.
  let step = 7919;
  while (count % step === 0) step++;
  const newOf = Array.from({ length: count }, (_, v) => (v * step) % count);
  const positions = new Float64Array(mesh.positions.length);
  newOf.forEach((to, v) => positions.set(mesh.positions.subarray(3 * v, 3 * v + 3), 3 * to));
  return { positions, tets: mesh.tets.map((v) => newOf[v]!) };
}

/**
 * Mean distance between the indices of an element's corners, separately for surface and inner particles. It measures
 * the width of an element's memory window.
 */
const spread = (mesh: TetMesh, surfaceCount: number): number => {
  let sum = 0;
  for (let e = 0; e < mesh.tets.length; e += 4) {
    for (const part of [
      mesh.tets.subarray(e, e + 4).filter((v) => v < surfaceCount),
      mesh.tets.subarray(e, e + 4).filter((v) => v >= surfaceCount),
    ]) {
      if (part.length > 0) sum += Math.max(...part) - Math.min(...part);
    }
  }
  return sum / (mesh.tets.length / 4);
};

test("a shuffled box: the same shape, surface particles first, close numbers", () => {
  const box = shuffled(boxTets([1, 1, 4], [4, 4, 16]));
  const { mesh, surfaceCount, oldOf } = renumber(box);
  expectSound(mesh);
  expect(shape(mesh)).toEqual(shape(box));
  expect([...oldOf].sort((a, b) => a - b)).toEqual(Array.from(oldOf, (_, v) => v));
  expect(mesh.origin).toEqual(oldOf);
  oldOf.forEach((old, v) =>
    expect([...mesh.positions.subarray(3 * v, 3 * v + 3)]).toEqual([...box.positions.subarray(3 * old, 3 * old + 3)]),
  );
  expect(surfaceCount).toBe(5 * 5 * 17 - 3 * 3 * 15);
  const surface = boundarySurface(mesh);
  expect(Math.max(...surface)).toBe(surfaceCount - 1);
  expect(new Set(surface).size).toBe(surfaceCount);
  expect(spread(mesh, surfaceCount)).toBeLessThan(0.15 * spread(box, surfaceCount));
  // Elements are in the order of their particles: their first corners never decrease.
  const first = Array.from({ length: mesh.tets.length / 4 }, (_, e) =>
    Math.min(...mesh.tets.subarray(4 * e, 4 * e + 4)),
  );
  expect(first).toEqual([...first].sort((a, b) => a - b));
});

test("origins compose: indices of the file survive", () => {
  const box = boxTets([1, 1, 1], [2, 2, 2]);
  const origin = Uint32Array.from({ length: 27 }, (_, v) => 100 + v);
  const { mesh, oldOf } = renumber({ ...box, origin });
  expect([...mesh.origin!]).toEqual([...oldOf].map((v) => v + 100));
  expect(renumber(box)).toEqual(renumber(box));
});

test("on the bunny every surface particle but the first has a near earlier neighbor, and most have two", async () => {
  const surface = await loadPackageMesh("bunny");
  const { mesh, surfaceCount } = renumber(tetrahedralize(surface, { spacing: 1 }).mesh);
  const neighbors = Array.from({ length: surfaceCount }, () => new Set<number>());
  const triangles = boundarySurface(mesh);
  triangles.forEach((v, i) => {
    for (const k of [1, 2]) neighbors[v]!.add(triangles[i - (i % 3) + ((i + k) % 3)]!);
  });
  const earlier = neighbors.map((set, v) => [...set].filter((other) => other < v));
  expect(earlier.filter((list) => list.length === 0)).toHaveLength(1);
  expect(earlier.filter((list) => list.length >= 2).length / surfaceCount).toBeGreaterThan(0.9);
  const gaps = earlier.slice(1).map((list, v) => v + 1 - Math.max(...list));
  expect(gaps.reduce((a, b) => a + b) / gaps.length).toBeLessThan(surfaceCount / 20);
});
