/**
 * A contact of a rigid body while it is solved (rigidContact.ts): the point where both sides are pushed, the target of
 * the push, and the relative displacement so far.
 */
import * as L from "../../layout/layout";
import { mostRelease } from "./release";
import { lowFrom, lowPrevFrom, place } from "../../math/places";
import { isHeld } from "../../rigid/heldCorners";
import { inverseMassAt } from "../../rigid/rigidBody";

/** As in contactSolver.ts. */
const RELEASE: f64 = 0.25;

// largest displacement that external acceleration makes in a substep, m
export let restMotion: f64 = 0;
// displacement of the first against the second, from the last `relative`
export let ux: f64;
export let uy: f64;
export let uz: f64;

/** Call before the first contact of an iteration is prepared. */
export function beginRows(): void {
  restMotion = 0;
}

/** Takes a displacement by external acceleration into `restMotion`, m. */
export function noteFall(fall: f64): void {
  restMotion = max<f64>(restMotion, fall);
}

// @inline
export function contactAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_RIGID_CONTACTS) + <usize>n * L.RIGID_CONTACT_BYTES;
}
// @inline
export function particleOf(lane: usize, k: usize): usize {
  return <usize>load<u32>(lane + (k << 4));
}
// @inline
export function weightOf(contact: usize, k: usize): f64 {
  return load<f64>(contact + (k << 3), L.RIGID_CONTACT_WEIGHT);
}

/** Sets the point where a contact is pushed, and the target of the push. */
export function prepare(contact: usize): void {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const mx = load<f64>(contact, L.RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16);
  let ax: f64 = 0;
  let ay: f64 = 0;
  let az: f64 = 0;
  let bx: f64 = 0;
  let by: f64 = 0;
  let bz: f64 = 0;
  let light: f64 = 0;
  let moves = false;
  let most: f64 = 0;
  for (let k: usize = 0; k < 4; k++) {
    const at = particleOf(lane, k);
    const b = weightOf(contact, k);
    const x: f64 = load<f32>(at);
    const y: f64 = load<f32>(at, 4);
    const z: f64 = load<f32>(at, 8);
    if (b > 0) {
      ax += b * x;
      ay += b * y;
      az += b * z;
    } else {
      bx -= b * x;
      by -= b * y;
      bz -= b * z;
    }
    if (!(b > 0 ? one : two)) {
      light += <f64>load<f32>(at, 12) * b * b;
      moves = moves || isHeld(at) || (v128.bitmask<i32>(f32x4.eq(v128.load(at), v128.load(at + toPrev))) & 7) !== 7;
    }
    const gx: f64 = load<f32>(at + toAcc);
    const gy: f64 = load<f32>(at + toAcc, 4);
    const gz: f64 = load<f32>(at + toAcc, 8);
    if (load<f32>(at, 12) !== 0) most = max<f64>(most, gx * gx + gy * gy + gz * gz);
  }
  // particles can only be pushed at their own place; nothing is passed on to fixed ones
  let px = 0.5 * (ax + bx);
  let py = 0.5 * (ay + by);
  let pz = 0.5 * (az + bz);
  if (light > 0) {
    px = one ? bx : ax;
    py = one ? by : ay;
    pz = one ? bz : az;
  }
  let inverse = light;
  if (one) inverse += arm(contact + L.RIGID_CONTACT_ARM, one, px, py, pz, mx, my, mz);
  if (two) inverse += arm(contact + L.RIGID_CONTACT_OTHER_ARM, two, px, py, pz, mx, my, mz);
  const inside = weightOf(contact, 1) < 0 && weightOf(contact, 2) < 0 && weightOf(contact, 3) < 0;
  store<i32>(contact, inside ? 1 : 0, L.RIGID_CONTACT_FACE);
  store<f64>(contact, inverse, L.RIGID_CONTACT_INVERSE);
  want(contact, (ax - bx) * mx + (ay - by) * my + (az - bz) * mz, most, light > 0 || moves);
}

/**
 * Stores the vector from a body's center to where it is pushed, f64x3 at `at`. @returns the body's inverse mass along
 * the normal there, 1/kg
 */
function arm(at: usize, body: usize, px: f64, py: f64, pz: f64, mx: f64, my: f64, mz: f64): f64 {
  const x = px - load<f64>(body, L.SHAPE_CENTER);
  const y = py - load<f64>(body, L.SHAPE_CENTER + 8);
  const z = pz - load<f64>(body, L.SHAPE_CENTER + 16);
  store<f64>(at, x);
  store<f64>(at, y, 8);
  store<f64>(at, z, 16);
  return inverseMassAt(body, x, y, z, mx, my, mz);
}

/**
 * Sets the target of the push, from the relative displacement in this substep.
 * @param gap m; most largest external acceleration of any particle, squared; gives whether one side is soft particles
 */
