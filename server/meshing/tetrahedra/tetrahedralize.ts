/**
 * Tetrahedralizes any surface, also with holes, self-intersections and stray pieces. Points with a generalized winding
 * number above 1/2 are inside (windingNumber.ts). Isosurface stuffing (stuffing.ts) fills the inside with bounded
 * dihedral angles. Two repairs run in rounds until nothing changes. They force lattice vertices to be inside, which
 * keeps the angle bound:
 *
 *   pinch   a vertex where the boundary is not a disc (two fans touch) becomes an inside vertex
 *   thin    if a sample of the surface is further than half a spacing from the boundary, the lattice vertex nearest
 *           to it becomes inside. The cells of lattice vertices along a connected part of the surface share faces,
 *           so these vertices share edges: a horn or a wall thinner than the lattice becomes a connected string or
 *           sheet of elements
 *
 * Rejected: a graded octree lattice (the paper's variant; finer elements at thin parts would make the stiffest elements
 * the smallest, and the solver's step follows the smallest), and refining at pinches (unbounded element count).
 */
import { boundarySurface, joinFaces, surfaceTopology } from "../surface/boundary.ts";
import { finishTets } from "../importers/finishMesh.ts";
import { latticeAround, nearestLatticeVertex } from "./lattice.ts";
import { MAX_ELEMENTS, MeshError } from "../mesh.ts";
import type { SurfaceMesh, TetMesh } from "../mesh.ts";
import { keepLargest } from "./pieces.ts";
import type { PieceReport } from "./pieces.ts";
import { tetQuality } from "./tetrahedronQuality.ts";
import type { TetQuality } from "./tetrahedronQuality.ts";
import { INSIDE } from "./stencils.ts";
import { sampleField, stuff } from "./stuffing.ts";
import type { StuffedMesh, StuffingField } from "./stuffing.ts";
import { surfaceWithoutCrumbs } from "../surface/surfacePieces.ts";
import { surfaceSamples } from "./surfaceSamples.ts";
import { buildTriangleTree, distanceToSurface } from "./triangleTree.ts";
import type { TriangleTree } from "./triangleTree.ts";
import { buildWindingField, windingNumber } from "./windingNumber.ts";

/** Increased with every change of the output for the same input; part of the cache's key. */
export const TETRAHEDRALIZER_VERSION = 2;

export interface TetrahedralizeOptions {
  /**
   * Edge of the lattice's cubic cell, m: the long edge of an inner element. Short edges are 0.866 of it; the volume is
   * spacing^3 / 12.
   */
  spacing: number;
  /**
   * Pieces (of the surface for repairs, of the final mesh) with less than this fraction of the largest one's volume are
   * dropped. Default 0.05: keeps parts of the body, drops debris.
   */
  minPiece?: number;
  /** Bisection steps for a cut point: precision 2^-n of an edge. Default 20. */
  halvings?: number;
  /** Called with 0 .. 1 and the name of the current stage. */
  onProgress?: (done: number, stage: string) => void;
}

/** Distance of the surface's vertices from the boundary of the mesh, m. */
interface DetailDistance {
  max: number;
  mean: number;
  /**
   * Largest distance of vertices outside of the mesh, m. The other vertices are inside it, at the bottom of crevices
   * that it fills.
   */
  maxOutside: number;
  /** Fraction of vertices further than half a spacing, 0 .. 1. */
  beyondHalfSpacing: number;
}

export interface TetrahedralizeReport {
  spacing: number;
  quality: TetQuality;
  pieces: PieceReport;
  /** Number of lattice vertices forced inside, by reason, and number of rounds. */
  forced: { pinch: number; thin: number; rounds: number };
  detail: DetailDistance;
}

export interface Tetrahedralization {
  mesh: TetMesh;
  report: TetrahedralizeReport;
}

/** A sample of the surface further than this many spacings from the boundary is lost and is repaired. */
const LOST = 0.5;
/**
 * Distance between samples of the surface, in spacings, so that large triangles are also sampled between their
 * vertices. With a quarter, a triangle can only graze the cell of a lattice vertex without being sampled there.
 */
const SAMPLING = 0.25;
/**
 * Limit of rounds that look for lost samples. Bunny and dragon need three; the limit is for surfaces that cannot be
 * followed.
 */
const THIN_ROUNDS = 8;

function boundsOf(surface: SurfaceMesh): { low: number[]; high: number[] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < surface.positions.length; i++) {
    low[i % 3] = Math.min(low[i % 3]!, surface.positions[i]!);
    high[i % 3] = Math.max(high[i % 3]!, surface.positions[i]!);
  }
  return { low, high };
}

/** Distance of each point to the boundary of a mesh. */
function distancesTo(boundary: TriangleTree, x: Float64Array): Float64Array {
  return Float64Array.from({ length: x.length / 3 }, (_, v) =>
    distanceToSurface(boundary, x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!),
  );
}

function boundaryTree(mesh: TetMesh): TriangleTree {
  return buildTriangleTree(mesh.positions, boundarySurface(mesh));
}

/**
 * Measures how closely the boundary of a mesh follows a surface.
 * @param spacing of the lattice, m
 */
function detailDistance(surface: SurfaceMesh, mesh: TetMesh, spacing: number): DetailDistance {
  const tree = boundaryTree(mesh);
  const winding = buildWindingField(tree);
  const x = surface.positions;
  const result: DetailDistance = { max: 0, mean: 0, maxOutside: 0, beyondHalfSpacing: 0 };
  const distances = distancesTo(tree, x);
  distances.forEach((distance, v) => {
    result.max = Math.max(result.max, distance);
    result.mean += distance / distances.length;
    if (distance > LOST * spacing) result.beyondHalfSpacing += 1 / distances.length;
    if (distance > result.maxOutside && windingNumber(winding, x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!) <= 0.5)
      result.maxOutside = distance;
  });
  return result;
}

