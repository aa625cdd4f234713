/**
 * Checks the files that a scene names before any is opened. A server reads meshes only from the scenes folder, whatever
 * the scene says, and only as many as fit into memory.
 * `npm run simulate` does not use this check: its user may read their own files anyway.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { MeshSource, Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { MAX_FILE_BYTES } from "../../meshing/mesh.ts";

/**
 * Largest total size of all mesh files of one scene on disk, bytes. Each file also has the limits of meshing/mesh.ts
 * when it is read.
 */
const MAX_SCENE_FILE_BYTES = MAX_FILE_BYTES;

/**
 * @param dir the scene file's folder
 * @throws SceneError: a path that leads out of the folder (by `..`, from the root, or by a link), that is not a plain
 * file, or files that are too large. The loader reports missing files.
 */
export async function checkSceneFiles(scene: Scene, dir: string): Promise<void> {
  const sources: [string, MeshSource][] = scene.bodies.map((body, b) => [`/bodies/${b}/mesh/path`, body.mesh]);
  scene.colliders?.forEach((collider, c) => {
    if (collider.type === "mesh") sources.push([`/colliders/${c}/mesh/path`, collider.mesh]);
  });
  const root = await realpath(dir);
  const sizes = new Map<string, number>();
  for (const [at, mesh] of sources) {
    if (mesh.type !== "file") continue;
    for (const path of filesOf(mesh.path)) {
      const file = await insideOf(root, path, at, mesh.path);
      if (file !== null) sizes.set(file.path, file.bytes);
    }
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > MAX_SCENE_FILE_BYTES)
      throw new SceneError(
        at,
        `${bytes} bytes with all mesh files before it`,
        `at most ${MAX_SCENE_FILE_BYTES} bytes in all mesh files of a scene`,
      );
  }
}

/** `.node` and `.ele` are read as a pair. */
function filesOf(path: string): string[] {
  const pair = /^(.*)\.(node|ele)$/i.exec(path);
  return pair ? [`${pair[1]}.node`, `${pair[1]}.ele`] : [path];
}

async function insideOf(
  root: string,
  path: string,
  at: string,
  given: string,
): Promise<{ path: string; bytes: number } | null> {
  const outside = new SceneError(at, given, "a path within the scenes folder");
  if (isAbsolute(path) || leadsOut(relative(root, join(root, path)))) throw outside;
  let real: string;
  try {
    real = await realpath(join(root, path));
  } catch {
    return null;
  }
  if (leadsOut(relative(root, real))) throw outside;
  const found = await stat(real);
  if (!found.isFile()) throw new SceneError(at, given, "a plain file");
  return { path: real, bytes: found.size };
}

const leadsOut = (way: string): boolean => way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
