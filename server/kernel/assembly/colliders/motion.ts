/**
 * Moving colliders: the pose at the start and the end of the substep, as a pure function of tick and substep, plus the
 * displacement of movers that yield (contact/solve/movers.ts). The loader makes keys (time, translation, unit
 * quaternion) from the scene's. They are close enough that a straight line between two quaternions, normalized, turns
 * evenly. Clients draw the same path (shared/geometry/colliderMotion.ts).
 * Here only + - * / sqrt are used.
 */
import * as L from "../layout/layout";

// pose of the last `evaluate`
let tx: f64;
let ty: f64;
let tz: f64;
let qw: f64;
let qx: f64;
let qy: f64;
let qz: f64;
// result of the last inFrame, fromFrame, turnFromFrame; each thread has its own instance
export let frameX: f64, frameY: f64, frameZ: f64;

/**
 * Finds the largest travel of each collider in the tick: the sum over its substeps, at its farthest point. Called once
 * a tick.
 */
export function planMotions(): void {
  let row = <usize>load<u32>(L.HEADER, L.H_MOTIONS);
  const substeps = load<i32>(L.HEADER, L.H_SUBSTEPS);
  for (let n = load<i32>(L.HEADER, L.H_MOTION_COUNT); n > 0; n--, row += L.MOTION_BYTES) {
    const radius: f64 = load<f32>(row, L.MOTION_RADIUS);
    const x0 = load<f64>(row, L.MOTION_YIELD);
    const y0 = load<f64>(row, L.MOTION_YIELD + 8);
    const z0 = load<f64>(row, L.MOTION_YIELD + 16);
    let travel = sqrt(x0 * x0 + y0 * y0 + z0 * z0);
    let before = cycle(row, timeOf(0));
    evaluate(row, timeOf(0), before);
    write(row, L.MOTION_S0, L.MOTION_R0);
    write(row, L.MOTION_S1, L.MOTION_R1);
    for (let s = 1; s <= substeps; s++) {
      const x = tx;
      const y = ty;
      const z = tz;
      const a = qw;
      const b = qx;
      const c = qy;
      const d = qz;
      const now = cycle(row, timeOf(s));
      const jumped = now !== before && load<i32>(row, L.MOTION_LOOP) === L.MOTION_JUMPS;
      before = now;
      evaluate(row, timeOf(s), now);
      if (jumped) {
        travel = Infinity;
        break;
      }
      // |R - R'| <= 2 |q - q'|, for the sign that makes it small
      const same: f64 = a * qw + b * qx + c * qy + d * qz < 0 ? -1 : 1;
      const turn = sqrt(
        (a - same * qw) * (a - same * qw) +
          (b - same * qx) * (b - same * qx) +
          (c - same * qy) * (c - same * qy) +
          (d - same * qz) * (d - same * qz),
      );
      travel +=
        sqrt((x - tx) * (x - tx) + (y - ty) * (y - ty) + (z - tz) * (z - tz)) + (turn > 0 ? 2 * turn * radius : 0);
    }
    store<f32>(row, <f32>travel * 1.0001, L.MOTION_TRAVEL);
  }
}

/** Sets the second pose to the pose at the end of the tick that planMotions planned. */
export function poseAtEnd(row: usize): void {
  const end = timeOf(load<i32>(L.HEADER, L.H_SUBSTEPS));
  evaluate(row, end, cycle(row, end));
  write(row, L.MOTION_S1, L.MOTION_R1);
}

/** Sets the poses at the start and the end of a substep. Called at its start. */
export function moveColliders(): void {
  let row = <usize>load<u32>(L.HEADER, L.H_MOTIONS);
  const substep = load<i32>(L.HEADER, L.H_SUBSTEP);
  const from = timeOf(substep);
  const to = timeOf(substep + 1);
  for (let n = load<i32>(L.HEADER, L.H_MOTION_COUNT); n > 0; n--, row += L.MOTION_BYTES) {
    const before = cycle(row, from);
    const after = cycle(row, to);
    evaluate(row, to, after);
    write(row, L.MOTION_S1, L.MOTION_R1);
    // a path that restarts elsewhere is not swept across the room
    const jumped = before !== after && load<i32>(row, L.MOTION_LOOP) === L.MOTION_JUMPS;
    if (jumped) {
      memory.fill(row + L.MOTION_YIELD, 0, 24);
      write(row, L.MOTION_S1, L.MOTION_R1);
    } else evaluate(row, from, before);
    store<i32>(row, jumped ? 1 : 0, L.MOTION_JUMPED);
    write(row, L.MOTION_S0, L.MOTION_R0);
  }
}

/** Sets the second pose anew, after the collider has yielded in this substep. */
export function shiftEnd(row: usize): void {
  const to = timeOf(load<i32>(L.HEADER, L.H_SUBSTEP) + 1);
  evaluate(row, to, cycle(row, to));
  write(row, L.MOTION_S1, L.MOTION_R1);
}

/** Returns the simulated time since the room began at the start of substep s of this tick, s. */
// @inline
function timeOf(substep: i32): f64 {
  return (
    (<f64>(load<u32>(L.HEADER, L.H_TICK) - load<u32>(L.HEADER, L.H_PAUSED_TICKS)) +
      <f64>substep / <f64>load<i32>(L.HEADER, L.H_SUBSTEPS)) /
    <f64>load<f32>(L.HEADER, L.H_TICK_HZ)
  );
}

/** Returns the number of completed passes of the path. */
function cycle(row: usize, time: f64): f64 {
  if (load<i32>(row, L.MOTION_LOOP) === L.MOTION_ONCE) return 0;
  return floor(
    time /
      load<f64>(<usize>load<u32>(row, L.MOTION_KEYS) + <usize>(load<i32>(row, L.MOTION_KEY_COUNT) - 1) * L.KEY_BYTES),
  );
}

