/**
 * Rigid bodies against colliders, and their velocities. A rigid body is a cloud of particles kept in shape by shape
 * matching. Moving its particles out one by one would stop each particle, not the body (a box that fell at 3 m/s sank
 * in by a fifth of its height and bounced). So its contacts act on the whole body, as in Mueller, Macklin, Chentanez,
 * Jeschke & Kim 2020, Detailed rigid body simulation with extended position based dynamics. They are solved one after
 * another, in sweeps over the surface particles (a smooth ball has one point: its center, with its radius):
 *   w_n = 1/M + (r x n) . I^-1 (r x n),  lambda = depth / w_n,  push += lambda n / M,  twist += lambda I^-1 (r x n)
 *   friction: the tangential displacement d of the point since the start of the substep, relative to the collider, is
 *   cut by min(|d|/w_t, mu lambda): the point of a rolling ball does not move, so the ball rolls on. mu is the static
 *   coefficient if the point rested
 * Depth, normal and time of entry are those of collide.ts: swept, in the frame of the collider. The part of a push
 * beyond the approach of this substep (older overlap) moves the body without a velocity and without friction, no faster
 * than RISE. So a body placed on something, or within the margin, is neither thrown nor held back. Approach counts only
 * motion with a velocity: if a box is lifted at one corner, the opposite corner sinks, but does not approach.
 * Impacts are finished after the sweeps, as in the same paper. Points that approached a surface and are at it get the
 * velocity of restitution, 0 included, by pushes that move nothing (rigidBounce.ts). Velocities then are v = V + omega
 * x (x - c), h V the shift of the center, h omega = axis tan(angle) of the turn. The tangent is needed because
 * prediction moves along tangents, which turns by atan(h omega). The particles' own (x - xPrev)/h would lose omega^2 h
 * of every turn a second (8 % at 10 rad/s and 1/1200 s).
 * Motion by rounding in a substep is recorded (SHAPE_ROUNDING: shape.ts, moveParticles) and subtracted. A body that
 * does not turn has all particles rounded alike: at 1 m and 1/1200 s its speed had an error of 1e-4 m/s, and damping
 * below that had no effect. Bodies in free flight keep the velocities of momentum.ts.
 */
import * as L from "../layout/layout";
import { inverseMassAt, measure, moveParticles, pushAt, extent } from "./rigidBody";
import { addPush, bounceRigid, clearPushes } from "./rigidBounce";
import { answer, answerX, answerY, answerZ, RISE } from "../colliders/collide";
import { distanceTo, nx as outX, ny as outY, nz as outZ } from "../colliders/colliderDistance";
import { findCoefficients, rests, rootStatic } from "../colliders/coefficients";
import { meets } from "../state/filters";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { hasMarks, marksOf, numberOf } from "../state/marks";
import { fromFrame, inFrame, turnFromFrame, frameX, frameY, frameZ } from "../colliders/motion";

/** Whether pushes are recorded for impacts (rigidBounce.ts). Not while a ball is laid: then the solve goes on. */
let records = true;

/** A box on its face needs 4 sweeps, on an edge 2; a ball between the walls of a funnel 3. */
const SWEEPS = 8;

/** Moves rigid bodies among the rows begin .. end out of all colliders, and sets their velocities. */
export function moveRigid(begin: i32, end: i32, h: f32, scratch: usize): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_SHAPES);
  for (let n = begin; n < end; n++) {
    const row = rows + <usize>n * L.SHAPE_BYTES;
    if (load<i32>(row, L.SHAPE_LINEAR) || load<i32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_FREE)) continue;
    measure(row, scratch);
    if (load<f64>(row, L.SHAPE_INVERSE_MASS) === 0) continue;
    clearPushes(row);
    if (collideRigid(row)) bounceRigid(row, h);
    clearPushes(row); // fixed particles are not overwritten below
    moveParticles(row, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
    setVelocities(row, h);
  }
}

