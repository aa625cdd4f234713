/**
 * Objects look as their files say once those have come; until then, and where one cannot be had, their meshes are drawn
 * like any other body's. What reads the files comes with the first room that has any.
 */
import { type Group, Matrix4, Mesh, type Object3D } from "three";
import type { Topology } from "../../shared/topology.ts";
import type { BodyMesh } from "./bodyMesh.ts";

export interface Wardrobe {
  topology: Topology;
  /** In the topology's order. */
  bodies: readonly BodyMesh[];
  /** Likewise, if they are drawn at all. */
  colliders?: Group;
  /** Origin of the server; empty: the page's own. */
  base: string;
  /** Nobody draws them any more. */
  ended: AbortSignal;
}

/** @param changed something looks different now */
export function dressAll(wardrobe: Wardrobe, changed: () => void): void {
  const { topology, bodies, colliders, ended } = wardrobe;
  topology.bodies.forEach((body, index) => {
    const picture = body.detail?.picture;
    if (!picture) return;
    void partsOf(wardrobe, picture.object).then((parts) => {
      if (ended.aborted || !parts) return;
      if (bodies[index]!.wear(body, parts)) changed();
    });
  });
  topology.colliders.forEach((collider, index) => {
    const picture = "picture" in collider ? collider.picture : undefined;
    const drawn = colliders?.children[index];
    if (!picture || !drawn) return;
    void partsOf(wardrobe, picture.object).then((parts) => {
      if (ended.aborted || !parts) return;
      putOn(drawn, parts, picture.matrix);
      changed();
    });
  });
}

/** An obstacle's picture goes where the obstacle goes. */
function putOn(drawn: Object3D, parts: readonly Mesh[], matrix: readonly number[]): void {
  for (const part of parts) {
    const mesh = new Mesh(part.geometry, part.material);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.matrixAutoUpdate = false;
    mesh.matrix = new Matrix4().fromArray([...matrix]);
    drawn.add(mesh);
  }
  if (drawn instanceof Mesh) drawn.material.visible = false;
}

/** The primitives of an object's picture, in its order; undefined: it cannot be had. */
async function partsOf({ base }: Wardrobe, object: string): Promise<Mesh[] | undefined> {
  try {
    const { loadPicture } = await import("./loadPicture.ts");
    return await loadPicture(`${base}/api/objects/${object}/picture`);
  } catch (error) {
    console.warn("an object's picture could not be drawn", error);
    return undefined;
  }
}
