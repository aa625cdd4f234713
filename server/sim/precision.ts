/**
 * Decides which rooms keep low words: the part of positions and velocities that float32 rounding removes
 * (kernel/assembly/integrate/particles.ts, and `shift` of math/lanes.ts).
 *
 * A correction is exact only to half a step of float32 at the particle's coordinate, r = 2^-24 |x|, and a velocity made
 * from it to r/h. In every substep each constraint moves its particles by that error, either way. Undamped bodies gain
 * energy, and damped ones tremble; if r is above g h^2, a body released from rest does not fall. With low words only
 * the strain of rounded positions is left: an acceleration of omega^2 r in place of r/h^2.
 *
 * Measured: bar of 1e4 Pa, 1 m, clamped, damping 2, at rest 1.5 m from the origin; rms of its speed, mm/s: 20 substeps
 * 10 without low words; 40 substeps 34 without, 0.01 with them; 160 substeps 440 and 0.7. Energy of an undamped
 * pendulum 3.5 m from the origin after a minute, relative to the start: 5.3 without, 0.93 with them (implicit Euler's
 * own loss). They cost a sixth of the solve, so rooms of ordinary size with damped bodies do without.
 */
import type { BodyTemplate } from "./body/template.ts";

/** Largest velocity error, m/s: r/h of a scene 2 m around its origin at 20 substeps a tick of 1/60 s. */
const MOST_THROWN = 2 ** -24 * 2 * 1200;
/**
 * MOST_THROWN for rigid bodies: they track their own rounding (shape.ts), so only positions far away need low words.
 */
const MOST_THROWN_RIGID = 4 * MOST_THROWN;
/** Damping below which rounding adds energy within minutes, 1/s. */
const UNDAMPED = 0.25;

/**
 * @param bodies relative to the room's origin
 * @param rate substeps per second
 */
export function keepsRounding(bodies: readonly BodyTemplate[], rate: number): boolean {
  // Jacobi corrections are averaged before they are applied
  if (bodies.some((b) => b.schedule.order === "jacobi" || b.schedule.rho > 0)) return false;
  return bodies.some((b) => {
    if (b.form !== "compliant" && b.form !== "prefactored") return false;
    const solved = b.elements.length > 0;
    const thrown = 2 ** -24 * farthest(b) * rate;
    return solved ? b.damping < UNDAMPED || thrown > MOST_THROWN : thrown > MOST_THROWN_RIGID;
  });
}

/** Largest coordinate, m. */
function farthest({ positions }: BodyTemplate): number {
  return positions.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}
