/**
 * Attachments and grabs: one weighted point held at a target by a compliant, force-limited constraint.
 *   C = sum_i b_i x_i - target (a vector),  dL = (-C - aT L)/(sum_i w_i b_i^2 + aT),  x_i += w_i b_i dL,
 *   aT = alpha/h^2
 * A grab in space has sum b = 1; two bodies held together have sum b = 0 and target 0. The force is |L|/h^2. L is
 * limited to maxForce h^2, so a grab that pulls too hard slips instead of tearing the body (a limit on the accumulated
 * multiplier). A target on a moving collider is at the collider's pose at the end of the substep: s + R (target -
 * center).
 * A target moves a little in every substep, so that the motion of a tick is no impact. A grab's is never further ahead
 * than the distance at which the force reaches its limit. So the grab stores no more energy than that in a body that is
 * stuck, and a body that comes free follows at the grab's speed.
 * A grab's force tears nothing. The most stretched edge at its particles determines the available part of maxForce: all
 * of it up to POINT_EASE_STRETCH, none from POINT_MAX_STRETCH on, linear in between. It also moves the point by at most
 * POINT_MAX_SHIFT in a substep. So it adapts to any stiffness and mass of the held body. Serial: there are few, and any
 * two may share particles.
 */
import * as L from "../layout/layout";
import { between, push } from "../math/lanes";
import { lowFrom } from "../math/places";
import { holdsPrefactored, moveHeld, weightOf } from "../prefactored/response";
import { findResponse, holdsRigid, moveRigidBodies, multiplierFor, openRigid } from "../rigid/rigidEnds";
import { frameX, frameY, frameZ, fromFrame } from "../colliders/motion";

/**
 * Sweeps over points that hold rigid bodies, or a prefactored and another body, if there are several: each moves that
 * of every other.
 */
const SWEEPS = 4;

/** @param at first of `count` slots; h s; pass PASS_FIRST and PASS_LAST, added; scratch this thread's SCRATCH_BYTES */
export function solvePoints(at: usize, count: i32, pass: i32, h: f32, scratch: usize): void {
  const mixed = sweep(at, count, pass, h, scratch, false);
  for (let n = 1; n < SWEEPS && mixed > 1; n++) sweep(at, count, pass & ~L.PASS_FIRST, h, scratch, true);
  if (mixed) moveRigidBodies(scratch);
}

/**
 * Solves all points once. With `mixedOnly`, only points that hold a rigid body, or a prefactored body and another one.
 * @returns number of these points, of which those at a rigid body count twice
 */
function sweep(at: usize, count: i32, pass: i32, h: f32, scratch: usize, mixedOnly: bool): i32 {
  let mixed = 0;
  const inverseH2: f32 = 1 / (h * h);
  const low = lowFrom();
  for (let n = 0; n < count; n++, at += L.POINT_BYTES) {
    const active = load<i32>(at, L.POINT_ACTIVE);
    if (!active || active === L.POINT_IMPLICIT) continue; // implicit bodies solve their own (implicit/heldPoints.ts)
    const rigid = holdsRigid(at);
    const whole = holdsPrefactored(at) || rigid;
    const paired = load<f32>(at + ((load<i32>(at, L.POINT_COUNT) - 1) << 2), L.POINT_WEIGHT) < 0;
    // a rigid body turns, so that even one point needs two sweeps
    if (rigid) mixed += 2;
    else if (whole && paired) mixed++;
    else if (mixedOnly) continue;
    const begins = (pass & L.PASS_FIRST) !== 0;
    if (begins) moveTarget(at);
    const particles = load<i32>(at, L.POINT_COUNT);
    const origin = <usize>load<u32>(at, L.POINT_ADDRESS);
    let sum = f32x4.splat(0);
    let weights: f32 = 0;
    let W: f32 = 0;
    for (let i = 0; i < particles; i++) {
      const particle = <usize>load<u32>(at + (i << 2), L.POINT_ADDRESS);
      const b = load<f32>(at + (i << 2), L.POINT_WEIGHT);
      // relative to the first particle, to keep digits
      sum = f32x4.add(sum, f32x4.mul(between(origin, particle, low), f32x4.splat(b)));
      weights += b;
      W += load<f32>(particle, 12) * b * b;
    }
    // sum b x_0 - target. Weights add up to 1 in space and to 0 between bodies, so one of the first two terms vanishes
    const o = v128.load(origin);
    sum = f32x4.add(sum, f32x4.mul(f32x4.splat(weights - 1), o));
    sum = f32x4.add(
      sum,
      f32x4.add(f32x4.sub(o, targetOf(at)), f32x4.mul(f32x4.splat(weights), v128.load(origin + low))),
    );
    const aT = load<f32>(at, L.POINT_ALPHA) * inverseH2;
    if (whole) {
      sum = f32x4.add(sum, openRigid(at, scratch, false));
      W = weightOf(at);
    }
    const total = whole ? findResponse(W + aT) : W + aT;
    if (!(total > 0)) continue; // everything pinned and no compliance: nothing can move
    let limit = load<f32>(at, L.POINT_MAX_FORCE) * h * h;
    if (active === L.POINT_GRAB && begins) {
      limit = grabForceLimit(at, limit, W);
      store<f32>(at, limit, L.POINT_LIMIT);
      sum = slip(at, sum, limit * total);
    } else if (active === L.POINT_GRAB) limit = load<f32>(at, L.POINT_LIMIT);
    const old = begins ? f32x4.splat(0) : v128.load(at, L.POINT_LAMBDA);
    // lane 3 of sum is not used
    const missing = f32x4.add(sum, f32x4.mul(f32x4.splat(aT), old));
    let lambda: v128 = whole
      ? f32x4.sub(old, multiplierFor(missing))
      : f32x4.add(old, f32x4.mul(f32x4.splat(-1 / total), missing));
    lambda = atMost(lambda, limit);
    v128.store(at, lambda, L.POINT_LAMBDA);
    const step = f32x4.replace_lane(f32x4.sub(lambda, old), 3, 0);
    if (whole) {
      moveHeld(at, step);
      continue;
    }
    for (let i = 0; i < particles; i++) {
      const b = load<f32>(at + (i << 2), L.POINT_WEIGHT);
      push(<usize>load<u32>(at + (i << 2), L.POINT_ADDRESS), low, f32x4.mul(f32x4.splat(b), step));
    }
  }
  return mixed;
}