interface Repairs {
  forced: Set<number>;
  pinch: number;
  thin: number;
  rounds: number;
}

/**
 * Forces pinched vertices inside. Only vertices on the surface can be pinched: inside vertices have all their elements,
 * and all elements of a cut point share one inside vertex.
 */
function forcePinches(mesh: StuffedMesh, repairs: Repairs): boolean {
  let found = false;
  for (const vertex of surfaceTopology(boundarySurface(mesh)).pinched) {
    repairs.forced.add(mesh.latticeVertex[vertex]!);
    repairs.pinch++;
    found = true;
  }
  return found;
}

/** Forces the lattice vertices nearest to lost samples of the surface inside. @param x float64[3*P] samples, m */
function forceThin(field: StuffingField, x: Float64Array, mesh: StuffedMesh, kept: TetMesh, repairs: Repairs): boolean {
  const distances = distancesTo(boundaryTree(kept), x);
  const lost = new Set<number>();
  for (let v = 0; v < distances.length; v++) {
    if (distances[v]! <= LOST * field.lattice.spacing) continue;
    const nearest = nearestLatticeVertex(field.lattice, x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!);
    if (mesh.sign[nearest] !== INSIDE) lost.add(nearest);
  }
  // Vertices that are inside but were moved by warping recover many samples without thickening anything, so they come
  // first.
  const within = [...lost].filter((v) => field.inside[v]);
  const chosen = within.length > 0 ? within : [...lost];
  for (const v of chosen) repairs.forced.add(v);
  repairs.thin += chosen.length;
  return chosen.length > 0;
}

/** A body without any element is thinner than the lattice everywhere: force all its samples inside. */
function forceEverywhere(field: StuffingField, x: Float64Array, repairs: Repairs): void {
  for (let v = 0; v < x.length / 3; v++)
    repairs.forced.add(nearestLatticeVertex(field.lattice, x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!));
  repairs.thin = repairs.forced.size;
}

/**
 * Stuffs until no pinch is left. Terminates: each round turns at least one surface vertex into an inside one, and none
 * back.
 */
function stuffWithoutPinches(field: StuffingField, repairs: Repairs): StuffedMesh {
  for (;;) {
    const mesh = stuff(field, repairs.forced);
    if (mesh.tets.length / 4 > MAX_ELEMENTS)
      throw new MeshError({
        file: "tetrahedralize",
        field: "tetrahedron count",
        value: mesh.tets.length / 4,
        limit: `at most ${MAX_ELEMENTS} are allowed: use a larger spacing`,
      });
    repairs.rounds++;
    if (!forcePinches(mesh, repairs)) return mesh;
  }
}

/**
 * Fills a surface with tetrahedra. The result depends only on surface, spacing and minPiece: plain IEEE arithmetic in a
 * fixed order.
 * @param surface triangles, mostly facing the same way (all inwards is fine); m
 * @returns a mesh whose boundary is a closed manifold, with positive volumes, dihedral angles within the bounds of
 * stuffing.ts, and only the largest pieces; and its measurements
 * @throws MeshError if spacing or minPiece is out of range or the lattice or the mesh gets too large
 */
export function tetrahedralize(surface: SurfaceMesh, options: TetrahedralizeOptions): Tetrahedralization {
  const { spacing, minPiece = 0.05, halvings, onProgress } = options;
  if (!(spacing > 0 && Number.isFinite(spacing)))
    throw new MeshError({
      file: "tetrahedralize",
      field: "spacing",
      value: spacing,
      limit: "a finite number above 0 is needed",
    });
  if (!(minPiece >= 0 && minPiece <= 1))
    throw new MeshError({
      file: "tetrahedralize",
      field: "minPiece",
      value: minPiece,
      limit: "a number from 0 to 1 is needed",
    });
  const { low, high } = boundsOf(surface);
  const lattice = latticeAround(low, high, spacing);
  const winding = buildWindingField(buildTriangleTree(surface.positions, surface.triangles));
  const field = sampleField(
    lattice,
    (x, y, z) => windingNumber(winding, x, y, z) > 0.5,
    (done) => onProgress?.(0.5 * done, "winding numbers"),
    halvings,
  );
  const samples = surfaceSamples(surfaceWithoutCrumbs(surface, minPiece), SAMPLING * spacing);
  const repairs: Repairs = { forced: new Set(), pinch: 0, thin: 0, rounds: 0 };
  let mesh = stuffWithoutPinches(field, repairs);
  let kept = keepLargest(mesh, minPiece);
  for (let round = 0; round < THIN_ROUNDS; round++) {
    onProgress?.(0.6 + (0.3 * round) / THIN_ROUNDS, "thin parts");
    if (kept.mesh.tets.length === 0) forceEverywhere(field, samples, repairs);
    else if (!forceThin(field, samples, mesh, kept.mesh, repairs)) break;
    mesh = stuffWithoutPinches(field, repairs);
    kept = keepLargest(mesh, minPiece);
  }
  onProgress?.(0.9, "measuring");
  const result = finishTets({ file: "tetrahedralize", positions: kept.mesh.positions, elements: kept.mesh.tets });
  delete result.origin;
  const { faulty } = joinFaces(result.tets);
  if (faulty > 0) throw new Error(`tetrahedralize made ${faulty} faces that do not match: the stencils are broken`);
  const report: TetrahedralizeReport = {
    spacing,
    quality: tetQuality(result),
    pieces: kept.report,
    forced: { pinch: repairs.pinch, thin: repairs.thin, rounds: repairs.rounds },
    detail: detailDistance(surface, result, spacing),
  };
  onProgress?.(1, "done");
  return { mesh: result, report };
}