/** @returns whether it touched anything */
function collideRigid(row: usize): bool {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const table = <usize>load<u32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_MEETS);
  // all particles of a body have the same marks
  const marks = hasMarks() ? marksOf(numberOf(<usize>load<u32>(row, L.SHAPE_FIRST))) : 0;
  const drawn = (marks & (L.MARK_WITHIN | L.MARK_INTERSECTING)) === L.MARK_WITHIN;
  let near = 0;
  let ever = false;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let touched = false;
    let c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS);
    for (let n = 0; n < colliders; n++, c += L.COLLIDER_BYTES) {
      if (!meets(table, n) || (drawn && load<i32>(c, L.COLLIDER_TYPE) !== L.COLLIDER_PLANE) || !mayTouch(row, c))
        continue;
      near++;
      if (load<f64>(row, L.SHAPE_RADIUS) > 0) touched = touchBall(row, c) || touched;
      else touched = touchParticles(row, c) || touched;
    }
    ever = ever || touched;
    if (!touched || near === 0) break;
  }
  return ever;
}

/**
 * Returns false only if the ball around the body stays clear of the collider on its whole path through this substep.
 */
function mayTouch(row: usize, c: usize): bool {
  const x = load<f64>(row, L.SHAPE_CENTER) + load<f64>(row, L.SHAPE_PUSH);
  const y = load<f64>(row, L.SHAPE_CENTER + 8) + load<f64>(row, L.SHAPE_PUSH + 8);
  const z = load<f64>(row, L.SHAPE_CENTER + 16) + load<f64>(row, L.SHAPE_PUSH + 16);
  const sx = load<f64>(row, L.SHAPE_SHIFT) + load<f64>(row, L.SHAPE_PUSH);
  const sy = load<f64>(row, L.SHAPE_SHIFT + 8) + load<f64>(row, L.SHAPE_PUSH + 8);
  const sz = load<f64>(row, L.SHAPE_SHIFT + 16) + load<f64>(row, L.SHAPE_PUSH + 16);
  const margin = <f64>(
    load<f32>(
      <usize>load<u32>(row, L.SHAPE_FIRST) + <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X),
      12,
    )
  );
  const far = 1.001 * (max<f64>(extent, load<f64>(row, L.SHAPE_RADIUS)) + margin + sqrt(sx * sx + sy * sy + sz * sz));
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) return <f64>distanceTo(c, x, y, z) <= far;
  inFrame(motion, L.MOTION_S1, L.MOTION_R1, x, y, z);
  return <f64>distanceTo(c, frameX, frameY, frameZ) <= far + <f64>load<f32>(motion, L.MOTION_TRAVEL);
}

/** Collides every surface particle with one collider. @returns whether any was pushed */
function touchParticles(row: usize, c: usize): bool {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_SURFACE);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const cx = load<f64>(row, L.SHAPE_CENTER);
  const cy = load<f64>(row, L.SHAPE_CENTER + 8);
  const cz = load<f64>(row, L.SHAPE_CENTER + 16);
  const toLow = lowFrom();
  const prevLow = lowPrevFrom() - toPrev;
  let touched = false;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    const hereX = place(at, toLow);
    const hereY = place(at + 4, toLow);
    const hereZ = place(at + 8, toLow);
    const rx = hereX - cx;
    const ry = hereY - cy;
    const rz = hereZ - cz;
    const ax = load<f64>(row, L.SHAPE_TWIST);
    const ay = load<f64>(row, L.SHAPE_TWIST + 8);
    const az = load<f64>(row, L.SHAPE_TWIST + 16);
    const x = hereX + load<f64>(row, L.SHAPE_PUSH) + ay * rz - az * ry;
    const y = hereY + load<f64>(row, L.SHAPE_PUSH + 8) + az * rx - ax * rz;
    const z = hereZ + load<f64>(row, L.SHAPE_PUSH + 16) + ax * ry - ay * rx;
    const prev = at + toPrev;
    touched =
      touch(
        row,
        c,
        place(prev, prevLow),
        place(prev + 4, prevLow),
        place(prev + 8, prevLow),
        x,
        y,
        z,
        load<f32>(prev, 12),
        at,
        rx,
        ry,
        rz,
        0,
      ) || touched;
  }
  return touched;
}