/**
 * Finds the pose at `time`. A looping path begins at the start of the given cycle; after the end of that cycle the pose
 * stays at the path's end.
 */
function evaluate(row: usize, time: f64, cycles: f64): void {
  const keys = <usize>load<u32>(row, L.MOTION_KEYS);
  const count = load<i32>(row, L.MOTION_KEY_COUNT);
  const t = time - cycles * load<f64>(keys + <usize>(count - 1) * L.KEY_BYTES);
  let low = 0;
  let high = count - 1; // the last key not after t
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (load<f64>(keys + <usize>middle * L.KEY_BYTES) <= t) low = middle;
    else high = middle;
  }
  const a = keys + <usize>low * L.KEY_BYTES;
  const b = keys + <usize>high * L.KEY_BYTES;
  const from = load<f64>(a);
  const to = load<f64>(b);
  const s: f64 = to > from ? max<f64>(0, min<f64>(1, (t - from) / (to - from))) : 0;
  tx = load<f64>(a, 8) + s * (load<f64>(b, 8) - load<f64>(a, 8));
  ty = load<f64>(a, 16) + s * (load<f64>(b, 16) - load<f64>(a, 16));
  tz = load<f64>(a, 24) + s * (load<f64>(b, 24) - load<f64>(a, 24));
  qw = load<f64>(a, 32) + s * (load<f64>(b, 32) - load<f64>(a, 32));
  qx = load<f64>(a, 40) + s * (load<f64>(b, 40) - load<f64>(a, 40));
  qy = load<f64>(a, 48) + s * (load<f64>(b, 48) - load<f64>(a, 48));
  qz = load<f64>(a, 56) + s * (load<f64>(b, 56) - load<f64>(a, 56));
  const unit: f64 = 1 / sqrt(qw * qw + qx * qx + qy * qy + qz * qz);
  qw *= unit;
  qx *= unit;
  qy *= unit;
  qz *= unit;
}

function write(row: usize, s: usize, r: usize): void {
  store<f32>(row + s, <f32>(load<f32>(row, L.MOTION_CENTER) + tx + load<f64>(row, L.MOTION_YIELD)));
  store<f32>(row + s, <f32>(load<f32>(row, L.MOTION_CENTER + 4) + ty + load<f64>(row, L.MOTION_YIELD + 8)), 4);
  store<f32>(row + s, <f32>(load<f32>(row, L.MOTION_CENTER + 8) + tz + load<f64>(row, L.MOTION_YIELD + 16)), 8);
  const at = row + r;
  store<f32>(at, <f32>(1 - 2 * (qy * qy + qz * qz)));
  store<f32>(at, <f32>(2 * (qx * qy - qw * qz)), 4);
  store<f32>(at, <f32>(2 * (qx * qz + qw * qy)), 8);
  store<f32>(at, <f32>(2 * (qx * qy + qw * qz)), 12);
  store<f32>(at, <f32>(1 - 2 * (qx * qx + qz * qz)), 16);
  store<f32>(at, <f32>(2 * (qy * qz - qw * qx)), 20);
  store<f32>(at, <f32>(2 * (qx * qz - qw * qy)), 24);
  store<f32>(at, <f32>(2 * (qy * qz + qw * qx)), 28);
  store<f32>(at, <f32>(1 - 2 * (qx * qx + qy * qy)), 32);
}

/**
 * Transforms from the world to the frame in which the scene describes the collider: center + R^T (p - s).
 * @param s, r MOTION_S0 and _R0 or MOTION_S1 and _R1
 */
export function inFrame(motion: usize, s: usize, r: usize, px: f64, py: f64, pz: f64): void {
  const x = <f32>(px - load<f32>(motion + s));
  const y = <f32>(py - load<f32>(motion + s, 4));
  const z = <f32>(pz - load<f32>(motion + s, 8));
  const R = motion + r;
  frameX =
    <f64>load<f32>(motion, L.MOTION_CENTER) + <f64>(load<f32>(R) * x + load<f32>(R, 12) * y + load<f32>(R, 24) * z);
  frameY =
    <f64>load<f32>(motion, L.MOTION_CENTER + 4) +
    <f64>(load<f32>(R, 4) * x + load<f32>(R, 16) * y + load<f32>(R, 28) * z);
  frameZ =
    <f64>load<f32>(motion, L.MOTION_CENTER + 8) +
    <f64>(load<f32>(R, 8) * x + load<f32>(R, 20) * y + load<f32>(R, 32) * z);
}

/** Transforms a point back to the world. */
export function fromFrame(motion: usize, s: usize, r: usize, px: f64, py: f64, pz: f64): void {
  turnFromFrame(
    motion,
    r,
    <f32>(px - load<f32>(motion, L.MOTION_CENTER)),
    <f32>(py - load<f32>(motion, L.MOTION_CENTER + 4)),
    <f32>(pz - load<f32>(motion, L.MOTION_CENTER + 8)),
  );
  frameX += load<f32>(motion + s);
  frameY += load<f32>(motion + s, 4);
  frameZ += load<f32>(motion + s, 8);
}

/** Transforms a direction back to the world. */
export function turnFromFrame(motion: usize, r: usize, x: f32, y: f32, z: f32): void {
  const R = motion + r;
  frameX = load<f32>(R) * x + load<f32>(R, 4) * y + load<f32>(R, 8) * z;
  frameY = load<f32>(R, 12) * x + load<f32>(R, 16) * y + load<f32>(R, 20) * z;
  frameZ = load<f32>(R, 24) * x + load<f32>(R, 28) * y + load<f32>(R, 32) * z;
}
