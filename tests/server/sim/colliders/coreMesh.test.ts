/** Mesh colliders: descriptions in scenes become placed, welded triangles in the room. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Collider } from "../../../../shared/scene/scene.ts";
import { coreMesh, loadCores, weld } from "../../../../server/sim/colliders/coreMesh.ts";
import { testFolder } from "../../../support/testFolder.ts";

let dir: string;
beforeAll(() => void (dir = testFolder("core")));

test("vertices that are equal in float32 are merged; triangles that lose a corner by it are removed", () => {
  const tiny = 2 ** -30; // below half a step of float32 at 1
  const { positions, triangles } = weld({
    positions: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 1 + tiny, 0, 0, 0, 1, -0, 5, 5, 5),
    triangles: Uint32Array.of(0, 1, 2, 3, 2, 4, 0, 3, 1),
  });
  expect([...triangles]).toEqual([0, 1, 2, 0, 2, 1]);
  expect([...positions]).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

test("a file is scaled, rotated and moved; a seam of doubled vertices is closed", async () => {
  writeFileSync(join(dir, "roof.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 3 2\nf 4 6 5\n");
  const core = await coreMesh(
    {
      type: "mesh",
      mesh: { type: "file", path: "roof.obj" },
      transform: { scale: 2, rotate: [0, 0, 90], translate: [0, 0, 5] },
    },
    { baseDir: dir },
  );
  expect(core!.positions.length / 3).toBe(4);
  // x becomes y
  expect(Array.from(core!.positions, (v) => Math.round(1e9 * v) / 1e9 + 0)).toEqual([
    0, 0, 5, 0, 0, 7, 0, 2, 5, 0, 2, 7,
  ]);
});

test("of a tetrahedral mesh the boundary is used, and a grid stays open", async () => {
  const box = await coreMesh(
    { type: "mesh", mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] } },
    { baseDir: dir },
  );
  const grid = await coreMesh({ type: "mesh", mesh: { type: "grid", size: [1, 1], cells: [3, 3] } }, { baseDir: dir });
  expect([box!.positions.length / 3, box!.triangles.length / 3]).toEqual([26, 48]);
  expect([grid!.positions.length / 3, grid!.triangles.length / 3]).toEqual([16, 18]);
});

test("a plane has no core mesh, and an error names its collider", async () => {
  const plane: Collider = { type: "plane", normal: [0, 1, 0], offset: 0 };
  expect(await loadCores([plane], { baseDir: dir })).toEqual([undefined]);
  await expect(
    loadCores([plane, { type: "mesh", mesh: { type: "file", path: "none.obj" } }], { baseDir: dir }),
  ).rejects.toThrow("scene /colliders/1/mesh: none.obj: file is missing, a file that exists is needed");
  writeFileSync(join(dir, "dot.obj"), "v 1 1 1\nv 1 1 1.00000000001\nv 1 1.00000000001 1\nf 1 2 3\n");
  await expect(
    loadCores([{ type: "mesh", mesh: { type: "file", path: "dot.obj" } }], { baseDir: dir }),
  ).rejects.toThrow(
    "scene /colliders/0/mesh: dot.obj: triangle count is 0, at least 1 whose corners differ in float32 is needed",
  );
});
