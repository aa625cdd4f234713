/**
 * The surface of an object -> the mesh that a body or a collider of this role has, in m, standing on y = 0, centered in
 * x and z.
 */
import type { ObjectRole } from "../../../shared/objectRoles.ts";
import { requireSheet } from "../finishMesh.ts";
import { MeshError } from "../mesh.ts";
import type { LoadedMesh, SurfaceMesh } from "../mesh.ts";
import { fill } from "./fill.ts";
import { mendSurface } from "./mendSurface.ts";
import type { MendedSurface, SurfaceFindings } from "./mendSurface.ts";
import type { ObjectChoice, ObjectFile, ObjectNote } from "./objectFile.ts";
import { ObjectError, ofMeshError, percent, placeOf } from "./objectFile.ts";
import { evenSheet } from "./sheet.ts";
import { clusterSurface, simplifySurface } from "./simplify.ts";

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
/** Triangles beyond which nothing here gets better; twice as many are clustered where they cannot be collapsed. */
const MOST_TRIANGLES = 100_000;
/** Of the size: detail that no lattice of 50,000 particles has. */
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
  const detail = new Float64Array(3 * file.surfaceOfPicture.length);
  file.surfaceOfPicture.forEach((v, i) => detail.set(positions.subarray(3 * v, 3 * v + 3), 3 * i));
  const notes: ObjectNote[] = [];
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

/** The surface with its sides agreed on, and few enough triangles for everything that follows. */
async function mended(surface: SurfaceMesh, { size }: ObjectChoice, notes: ObjectNote[]): Promise<MendedSurface> {
  const before = surface.triangles.length / 3;
  const fewer = await simplifySurface(surface, MOST_TRIANGLES, FINEST * size);
  const few = fewer.triangles.length > 6 * MOST_TRIANGLES ? await clusterSurface(fewer, MOST_TRIANGLES, 1) : fewer;
  const { surface: result, findings } = mendSurface(few);
  noteFindings(result, findings, size, notes);
  if (before > few.triangles.length / 3)
    notes.push({
      code: "SIMPLIFIED",
      text: `The simulation takes ${few.triangles.length / 3} of the surface's ${before} triangles.`,
    });
  return { surface: result, findings };
}

function noteFindings(surface: SurfaceMesh, found: SurfaceFindings, size: number, notes: ObjectNote[]): void {
  if (found.open > 0) {
    const at = placeOf(surface.positions, found.openAt, size);
    const text = `${found.open} edges have one triangle only (holes or borders); one is at ${percent(at)}.`;
    notes.push({ code: "HOLES", text, at });
  }
  if (found.crossed > 0) {
    const at = placeOf(surface.positions, found.crossedAt, size);
    const text = `${found.crossed} edges have three triangles or more; one is at ${percent(at)}.`;
    notes.push({ code: "NON_MANIFOLD", text, at });
  }
  if (found.turned > 0)
    notes.push({ code: "FLIPPED", text: `${found.turned} triangles faced the wrong way; the simulation turns them.` });
}

async function cloth(surface: SurfaceMesh, { particles }: ObjectChoice): Promise<SurfaceMesh> {
  const sheet = await evenSheet(surface, particles);
  const count = sheet.positions.length / 3;
  if (count > 2 * particles)
    throw new ObjectError("ROLE_IMPOSSIBLE", {
      where: "count of vertices of the cloth, however much it is simplified",
      value: count,
      limit: `at most ${2 * particles} are allowed here`,
      help: "The surface is in many pieces or full of holes: join it, choose more particles, or the role soft",
    });
  requireSheet("cloth", sheet);
  return sheet;
}

async function collider(surface: SurfaceMesh, { particles, size }: ObjectChoice): Promise<SurfaceMesh> {
  const fine = await simplifySurface(surface, 2 * particles, COLLIDER_ERROR * size);
  return fine.triangles.length > 12 * particles ? await clusterSurface(fine, 2 * particles, 1) : fine;
}
