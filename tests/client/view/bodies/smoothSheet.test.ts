/** Patches of a smooth sheet: the shell stays closed, neighbors share vertices, and sides and coordinates are kept. */
import { BufferAttribute, BufferGeometry } from "three";
import { expect, test } from "vitest";
import { sheetOf } from "../../../../client/view/bodies/sheetShell.ts";
import { partsFor, patchesOf, smoothSheetOf } from "../../../../client/view/bodies/smoothSheet.ts";
import { gridCloth } from "../../../../server/meshing/generators.ts";

const CELLS = 4;
const { positions, triangles: surface } = gridCloth([2, 1], [CELLS, CELLS]);
const count = positions.length / 3;
const shell = sheetOf(surface, count);

/** Edges that belong to only one triangle, or to two with the same direction. */
function openEdges(triangles: Uint32Array): number {
  const edges = new Map<string, number>();
  for (let i = 0; i < triangles.length; i++) {
    const [p, q] = [triangles[i]!, triangles[i % 3 === 2 ? i - 2 : i + 1]!];
    const [name, way] = p < q ? [`${p} ${q}`, 1] : [`${q} ${p}`, -1];
    edges.set(name, (edges.get(name) ?? 0) + way);
  }
  return [...edges.values()].filter((sum) => sum !== 0).length;
}

test.each([2, 3, 4])("cut into %i parts, neighbors share the vertices of their edge", (parts) => {
  const { triangles, corners, coords } = patchesOf({ triangles: surface, count }, parts);
  expect(triangles).toHaveLength(surface.length * parts * parts);
  // A closed grid of cells, cut into parts, has this many vertices if none is there twice.
  expect(coords).toHaveLength(2 * (CELLS * parts + 1) ** 2);
  expect(openEdges(triangles)).toBe(4 * CELLS * parts);
  for (let v = 0; v < coords.length / 2; v++) {
    const [u, w] = [coords[2 * v]!, coords[2 * v + 1]!];
    expect(Math.min(u, w, 1 - u - w)).toBeGreaterThan(-1e-6);
    expect(Math.max(...corners.subarray(3 * v, 3 * v + 3))).toBeLessThan(count);
  }
});

test("the number of parts is bounded by the drawn triangles", () => {
  expect(partsFor(0)).toBe(4);
  for (const triangles of [10, 1000, 14_400, 30_000, 1e6]) {
    const parts = partsFor(triangles);
    expect(parts).toBeGreaterThanOrEqual(1);
    if (parts > 1) expect(parts * parts * triangles).toBeLessThanOrEqual(80_000);
  }
  expect(partsFor(1e6)).toBe(1);
});

function plain(): BufferGeometry {
  const vertices = shell.vertices.length;
  const pairs = Uint32Array.from({ length: 2 * vertices }, (_, i) => shell.vertices[i >> 1]! + (i & 1) * 1000);
  const flat = Float32Array.from(
    { length: 2 * vertices },
    (_, i) => positions[3 * shell.vertices[i >> 1]! + 2 * (i & 1)]!,
  );
  const geometry = new BufferGeometry().setIndex(new BufferAttribute(shell.triangles, 1));
  geometry.setAttribute("pliantSlots", new BufferAttribute(pairs, 2));
  geometry.setAttribute("pliantSide", new BufferAttribute(shell.sides, 2));
  geometry.setAttribute("pliantFlat", new BufferAttribute(flat, 2));
  return geometry;
}

test("a shell of patches keeps sides exactly, and interpolates the coordinates of its print", () => {
  const smooth = smoothSheetOf(plain())!;
  const [corners, normals, coords, side, flat] = [
    "pliantCorners",
    "pliantCornerNormals",
    "pliantCoords",
    "pliantSide",
    "pliantFlat",
  ].map((name) => smooth.getAttribute(name)) as [BufferAttribute, ...BufferAttribute[]] as BufferAttribute[];
  const sides = new Set<number>();
  for (let v = 0; v < coords!.count; v++) {
    sides.add(side!.getX(v));
    const [u, w] = [coords!.getX(v), coords!.getY(v)];
    const shares = [1 - u - w, u, w];
    const at = (k: number): number => corners!.getComponent(v, k);
    const mean = (r: number): number => shares.reduce((sum, share, k) => sum + share * positions[3 * at(k) + r]!, 0);
    expect(flat!.getX(v)).toBeCloseTo(mean(0), 5);
    expect(flat!.getY(v)).toBeCloseTo(mean(2), 5);
    for (let k = 0; k < 3; k++) expect(normals!.getComponent(v, k)).toBe(at(k) + 1000);
  }
  expect([...sides].toSorted()).toEqual([-1, 0, 1]);
});

test("a mesh that is fine enough is left as it is", () => {
  const { positions: many, triangles } = gridCloth([1, 1], [150, 150]);
  const fine = sheetOf(triangles, many.length / 3);
  const geometry = new BufferGeometry().setIndex(new BufferAttribute(fine.triangles, 1));
  expect(smoothSheetOf(geometry)).toBeUndefined();
});
