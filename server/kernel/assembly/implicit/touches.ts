/**
 * Colliders in an implicit step. What lies on one is there to stay or to slide while it is solved (Baraff & Witkin
 * 1998, modified conjugate gradients), so that the body's own weight does not press it through first:
 *   sticks   y_i = p                          p the place where it touches, carried along by a collider that moves
 *   slides   n . (y_i - p) = 0, and friction's potential D = mu lambda_n sqrt(s^2 + e^2) of its slip s, with lambda_n
 *            as it was last (Li et al. 2020, incremental potential contact): it can only take energy
 *   open     nothing
 * What holds it is what the gradient of the rest leaves there, lambda = dE/dy_i. After a solve what pulls (lambda_n <
 * 0) opens, what friction cannot hold (|lambda_t| > mu_static lambda_n) slides, and what has gone through closes; then
 * it is solved again, a few times at most. What did not slip sticks in the next step. mu lambda_n of what slides is
 * kept from step to step.
 * What would be in a collider at the end, and is clear of it where the step begins, is held where it would come out,
 * and the step is taken again by Euler (step.ts): the body is stopped as a whole. (Were it left to `collide`, which
 * follows the step, the skin alone would be stopped: a cube of 10^9 Pa that fell 30 cm held 28 kJ for a moment.)
 */
import {
  HEADER,
  H_X,
  H_XPREV,
  H_ACC,
  H_COLLIDERS,
  H_COLLIDER_COUNT,
  COLLIDER_BYTES,
  COLLIDER_FRICTION,
  COLLIDER_MESH,
  COLLIDER_MOTION,
  COLLIDER_STATIC,
  COLLIDER_TYPE,
  IMPLICIT_COUNT,
  IMPLICIT_FIRST,
  IMPLICIT_MASS,
  IMPLICIT_MEETS,
  IMPLICIT_TOUCHES,
  IMPLICIT_TOUCH_COUNT,
  MOTION_R0,
  MOTION_R1,
  MOTION_S0,
  MOTION_S1,
  TOUCH_BYTES,
  TOUCH_DRAG,
  TOUCH_DYNAMIC,
  TOUCH_FRICTION,
  TOUCH_LEAST,
  TOUCH_NORMAL,
  TOUCH_OPEN,
  TOUCH_PLACE,
  TOUCH_RESTING,
  TOUCH_ROUND,
  TOUCH_SLIDES,
  TOUCH_SLIP,
  TOUCH_STATE,
  TOUCH_STATIC,
  TOUCH_STEADY,
  TOUCH_STICKS,
} from "../layout/layout";
import { distanceTo, nx, ny, nz } from "../colliders/colliderDistance";
import { findCoefficients, rests, rootStatic } from "../colliders/coefficients";
import { frameX, frameY, frameZ, fromFrame, inFrame, turnFromFrame } from "../colliders/motion";
import { meets } from "../state/filters";

/** Part of its contact radius above a collider's margin within which a particle lies on it. */
const NEAR: f32 = 0.002;
/** It is held so much above, so that `collide` finds nothing to answer. */
const SKIN: f32 = 0.001;
/**
 * What slips no more than this part of the contact radius in a step sticks in the next. Tried: ten times as much: near
 * the limit of friction a block creeps.
 */
const LEAST: f64 = 1e-4;
/**
 * Friction grows over this part of the slip that there would be without any force, or over LEAST. (Over LEAST alone no
 * whole step of what tumbles goes down, and what is left unsolved is energy: a cube of 10^5 Pa got 47 J in 5 s.) In
 * steady sliding that takes sqrt(1 + ROUND^2) from friction, which has as much more.
 */
const ROUND: f64 = 0.1;
const ROUNDED: f64 = 1.004987562112089;
/** What sticks begins to slide with so many times what friction holds: a force at the limit does not quiver. */
const BREAKS: f64 = 1.01;
/**
 * Of a slip of so many times what two steps of external acceleration make friction's direction alone is what resists:
 * it slides steadily. Else friction counts as a spring to where it ends, which lies above its potential and never
 * overshoots. (With its true curvature whole steps did not go down: 2 to 8 halvings a step of a sheet on a sphere, or
 * of cubes on a plane; with the spring 0.1. With 4 times the last centimeters of a slide have 5 % too little friction.)
 */
const STEADY: f64 = 1;
/**
 * A part by which that spring may resist more than friction can: what begins to slide would hardly, and stick again;
 * and of a slip that is BEGUN times what counts as none. (0.05 of that, too: nine solves a step of a sheet on a
 * sphere.)
 */