function want(contact: usize, gap: f64, most: f64, gives: bool): void {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  memory.fill(contact + L.RIGID_CONTACT_PUSHED, 0, 32);
  store<i32>(contact, 0, L.RIGID_CONTACT_COLLIDER);
  store<u32>(contact, 0, L.RIGID_CONTACT_MOVER);
  const r: f64 = load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  store<f64>(contact, r, L.RIGID_CONTACT_THICKNESS);
  relative(contact);
  const approach = approachOf(contact);
  store<f64>(contact, ux, L.RIGID_CONTACT_BEGAN);
  store<f64>(contact, uy, L.RIGID_CONTACT_BEGAN + 8);
  store<f64>(contact, uz, L.RIGID_CONTACT_BEGAN + 16);
  const began = gap + approach;
  const hold = min<f64>(r, began);
  const h: f64 = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const e: f64 = load<f32>(lane, L.CONTACT_BLOCK_BOUNCE);
  const fall = h * h * sqrt(most);
  restMotion = max<f64>(restMotion, fall);
  // A contact that has slid no farther than by external acceleration sticks up to its static limit, whatever the others
  // do. (One that was cut to dynamic friction passed its load on: a block broke away at 0.9 of the limit.)
  const still: f64 = load<f32>(lane, L.CONTACT_BLOCK_STATIC);
  const rested = ux * ux + uy * uy + uz * uz - approach * approach <= fall * fall;
  store<f64>(contact, still, L.RIGID_CONTACT_STATIC);
  store<f64>(contact, rested ? still : <f64>load<f32>(lane, L.CONTACT_BLOCK_DYNAMIC), L.RIGID_CONTACT_DYNAMIC);
  const slow = !(approach > 2 * fall);
  const release = gives ? mostRelease(r, fall, ux * ux + uy * uy + uz * uz) : Infinity;
  const impact = e > 0 && gap < r && !slow ? min<f64>(approach, approachBefore(contact, h)) : 0;
  store<i32>(contact, slow ? 1 : 0, L.RIGID_CONTACT_RESTS);
  // soft particles do not move as a plane, and impacts are shared by all contacts: these are not reduced
  store<i32>(contact, gives || !slow ? 1 : 0, L.RIGID_CONTACT_GROUP);
  store<f64>(contact, impact > 2 * fall ? e * impact : hold - began, L.RIGID_CONTACT_WANTED);
  store<f64>(contact, hold + min<f64>(RELEASE * (r - hold), release), L.RIGID_CONTACT_MISSING);
}

/**
 * Returns the approach in this substep by the velocities before it, m. Of soft particles x - xPrev also has the pull of
 * their body, which undoes the displacement by the last bounce: reflected, it grew by 1 + e in each substep.
 */
function approachBefore(contact: usize, h: f64): f64 {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  beginMotion(contact, one, two);
  for (let k: usize = 0; k < 4; k++) {
    const b = weightOf(contact, k);
    if (b > 0 ? one : two) continue;
    const v = particleOf(lane, k) + toV;
    ux += h * b * <f64>load<f32>(v);
    uy += h * b * <f64>load<f32>(v, 4);
    uz += h * b * <f64>load<f32>(v, 8);
  }
  return approachOf(contact);
}

/** Returns the approach along the normal by the displacement in ux .. uz, m. */
function approachOf(contact: usize): f64 {
  return -(
    ux * load<f64>(contact, L.RIGID_CONTACT_NORMAL) +
    uy * load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8) +
    uz * load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16)
  );
}

/** Computes the displacement of the first against the second in this substep, where they touch. */
export function relative(contact: usize): void {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  beginMotion(contact, one, two);
  const mover = <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  if (mover) {
    const sign: f64 = one ? 1 : -1;
    ux -= sign * load<f64>(mover, L.MOTION_STEP);
    uy -= sign * load<f64>(mover, L.MOTION_STEP + 8);
    uz -= sign * load<f64>(mover, L.MOTION_STEP + 16);
  }
  if (!lane) {
    ux -= load<f64>(contact, L.RIGID_CONTACT_CARRIED);
    uy -= load<f64>(contact, L.RIGID_CONTACT_CARRIED + 8);
    uz -= load<f64>(contact, L.RIGID_CONTACT_CARRIED + 16);
    return;
  }
  const toLow = lowFrom();
  const prevLow = lowPrevFrom() - toPrev;
  for (let k: usize = 0; k < 4; k++) {
    const at = particleOf(lane, k);
    const b = weightOf(contact, k);
    if (b > 0 ? one : two) continue;
    const prev = at + toPrev;
    ux += b * (place(at, toLow) - place(prev, prevLow));
    uy += b * (place(at + 4, toLow) - place(prev + 4, prevLow));
    uz += b * (place(at + 8, toLow) - place(prev + 8, prevLow));
  }
}

/** Sets ux .. uz to the displacement of the rigid sides alone. @param one, two their SHAPE rows, 0: particles */
// @inline
function beginMotion(contact: usize, one: usize, two: usize): void {
  ux = 0;
  uy = 0;
  uz = 0;
  if (one) addMotion(one, contact + L.RIGID_CONTACT_ARM, 1);
  if (two) addMotion(two, contact + L.RIGID_CONTACT_OTHER_ARM, -1);
}

// @inline
function addMotion(row: usize, arm: usize, sign: f64): void {
  const x = load<f64>(arm);
  const y = load<f64>(arm, 8);
  const z = load<f64>(arm, 16);
  const tx = load<f64>(row, L.SHAPE_TURN) + load<f64>(row, L.SHAPE_TWIST);
  const ty = load<f64>(row, L.SHAPE_TURN + 8) + load<f64>(row, L.SHAPE_TWIST + 8);
  const tz = load<f64>(row, L.SHAPE_TURN + 16) + load<f64>(row, L.SHAPE_TWIST + 16);
  ux += sign * (load<f64>(row, L.SHAPE_SHIFT) + load<f64>(row, L.SHAPE_PUSH) + ty * z - tz * y);
  uy += sign * (load<f64>(row, L.SHAPE_SHIFT + 8) + load<f64>(row, L.SHAPE_PUSH + 8) + tz * x - tx * z);
  uz += sign * (load<f64>(row, L.SHAPE_SHIFT + 16) + load<f64>(row, L.SHAPE_PUSH + 16) + tx * y - ty * x);
}
