/**
 * Which rooms keep what float32 takes from places and velocities (kernel/assembly/integrate/particles.ts, and `shift`
 * of math/lanes.ts).
 *
 * A correction is known to half a step of float32 at the particle's coordinate, r = 2^-24 |x|, and a velocity made from
 * it to r/h: in every substep each constraint throws its particles by so much, either way. What nothing damps is
 * pumped, and what is damped trembles; where r is above g h^2, what falls from rest stays where it is. Kept, only the
 * strain of rounded positions is left, an acceleration of omega^2 r in place of r/h^2.
 *
 * Measured: bar of 1e4 Pa, 1 m, clamped, damping 2, at rest 1.5 m from the origin, rms of its speed, without and with:
 * 20 substeps 10 mm/s, 40 34 and 0.01, 160 440 and 0.7. Energy of an undamped pendulum 3.5 m from the origin after a
 * minute: 5.3 times, and 0.93 (implicit Euler's own loss) of what it was. It costs a sixth of the solve, so rooms of
 * ordinary size whose bodies are damped go without.
 */
import type { BodyTemplate } from "./body/template.ts";

/** m/s: r/h of a scene 2 m around its origin at 20 substeps a tick of 1/60 s. */
const MOST_THROWN = 2 ** -24 * 2 * 1200;
/** Rigid bodies know their own rounding (shape.ts); only their places need low words, far away. */
const MOST_THROWN_RIGID = 4 * MOST_THROWN;
/** 1/s: what is damped less is pumped within minutes. */
const UNDAMPED = 0.25;

/** @param bodies as seen from the room's origin; rate substeps a second */
export function keepsRounding(bodies: readonly BodyTemplate[], rate: number): boolean {
  // Jacobi's corrections are averaged before they are applied
  if (bodies.some((b) => b.schedule.order === "jacobi" || b.schedule.rho > 0)) return false;
  return bodies.some((b) => {
    if (b.form !== "compliant") return false;
    const solved = b.elements.length > 0;
    const thrown = 2 ** -24 * farthest(b) * rate;
    return solved ? b.damping < UNDAMPED || thrown > MOST_THROWN : thrown > MOST_THROWN_RIGID;
  });
}

/** Largest coordinate, m. */
function farthest({ positions }: BodyTemplate): number {
  return positions.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}