const CHANGED: f64 = 0.05;
const CHANGED_BEGUN: f64 = 0.5;
const BEGUN: f64 = 10;

// the collider nearest to the last particle: distance from the margin (m), normal, and where the particle lies on it
let gap: f32 = 0;
let normalX: f32 = 0;
let normalY: f32 = 0;
let normalZ: f32 = 0;
let placeX: f32 = 0;
let placeY: f32 = 0;
let placeZ: f32 = 0;
let nearest: usize = 0;

/**
 * Lists the particles that lie on a collider where the step begins, and those that are in one where it would end.
 * @param x, target vectors: where it begins, what inertia wants; end where it would end, 0: not known; kept friction of
 *   the last step
 */
export function findTouches(row: usize, x: usize, target: usize, end: usize, kept: usize, h: f64): void {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  store<i32>(row, 0, IMPLICIT_TOUCH_COUNT);
  if (!touch) return;
  const vector = 24 * <usize>load<i32>(row, IMPLICIT_COUNT);
  const mass = <usize>load<u32>(row, IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  const toAcc = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  let particle = <usize>load<u32>(row, IMPLICIT_FIRST);
  let count = 0;
  for (let i = 0; i < load<i32>(row, IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const r = load<f32>(particle + toPrevious, 12);
    const at = <usize>i * 24;
    const lies = findCollider(row, x + at, r, false);
    if (!lies && !(end !== 0 && findCollider(row, end + at, r, true))) continue;
    const rough = load<f32>(particle + toAcc, 12);
    findCoefficients(particle, rough);
    store<i32>(touch, <i32>at);
    store<f64>(touch, <f64>(rootStatic * load<f32>(nearest, COLLIDER_STATIC)), TOUCH_STATIC);
    store<f64>(touch, <f64>(rough * load<f32>(nearest, COLLIDER_FRICTION)), TOUCH_DYNAMIC);
    // what is deeper than its margin is lifted by `collide`, without a velocity and without friction
    const out: f32 = lies && gap < 0 ? 0 : SKIN * r - gap;
    writePlace(touch, out);
    const glide = slipOf(touch, x + at, vector, h);
    writeState(touch, target + at, kept + at, r, glide);
    store<f64>(touch, 2 * h * h * accelerationOf(particle + toAcc), TOUCH_RESTING);
    touch += TOUCH_BYTES;
    count++;
  }
  store<i32>(row, count, IMPLICIT_TOUCH_COUNT);
}

/**
 * Whether the particle at a vector's entry lies on a collider where the step begins, or is within one's margin where it
 * would end, and which is nearest.
 */
function findCollider(row: usize, entry: usize, r: f32, atEnd: bool): bool {
  const table = <usize>load<u32>(row, IMPLICIT_MEETS);
  const colliders = load<i32>(HEADER, H_COLLIDER_COUNT);
  const px = <f32>load<f64>(entry);
  const py = <f32>load<f64>(entry, 8);
  const pz = <f32>load<f64>(entry, 16);
  gap = atEnd ? 0 : NEAR * r;
  nearest = 0;
  for (let n = 0, c = <usize>load<u32>(HEADER, H_COLLIDERS); n < colliders; n++, c += COLLIDER_BYTES) {
    if (load<i32>(c, COLLIDER_TYPE) === COLLIDER_MESH || !meets(table, n)) continue;
    const motion = <usize>load<u32>(c, COLLIDER_MOTION);
    let x = px;
    let y = py;
    let z = pz;
    if (motion) {
      inFrame(motion, atEnd ? MOTION_S1 : MOTION_S0, atEnd ? MOTION_R1 : MOTION_R0, px, py, pz);
      x = frameX;
      y = frameY;
      z = frameZ;
    }
    const d = distanceTo(c, x, y, z) - r;
    if (atEnd ? d >= gap : d > gap) continue;
    if (motion) takeMoving(c, motion, d, x, y, z, atEnd);
    else take(c, d, nx, ny, nz);
    if (motion && !atEnd) continue;
    placeX = px;
    placeY = py;
    placeZ = pz;
  }
  return nearest !== 0;
}

/** @param x, y, z the particle in the collider's frame, which carries along what lies on it as the step begins */
function takeMoving(c: usize, motion: usize, d: f32, x: f32, y: f32, z: f32, atEnd: bool): void {
  turnFromFrame(motion, MOTION_R1, nx, ny, nz);
  take(c, d, frameX, frameY, frameZ);
  if (atEnd) return;
  fromFrame(motion, MOTION_S1, MOTION_R1, x, y, z);
  placeX = frameX;
  placeY = frameY;
  placeZ = frameZ;
}

/** Is a particle in a collider where the step would end, that does not lie on one where it begins? */
export function anyEntered(row: usize, x: usize, end: usize): bool {
  if (!load<u32>(row, IMPLICIT_TOUCHES)) return false;
  const mass = <usize>load<u32>(row, IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  let particle = <usize>load<u32>(row, IMPLICIT_FIRST);
  for (let i = 0; i < load<i32>(row, IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const r = load<f32>(particle + toPrevious, 12);
    const at = <usize>i * 24;
    if (findCollider(row, end + at, r, true) && !findCollider(row, x + at, r, false)) return true;
  }
  return false;
}

function take(c: usize, d: f32, x: f32, y: f32, z: f32): void {
  nearest = c;
  gap = d;
  normalX = x;
  normalY = y;
  normalZ = z;
}

/** m/s^2 */
function accelerationOf(at: usize): f64 {
  const x = <f64>load<f32>(at);
  const y = <f64>load<f32>(at, 4);
  const z = <f64>load<f32>(at, 8);
  return sqrt<f64>(x * x + y * y + z * z);
}

/** Normal and place. @param outward m from where it is now to that place */
function writePlace(touch: usize, outward: f32): void {
  const out = <f64>outward;
  const x = <f64>normalX;
  const y = <f64>normalY;
  const z = <f64>normalZ;
  store<f64>(touch, x, TOUCH_NORMAL);
  store<f64>(touch, y, TOUCH_NORMAL + 8);
  store<f64>(touch, z, TOUCH_NORMAL + 16);
  store<f64>(touch, <f64>placeX + out * x, TOUCH_PLACE);
  store<f64>(touch, <f64>placeY + out * y, TOUCH_PLACE + 8);
  store<f64>(touch, <f64>placeZ + out * z, TOUCH_PLACE + 16);
}

/**
 * What it does there, and its friction.
 * @param target, kept entries of the vectors; glide slip that there would be without any force, m
 */
function writeState(touch: usize, target: usize, kept: usize, r: f32, glide: f64): void {
  store<f64>(touch, load<f64>(kept), TOUCH_FRICTION);
  const least = LEAST * <f64>r;
  store<f64>(touch, least, TOUCH_LEAST);
  store<f64>(touch, max<f64>(least, ROUND * glide), TOUCH_ROUND);
  store<i32>(touch, guess(touch, target), TOUCH_STATE);
}

/** Friction of what slid, for the next step. @param kept vector, of which the first of three is used; y where it is */
export function keepTouches(row: usize, kept: usize, y: usize): void {
  memory.fill(kept, 0, 24 * <usize>load<i32>(row, IMPLICIT_COUNT));
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    const at = <usize>load<i32>(touch);
    if (load<i32>(touch, TOUCH_STATE) !== TOUCH_SLIDES) continue;
    if (measureSlip(touch, y + at) > load<f64>(touch, TOUCH_LEAST))
      store<f64>(kept + at, load<f64>(touch, TOUCH_FRICTION));
  }
}

/** What it did, or would do alone: what friction there is, is known once it is solved. */
function guess(touch: usize, target: usize): i32 {
  const lift = above(touch, target);
  if (!(lift < 0)) return TOUCH_OPEN;
  if (load<f64>(touch, TOUCH_FRICTION) > 0) return TOUCH_SLIDES;
  return measureSlip(touch, target) < load<f64>(touch, TOUCH_STATIC) * -lift ? TOUCH_STICKS : TOUCH_SLIDES;
}

/** How far x + h v is from the place along the surface, m. @param x entry; vector bytes from there to v */
function slipOf(touch: usize, x: usize, vector: usize, h: f64): f64 {
  let lift: f64 = 0;
  let sum: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const d = load<f64>(x + r) + h * load<f64>(x + r + vector) - load<f64>(touch + r, TOUCH_PLACE);
    lift += load<f64>(touch + r, TOUCH_NORMAL) * d;
    sum += d * d;
  }
  return sqrt<f64>(max<f64>(0, sum - lift * lift));
}

/** How far an entry is from the place along the surface, TOUCH_SLIP. @returns its length, m */
function measureSlip(touch: usize, entry: usize): f64 {
  const lift = above(touch, entry);
  let sum: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const slip = load<f64>(entry + r) - load<f64>(touch + r, TOUCH_PLACE) - lift * load<f64>(touch + r, TOUCH_NORMAL);
    store<f64>(touch + r, slip, TOUCH_SLIP);
    sum += slip * slip;
  }
  return sqrt<f64>(sum);
}

/** n . (entry - p) */
function above(touch: usize, entry: usize): f64 {
  return (
    load<f64>(touch, TOUCH_NORMAL) * (load<f64>(entry) - load<f64>(touch, TOUCH_PLACE)) +
    load<f64>(touch, TOUCH_NORMAL + 8) * (load<f64>(entry, 8) - load<f64>(touch, TOUCH_PLACE + 8)) +
    load<f64>(touch, TOUCH_NORMAL + 16) * (load<f64>(entry, 16) - load<f64>(touch, TOUCH_PLACE + 16))
  );
}

/** n . entry */
function across(touch: usize, entry: usize): f64 {
  return (
    load<f64>(touch, TOUCH_NORMAL) * load<f64>(entry) +
    load<f64>(touch, TOUCH_NORMAL + 8) * load<f64>(entry, 8) +
    load<f64>(touch, TOUCH_NORMAL + 16) * load<f64>(entry, 16)
  );
}

/** entry -= s n */
function withdraw(touch: usize, entry: usize, s: f64): void {
  for (let r: usize = 0; r < 24; r += 8)
    store<f64>(entry + r, load<f64>(entry + r) - s * load<f64>(touch + r, TOUCH_NORMAL));
}

/**
 * Does a particle that is at a collider come towards it, faster than what lies there does?
 * @param x, v vectors
 */
export function anyHits(row: usize, x: usize, v: usize, h: f64): bool {
  const mass = <usize>load<u32>(row, IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  const toAcc = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  let particle = <usize>load<u32>(row, IMPLICIT_FIRST);
  for (let i = 0; i < load<i32>(row, IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const at = <usize>i * 24;
    if (!findCollider(row, x + at, load<f32>(particle + toPrevious, 12), false)) continue;
    const approach = -(
      <f64>normalX * (h * load<f64>(v + at) - (<f64>placeX - load<f64>(x + at))) +
      <f64>normalY * (h * load<f64>(v + at, 8) - (<f64>placeY - load<f64>(x + at, 8))) +
      <f64>normalZ * (h * load<f64>(v + at, 16) - (<f64>placeZ - load<f64>(x + at, 16)))
    );
    if (!rests(<f32>approach, particle + toAcc, <f32>h)) return true;
  }
  return false;
}

/** Does anything stick or slide? */
export function anyTouch(row: usize): bool {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES)
    if (load<i32>(touch, TOUCH_STATE) !== TOUCH_OPEN) return true;
  return false;
}

/** Puts what touches to where it may be. */
export function placeTouches(row: usize, y: usize): void {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    const entry = y + <usize>load<i32>(touch);
    const state = load<i32>(touch, TOUCH_STATE);
    if (state === TOUCH_STICKS) memory.copy(entry, touch + TOUCH_PLACE, 24);
    else if (state === TOUCH_SLIDES) withdraw(touch, entry, above(touch, entry));
  }
}

/** Takes from a direction what touches may not do. */
export function filterTouches(row: usize, d: usize): void {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    const entry = d + <usize>load<i32>(touch);
    const state = load<i32>(touch, TOUCH_STATE);
    if (state === TOUCH_STICKS) memory.fill(entry, 0, 24);
    else if (state === TOUCH_SLIDES) withdraw(touch, entry, across(touch, entry));
  }
}

