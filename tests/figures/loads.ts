/** Loads that a scene's selections cannot say in one: an even pull on an edge of the generator's sheet. */
import type { BodyCommon } from "../../shared/scene.ts";

/**
 * An even traction on one edge as the finite element method spreads it: every cell of the edge gives half of its share
 * to either end, so that corners get half. (A scene's own load on a line of particles goes by mass, which alternates
 * along the edge of a sheet with alternating diagonals.)
 * @param cells of a grid; @param force N in all, outward
 */
export function edgeLoads(
  [nx, nz]: readonly [number, number],
  edge: "+x" | "-x" | "+z" | "-z",
  force: number,
): NonNullable<BodyCommon["loads"]> {
  const count = edge.endsWith("x") ? nz : nx;
  const sign = edge.startsWith("+") ? 1 : -1;
  return Array.from({ length: count + 1 }, (_, n) => {
    const share = (sign * force * (n === 0 || n === count ? 0.5 : 1)) / count;
    const at = edge.startsWith("+") ? (edge === "+x" ? nx : nz) : 0;
    const particle = edge.endsWith("x") ? n * (nx + 1) + at : at * (nx + 1) + n;
    return { select: { particles: [particle] }, force: edge.endsWith("x") ? [share, 0, 0] : [0, 0, share] };
  });
}
