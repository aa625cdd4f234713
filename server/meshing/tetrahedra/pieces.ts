/** Connected pieces of a tetrahedral mesh: finds them, and removes small ones. */
import { joinFaces } from "../surface/boundary.ts";
import { sixVolume } from "../importers/finishMesh.ts";
import type { TetMesh } from "../mesh.ts";
import { percent, placeOf } from "../meshNotes.ts";
import type { MeshNote, Place } from "../meshNotes.ts";

export interface PieceReport {
  /** Number of pieces found and kept. */
  found: number;
  kept: number;
  /** Elements of the dropped pieces, and their share of the total volume, 0 .. 1. */
  droppedTets: number;
  droppedVolume: number;
}

/**
 * Piece number of each element, in the order of their first elements. Elements that share a face belong to one piece.
 */
export function pieceOfTets(tets: Uint32Array): { piece: Int32Array; count: number } {
  const { neighbors } = joinFaces(tets);
  const piece = new Int32Array(tets.length / 4).fill(-1);
  const waiting: number[] = [];
  let count = 0;
  for (let first = 0; first < piece.length; first++) {
    if (piece[first]! >= 0) continue;
    piece[first] = count;
    waiting.push(first);
    while (waiting.length > 0) {
      const e = waiting.pop()!;
      for (let i = 0; i < 4; i++) {
        const other = neighbors[4 * e + i]!;
        if (other < 0 || piece[other]! >= 0) continue;
        piece[other] = count;
        waiting.push(other);
      }
    }
    count++;
  }
  return { piece, count };
}

/**
 * Drops pieces with less than `minPiece` of the largest one's volume. All vertices stay, even unused ones.
 * @param minPiece 0 .. 1; at 1 only the largest stays (and its equals)
 */
export function keepLargest(mesh: TetMesh, minPiece: number): { mesh: TetMesh; report: PieceReport } {
  const { positions: x, tets } = mesh;
  const { piece, count } = pieceOfTets(tets);
  const volume = new Float64Array(count);
  for (let e = 0; e < piece.length; e++)
    volume[piece[e]!]! += sixVolume(x, tets[4 * e]!, tets[4 * e + 1]!, tets[4 * e + 2]!, tets[4 * e + 3]!);
  const largest = volume.reduce((a, b) => Math.max(a, b), 0);
  const keep = Array.from(volume, (v) => v >= minPiece * largest);
  const kept = tets.filter((_, i) => keep[piece[i >> 2]!]!);
  const total = volume.reduce((a, b) => a + b, 0);
  const stays = volume.reduce((sum, v, p) => sum + (keep[p] ? v : 0), 0);
  return {
    mesh: { positions: x, tets: kept },
    report: {
      found: count,
      kept: keep.filter(Boolean).length,
      droppedTets: (tets.length - kept.length) / 4,
      droppedVolume: total > 0 ? 1 - stays / total : 0,
    },
  };
}

/** Place of the piece with the fewest tetrahedra. @param size if the mesh is placed (placeOf) */
export function smallestPiece({ positions, tets }: TetMesh, size?: number): Place {
  const { piece, count } = pieceOfTets(tets);
  const counts = new Array<number>(count).fill(0);
  for (const p of piece) counts[p]!++;
  const smallest = counts.indexOf(Math.min(...counts));
  return placeOf(positions, tets[4 * piece.indexOf(smallest)]!, size);
}

/** Note about a mesh in several pieces, or without its smallest ones. */
export function pieceNotes(mesh: TetMesh, { found, kept }: PieceReport): MeshNote[] {
  if (found === 1) return [];
  const at = smallestPiece(mesh);
  const apart =
    kept > 1 ? `${kept} pieces are not connected and will fall apart; the smallest is at ${percent(at)}.` : "";
  const left = found > kept ? `${found - kept} small pieces are left out.` : "";
  return [{ code: "PIECES", at, text: `${apart} ${left}`.trim() }];
}
