/** Mesh colliders from a topology are drawn with their own triangles, and rotate about their own center. */
import { Box3, Color, type Mesh, Vector3, Vector4 } from "three";
import { expect, test } from "vitest";
import { colliderMeshes } from "../../../../client/view/colliders/colliderMeshes.ts";
import { MovingColliders } from "../../../../client/view/colliders/movingColliders.ts";
import type { Scene } from "../../../../shared/scene/scene.ts";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import { clothGrid } from "../../../support/bodies.ts";

const LOOK = {
  radius: 1,
  center: new Vector3(),
  bottom: 0,
  top: 1,
  floor: {
    pliantBlobs: { value: [] },
    pliantTints: { value: [] },
    pliantPool: { value: new Vector4() },
    shade: new Color(),
  },
  clothEdge: 0.05,
};

async function drawn(colliders: NonNullable<Scene["colliders"]>): Promise<{ meshes: Mesh[]; movers: MovingColliders }> {
  const { topology } = await createWorld(
    {
      version: 1,
      title: "t",
      bodies: [
        clothGrid("a", [1, 1], [1, 1], { material: { density: 1, thickness: 1, youngsModulus: 1, poissonsRatio: 0 } }),
      ],
      colliders,
    },
    { baseDir: "." },
  );
  const meshes = colliderMeshes(topology.colliders, LOOK).children as Mesh[];
  return { meshes, movers: new MovingColliders(topology.colliders, meshes) };
}

const boundsOf = (mesh: Mesh): number[] => {
  mesh.updateMatrixWorld(true);
  const { min, max } = new Box3().setFromObject(mesh, true);
  return [...min.toArray(), ...max.toArray()].map((c) => Math.round(1e5 * c) / 1e5 + 0);
};

test("a box of triangles is at its place in the scene, with sharp edges, in the look of other colliders", async () => {
  const {
    meshes: [box, ball],
  } = await drawn([
    {
      type: "mesh",
      mesh: { type: "box", size: [2, 1, 1], cells: [2, 1, 1] },
      transform: { rotate: [0, 0, 90], translate: [3, 0, 0] },
    },
    { type: "sphere", center: [0, 0, 0], radius: 1 },
  ]);
  expect(boundsOf(box!)).toEqual([2.5, -1, -0.5, 3.5, 1, 0.5]);
  const position = box!.geometry.getAttribute("position");
  const normal = box!.geometry.getAttribute("normal");
  const n = new Vector3();
  for (let i = 0; i < position.count; i++)
    expect(
      n
        .fromBufferAttribute(normal, i)
        .toArray()
        .map(Math.abs)
        .sort()
        .map((c) => Math.round(1e5 * c)),
    ).toEqual([0, 0, 1e5]);
  const colorOf = (mesh: Mesh): string => (mesh.material as unknown as { color: Color }).color.getHexString();
  expect(colorOf(box!)).toBe(colorOf(ball!));
});

test("a statue with more triangles is smooth", async () => {
  const {
    meshes: [statue],
  } = await drawn([{ type: "mesh", mesh: { type: "ball", radius: 1, subdivisions: 6 } }]);
  expect(statue!.geometry.index!.count / 3).toBe(20 * 4 ** 6);
  const position = statue!.geometry.getAttribute("position");
  const normal = statue!.geometry.getAttribute("normal");
  const p = new Vector3();
  const n = new Vector3();
  let least = 1;
  for (let i = 0; i < position.count; i++)
    least = Math.min(least, p.fromBufferAttribute(position, i).normalize().dot(n.fromBufferAttribute(normal, i)));
  expect(least).toBeGreaterThan(0.999);
});

test("a moving one rotates about its own origin", async () => {
  const { meshes, movers } = await drawn([
    {
      type: "mesh",
      mesh: { type: "box", size: [2, 1, 1], cells: [1, 1, 1] },
      transform: { translate: [3, 1, 0] },
      motion: { keys: [{ time: 0 }, { time: 1, translate: [0, 1, 0], rotate: [0, 0, 90] }] },
    },
  ]);
  expect(movers.update(1)).toBe(true);
  expect(boundsOf(meshes[0]!)).toEqual([2.5, 1, -0.5, 3.5, 3, 0.5]);
});
