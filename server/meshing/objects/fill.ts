/**
 * Fills a repaired surface with tetrahedra for a given number of particles, and covers all parts. Parts thinner than
 * the lattice become strings or sheets of elements (tetrahedralize.ts). Pieces that nearly touch are joined. Parts
 * without volume are enclosed in a cage of elements.
 */
import { joinFaces } from "../surface/boundary.ts";
import type { SurfaceMesh, TetMesh } from "../mesh.ts";
import { percent, type MeshNote } from "../meshNotes.ts";
import { pieceOfTets, smallestPiece } from "../tetrahedra/pieces.ts";
import { tetrahedralize } from "../tetrahedra/tetrahedralize.ts";
import type { Tetrahedralization } from "../tetrahedra/tetrahedralize.ts";
import { buildTriangleTree } from "../tetrahedra/triangleTree.ts";
import { buildWindingField, windingNumber } from "../tetrahedra/windingNumber.ts";
import { ObjectError, type ObjectChoice } from "./objectFile.ts";
import { areaOf } from "./clothSheet.ts";
import { simplifySurface } from "./simplify.ts";

/** Sample points along each side of the box, for estimating the enclosed volume. */
const PROBES = 16;
/** If a lattice uses less than this fraction of the allowed particles, it is refined once. */
const USED = 0.6;
const TRIES = 6;
/** Mean thickness of a body, 2 V / A, in spacings, below which it counts as a sheet. */
const THIN = 0.5;
/** In spacings: tolerance of the simplification, and maximum width of gaps that are bridged. */
const ERROR = 0.1;
const BRIDGE = 2;
/**
 * Rods that are tried in sequence, in spacings. A thin rod becomes a string of elements if it is longer than a spacing.
 * In a shorter gap, all its samples are near a piece, so it is not detected as lost; a thicker rod contains lattice
 * vertices. The last two use a coarser lattice, if the rods would exceed the particles.
 */
const RODS = [
  { radius: 0.02, coarser: 1 },
  { radius: 0.6, coarser: 1 },
  { radius: 1.12, coarser: 1 },
  { radius: 1.12, coarser: 1.06 },
  { radius: 1.12, coarser: 1.12 },
];
/** The cage's surface is located to a thousandth of an edge. Drawn vertices are attached to it exactly in any case. */
const HALVINGS = 10;
/** With more pieces than this, they are scan debris or triangle soup: none is joined. */
const MOST_PIECES = 64;

/** Volume enclosed by the surface, m^3, to a few percent. */
function enclosed(surface: SurfaceMesh): number {
  const field = buildWindingField(buildTriangleTree(surface.positions, surface.triangles));
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  surface.positions.forEach((x, i) => {
    low[i % 3] = Math.min(low[i % 3]!, x);
    high[i % 3] = Math.max(high[i % 3]!, x);
  });
  let inside = 0;
  const at = (k: number, i: number): number => low[k]! + ((i + 0.5) / PROBES) * (high[k]! - low[k]!);
  for (let i = 0; i < PROBES; i++)
    for (let j = 0; j < PROBES; j++)
      for (let k = 0; k < PROBES; k++) if (windingNumber(field, at(0, i), at(1, j), at(2, k)) > 0.5) inside++;
  return (inside / PROBES ** 3) * (high[0]! - low[0]!) * (high[1]! - low[1]!) * (high[2]! - low[2]!);
}

/**
 * Spacing at which stuffing gives about this number of particles. There are 2 lattice vertices per cell of the volume,
 * and about 2 per cell face of the surface: N = 2 V / s^3 + 2 A / s^2.
 */
function spacingFor(volume: number, area: number, particles: number): number {
  let low = 0;
  let high = Math.cbrt((2 * volume) / particles) + Math.sqrt((2 * area) / particles);
  for (let i = 0; i < 50; i++) {
    const s = 0.5 * (low + high);
    if ((2 * volume) / s ** 3 + (2 * area) / s ** 2 > particles) low = s;
    else high = s;
  }
  return high;
}

