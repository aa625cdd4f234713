/**
 * Last step for a surface from a scene's file: the steps of uploaded objects, without their simplification. Welds
 * vertices (weldSurface.ts), repairs the orientation (objects/mendSurface.ts), and reports both with places.
 */
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import { finishSurface } from "./finishMesh.ts";
import type { ReadSurface, SurfaceMesh } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { mendSurface } from "../objects/mendSurface.ts";
import { surfaceNotes } from "../surface/surfaceNotes.ts";
import { weldNotes, weldSurface, type WeldedSurface } from "../surface/weldSurface.ts";

/**
 * Welds and mends a file's surface, and makes the notes for its author.
 * @param role of a collider triangles are not turned, because both of their sides are solid; a sheet keeps its front
 * @throws MeshError if no triangle with corners at three different places is left
 */
export function finishFile(
  file: string,
  read: ReadSurface,
  role: ObjectRole,
): { surface: SurfaceMesh; notes: MeshNote[] } {
  const welded = weldSurface(read.positions, read.triangles, () => read.precision);
  const surface = mergedSurface(file, read, welded);
  const { surface: mended, findings } = mendSurface(surface, role === "cloth");
  const kept = role === "collider" ? surface : mended;
  const found = role === "collider" ? { ...findings, turned: 0 } : findings;
  return {
    surface: kept,
    notes: [...read.notes, ...weldNotes(read.positions, welded), ...surfaceNotes(kept.positions, found, role)],
  };
}

function mergedSurface(
  file: string,
  { positions, triangles, origin }: ReadSurface,
  { places, first }: WeldedSurface,
): SurfaceMesh {
  const inFile = (vertex: number): number => origin?.[vertex] ?? vertex;
  const { origin: used, ...surface } = finishSurface({
    file,
    positions: Float64Array.from(
      { length: 3 * first.length },
      (_, i) => positions[3 * first[Math.floor(i / 3)]! + (i % 3)]!,
    ),
    elements: triangles.map((v) => places[v]!),
  });
  const merged = new Map<number, number>();
  places.forEach((place, vertex) => {
    if (first[place] !== vertex) merged.set(inFile(vertex), inFile(first[place]!));
  });
  if (!origin && !used && merged.size === 0) return surface;
  const kept = used ? Array.from(used, (place) => first[place]!) : first;
  return { ...surface, origin: Uint32Array.from(kept, inFile), ...(merged.size > 0 && { merged }) };
}
