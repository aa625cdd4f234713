/**
 * Loads mesh files: chooses the importer by the extension, and finds the `.ele` file that belongs to a `.node` file.
 */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { MAX_FILE_BYTES, MeshError } from "./mesh.ts";
import type { LoadedMesh, SurfaceMesh } from "./mesh.ts";
import { importGmsh } from "./importGmsh.ts";
import { importObj } from "./importObj.ts";
import { importPly } from "./importPly.ts";
import { importStl } from "./importStl.ts";
import { importTetgen } from "./importTetgen.ts";

/** Extensions that `loadMeshFile` supports. */
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

/** Reads the surface of a glTF's scene; loaded on demand, because few scenes use glTF. */
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
 * Reads a mesh file. `.node` and `.ele` name the same pair.
 * @param path of the file; errors show only its last part
 * @returns tetrahedra (`.node`, `.ele`, `.msh` with any) or a surface
 * @throws MeshError if the file is missing, its extension is unknown or its content is invalid
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
      limit: `one of these extensions is needed: ${MESH_ENDINGS.join(" ")}`,
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
