/**
 * Elastic energy of cloth triangles, E = V/2 eps^T S^-1 eps; the paper's solver continues it where they are crushed.
 */
import type { TriangleElements } from "../constraints/elements.ts";
import type { Form } from "../memory/writeBlocks.ts";
import { continuedTriangleEnergy } from "../reference/paperTriangle.ts";
import { triangleEnergy } from "../reference/triangle.ts";

/** J. @param x float64[3N] m */
export function clothEnergy(x: Float64Array, e: TriangleElements, i: number, form: Form): number {
  return form === "paper" ? continuedTriangleEnergy(x, e, i) : triangleEnergy(x, e, i);
}
