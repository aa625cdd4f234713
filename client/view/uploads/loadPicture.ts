/** Loads the picture of an uploaded model with three's own loader; a separate chunk. */
import type { Mesh } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** @returns the primitives of the picture's one mesh, in their order. @throws Error if it cannot be loaded */
export async function loadPicture(url: string): Promise<Mesh[]> {
  const { scene } = await new GLTFLoader().loadAsync(url);
  const parts: Mesh[] = [];
  scene.traverse((object) => {
    if ((object as Mesh).isMesh) parts.push(object as Mesh);
  });
  return parts;
}
