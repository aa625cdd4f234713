/**
 * Attachments and grab handles: one weighted point held at a target by a compliant, force-limited constraint.
 *   C = sum_i b_i x_i - target (a vector),  dL = (-C - aT L)/(sum_i w_i b_i^2 + aT),  x_i += w_i b_i dL,  aT =
 *   alpha/h^2
 * A hand in space has sum b = 1; two bodies held together have sum b = 0 and target 0. The force that acts is |L|/h^2;
 * L is cut back to maxForce h^2, so a hand that pulls too hard slips instead of tearing the body (unilateral limit on
 * an accumulated multiplier). A target on a moving collider is where the end of the substep finds it: s + R (target -
 * center), as what else the collider carries. Serial: there are few, and any two may share particles.
 */
import {
  PASS_FIRST,
  POINT_ACTIVE,
  POINT_COUNT,
  POINT_ALPHA,
  POINT_MAX_FORCE,
  POINT_TARGET,
  POINT_LAMBDA,
  POINT_ADDRESS,
  POINT_WEIGHT,
  POINT_MOTION,
  POINT_BYTES,
  MOTION_S1,
  MOTION_R1,
} from "../layout/layout";
import { frameX, frameY, frameZ, fromFrame } from "../colliders/motion";

/** @param at first of `count` slots; h s; pass PASS_FIRST and PASS_LAST, added */
export function solvePoints(at: usize, count: i32, pass: i32, h: f32): void {
  const inverseH2: f32 = 1 / (h * h);
  for (let n = 0; n < count; n++, at += POINT_BYTES) {
    if (!load<i32>(at, POINT_ACTIVE)) continue;
    const particles = load<i32>(at, POINT_COUNT);
    let sum = f32x4.neg(targetOf(at));
    let W: f32 = 0;
    for (let i = 0; i < particles; i++) {
      const x = v128.load(<usize>load<u32>(at + (i << 2), POINT_ADDRESS));
      const b = load<f32>(at + (i << 2), POINT_WEIGHT);
      sum = f32x4.add(sum, f32x4.mul(x, f32x4.splat(b)));
      W += f32x4.extract_lane(x, 3) * b * b;
    }
    const aT = load<f32>(at, POINT_ALPHA) * inverseH2;
    if (!(W + aT > 0)) continue; // everything pinned and no compliance: nothing can move
    const old = pass & PASS_FIRST ? f32x4.splat(0) : v128.load(at, POINT_LAMBDA);
    // lane 3 of sum is sum_i b_i w_i and means nothing here
    let lambda = f32x4.add(old, f32x4.mul(f32x4.splat(-1 / (W + aT)), f32x4.add(sum, f32x4.mul(f32x4.splat(aT), old))));
    const lx = f32x4.extract_lane(lambda, 0);
    const ly = f32x4.extract_lane(lambda, 1);
    const lz = f32x4.extract_lane(lambda, 2);
    const size = Mathf.sqrt(lx * lx + ly * ly + lz * lz);
    const limit = load<f32>(at, POINT_MAX_FORCE) * h * h;
    if (size > limit) lambda = f32x4.mul(lambda, f32x4.splat(limit / size));
    lambda = f32x4.replace_lane(lambda, 3, 0);
    v128.store(at, lambda, POINT_LAMBDA);
    const step = f32x4.replace_lane(f32x4.sub(lambda, old), 3, 0);
    for (let i = 0; i < particles; i++) {
      const address = <usize>load<u32>(at + (i << 2), POINT_ADDRESS);
      const x = v128.load(address);
      const scale = f32x4.extract_lane(x, 3) * load<f32>(at + (i << 2), POINT_WEIGHT);
      v128.store(address, f32x4.add(x, f32x4.mul(step, f32x4.splat(scale))));
    }
  }
}

function targetOf(at: usize): v128 {
  const motion = <usize>load<u32>(at, POINT_MOTION);
  if (!motion) return v128.load(at, POINT_TARGET);
  fromFrame(
    motion,
    MOTION_S1,
    MOTION_R1,
    load<f32>(at, POINT_TARGET),
    load<f32>(at, POINT_TARGET + 4),
    load<f32>(at, POINT_TARGET + 8),
  );
  return f32x4(frameX, frameY, frameZ, 0);
}