function moveTarget(at: usize): void {
  const pace = load<f32>(at, L.POINT_PACE);
  for (let r: usize = 0; r < 12; r += 4)
    store<f32>(at + r, load<f32>(at + r, L.POINT_TARGET) + pace * load<f32>(at + r, L.POINT_STEP), L.POINT_TARGET);
}

/** @returns the vector, not longer than the limit, with a last lane of 0 */
function atMost(vector: v128, limit: f32): v128 {
  const x = f32x4.extract_lane(vector, 0);
  const y = f32x4.extract_lane(vector, 1);
  const z = f32x4.extract_lane(vector, 2);
  const size = Mathf.sqrt(x * x + y * y + z * z);
  return f32x4.replace_lane(size > limit ? f32x4.mul(vector, f32x4.splat(limit / size)) : vector, 3, 0);
}

/**
 * Limits a grab's force by stretch and shift. @param limit maxForce h^2; W sum_i w_i b_i^2; @returns the limit for this
 * substep
 */
function grabForceLimit(at: usize, limit: f32, W: f32): f32 {
  let most: f32 = 0;
  let edge = <usize>load<u32>(at, L.POINT_EDGES);
  for (const end = edge + <usize>load<i32>(at, L.POINT_EDGE_COUNT) * L.EDGE_BYTES; edge < end; edge += L.EDGE_BYTES) {
    const d = between(<usize>load<u32>(edge, L.EDGE_A), <usize>load<u32>(edge, L.EDGE_B), lowFrom());
    const x = f32x4.extract_lane(d, 0);
    const y = f32x4.extract_lane(d, 1);
    const z = f32x4.extract_lane(d, 2);
    most = max(most, (x * x + y * y + z * z) * load<f32>(edge, L.EDGE_INVERSE_SQUARE));
  }
  const least = load<f32>(at, L.POINT_EASE_STRETCH);
  const none = load<f32>(at, L.POINT_MAX_STRETCH);
  const left = (none - Mathf.sqrt(most)) / (none - least);
  const share = max<f32>(0, min(load<f32>(at, L.POINT_SHARE), left));
  // the speed falls half of the stretch range before the force does, so that force is left to stop the body
  store<f32>(at, max<f32>(0, min(load<f32>(at, L.POINT_SHARE), left - 0.5)), L.POINT_PACE);
  return min(limit * share, load<f32>(at, L.POINT_MAX_SHIFT) / W);
}

/**
 * Moves a grab's target towards the held point, if it is further away than `reach`.
 * @param sum from the target to the held point, m. reach: largest length of it, m
 * @returns from the new target to the held point, m
 */
function slip(at: usize, sum: v128, reach: f32): v128 {
  const x = f32x4.extract_lane(sum, 0);
  const y = f32x4.extract_lane(sum, 1);
  const z = f32x4.extract_lane(sum, 2);
  const size = Mathf.sqrt(x * x + y * y + z * z);
  if (!(size > reach)) return sum;
  const left = f32x4.mul(sum, f32x4.splat(reach / size));
  v128.store(at, f32x4.add(v128.load(at, L.POINT_TARGET), f32x4.sub(sum, left)), L.POINT_TARGET);
  return left;
}

/** Returns the current target; for one on a moving collider, its place at the end of the substep. */
export function targetOf(at: usize): v128 {
  const motion = <usize>load<u32>(at, L.POINT_MOTION);
  if (!motion) return v128.load(at, L.POINT_TARGET);
  fromFrame(
    motion,
    L.MOTION_S1,
    L.MOTION_R1,
    load<f32>(at, L.POINT_TARGET),
    load<f32>(at, L.POINT_TARGET + 4),
    load<f32>(at, L.POINT_TARGET + 8),
  );
  return f32x4(<f32>frameX, <f32>frameY, <f32>frameZ, 0);
}
