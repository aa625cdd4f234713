/**
 * Loads mesh files: chooses the importer by the extension, and finds the `.ele` file that belongs to a `.node` file.
 */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import { MAX_FILE_BYTES, MeshError } from "../mesh.ts";
import type { LoadedMesh, ReadSurface } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { finishFile } from "./finishFile.ts";
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
async function importGltf(file: string, bytes: Uint8Array): Promise<ReadSurface> {
  const { ObjectError, readGltfSurface } = await import("../objects/readObjectFile.ts");
  try {
    return await readGltfSurface(bytes);
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    const { where, value, limit } = error.fault;
    throw new MeshError({ file, field: where, value, limit });
  }
}

const IMPORTERS = {
  ".obj": importObj,
  ".ply": importPly,
  ".ply.gz": importPly,
  ".stl": importStl,
  ".glb": importGltf,
  ".gltf": importGltf,
};

/**
 * Reads a mesh file. `.node` and `.ele` name the same pair.
 * @param path of the file; errors show only its last part
 * @param role of the surface, if it is one
 * @returns tetrahedra (`.node`, `.ele`, `.msh` with any) or a surface, and notes about it
 * @throws MeshError if the file is missing, its extension is unknown or its content is invalid
 */
export async function loadMeshFile(path: string, role: ObjectRole): Promise<LoadedMesh & { notes: MeshNote[] }> {
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
      notes: [],
      tets: importTetgen({ nodeFile: basename(`${stem}.node`), node, eleFile: basename(`${stem}.ele`), ele }),
    };
  }
  const bytes = await bytesOf(path);
  if (!bytes) throw new MeshError({ file, field: "file", value: "missing", limit: "a file that exists is needed" });
  if (ending === ".msh") {
    const mesh = importGmsh(file, bytes);
    if (mesh.kind === "tets") return { ...mesh, notes: [] };
    return { kind: "surface", ...finishFile(file, { ...mesh.surface, precision: 0, notes: [] }, role) };
  }
  const read = await IMPORTERS[ending](file, bytes);
  return { kind: "surface", ...finishFile(file, read, role) };
}
