/**
 * Shared parts of the geometric constraints of position based dynamics (Mueller et al. 2007; Rodero Gomez, chapter 3):
 * lengths of edges, volumes of tetrahedra, the volume inside a whole surface.
 *
 * Meaning of k. In the thesis, k' = 1 - (1 - k)^(1/n) makes n iterations of one step remove the share k of an error,
 * "however, the resulting material stiffness is still dependent on the time step". So k here refers to a step of one
 * whole tick, T, and a substep of T/s gets the share
 *   k_h = k/(k + (1 - k) s^2),   k' = 1 - (1 - k_h)^(1/n)
 * Reason: under a constant force a constraint rests where a step leaves C unchanged, that is at C = w f h^2 (1 -
 * k_h)/k_h. With the share above this is w f T^2 (1 - k)/k for every s. It is XPBD's law with compliance w T^2 (1 -
 * k)/k. With one substep a tick it is exactly the thesis's law, and k = 1 is rigid for any s.
 * Rejected: counting n over all substeps of a tick, 1 - (1 - k)^(1/(n s)), gives a rest position proportional to 1/s.
 * Limits: constraints that share particles disturb each other within an iteration, and k still depends on tickHz and on
 * the mesh. A compliance does not.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { GeometricStiffness } from "../../../shared/scene/sceneMaterials.ts";
import { addAt, type Particles } from "../reference/particles.ts";
import { dot, scale, type Vector } from "../reference/vector.ts";
import type { Pace } from "./constraint.ts";

/** Action of a geometric constraint: by compliance (stiffness is 1) or by stiffness k' (alpha is 0). */
export interface Hold {
  /** k', the part of the error that one iteration removes */
  stiffness: number;
  /** True for compliance: the multiplier is kept from one iteration to the next. */
  keeps: boolean;
  /** True if it only resists stretching (distance) or compression (volume). */
  unilateral: boolean;
}

/** n constraints with the same action. */
export interface Geometric extends Hold {
  /** Rest values, float64[n]: lengths, m, or six times the volumes, m^3. */
  rest: Float64Array;
  /** float64[n] m/N or m^3/Pa */
  alpha: Float64Array;
}

/** One constraint over a body's whole surface. */
export interface EnclosedVolume extends Hold {
  /** six times the target volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
}

/** k' of one iteration from k of a tick, dimensionless. Plain arithmetic, the same bits on any machine. */
export function stiffnessOfIteration(k: number, { substeps: s, iterations: n }: Pace): number {
  const left = ((1 - k) * s * s) / (k + (1 - k) * s * s); // 1 - k_h
  return 1 - root(left, n);
}

/** q^(1/n) for 0 <= q <= 1 by bisection, until the interval contains no other number. */
function root(q: number, n: number): number {
  if (n === 1) return q;
  let low = 0;
  let high = 1;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    let power = 1;
    for (let i = 0; i < n; i++) power *= middle;
    if (power < q) low = middle;
    else high = middle;
  }
}

export type Held = GeometricStiffness & { unilateral?: boolean };

/**
 * Converts a scene's values of a constraint for the solver.
 * @returns its action, and its compliance (m/N or m^3/Pa)
 */
export function holdOf(asked: Held, pace: Pace): { hold: Hold; alpha: number } {
  const unilateral = asked.unilateral ?? false;
  if ("compliance" in asked && asked.compliance !== undefined)
    return { hold: { stiffness: 1, keeps: true, unilateral }, alpha: asked.compliance };
  return {
    hold: {
      stiffness: stiffnessOfIteration((asked as { stiffness: number }).stiffness, pace),
      keeps: false,
      unilateral,
    },
    alpha: 0,
  };
}

/** Makes constraints with these rest values from the scene's compliance or stiffness. */
export function held(rest: Float64Array, asked: Held, pace: Pace): Geometric {
  const { hold, alpha } = holdOf(asked, pace);
  return { rest, alpha: rest.map(() => alpha), ...hold };
}

/**
 * Writes the rows after the addresses (kernel/assembly/constraints/geometric.ts).
 * @param free bound without effect
 */
export function writeGeometric(f32: Float32Array, at: number, e: Geometric, i: number, free: number): void {
  f32[at] = e.rest[i]!;
  f32[at + L.GEOMETRIC_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.GEOMETRIC_STIFFNESS / 4] = e.stiffness;
  f32[at + L.GEOMETRIC_LIMIT / 4] = e.unilateral ? 0 : free;
  f32[at + L.GEOMETRIC_KEEP / 4] = e.keeps ? 1 : 0;
}

/** Writes a padded lane. The dummies are fixed, so no multiplier grows there; the compliance avoids 0/0. */
export function padGeometric(f32: Float32Array, at: number): void {
  f32[at + L.GEOMETRIC_ALPHA / 4] = 1;
}

/** E = C^2/(2 alpha), J; a constraint with stiffness k', or a rigid one (alpha = 0), stores none. */
export const stored = (C: number, alpha: number): number => (alpha > 0 ? (C * C) / (2 * alpha) : 0);

/** A constraint's value at one place, and its gradient by each corner. */
export interface Value {
  C: number;
  gradient: Vector[];
}

/**
 * One step of the twins:  dL = (-k' C - aT L)/(W + aT),   W = sum_j w_j |grad_j C|^2,   dx_j = w_j grad_j C dL
 * @param bounds of the multiplier
 * @returns the new multiplier
 */
export function project(
  p: Particles,
  corners: readonly number[],
  { C, gradient }: Value,
  hold: Pick<Hold, "stiffness" | "keeps">,
  alpha: number,
  old: number,
  bounds: [number, number],
  h: number,
): number {
  // guard, gradient
  const W = corners.reduce((sum, c, j) => sum + p.w[c]! * dot(gradient[j]!, gradient[j]!), 0);
  const alphaTilde = alpha / (h * h);
  const L = hold.keeps ? old : 0;
  // lambda
  const dL = W > 0 ? -(hold.stiffness * C + alphaTilde * L) / (W + alphaTilde) : 0;
  const now = Math.min(Math.max(L + dL, bounds[0]), bounds[1]);
  // apply
  corners.forEach((c, j) => addAt(p.x, c, scale(p.w[c]! * (now - L), gradient[j]!)));
  return now;
}
