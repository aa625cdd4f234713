/** Notes about a surface in its role: holes, edges of three triangles, flipped triangles, pieces. */
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import { percent, placeOf } from "../meshNotes.ts";
import type { MeshNote } from "../meshNotes.ts";
import type { SurfaceFindings } from "../objects/mendSurface.ts";

/** @param size if the positions are placed (placeOf) */
export function surfaceNotes(
  positions: Float64Array,
  found: SurfaceFindings,
  role: ObjectRole,
  size?: number,
): MeshNote[] {
  const note = (code: MeshNote["code"], count: number, vertex: number, text: string): MeshNote[] => {
    if (count === 0) return [];
    const at = placeOf(positions, vertex, size);
    return [{ code, at, text: `${count} ${text} ${percent(at)}.` }];
  };
  // A sheet has a border for each piece; further borders are holes.
  const open = role === "cloth" && found.borders <= found.pieces ? 0 : found.open;
  // Pieces of a solid's surface may be its cavities: its pieces are those of its tetrahedra.
  const apart = role === "cloth" && found.pieces > 1 ? found.pieces : 0;
  return [
    ...note("HOLES", open, found.openAt, "edges have only one triangle (holes or borders); one is at"),
    ...note("NON_MANIFOLD", found.crossed, found.crossedAt, "edges have three triangles or more; one is at"),
    ...note("FLIPPED", found.turned, found.turnedAt, "triangles faced the wrong way and were flipped; one is at"),
    ...note("PIECES", apart, found.pieceAt, "pieces are not connected and will fall apart; the smallest is at"),
  ];
}
