/**
 * Twin of kernel/assembly/constraints/points.ts: attachments and grab handles.
 *   C = sum_j b_j x_j - target (a vector),  alphaTilde = alpha/h^2,  |lambda| <= maxForce h^2
 */
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, combine, norm, scale, subtract, type Vector } from "./vector.ts";

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
}

/** One XPBD step. */
export function solvePoint(p: Particles, point: HeldPoint, h: number): void {
  const { particles, weights: b } = point;
  const alphaTilde = point.alpha / (h * h);
  const W = particles.reduce((sum, i, j) => sum + p.w[i]! * b[j]! * b[j]!, 0);
  // guard
  if (!(W + alphaTilde > 0)) return; // all pinned, held rigidly
  // gradient: b_j I; C
  const C = subtract(
    combine(
      b,
      particles.map((i) => vectorAt(p.x, i)),
    ),
    point.target,
  );
  // lambda, cut back to the force limit
  let lambda = add(point.lambda, scale(-1 / (W + alphaTilde), add(C, scale(alphaTilde, point.lambda))));
  const size = norm(lambda);
  const limit = point.maxForce * h * h;
  if (size > limit) lambda = scale(limit / size, lambda);
  const dL = subtract(lambda, point.lambda);
  point.lambda = lambda;
  // apply
  particles.forEach((i, j) => addAt(p.x, i, scale(p.w[i]! * b[j]!, dL)));
}