/** Moves a ball out of the standing colliders on which it rests (balls.ts). @returns whether it rests on one */
export function layBall(row: usize): bool {
  if (!(load<f64>(row, L.SHAPE_INVERSE_MASS) > 0)) return false;
  const table = <usize>load<u32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_MEETS);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const acc = <usize>load<u32>(row, L.SHAPE_FIRST) + toAcc;
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const shift = row + L.SHAPE_SHIFT;
  let any = false;
  records = false;
  let c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS);
  for (let n = 0; n < load<i32>(L.HEADER, L.H_COLLIDER_COUNT); n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || load<u32>(c, L.COLLIDER_MOTION) || !meets(table, n))
      continue;
    const x = load<f64>(row, L.SHAPE_CENTER) + load<f64>(row, L.SHAPE_PUSH);
    const y = load<f64>(row, L.SHAPE_CENTER + 8) + load<f64>(row, L.SHAPE_PUSH + 8);
    const z = load<f64>(row, L.SHAPE_CENTER + 16) + load<f64>(row, L.SHAPE_PUSH + 16);
    if (!(<f64>distanceTo(c, x, y, z) < load<f64>(row, L.SHAPE_RADIUS))) continue;
    const fell = -(load<f64>(shift) * outX + load<f64>(shift, 8) * outY + load<f64>(shift, 16) * outZ);
    if (rests(<f32>fell, acc, h)) any = touchBall(row, c) || any;
  }
  records = true;
  return any;
}

function touchBall(row: usize, c: usize): bool {
  const px = load<f64>(row, L.SHAPE_PUSH);
  const py = load<f64>(row, L.SHAPE_PUSH + 8);
  const pz = load<f64>(row, L.SHAPE_PUSH + 16);
  const cx = load<f64>(row, L.SHAPE_CENTER);
  const cy = load<f64>(row, L.SHAPE_CENTER + 8);
  const cz = load<f64>(row, L.SHAPE_CENTER + 16);
  const R = load<f64>(row, L.SHAPE_RADIUS);
  return touch(
    row,
    c,
    cx - load<f64>(row, L.SHAPE_SHIFT),
    cy - load<f64>(row, L.SHAPE_SHIFT + 8),
    cz - load<f64>(row, L.SHAPE_SHIFT + 16),
    cx + px,
    cy + py,
    cz + pz,
    <f32>R,
    <usize>load<u32>(row, L.SHAPE_FIRST),
    0,
    0,
    0,
    R,
  );
}

/**
 * Collides one point (world, from and to) of margin `margin` with one collider. `at`: its particle (of a ball the
 * first); r from the center, and R further along the normal.
 */
function touch(
  row: usize,
  c: usize,
  fromX: f64,
  fromY: f64,
  fromZ: f64,
  toX: f64,
  toY: f64,
  toZ: f64,
  margin: f32,
  at: usize,
  rx: f64,
  ry: f64,
  rz: f64,
  R: f64,
): bool {
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  let px = fromX;
  let py = fromY;
  let pz = fromZ;
  let x = toX;
  let y = toY;
  let z = toZ;
  if (motion) {
    inFrame(motion, L.MOTION_S0, L.MOTION_R0, px, py, pz);
    px = frameX;
    py = frameY;
    pz = frameZ;
    inFrame(motion, L.MOTION_S1, L.MOTION_R1, x, y, z);
    x = frameX;
    y = frameY;
    z = frameZ;
  }
  const found = answer(c, px, py, pz, x, y, z, margin);
  // below the rounding of the margin it is the residue of a sweep, no contact
  if (!(found > 1e-5 * margin)) return false;
  let nx = answerX;
  let ny = answerY;
  let nz = answerZ;
  const approach = -((x - px) * nx + (y - py) * ny + (z - pz) * nz);
  if (motion) {
    turnFromFrame(motion, L.MOTION_R1, nx, ny, nz);
    nx = <f32>frameX;
    ny = <f32>frameY;
    nz = <f32>frameZ;
  }
  const ax: f64 = rx - R * <f64>nx;
  const ay: f64 = ry - R * <f64>ny;
  const az: f64 = rz - R * <f64>nz;
  // motion of the point without a velocity
  const lifted =
    (load<f64>(row, L.SHAPE_PUSH_STILL) +
      load<f64>(row, L.SHAPE_TWIST_STILL + 8) * az -
      load<f64>(row, L.SHAPE_TWIST_STILL + 16) * ay) *
      nx +
    (load<f64>(row, L.SHAPE_PUSH_STILL + 8) +
      load<f64>(row, L.SHAPE_TWIST_STILL + 16) * ax -
      load<f64>(row, L.SHAPE_TWIST_STILL) * az) *
      ny +
    (load<f64>(row, L.SHAPE_PUSH_STILL + 16) +
      load<f64>(row, L.SHAPE_TWIST_STILL) * ay -
      load<f64>(row, L.SHAPE_TWIST_STILL + 8) * ax) *
      nz;
  const real = min<f64>(found, max<f64>(0, approach + lifted));
  // a ball's margin is its radius: it has no gap
  const slow = <f64>(RISE * margin * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS));
  const rises: f64 = R > 0 ? found : max<f64>(slow - lifted, <f64>found - margin);
  const depth = min<f64>(found, real + max<f64>(0, rises));
  if (!(depth > 1e-5 * margin)) return false;
  const lambda = real / inverseMassAt(row, ax, ay, az, nx, ny, nz);
  const idle = (depth - real) / inverseMassAt(row, ax, ay, az, nx, ny, nz);
  pushAt(row, ax, ay, az, nx, ny, nz, lambda + idle, idle);
  if (records) addPush(row, c, at, lambda, nx, ny, nz);
  rub(row, c, motion, at, toX, toY, toZ, ax, ay, az, nx, ny, nz, R, lambda);
  return true;
}

