/**
 * Twin of kernel/assembly/constraints/points.ts: attachments and grab handles.
 *   C = sum_j b_j x_j - target (a vector),  alphaTilde = alpha/h^2,  |lambda| <= maxForce h^2
 * A hand's target moves by `step` in the first iteration of a substep, and slips so that |C| <= maxForce h^2 (W +
 * alphaTilde) then.
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
  /** m in each substep; of hands only */
  step?: Vector;
}

/** One XPBD step. @param first of its substep */
export function solvePoint(p: Particles, point: HeldPoint, h: number, first = false): void {
  const { particles, weights: b } = point;
  const alphaTilde = point.alpha / (h * h);
  if (first && point.step) point.target = add(point.target, point.step);
  const W = particles.reduce((sum, i, j) => sum + p.w[i]! * b[j]! * b[j]!, 0);
  // guard
  if (!(W + alphaTilde > 0)) return; // all pinned, held rigidly
  // gradient: b_j I; C
  const held = combine(
    b,
    particles.map((i) => vectorAt(p.x, i)),
  );
  let C = subtract(held, point.target);
  const reach = point.maxForce * h * h * (W + alphaTilde);
  if (first && point.step && norm(C) > reach) {
    C = scale(reach / norm(C), C);
    point.target = subtract(held, C);
  }
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