/** mu lambda_n sqrt(s^2 + e^2) of what slides, in what is minimized, J */
export function energyOfTouches(row: usize, y: usize): f64 {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  let sum: f64 = 0;
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    if (load<i32>(touch, TOUCH_STATE) !== TOUCH_SLIDES) continue;
    sum += load<f64>(touch, TOUCH_FRICTION) * rounded(touch, measureSlip(touch, y + <usize>load<i32>(touch)));
  }
  return sum;
}

/** sqrt(s^2 + e^2) */
// @inline
function rounded(touch: usize, slip: f64): f64 {
  const e = load<f64>(touch, TOUCH_ROUND);
  return sqrt<f64>(slip * slip + e * e);
}

/** g += dD/dy; keeps the slip and what resists it, for products. */
export function linearizeTouches(row: usize, y: usize, g: usize): void {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    if (load<i32>(touch, TOUCH_STATE) !== TOUCH_SLIDES) continue;
    const at = <usize>load<i32>(touch);
    const slip = measureSlip(touch, y + at);
    const t = rounded(touch, slip);
    const drag = load<f64>(touch, TOUCH_FRICTION) / t;
    store<f64>(touch, drag, TOUCH_DRAG);
    store<f64>(touch, slip > STEADY * load<f64>(touch, TOUCH_RESTING) ? 1 / (t * t) : 0, TOUCH_STEADY);
    for (let r: usize = 0; r < 24; r += 8)
      store<f64>(g + at + r, load<f64>(g + at + r) + drag * load<f64>(touch + r, TOUCH_SLIP));
  }
}