/**
 * @param surface from mendSurface, m
 * @param open whether it has borders or holes
 * @throws ObjectError, MeshError
 */
export async function fill(
  surface: SurfaceMesh,
  open: boolean,
  { particles, role, size }: ObjectChoice,
  notes: MeshNote[],
): Promise<{ tets: TetMesh; spacing: number }> {
  const volume = enclosed(surface);
  const area = areaOf(surface);
  // A needle has neither volume nor area: the string of elements along it takes about four particles per spacing.
  let spacing = Math.max(spacingFor(volume, area, particles), (4 * size) / particles);
  if (2 * volume < THIN * spacing * area)
    notes.push(
      open
        ? {
            code: "SHEET",
            text: `The surface encloses almost no volume; as ${role} it becomes a slab. The role cloth fits better.`,
          }
        : {
            code: "COARSE",
            text: "Large parts are thinner than the lattice and were thickened. More particles give a closer fit.",
          },
    );
  let best: Filled | undefined;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const fewer = await simplifySurface(surface, 8 * particles, ERROR * spacing);
    const filled = tetrahedralize(fewer, { spacing, minPiece: 0, halvings: HALVINGS });
    const count = filled.mesh.positions.length / 3;
    if (count <= particles) {
      best = { filled, surface: fewer, spacing };
      if (count >= USED * particles || attempt >= 2) break;
    } else if (best) break;
    // First scale as for surface (s^2) and volume (s^3), then as for thin limbs (s); a little more, to stay below the
    // limit.
    spacing *= (count / particles) ** (attempt < 2 ? 0.45 : 0.8) * 1.03;
  }
  if (!best)
    throw new ObjectError("ROLE_IMPOSSIBLE", {
      where: "particles",
      value: particles,
      limit: "this shape needs more, because it has many thin parts or pieces",
      help: "Choose more particles, or simplify the model",
    });
  const { filled, spacing: joined } = bridged(best, particles, size, notes);
  return { tets: filled.mesh, spacing: joined };
}

interface Filled {
  filled: Tetrahedralization;
  surface: SurfaceMesh;
  spacing: number;
}

/** Joins nearby pieces by rods; returns the mesh unchanged if that takes too many particles. */
function bridged(best: Filled, particles: number, size: number, notes: MeshNote[]): Filled {
  const { surface, spacing } = best;
  let result = best;
  const found = best.filled.report.pieces.found;
  if (found > 1 && found <= MOST_PIECES)
    for (const { radius, coarser } of RODS) {
      const rods = rodsBetween(best.filled.mesh, BRIDGE * spacing, radius * spacing);
      if (result.filled.report.pieces.found <= found - rods.length) break;
      const wide = coarser * spacing;
      const filled = tetrahedralize(withRods(surface, rods), { spacing: wide, minPiece: 0, halvings: HALVINGS });
      const fits = filled.mesh.positions.length / 3 <= particles;
      if (fits && filled.report.pieces.found < result.filled.report.pieces.found)
        result = { filled, surface, spacing: wide };
    }
  const left = result.filled.report.pieces.found;
  if (left < found)
    notes.push({ code: "PIECES_JOINED", text: `${found} pieces nearly touch; ${found - left} gaps were bridged.` });
  if (left > 1) {
    const at = smallestPiece(result.filled.mesh, size);
    const text = `${left} pieces are not connected and will fall apart; the smallest is at ${percent(at)}. To keep them together, join them in the model.`;
    notes.push({ code: "PIECES", text, at });
  }
  return result;
}

interface Rod {
  from: number[];
  to: number[];
  radius: number;
}