/** Friction of `touch` under a push of lambda, on the displacement with a velocity of the body's contact point. */
function rub(
  row: usize,
  c: usize,
  motion: usize,
  at: usize,
  toX: f64,
  toY: f64,
  toZ: f64,
  ax: f64,
  ay: f64,
  az: f64,
  nx: f32,
  ny: f32,
  nz: f32,
  R: f64,
  lambda: f64,
): void {
  const sx = load<f64>(row, L.SHAPE_SHIFT) + load<f64>(row, L.SHAPE_PUSH) - load<f64>(row, L.SHAPE_PUSH_STILL);
  const sy =
    load<f64>(row, L.SHAPE_SHIFT + 8) + load<f64>(row, L.SHAPE_PUSH + 8) - load<f64>(row, L.SHAPE_PUSH_STILL + 8);
  const sz =
    load<f64>(row, L.SHAPE_SHIFT + 16) + load<f64>(row, L.SHAPE_PUSH + 16) - load<f64>(row, L.SHAPE_PUSH_STILL + 16);
  const tx = load<f64>(row, L.SHAPE_TURN) + load<f64>(row, L.SHAPE_TWIST) - load<f64>(row, L.SHAPE_TWIST_STILL);
  const ty =
    load<f64>(row, L.SHAPE_TURN + 8) + load<f64>(row, L.SHAPE_TWIST + 8) - load<f64>(row, L.SHAPE_TWIST_STILL + 8);
  const tz =
    load<f64>(row, L.SHAPE_TURN + 16) + load<f64>(row, L.SHAPE_TWIST + 16) - load<f64>(row, L.SHAPE_TWIST_STILL + 16);
  let dx = sx + ty * az - tz * ay;
  let dy = sy + tz * ax - tx * az;
  let dz = sz + tx * ay - ty * ax;
  if (motion) {
    // minus the collider's displacement there
    const qx = toX - R * nx;
    const qy = toY - R * ny;
    const qz = toZ - R * nz;
    inFrame(motion, L.MOTION_S1, L.MOTION_R1, qx, qy, qz);
    fromFrame(motion, L.MOTION_S0, L.MOTION_R0, frameX, frameY, frameZ);
    dx -= qx - frameX;
    dy -= qy - frameY;
    dz -= qz - frameZ;
  }
  const dn = dx * nx + dy * ny + dz * nz;
  dx -= dn * nx;
  dy -= dn * ny;
  dz -= dn * nz;
  const slide = sqrt(dx * dx + dy * dy + dz * dz);
  if (!(slide > 0)) return;
  dx /= slide;
  dy /= slide;
  dz /= slide;
  const mu = frictionAt(row, c, ax, ay, az, nx, ny, nz, slide * dx, slide * dy, slide * dz);
  const drag = min<f64>(slide / inverseMassAt(row, ax, ay, az, dx, dy, dz), mu * lambda);
  pushAt(row, ax, ay, az, dx, dy, dz, -drag, 0);
  if (records) addPush(row, c, at, -drag, <f32>dx, <f32>dy, <f32>dz);
}

