/**
 * The part of a substep's way that follows the elastic solve.
 *
 * Elastic forces at x + p h v damp a vibration of angular frequency w: it loses p h w^2 of its energy in a second. p =
 * 1 is implicit Euler. p = 0 is a leapfrog step, which keeps energy and is stable for any stiffness:
 *   x' - 2 x + x_before = -(M + h^2 K)^-1 h^2 K x
 * But a sweep inverts this matrix only roughly, and its error is not symmetric in time. A small p hides that.
 *
 * A solid that bounces is in contact for half a period of its slowest compression, t = 2 size/(speed of sound), and
 * loses pi^2 p h/t of its energy. p makes this LOSS. So large soft bodies have p near 1: their vibrations would only
 * make work for contact. External accelerations act before the solve, so p does not change a body at rest.
 * Measured: docs/decisions/small-steps.md.
 */
import type { BodyTemplate } from "../body/template.ts";
import type { Steps } from "./substeps.ts";

/** Largest part of its energy that a bouncing body loses to the time step. */
const LOSS = 0.08;
/** Smallest p. It grows to 1 with q, the edges that sound crosses in a substep squared: by half at STIFF. */
const LEAST = 0.2;
const STIFF = 8;

/**
 * Largest v/c, the strain of a vibration, for which p is 1: at rest, vibrations would move contacts. Stacks of blocks
 * crept by 0.5 to 0.9 mm/s.
 */
export const CALM = 0.01;

/** Values of a body's shape that p depends on. */
interface DriftShape {
  /** Edges of its mesh in a meter, 1/m. */
  edges: number;
  /** `driftSize`, m. */
  size: number;
}

/** Elements whose force follows from the present strain alone. */
const SOLID: ReadonlySet<string> = new Set(["tet", "tet-ortho", "tet-plastic", "neo-hookean", "stable-neo-hookean"]);

/** Cube root of the volume of a body that may move on after its elastic solve, m; 0: its whole way precedes it. */
export function driftSize({ form, schedule, shape, elements }: BodyTemplate): number {
  if (form !== "compliant" || schedule.order !== "gauss-seidel" || shape) return 0;
  if (!elements.every(({ kind }) => SOLID.has(kind))) return 0;
  return Math.cbrt(elements.reduce((all, e) => all + ("volume" in e ? e.volume.reduce((sum, v) => sum + v, 0) : 0), 0));
}

/** Returns 1 - p, from 0 to 1 - LEAST. @param speed of sound, m/s */
export function laterPart({ edges, size }: DriftShape, speed: number, { tickHz, substeps, iterations }: Steps): number {
  if (size === 0 || iterations > 1) return 0;
  const h = 1 / (tickHz * substeps);
  const q = (edges * speed * h) ** 2;
  const least = LEAST + (1 - LEAST) * (q / (q + STIFF));
  return Math.max(0, 1 - Math.max(least, (LOSS * 2 * size) / (speed * Math.PI ** 2 * h)));
}
