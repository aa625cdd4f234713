/**
 * Initial positions of a body that the scene starts degenerate (figure 6 of Bender et al. 2014); its rest shape is
 * unchanged.
 */
import type { BodyTemplate } from "./template.ts";

/**
 * Positions at the start. flattened: every particle at the height of the lowest one, all volumes zero. mirrored: turned
 * inside out at the middle plane x = const of the body's box. Pinned particles stay in place.
 * @returns float64[3N] m; the body's own positions if it starts undeformed
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
