/**
 * Twin of kernel/assembly/points/points.ts: attachments and grabs.
 *   C = sum_j b_j x_j - target (a vector),  alphaTilde = alpha/h^2,  |lambda| <= maxForce h^2
 */
import { addAt, type Particles, vectorAt } from "./particles.ts";
import { add, combine, norm, scale, subtract, type Vector } from "./vector.ts";

/** Extra properties of a grab: its target moves, slips, and eases off before edges tear. */
interface Grab {
  /** Displacement of the target in each substep, m. */
  step: Vector;
  edges: { a: number; b: number; rest: number }[];
  /** Stretch of an edge (length over rest length) at which the force begins to fall, and at which it is zero. */
  easeStretch: number;
  maxStretch: number;
  /** Largest shift in one substep, m. */
  maxShift: number;
  /** Shares of force and of speed, 0 to 1; the second is inout. */
  share: number;
  pace: number;
}

export interface HeldPoint {
  particles: number[];
  /** b: sums to 1 (held in space) or to 0 (two bodies held together) */
  weights: number[];
  target: Vector;
  /** m/N */
  alpha: number;
  /** N */
  maxForce: number;
  /** accumulated multiplier, inout */
  lambda: Vector;
  /** limit of |lambda| in this substep, inout */
  limit?: number;
  grab?: Grab;
}

/**
 * Limit of a grab's |lambda| (at most maxForce h^2), and sets its new pace.
 * @param W sum_j w_j b_j^2
 */
function grabForceLimit(p: Particles, grab: Grab, limit: number, W: number): number {
  const { edges, easeStretch, maxStretch, maxShift } = grab;
  const stretches = edges.map(({ a, b, rest }) => norm(subtract(vectorAt(p.x, a), vectorAt(p.x, b))) / rest);
  const left = (maxStretch - Math.max(0, ...stretches)) / (maxStretch - easeStretch);
  grab.pace = Math.max(0, Math.min(grab.share, left - 0.5));
  return Math.min(limit * Math.max(0, Math.min(grab.share, left)), maxShift / W);
}

/**
 * One XPBD step.
 * @param first whether it is the first of its substep
 */
export function solvePoint(p: Particles, point: HeldPoint, h: number, first = false): void {
  const { particles, weights: b, grab } = point;
  const alphaTilde = point.alpha / (h * h);
  if (first && grab) point.target = add(point.target, scale(grab.pace, grab.step));
  const W = particles.reduce((sum, i, j) => sum + p.w[i]! * b[j]! * b[j]!, 0);
  // guard
  if (!(W + alphaTilde > 0)) return; // all pinned, held rigidly
  // gradient: b_j I; C
  const positions = particles.map((i) => vectorAt(p.x, i));
  const held = combine(b, positions);
  let C = subtract(held, point.target);
  if (first) point.limit = point.maxForce * h * h;
  if (first && grab) {
    point.limit = grabForceLimit(p, grab, point.limit!, W);
    const reach = point.limit * (W + alphaTilde);
    if (norm(C) > reach) C = scale(reach / norm(C), C);
    point.target = subtract(held, C);
  }
  // lambda, cut back to the force limit
  let lambda = add(point.lambda, scale(-1 / (W + alphaTilde), add(C, scale(alphaTilde, point.lambda))));
  const size = norm(lambda);
  const limit = point.limit ?? point.maxForce * h * h;
  if (size > limit) lambda = scale(limit / size, lambda);
  const dL = subtract(lambda, point.lambda);
  point.lambda = lambda;
  // apply
  particles.forEach((i, j) => addAt(p.x, i, scale(p.w[i]! * b[j]!, dL)));
}