/** Returns the friction coefficient of a point at `a` that has slid by d: the static one if it rested. */
function frictionAt(
  row: usize,
  c: usize,
  ax: f64,
  ay: f64,
  az: f64,
  nx: f32,
  ny: f32,
  nz: f32,
  dx: f64,
  dy: f64,
  dz: f64,
): f64 {
  const acc =
    <usize>load<u32>(row, L.SHAPE_FIRST) + <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const root = load<f32>(acc, 12);
  let mu = <f64>root * <f64>load<f32>(c, L.COLLIDER_FRICTION);
  findCoefficients(<usize>load<u32>(row, L.SHAPE_FIRST), root);
  const still = <f64>rootStatic * <f64>load<f32>(c, L.COLLIDER_STATIC);
  if (still > mu) {
    // a resting point has moved by at most the displacement of this substep's external acceleration, before any push
    const px =
      load<f64>(row, L.SHAPE_PUSH) + load<f64>(row, L.SHAPE_TWIST + 8) * az - load<f64>(row, L.SHAPE_TWIST + 16) * ay;
    const py =
      load<f64>(row, L.SHAPE_PUSH + 8) + load<f64>(row, L.SHAPE_TWIST + 16) * ax - load<f64>(row, L.SHAPE_TWIST) * az;
    const pz =
      load<f64>(row, L.SHAPE_PUSH + 16) + load<f64>(row, L.SHAPE_TWIST) * ay - load<f64>(row, L.SHAPE_TWIST + 8) * ax;
    const pn = px * nx + py * ny + pz * nz;
    const ox = dx - (px - pn * nx);
    const oy = dy - (py - pn * ny);
    const oz = dz - (pz - pn * nz);
    const h: f64 = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
    const gx: f64 = load<f32>(acc);
    const gy: f64 = load<f32>(acc, 4);
    const gz: f64 = load<f32>(acc, 8);
    if (ox * ox + oy * oy + oz * oz <= h * h * h * h * (gx * gx + gy * gy + gz * gz)) mu = still;
  }
  return mu;
}

function setVelocities(row: usize, h: f64): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const inverseH: f64 = 1 / h;
  const vx =
    inverseH * (load<f64>(row, L.SHAPE_SHIFT) + load<f64>(row, L.SHAPE_PUSH) - load<f64>(row, L.SHAPE_PUSH_STILL));
  const vy =
    inverseH *
    (load<f64>(row, L.SHAPE_SHIFT + 8) + load<f64>(row, L.SHAPE_PUSH + 8) - load<f64>(row, L.SHAPE_PUSH_STILL + 8));
  const vz =
    inverseH *
    (load<f64>(row, L.SHAPE_SHIFT + 16) + load<f64>(row, L.SHAPE_PUSH + 16) - load<f64>(row, L.SHAPE_PUSH_STILL + 16));
  const wx =
    inverseH * (load<f64>(row, L.SHAPE_TURN) + load<f64>(row, L.SHAPE_TWIST) - load<f64>(row, L.SHAPE_TWIST_STILL));
  const wy =
    inverseH *
    (load<f64>(row, L.SHAPE_TURN + 8) + load<f64>(row, L.SHAPE_TWIST + 8) - load<f64>(row, L.SHAPE_TWIST_STILL + 8));
  const wz =
    inverseH *
    (load<f64>(row, L.SHAPE_TURN + 16) + load<f64>(row, L.SHAPE_TWIST + 16) - load<f64>(row, L.SHAPE_TWIST_STILL + 16));
  const cx = load<f64>(row, L.SHAPE_CENTER) + load<f64>(row, L.SHAPE_PUSH);
  const cy = load<f64>(row, L.SHAPE_CENTER + 8) + load<f64>(row, L.SHAPE_PUSH + 8);
  const cz = load<f64>(row, L.SHAPE_CENTER + 16) + load<f64>(row, L.SHAPE_PUSH + 16);
  for (let i = 0, at = first; i < count; i++, at += 16) {
    if (load<f32>(at, 12) === 0) continue;
    const x = <f64>load<f32>(at) - cx;
    const y = <f64>load<f32>(at, 4) - cy;
    const z = <f64>load<f32>(at, 8) - cz;
    const v = at + toV;
    const damped: f64 = 1 / (1 + h * <f64>load<f32>(v, 12));
    store<f32>(v, <f32>(damped * (vx + wy * z - wz * y)));
    store<f32>(v, <f32>(damped * (vy + wz * x - wx * z)), 4);
    store<f32>(v, <f32>(damped * (vz + wx * y - wy * x)), 8);
  }
}
