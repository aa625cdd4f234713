/**
 * Velocities of rigid bodies at attachments that do not yield (rigid/rigidEnds.ts), after colliders: the held point
 * gets the velocity of its target, or that of the other body. Points at their force limit, grabs, and points that also
 * hold something soft are left out.
 */
import * as L from "../layout/layout";
import { fromFrame, frameX, frameY, frameZ } from "../colliders/motion";
import { findResponse, holdsRigid, multiplierFor, openRigid, pushRigid, rigidOf } from "../rigid/rigidEnds";

/** Most sweeps over all points, and the change of velocity below which they end, as a part of the first sweep's. */
const SWEEPS = 32;
const RESIDUE: f32 = 1e-3;

/** @param at first of `count` slots; h s; scratch this thread's SCRATCH_BYTES */
export function solveSpeeds(at: usize, count: i32, h: f32, scratch: usize): void {
  let first: f32 = 0;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let most: f32 = 0;
    for (let n = 0, point = at; n < count; n++, point += L.POINT_BYTES)
      if (isStiff(point, h)) most = max<f32>(most, solveSpeed(point, h, scratch));
    if (sweep === 0) first = most;
    if (!(most > RESIDUE * first)) break;
  }
  moveSpeeds();
}

/** Returns whether a point holds rigid bodies, and nothing else that moves, without yielding. */
function isStiff(at: usize, h: f32): bool {
  if (load<i32>(at, L.POINT_ACTIVE) !== L.POINT_HELD || load<f32>(at, L.POINT_ALPHA) > 0) return false;
  if (!holdsRigid(at)) return false;
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    if (load<f32>(particle, 12) !== 0 && !rigidOf(particle)) return false;
  }
  const l = v128.load(at, L.POINT_LAMBDA);
  const limit: f32 = 0.999 * load<f32>(at, L.POINT_MAX_FORCE) * h * h;
  return !(length(l) >= limit);
}

/** Solves one point. @returns the velocity that it lacked, m/s */
function solveSpeed(at: usize, h: f32, scratch: usize): f32 {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let sum = f32x4.sub(openRigid(at, scratch, true), targetSpeed(at, h));
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const b = load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT);
    sum = f32x4.add(sum, f32x4.mul(f32x4.splat(b), v128.load(particle + toV)));
  }
  if (!(findResponse(0) > 0)) return 0;
  pushRigid(f32x4.neg(multiplierFor(sum)));
  return length(sum);
}

/** Length by x y z. */
function length(a: v128): f32 {
  const x = f32x4.extract_lane(a, 0);
  const y = f32x4.extract_lane(a, 1);
  const z = f32x4.extract_lane(a, 2);
  return Mathf.sqrt(x * x + y * y + z * z);
}

/** Velocity of a point's target, m/s. */
function targetSpeed(at: usize, h: f32): v128 {
  const motion = <usize>load<u32>(at, L.POINT_MOTION);
  if (!motion)
    return f32x4(
      load<f32>(at, L.POINT_STEP) / h,
      load<f32>(at, L.POINT_STEP + 4) / h,
      load<f32>(at, L.POINT_STEP + 8) / h,
      0,
    );
  const tx = load<f32>(at, L.POINT_TARGET);
  const ty = load<f32>(at, L.POINT_TARGET + 4);
  const tz = load<f32>(at, L.POINT_TARGET + 8);
  fromFrame(motion, L.MOTION_S1, L.MOTION_R1, tx, ty, tz);
  const x = frameX;
  const y = frameY;
  const z = frameZ;
  fromFrame(motion, L.MOTION_S0, L.MOTION_R0, tx, ty, tz);
  return f32x4(<f32>((x - frameX) / h), <f32>((y - frameY) / h), <f32>((z - frameZ) / h), 0);
}

/** Gives the bodies that `openRigid` has found their new velocities. */
function moveSpeeds(): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let body = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = load<i32>(L.HEADER, L.H_BODY_COUNT); b > 0; b--, body += L.BODY_BYTES) {
    const row = <usize>load<u32>(body, L.BODY_RIGID);
    if (!row || !load<i32>(row, L.SHAPE_MEASURED)) continue;
    store<i32>(row, 0, L.SHAPE_MEASURED);
    const tx = load<f64>(row, L.SHAPE_TWIST);
    const ty = load<f64>(row, L.SHAPE_TWIST + 8);
    const tz = load<f64>(row, L.SHAPE_TWIST + 16);
    for (let i = load<i32>(row, L.SHAPE_COUNT), at = <usize>load<u32>(row, L.SHAPE_FIRST); i > 0; i--, at += 16) {
      if (load<f32>(at, 12) === 0) continue;
      const x = <f64>load<f32>(at) - load<f64>(row, L.SHAPE_CENTER);
      const y = <f64>load<f32>(at, 4) - load<f64>(row, L.SHAPE_CENTER + 8);
      const z = <f64>load<f32>(at, 8) - load<f64>(row, L.SHAPE_CENTER + 16);
      const v = at + toV;
      store<f32>(v, <f32>(load<f32>(v) + load<f64>(row, L.SHAPE_PUSH) + ty * z - tz * y));
      store<f32>(v, <f32>(load<f32>(v, 4) + load<f64>(row, L.SHAPE_PUSH + 8) + tz * x - tx * z), 4);
      store<f32>(v, <f32>(load<f32>(v, 8) + load<f64>(row, L.SHAPE_PUSH + 16) + tx * y - ty * x), 8);
    }
  }
}
