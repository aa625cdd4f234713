/**
 * Where a body's particles begin when the scene starts it degenerate (figure 6 of Bender et al. 2014); its rest shape
 * stays what it is.
 */
import type { BodyTemplate } from "./template.ts";

/**
 * flattened: every particle at the height of the lowest one, all volumes zero. mirrored: turned inside out at the
 * middle plane x = const of the box around the body. Pinned particles stay in their place.
 * @returns float64[3N] m; the body's own positions where it starts undeformed
 */
export function startPositions({
  start,
  positions,
  pinned,
}: Pick<BodyTemplate, "start" | "positions" | "pinned">): Float64Array {
  if (start === undefined) return positions;
  const axis = start === "flattened" ? 1 : 0;
  let low = Infinity;
  let high = -Infinity;
  for (let k = axis; k < positions.length; k += 3) {
    low = Math.min(low, positions[k]!);
    high = Math.max(high, positions[k]!);
  }
  return positions.map((value, k) =>
    k % 3 !== axis || pinned[Math.floor(k / 3)] ? value : start === "flattened" ? low : low + high - value,
  );
}
