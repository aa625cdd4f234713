/**
 * Rounding error of the rest strain of a tetrahedron in its own axes (kernel/assembly/constraints/tetrahedron.ts). With
 * A = Dm^-1 Q in float32, u = 2^-24:
 *   Ds A            entries are sums of three products, each at most the longest edge over the least height: 3 ratio,
 *                   known to 4 u of that
 *   (F^T F - I)/2   twice the entry's error, halved, and 4 u of its own
 */
const UNIT = 2 ** -24;

/**
 * @param cell edges of the lattice's cells, m, each cut into five tetrahedra.
 * @returns bound of a strain at rest
 */
export function restStrain(cell: readonly [number, number, number]): number {
  const [a, b, c] = cell;
  const longest = Math.max(Math.hypot(a, b), Math.hypot(b, c), Math.hypot(a, c));
  const least = 1 / Math.hypot(1 / a, 1 / b, 1 / c);
  return (4 * 3 * (longest / least) + 4) * UNIT;
}
