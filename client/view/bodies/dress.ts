/**
 * Loads the parts of bodies that follow their plain meshes: the code of jelly and of clouds of points, and the pictures
 * (textured meshes) of uploaded models, for colliders, too. Until then, or if loading fails, the plain mesh is drawn.
 * Each loader is a separate chunk.
 */
import { type Group, Matrix4, Mesh, type Object3D } from "three";
import type { Topology } from "../../../shared/topology.ts";
import type { BodyMesh } from "./bodyMesh.ts";

export interface Wardrobe {
  topology: Topology;
  /** Bodies in the topology's order. */
  bodies: readonly BodyMesh[];
  /** Colliders in the topology's order. Absent if none are drawn. */
  colliders?: Group;
  /** Origin of the server; empty: the page's own. */
  base: string;
  /** Aborted when the bodies are no longer drawn. */
  ended: AbortSignal;
}

/** Loads the code of jelly, if there is some, and lets light shine through it. */
export async function shineThrough(bodies: readonly BodyMesh[]): Promise<void> {
  const clear = bodies.filter(({ jelly }) => jelly);
  if (clear.length === 0) return;
  const { jellyOf } = await import("./jelly.ts");
  for (const body of clear) body.shineThrough(jellyOf);
}

/** Loads the code that draws clouds of points as surfaces, if there is one that is no fluid. */
export async function mergeClouds(bodies: readonly BodyMesh[]): Promise<void> {
  const clouds = bodies.filter(({ mode, fluid }) => mode === "points" && !fluid);
  if (clouds.length === 0) return;
  const { mergePoints } = await import("./cloudMesh.ts");
  for (const body of clouds) mergePoints(body);
}

/** @param changed called after a picture was applied */
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

/** Attaches the picture to a collider, so that it moves with it. */
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

/** Returns the primitives of a model's picture, in their order; undefined if it cannot be loaded. */
async function partsOf({ base }: Wardrobe, object: string): Promise<Mesh[] | undefined> {
  try {
    const { loadPicture } = await import("../uploads/loadPicture.ts");
    return await loadPicture(`${base}/api/objects/${object}/picture`);
  } catch (error) {
    console.warn("the picture of a model could not be loaded", error);
    return undefined;
  }
}
