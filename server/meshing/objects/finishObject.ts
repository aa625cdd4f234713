/**
 * Last step of all readers of object files: makes surface, picture, and the map from picture vertices to surface
 * vertices.
 */
import type { Document } from "@gltf-transform/core";
import type { SurfaceMesh } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";
import { floatPrecision } from "../importers/filePrecision.ts";
import { weldNotes, weldSurface } from "../surface/weldSurface.ts";
import { facePicture } from "./facePicture.ts";
import type { ObjectFile, ObjectLimits } from "./objectFile.ts";
import { ObjectError } from "./objectFile.ts";
import { compacted, joined, withArea } from "./parts.ts";
import type { Part } from "./parts.ts";
import { simplifyPart } from "./simplify.ts";
import { writePicture } from "./writePicture.ts";

/** Limit of the distance from the file's origin, relative to the size. Beyond it, float32 loses more than 4 bits. */
const FAR = 16;
/** Sizes for which float32 and squared differences keep full precision. */
const SMALLEST = 1e-15;
const LARGEST = 1e15;

/** All parts of a file, with the positions of their vertices in sequence. */
interface Gathered {
  parts: readonly Part[];
  /** Triangles of the vertices. */
  corners: Uint32Array;
  positions: Float32Array;
  /** First vertex of each part. */
  starts: number[];
  origin: [number, number, number];
  /** Number of triangles that were dropped, because they have no area. */
  dropped: number;
}

/**
 * @param document holds the parts' materials; it is consumed
 * @throws ObjectError if nothing remains, a number is invalid, or a limit is exceeded
 */
export async function finishObject(
  document: Document,
  parts: readonly Part[],
  limits: ObjectLimits,
  notes: MeshNote[],
): Promise<ObjectFile> {
  const gathered = gather(parts, limits, notes);
  const { surface, places } = surfaceOf(gathered, notes);
  const shown = await pictureParts(gathered.parts, places, limits, notes);
  const picture = await writePicture(document, facePicture(shown.parts, shown.places, surface.positions));
  return { surface, picture, surfaceOfPicture: shown.places, origin: gathered.origin, notes };
}

/** The surface of a file's parts, in the file's coordinates, without a picture. @throws ObjectError */
export function surfaceOfParts(parts: readonly Part[], limits: ObjectLimits, notes: MeshNote[]): SurfaceMesh {
  const gathered = gather(parts, limits, []);
  const { surface } = surfaceOf(gathered, notes);
  return { ...surface, positions: surface.positions.map((x, i) => x + gathered.origin[i % 3]!) };
}

function gather(parts: readonly Part[], limits: ObjectLimits, notes: MeshNote[]): Gathered {
  const used = parts.filter((part) => part.triangles.length > 0).map(compacted);
  for (const part of used) checkPart(part);
  // A node of scale 0 has a place, which counts in no size.
  const areas = used.map(withArea).filter((part) => part.triangles.length > 0);
  const shown = areas.length > 0 ? areas : used;
  const count = (all: readonly Part[]): number => all.reduce((sum, part) => sum + part.triangles.length / 3, 0);
  const drawn = joined(shown.map(compacted));
  checkCounts(drawn, limits);
  const origin = moveNear(drawn, notes);
  const positions = new Float32Array(drawn.reduce((sum, part) => sum + part.positions.length, 0));
  const corners = new Uint32Array(drawn.reduce((sum, part) => sum + part.triangles.length, 0));
  const starts: number[] = [];
  let vertex = 0;
  let corner = 0;
  for (const part of drawn) {
    starts.push(vertex);
    positions.set(part.positions, 3 * vertex);
    for (const v of part.triangles) corners[corner++] = vertex + v;
    vertex += part.positions.length / 3;
  }
  return { parts: drawn, corners, positions, starts, origin, dropped: count(used) - count(shown) };
}

/** Welds the parts into one surface. */
function surfaceOf(
  { parts, corners, positions, starts, dropped }: Gathered,
  notes: MeshNote[],
): { surface: SurfaceMesh; places: Uint32Array } {
  const precision = new Float64Array(positions.length / 3);
  const rounded = floatPrecision(positions, 23);
  parts.forEach((part, p) => precision.fill(part.precision + rounded, starts[p], starts[p + 1]));
  const welded = weldSurface(positions, corners, (v) => precision[v]!);
  notes.push(...weldNotes(positions, welded));
  const triangles = triangles3(corners, welded.places, dropped, notes);
  if (triangles.length === 0)
    throw new ObjectError("NO_TRIANGLES", {
      where: "count of triangles with three different corners",
      value: 0,
      limit: "at least 1 is needed",
      help: "Export the faces of the model; points and lines alone have no surface",
    });
  const places = new Float64Array(3 * welded.first.length);
  welded.first.forEach((v, i) => places.set(positions.subarray(3 * v, 3 * v + 3), 3 * i));
  // The picture closes, too: its vertices lie on those of the surface.
  if (welded.joined > 0)
    parts.forEach((part, p) => {
      for (let v = 0; v < part.positions.length / 3; v++) {
        const place = 3 * welded.places[starts[p]! + v]!;
        part.positions.set(places.subarray(place, place + 3), 3 * v);
      }
    });
  return { surface: { positions: places, triangles }, places: welded.places };
}

