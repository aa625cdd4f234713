/**
 * Bending of a sheet with the rigidity of its material, in every direction and for any mesh.
 *
 * The rigidity of the paper's hinges (bending.ts) depends on the mesh: vertices between the rows yield, and stiffness
 * along the bend differs from a plate's. A flat sheet of rectangles therefore uses the rectangles' own stencils
 * (rectangularBending.ts), which are exact; any other flat sheet uses hinges with weights (bendingWeights.ts). Measured
 * over B/2 kappa^2, for cylinders of all directions with settled vertices:
 *
 *   20 x 20 cells, 2 m                      paper's hinges    here             free strip, here
 *   squares, alternating diagonals          0.85 to 1.35      1                1
 *   rectangles 1:2, alternating             0.63 to 1.92      1                1
 *   squares, all diagonals one way          0.75 to 3.00      1                1
 *   squares, alternating, moved by 0.3      0.89 to 1.36      1.00 to 1.03     0.90 to 0.92
 *   Delaunay, moved by 0.6                  0.98 to 1.26      0.99 to 1.01     0.89 to 0.90
 *   Delaunay, moved by 0.8                  1.08 to 1.19      0.99 to 1.01     0.87 to 0.88
 *   equilateral triangles                   1                 1                0.89
 *   squares, one way, moved by 0.3          0.78 to 3.14      1.01 to 2.12     0.86 to 1.61
 *
 * (moved: vertices by up to that part of half a cell, in each coordinate). A free strip may also curve across, and
 * hinges have a Poisson's ratio of about 1/3: it has 1 - nu^2 of a plate's rigidity. No weights can correct the last
 * line: k_xz (k_xx + k_zz) of diagonals one way needs a hinge of negative weight. tests/physics/bars/elastica.test.ts
 * and the figure elastica measure these values.
 *
 * A sheet that is curved at rest keeps the paper's hinges, and so do bodies of the paper's form, where rigidity
 * cancels.
 */
import type { BendElements } from "./elements.ts";
import { bendElements } from "./bending.ts";
import { bendingWeights } from "./bendingWeights.ts";
import { flattened } from "./flattened.ts";
import { rectangularBending } from "./rectangularBending.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param triangles uint32[3n]
 * @param rigidity B, N m
 */
export function sheetBending(X: Float64Array, triangles: Uint32Array, rigidity: number): BendElements {
  const plane = flattened(X, triangles);
  const rectangles = plane && rectangularBending(X, plane, triangles, rigidity);
  if (rectangles) return rectangles;
  const hinges = bendElements(X, triangles, rigidity);
  if (plane) {
    const weights = bendingWeights(plane, triangles, hinges, rigidity);
    hinges.alpha.forEach((alpha, i) => (hinges.alpha[i] = alpha / weights[i]!));
  }
  return hinges;
}
