/**
 * Converts an object's surface to the mesh of a body or a collider in the chosen role, in m, standing on y = 0,
 * centered in x and z.
 */
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import { requireSheet } from "../importers/finishMesh.ts";
import { MeshError } from "../mesh.ts";
import type { LoadedMesh, SurfaceMesh } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { surfaceNotes } from "../surface/surfaceNotes.ts";
import { fill } from "./fill.ts";
import { mendSurface } from "./mendSurface.ts";
import type { MendedSurface } from "./mendSurface.ts";
import type { ObjectChoice, ObjectFile } from "./objectFile.ts";
import { ObjectError, ofMeshError } from "./objectFile.ts";
import { evenSheet } from "./clothSheet.ts";
import { clusterSurface, simplifySurface } from "./simplify.ts";

export interface PreparedSurface {
  role: ObjectRole;
  /**
   * soft and rigid: tetrahedra, to whose boundary the picture is attached. cloth and collider: triangles, consistently
   * oriented. m.
   */
  mesh: LoadedMesh;
  /** Positions of the picture's vertices for the mesh at rest, float64[3 vertices of the picture], m. */
  detail: Float64Array;
  /** m per unit of the file: a position here is scale * (a position of ObjectFile) + offset. */
  scale: number;
  offset: [number, number, number];
  /** Spacing of the lattice, m; soft and rigid only. */
  spacing?: number;
  notes: MeshNote[];
}

const MIN_SIZE = 0.02;
const MAX_SIZE = 20;
const MIN_PARTICLES = 50;
const MAX_PARTICLES = 50_000;
/** More triangles give no better results here. If edge collapses leave more than twice as many, they are clustered. */
const MOST_TRIANGLES = 100_000;
/** Relative to the size: a lattice of 50,000 particles cannot represent finer detail. */
const FINEST = 1e-3;
const COLLIDER_ERROR = 5e-3;

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

/** Computes scale and offset that put the surface on the ground, centered. */
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
 * Makes the mesh for a role.
 * @throws ObjectError with a sentence that states the problem, its position and advice
 */
export async function prepareSurface(file: ObjectFile, choice: ObjectChoice): Promise<PreparedSurface> {
  checkChoice(choice);
  const { scale, offset } = placementOf(file.surface, choice.size);
  const positions = file.surface.positions.map((x, i) => scale * x + offset[i % 3]!);
  const detail = new Float64Array(3 * file.surfaceOfPicture.length);
  file.surfaceOfPicture.forEach((v, i) => detail.set(positions.subarray(3 * v, 3 * v + 3), 3 * i));
  const notes: MeshNote[] = [];
  const { surface, findings } = await mended({ positions, triangles: file.surface.triangles }, choice, notes);
  const prepared = { role: choice.role, detail, scale, offset, notes };
  try {
    if (choice.role === "cloth")
      return { ...prepared, mesh: { kind: "surface", surface: await cloth(surface, choice) } };
    if (choice.role === "collider")
      return { ...prepared, mesh: { kind: "surface", surface: await collider(surface, choice) } };
    const { tets, spacing } = await fill(surface, findings.open > 0, choice, notes);
    return { ...prepared, mesh: { kind: "tets", tets }, spacing };
  } catch (error) {
    if (error instanceof MeshError)
      throw ofMeshError(error, "Simplify the model, or choose another role or fewer particles");
    throw error;
  }
}

/** Reduces the surface to MOST_TRIANGLES and repairs its orientation. */
async function mended(
  surface: SurfaceMesh,
  { size, role }: ObjectChoice,
  notes: MeshNote[],
): Promise<Omit<MendedSurface, "flipped">> {
  const before = surface.triangles.length / 3;
  const fewer = await simplifySurface(surface, MOST_TRIANGLES, FINEST * size);
  const few = fewer.triangles.length > 6 * MOST_TRIANGLES ? await clusterSurface(fewer, MOST_TRIANGLES, 1) : fewer;
  const { surface: result, findings } = mendSurface(few);
  notes.push(...surfaceNotes(result.positions, findings, role, size));
  if (before > few.triangles.length / 3)
    notes.push({
      code: "SIMPLIFIED",
      text: `The simulation uses ${few.triangles.length / 3} of the surface's ${before} triangles.`,
    });
  return { surface: result, findings };
}

async function cloth(surface: SurfaceMesh, { particles }: ObjectChoice): Promise<SurfaceMesh> {
  const sheet = await evenSheet(surface, particles);
  const count = sheet.positions.length / 3;
  if (count > 2 * particles)
    throw new ObjectError("ROLE_IMPOSSIBLE", {
      where: "count of vertices of the cloth after all simplification",
      value: count,
      limit: `at most ${2 * particles} are allowed here`,
      help: "The surface has many pieces or holes: join the pieces, choose more particles, or choose the role soft",
    });
  requireSheet("cloth", sheet);
  return sheet;
}

async function collider(surface: SurfaceMesh, { particles, size }: ObjectChoice): Promise<SurfaceMesh> {
  const fine = await simplifySurface(surface, 2 * particles, COLLIDER_ERROR * size);
  return fine.triangles.length > 12 * particles ? await clusterSurface(fine, 2 * particles, 1) : fine;
}