/**
 * q += H p, H = mu lambda_n/t (1 - s s^T/t^2), t = sqrt(s^2 + e^2), of a steady slip, else mu lambda_n/t; p does not
 * leave the surface.
 */
export function multiplyTouches(row: usize, p: usize, q: usize): void {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    if (load<i32>(touch, TOUCH_STATE) !== TOUCH_SLIDES) continue;
    const at = <usize>load<i32>(touch);
    let dot: f64 = 0;
    for (let r: usize = 0; r < 24; r += 8) dot += load<f64>(touch + r, TOUCH_SLIP) * load<f64>(p + at + r);
    const drag = load<f64>(touch, TOUCH_DRAG);
    const along = dot * load<f64>(touch, TOUCH_STEADY);
    for (let r: usize = 0; r < 24; r += 8) {
      const change = load<f64>(p + at + r) - along * load<f64>(touch + r, TOUCH_SLIP);
      store<f64>(q + at + r, load<f64>(q + at + r) + drag * change);
    }
  }
}

/**
 * After a solve: who opens, closes, or begins to slide.
 * @param y where it ended; residual minus the gradient there
 * @returns true: anyone does, or slides against friction that was not known, and it is to be solved again
 */
export function reviewTouches(row: usize, y: usize, residual: usize): bool {
  let touch = <usize>load<u32>(row, IMPLICIT_TOUCHES);
  let changed = false;
  for (let n = load<i32>(row, IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += TOUCH_BYTES) {
    const at = <usize>load<i32>(touch);
    const state = load<i32>(touch, TOUCH_STATE);
    if (state === TOUCH_OPEN) {
      if (!(above(touch, y + at) < 0)) continue;
      // were it to stick, what slides would stop at once
      store<i32>(touch, TOUCH_SLIDES, TOUCH_STATE);
      changed = true;
      continue;
    }
    const push = -across(touch, residual + at);
    if (push < 0) {
      store<i32>(touch, TOUCH_OPEN, TOUCH_STATE);
      changed = true;
    } else if (state === TOUCH_STICKS) changed = breaks(touch, residual + at, push) || changed;
    else changed = rubs(touch, y + at, push) || changed;
  }
  return changed;
}

/** Friction does not hold it: it begins to slide. @param push lambda_n, N */
function breaks(touch: usize, residual: usize, push: f64): bool {
  let size: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const along = -load<f64>(residual + r) - push * load<f64>(touch + r, TOUCH_NORMAL);
    size += along * along;
  }
  if (sqrt<f64>(size) <= BREAKS * load<f64>(touch, TOUCH_STATIC) * push) return false;
  store<f64>(touch, ROUNDED * load<f64>(touch, TOUCH_DYNAMIC) * push, TOUCH_FRICTION);
  store<i32>(touch, TOUCH_SLIDES, TOUCH_STATE);
  return true;
}

/** Notes what friction is, for the next solve. @returns true: this one knew none, or more than it can be */
function rubs(touch: usize, entry: usize, push: f64): bool {
  const before = load<f64>(touch, TOUCH_FRICTION);
  const friction = ROUNDED * load<f64>(touch, TOUCH_DYNAMIC) * push;
  store<f64>(touch, friction, TOUCH_FRICTION);
  if (before === 0) return friction > 0;
  if (load<f64>(touch, TOUCH_STEADY) !== 0) return false;
  const resists = load<f64>(touch, TOUCH_DRAG) * rounded(touch, measureSlip(touch, entry));
  const begun = before > BEGUN * load<f64>(touch, TOUCH_LEAST) * load<f64>(touch, TOUCH_DRAG);
  return resists > (1 + (begun ? CHANGED_BEGUN : CHANGED)) * before;
}
