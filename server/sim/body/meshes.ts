/**
 * Loads a body's mesh source: the simulation mesh and, if there is one, the detail mesh that is drawn, in the mesh's
 * own units.
 */
import { resolve } from "node:path";
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import type { Body, MeshSource } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { boxTets, gridCloth, icosphere } from "../../meshing/generators.ts";
import { loadMeshFile } from "../../meshing/importers/loadMeshFile.ts";
import { loadPackageMesh } from "../../meshing/importers/packageMesh.ts";
import type { LoadedMesh, SurfaceMesh } from "../../meshing/mesh.ts";
import type { MeshNote } from "../../meshing/meshNotes.ts";
import type { Drawing, FoundInObject, ObjectMeshes } from "./objectMeshes.ts";

/** Sources of meshes. */
export interface MeshSources {
  /** Folder that mesh files are relative to. */
  baseDir: string;
  /** Receives notes about mesh files. */
  found?: FoundInMesh[];
  /** Objects; absent: none. */
  objects?: ObjectMeshes;
}

/** A note about a mesh file of the scene, or about an object. */
export type FoundInMesh = FoundInObject | (MeshNote & { file: string });

export type SourceMesh = LoadedMesh & { drawing?: Drawing };

/** @param path of the body in the scene, for errors */
export async function loadSource(body: Body, sources: MeshSources, path: string): Promise<SourceMesh> {
  const { type } = body.mesh;
  if (type === "box" && body.kind === "cloth")
    throw new SceneError(`${path}/mesh/type`, type, "a surface for a cloth: grid or file");
  if (type === "grid" && body.kind === "soft")
    throw new SceneError(`${path}/mesh/type`, type, "a closed surface or tetrahedra for a soft body");
  return loadMesh(body.mesh, sources, roleOf(body));
}

function roleOf(body: Body): ObjectRole {
  if (body.kind === "cloth") return "cloth";
  const { material } = body;
  return "model" in material && material.model === "shape-matching" && material.mode === "rigid" ? "rigid" : "soft";
}

/** @throws MeshError */
export async function loadMesh(mesh: MeshSource, sources: MeshSources, role: ObjectRole): Promise<SourceMesh> {
  switch (mesh.type) {
    case "object": {
      const { ObjectMeshes } = await import("./objectMeshes.ts");
      return (sources.objects ?? new ObjectMeshes()).prepare(mesh, role);
    }
    case "file":
      return loadFile(mesh.path, sources, role);
    case "package":
      return { kind: "surface", surface: await loadPackageMesh(mesh.package, mesh.level) };
    case "box":
      return { kind: "tets", tets: boxTets(mesh.size, mesh.cells) };
    case "grid":
      return { kind: "surface", surface: gridCloth(mesh.size, mesh.cells) };
    case "ball":
      return { kind: "surface", surface: icosphere(mesh.radius, mesh.subdivisions) };
    case "lattice":
      throw new Error("a lattice has no surface");
  }
}

async function loadFile(path: string, { baseDir, found }: MeshSources, role: ObjectRole): Promise<LoadedMesh> {
  const { notes, ...mesh } = await loadMeshFile(resolve(baseDir, path), role);
  addNotes(found, path, notes);
  return mesh;
}

/** Adds notes about a file, each once: a scene may load it for several bodies. */
export function addNotes(found: FoundInMesh[] | undefined, file: string, notes: readonly MeshNote[]): void {
  for (const note of notes)
    if (found && !found.some((other) => "file" in other && other.file === file && other.text === note.text))
      found.push({ file, ...note });
}

/** Mean length of a surface's edges, m. */
export function meanEdge(positions: Float64Array, triangles: ArrayLike<number>): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = 3 * triangles[t + k]!;
      const b = 3 * triangles[t + ((k + 1) % 3)]!;
      const d = [0, 1, 2].map((r) => positions[a + r]! - positions[b + r]!);
      sum += Math.sqrt(d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!);
    }
  }
  return sum / triangles.length;
}

/** Volume enclosed by a surface, m^3 (divergence theorem); negative if it is inside out. */
export function enclosedVolume(surface: SurfaceMesh): number {
  let six = 0;
  const X = surface.positions;
  const T = surface.triangles;
  for (let t = 0; t < T.length; t += 3) {
    const [a, b, c] = [3 * T[t]!, 3 * T[t + 1]!, 3 * T[t + 2]!];
    six +=
      X[a]! * (X[b + 1]! * X[c + 2]! - X[b + 2]! * X[c + 1]!) +
      X[a + 1]! * (X[b + 2]! * X[c]! - X[b]! * X[c + 2]!) +
      X[a + 2]! * (X[b]! * X[c + 1]! - X[b + 1]! * X[c]!);
  }
  return six / 6;
}