/** The shortest rods that join pieces nearer than `reach`, as a spanning tree (J. Kruskal 1956). */
function rodsBetween({ positions: x, tets }: TetMesh, reach: number, radius: number): Rod[] {
  const { piece, count } = pieceOfTets(tets);
  const { boundary } = joinFaces(tets);
  const pieceOfVertex = new Int32Array(x.length / 3).fill(-1);
  tets.forEach((v, i) => (pieceOfVertex[v] = piece[i >> 2]!));
  const surface = [...new Set(boundary)];
  // Finds the nearest pairs with a grid of cells of size `reach`.
  const cellOf = (v: number, k: number): number => Math.floor(x[3 * v + k]! / reach);
  const cells = new Map<string, number[]>();
  for (const v of surface) {
    const key = `${cellOf(v, 0)} ${cellOf(v, 1)} ${cellOf(v, 2)}`;
    const cell = cells.get(key);
    if (cell) cell.push(v);
    else cells.set(key, [v]);
  }
  const nearest = new Map<number, { a: number; b: number; distance2: number }>();
  for (const a of surface)
    for (let n = 0; n < 27; n++) {
      const key = [0, 1, 2].map((k) => cellOf(a, k) + (Math.floor(n / 3 ** k) % 3) - 1).join(" ");
      for (const b of cells.get(key) ?? []) {
        const [p, q] = [pieceOfVertex[a]!, pieceOfVertex[b]!];
        if (p >= q) continue;
        const distance2 = [0, 1, 2].reduce((sum, k) => sum + (x[3 * a + k]! - x[3 * b + k]!) ** 2, 0);
        const known = nearest.get(p * count + q);
        if (distance2 <= reach * reach && !(known && known.distance2 <= distance2))
          nearest.set(p * count + q, { a, b, distance2 });
      }
    }
  const parent = Array.from({ length: count }, (_, p) => p);
  const root = (p: number): number => (parent[p] === p ? p : (parent[p] = root(parent[p]!)));
  const place = (v: number): number[] => [...x.subarray(3 * v, 3 * v + 3)];
  return [...nearest.entries()]
    .sort(([, m], [, n]) => m.distance2 - n.distance2)
    .flatMap(([key, { a, b }]) => {
      const [p, q] = [root(Math.floor(key / count)), root(key % count)];
      if (p === q) return [];
      parent[q] = p;
      return [{ from: place(a), to: place(b), radius }];
    });
}

/** Adds thin prisms, which the tetrahedralizer turns into strings of elements. */
function withRods({ positions, triangles }: SurfaceMesh, rods: readonly Rod[]): SurfaceMesh {
  const x = [...positions];
  const corners = [...triangles];
  for (const { from, to, radius } of rods) {
    const first = x.length / 3;
    const along = [0, 1, 2].map((k) => to[k]! - from[k]!);
    const length = Math.hypot(...along) || 1;
    const least = [0, 1, 2].reduce((a, b) => (Math.abs(along[a]!) <= Math.abs(along[b]!) ? a : b));
    // Two directions across the rod: u = e x along, w = along x u.
    const e = [0, 1, 2].map((k) => (k === least ? 1 : 0));
    const cross = (p: readonly number[], q: readonly number[]): number[] =>
      [0, 1, 2].map((k) => p[(k + 1) % 3]! * q[(k + 2) % 3]! - p[(k + 2) % 3]! * q[(k + 1) % 3]!);
    const unit = (p: number[]): number[] => p.map((c) => c / (Math.hypot(...p) || 1));
    const u = unit(cross(e, along));
    const w = unit(
      cross(
        along.map((c) => c / length),
        u,
      ),
    );
    for (const end of [from, to])
      for (const [c, s] of [
        [1, 0],
        [-0.5, 0.866],
        [-0.5, -0.866],
      ] as const)
        for (let k = 0; k < 3; k++) x.push(end[k]! + radius * (c * u[k]! + s * w[k]!));
    for (let i = 0; i < 3; i++) {
      const j = (i + 1) % 3;
      corners.push(first + i, first + j, first + 3 + j, first + i, first + 3 + j, first + 3 + i);
    }
    corners.push(first, first + 2, first + 1, first + 3, first + 4, first + 5);
  }
  return { positions: Float64Array.from(x), triangles: Uint32Array.from(corners) };
}
