/**
 * The surface of an object -> the mesh that a body or a collider of this role has, in m, standing on y = 0, centered in
 * x and z.
 */
import { MeshError } from "../mesh.ts";
import type { LoadedMesh, SurfaceMesh } from "../mesh.ts";
import { tetrahedralize } from "../tetrahedralize.ts";
import type { ObjectFile, ObjectNote } from "./objectFile.ts";
import { ObjectError, ofMeshError } from "./objectFile.ts";

export type ObjectRole = "soft" | "cloth" | "rigid" | "collider";

export interface ObjectChoice {
  role: ObjectRole;
  /** Longest side of the box around the object, m: 0.02 to 20. */
  size: number;
  /** Most particles of the mesh (of a collider: vertices), 50 to 50,000. */
  particles: number;
}

export interface PreparedSurface {
  role: ObjectRole;
  /**
   * soft and rigid: tetrahedra, whose boundary carries the picture. cloth and collider: triangles, consistently
   * oriented. m.
   */
  mesh: LoadedMesh;
  /** Where the picture's vertices are (float64[3 vertices of the picture], m) when the mesh is at rest. */
  detail: Float64Array;
  /** m for a unit of the file: a place here is scale * (a position of ObjectFile) + offset. */
  scale: number;
  offset: [number, number, number];
  /** Of the lattice, m; soft and rigid only. */
  spacing?: number;
  notes: ObjectNote[];
}

const MIN_SIZE = 0.02;
const MAX_SIZE = 20;
const MIN_PARTICLES = 50;
const MAX_PARTICLES = 50_000;

function checkChoice({ role, size, particles }: ObjectChoice): void {
  const refuse = (where: string, value: unknown, limit: string): never => {
    throw new ObjectError("CHOICE_INVALID", { where, value: String(value), limit, help: "Choose another value" });
  };
  if (!["soft", "cloth", "rigid", "collider"].includes(role))
    refuse("role", role, "one of soft, cloth, rigid, collider is needed");
  if (!(size >= MIN_SIZE && size <= MAX_SIZE)) refuse("size in m", size, `from ${MIN_SIZE} to ${MAX_SIZE} is needed`);
  if (!(Number.isInteger(particles) && particles >= MIN_PARTICLES && particles <= MAX_PARTICLES))
    refuse("particles", particles, `a whole number from ${MIN_PARTICLES} to ${MAX_PARTICLES} is needed`);
}

/** Puts the surface where bodies stand. */
function placementOf(surface: SurfaceMesh, size: number): { scale: number; offset: [number, number, number] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < surface.positions.length; i++) {
    low[i % 3] = Math.min(low[i % 3]!, surface.positions[i]!);
    high[i % 3] = Math.max(high[i % 3]!, surface.positions[i]!);
  }
  const scale = size / Math.max(...low.map((l, k) => high[k]! - l));
  const middle = (k: number): number => -0.5 * scale * (low[k]! + high[k]!);
  return { scale, offset: [middle(0), -scale * low[1]!, middle(2)] };
}

/**
 * Makes the mesh of a role.
 * @throws ObjectError with a sentence that says what is wrong, where, and what helps
 */
export async function prepareSurface(file: ObjectFile, choice: ObjectChoice): Promise<PreparedSurface> {
  checkChoice(choice);
  const { scale, offset } = placementOf(file.surface, choice.size);
  const positions = file.surface.positions.map((x, i) => scale * x + offset[i % 3]!);
  const surface = { positions, triangles: file.surface.triangles };
  const detail = new Float64Array(3 * file.surfaceOfPicture.length);
  file.surfaceOfPicture.forEach((v, i) => detail.set(positions.subarray(3 * v, 3 * v + 3), 3 * i));
  const prepared = { role: choice.role, detail, scale, offset, notes: [] };
  if (choice.role === "cloth" || choice.role === "collider") return { ...prepared, mesh: { kind: "surface", surface } };
  try {
    const spacing = choice.size / 12;
    return { ...prepared, mesh: { kind: "tets", tets: tetrahedralize(surface, { spacing }).mesh }, spacing };
  } catch (error) {
    if (error instanceof MeshError) throw ofMeshError(error, "Choose fewer particles");
    throw error;
  }
}
