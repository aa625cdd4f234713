/** Reads and validates a scene file. */
import { readFile, stat } from "node:fs/promises";
import type { Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { sceneOf } from "../../../shared/scene/sceneValidator.ts";

/** Largest scene file, bytes: meshes are stored in their own files. */
const MAX_SCENE_BYTES = 4 * 1024 * 1024;

/** @throws SceneError, or the file system's error if the file cannot be read */
export async function readScene(path: string): Promise<Scene> {
  const { size } = await stat(path);
  if (size > MAX_SCENE_BYTES) throw new SceneError("", `${size} bytes`, `at most ${MAX_SCENE_BYTES} bytes`);
  // Without the byte order mark of editors on Windows.
  return sceneOf(new TextDecoder().decode(await readFile(path)));
}
