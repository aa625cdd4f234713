/** Mesh files by name: which importer reads which ending, and the `.ele` that belongs to a `.node`. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { MAX_FILE_BYTES, MeshError } from "./mesh.ts";
import type { LoadedMesh, SurfaceMesh } from "./mesh.ts";
import { importGmsh } from "./importGmsh.ts";
import { importObj } from "./importObj.ts";
import { importPly } from "./importPly.ts";
import { importStl } from "./importStl.ts";
import { importTetgen } from "./importTetgen.ts";

/** Endings that `loadMeshFile` reads. */
const MESH_ENDINGS = [".obj", ".ply", ".ply.gz", ".stl", ".glb", ".gltf", ".node", ".ele", ".msh"] as const;

async function bytesOf(path: string): Promise<Uint8Array | undefined> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES)
      throw new MeshError({
        file: basename(path),
        field: "size in bytes",
        value: size,
        limit: `at most ${MAX_FILE_BYTES} is allowed`,
      });
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The shape of a glTF's scene; loaded on demand, since few scenes have one. */
async function gltfSurface(file: string, bytes: Uint8Array): Promise<SurfaceMesh> {
  const { ObjectError, readObjectFile } = await import("./objects/readObjectFile.ts");
  try {
    return (await readObjectFile(bytes, file)).surface;
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    const { where, value, limit } = error.fault;
    throw new MeshError({ file, field: where, value, limit });
  }
}

/**
 * Reads a mesh file. `.node` and `.ele` mean the same pair.
 * @param path of the file; errors name its last part only
 * @returns tetrahedra (`.node`, `.ele`, `.msh` with any) or a surface
 * @throws MeshError where the file is missing, its ending is unknown or its content is refused
 */
export async function loadMeshFile(path: string): Promise<LoadedMesh> {
  const file = basename(path);
  const lower = file.toLowerCase();
  const ending = MESH_ENDINGS.find((known) => lower.endsWith(known));
  if (!ending)
    throw new MeshError({
      file,
      field: "file name",
      value: file,
      limit: `an ending of ${MESH_ENDINGS.join(" ")} is needed`,
    });
  if (ending === ".node" || ending === ".ele") {
    const stem = path.slice(0, -ending.length);
    const node = await bytesOf(`${stem}.node`);
    if (!node)
      throw new MeshError({
        file: basename(`${stem}.node`),
        field: "file",
        value: "missing",
        limit: "a file that exists is needed",
      });
    const ele = await bytesOf(`${stem}.ele`);
    return {
      kind: "tets",
      tets: importTetgen({ nodeFile: basename(`${stem}.node`), node, eleFile: basename(`${stem}.ele`), ele }),
    };
  }
  const bytes = await bytesOf(path);
  if (!bytes) throw new MeshError({ file, field: "file", value: "missing", limit: "a file that exists is needed" });
  if (ending === ".msh") return importGmsh(file, bytes);
  if (ending === ".glb" || ending === ".gltf") return { kind: "surface", surface: await gltfSurface(file, bytes) };
  const read = ending === ".obj" ? importObj : ending === ".stl" ? importStl : importPly;
  return { kind: "surface", surface: read(file, bytes) };
}