/**
 * Returns the parts to draw, with the surface vertices of their vertices. If there are too many triangles for a page,
 * they are simplified.
 */
async function pictureParts(
  parts: readonly Part[],
  places: Uint32Array,
  limits: ObjectLimits,
  notes: MeshNote[],
): Promise<{ parts: readonly Part[]; places: Uint32Array }> {
  const count = (all: readonly Part[]): number => all.reduce((sum, part) => sum + part.triangles.length / 3, 0);
  const total = count(parts);
  if (total <= limits.pictureTriangles) return { parts, places };
  const small: Part[] = [];
  const chosen: number[] = [];
  let first = 0;
  for (const part of parts) {
    const share = Math.ceil((limits.pictureTriangles * part.triangles.length) / (3 * total));
    const { part: fewer, kept } = await simplifyPart(part, share);
    small.push(fewer);
    for (const v of kept) chosen.push(places[first + v]!);
    first += part.positions.length / 3;
  }
  notes.push({ code: "PICTURE_SIMPLIFIED", text: `The picture has ${count(small)} of the file's ${total} triangles.` });
  return { parts: small, places: Uint32Array.from(chosen) };
}

function checkPart({ positions, where }: Part): void {
  const bad = positions.findIndex((x) => !(Math.abs(x) < 1e30));
  if (bad >= 0)
    throw new ObjectError("GEOMETRY_INVALID", {
      where: `${where}, ${"xyz"[bad % 3]} of a vertex`,
      value: positions[bad]!,
      limit: "a finite number below 1e30 is needed",
      help: "Apply or remove broken transforms and delete the broken vertices, then export again",
    });
}

function checkCounts(parts: readonly Part[], limits: ObjectLimits): void {
  const vertices = parts.reduce((sum, part) => sum + part.positions.length / 3, 0);
  const triangles = parts.reduce((sum, part) => sum + part.triangles.length / 3, 0);
  for (const [where, value, limit] of [
    ["count of vertices", vertices, limits.vertices],
    ["count of triangles", triangles, limits.triangles],
  ] as const)
    if (value > limit)
      throw new ObjectError("TOO_LARGE", {
        where,
        value,
        limit: `at most ${limit} are allowed`,
        help: "Simplify (decimate) the model before exporting it",
      });
}

/** Moves parts that are far from the origin, in place. @returns the offset subtracted from the positions */
function moveNear(parts: readonly Part[], notes: MeshNote[]): [number, number, number] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of parts)
    for (let i = 0; i < positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
      high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
    }
  const size = Math.max(...low.map((l, k) => high[k]! - l));
  if (parts.length > 0 && !(size >= SMALLEST && size <= LARGEST))
    throw new ObjectError("GEOMETRY_INVALID", {
      where: "size of the model in the file's unit",
      value: size,
      limit: `from ${SMALLEST} to ${LARGEST} is needed`,
      help: "Scale the model, and check that its vertices are not all at one position",
    });
  const center = low.map((l, k) => 0.5 * (l + high[k]!));
  if (!center.some((c) => Math.abs(c) > FAR * size)) return [0, 0, 0];
  for (const { positions } of parts) for (let i = 0; i < positions.length; i++) positions[i]! -= center[i % 3]!;
  notes.push({
    code: "FAR_FROM_ORIGIN",
    text: `The model lies ${far(center, size)} times its size from the file's origin; it was moved to the origin.`,
  });
  return center as [number, number, number];
}

const far = (center: number[], size: number): string =>
  (Math.hypot(...center) / size).toPrecision(2).replace(/\.0+$/, "");

/** Triangles of surface vertices. Triangles with two corners at one position have no area and are dropped. */
function triangles3(corners: Uint32Array, places: Uint32Array, dropped: number, notes: MeshNote[]): Uint32Array {
  const kept = new Uint32Array(corners.length);
  let length = 0;
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = [places[corners[i]!]!, places[corners[i + 1]!]!, places[corners[i + 2]!]!];
    if (a === b || b === c || c === a) continue;
    kept[length++] = a;
    kept[length++] = b;
    kept[length++] = c;
  }
  const lost = dropped + (corners.length - length) / 3;
  if (lost > 0)
    notes.push({
      code: "TRIANGLES_DROPPED",
      text: `${lost} triangles have two corners at one position; the simulation ignores them.`,
    });
  return kept.slice(0, length);
}
