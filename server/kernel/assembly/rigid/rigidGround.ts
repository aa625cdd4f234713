/**
 * Resting contacts of rigid bodies with analytic colliders, as rows beside those of their pairs
 * (solve/rigidContact.ts). When they were solved after the pairs and per body (rigid.ts), the body on top pushed the
 * lower one into the floor with half of its weight a substep. With two boxes the lower one crept at 8 mm/s and the
 * upper one fell within 15 s; a tower of eight collapsed within a second. In one system the floor's push goes up
 * through all of them.
 *   d0 distance of a surface particle from the collider minus its margin at the start of the substep,  n its gradient
 *   u . n >= min(0, d0) - d0,  u the displacement of the particle's place on the body against the collider's
 * Only for near and slow particles: rigid.ts handles impacts that may bounce, and penetration during the substep. Of
 * balls only those that a mover squeezes (solve/movers.ts), or that rest on a rigid body or under one: other balls meet
 * colliders in rigid.ts alone. These have rows for triangles, too (ballRows.ts). Without them a box of 200 kg sank into
 * a ball of 2 kg by 25 mm.
 */
import * as L from "../layout/layout";
import { findCoefficients, rests, rootBounce, rootStatic } from "../colliders/coefficients";
import { RISE } from "../colliders/collide";
import { distanceTo, nx, ny, nz } from "../colliders/colliderDistance";
import { fromFrame, inFrame, turnFromFrame, frameX, frameY, frameZ } from "../colliders/motion";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { meets } from "../state/filters";
import { hasMarks, marksOf, numberOf } from "../state/marks";
import { addTriangles } from "./ballRows";
import { inverseMassAt, measure } from "./rigidBody";

/** Particles up to this part of their margin above it get rows: pushes may bring them to it. */
const NEAR: f32 = 0.5;
/** The same for a ball, in radii. */
const NEAR_BALL: f32 = 0.05;
/** Stands for the margin of other bodies in the residue and the release of a ball, in radii. */
const SKIN: f32 = 0.02;
/** Cosine of two normals below which a body between two colliders is squeezed: 107 degrees. */
const OPPOSED: f64 = -0.3;
/** RIGID_CONTACT_RESTS of an impact that may bounce. */
const BOUNCES: i32 = 2;

/** Whether the current body has impacts that may bounce (BOUNCES). */
let bouncing = false;

/**
 * Returns the n-th body's SHAPE row. @param balls `ballsHaveRows`
 * @returns 0 if it is not rigid, or has no contacts with colliders in this tick: free, inactive, on its way out of one,
 * or a ball in a room without movers and rigid bodies
 */
export function standingRow(n: i32, balls: bool): usize {
  const body = <usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>n * L.BODY_BYTES;
  const row = <usize>load<u32>(body, L.BODY_RIGID);
  if (!row || load<i32>(body, L.BODY_FREE) || load<i32>(body, L.BODY_INACTIVE)) return 0;
  if (load<f64>(row, L.SHAPE_RADIUS) > 0 && !balls) return 0;
  if (!hasMarks()) return row;
  return marksOf(numberOf(<usize>load<u32>(row, L.SHAPE_FIRST))) & (L.MARK_WITHIN | L.MARK_SLOW) ? 0 : row;
}

/** Returns whether the room has movers, or rigid bodies other than balls. */
export function ballsHaveRows(): bool {
  if (load<i32>(L.HEADER, L.H_MOTION_COUNT)) return true;
  let body = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let n = load<i32>(L.HEADER, L.H_BODY_COUNT); n > 0; n--, body += L.BODY_BYTES) {
    const row = <usize>load<u32>(body, L.BODY_RIGID);
    if (row && !(load<f64>(row, L.SHAPE_RADIUS) > 0)) return true;
  }
  return false;
}

/**
 * Adds contacts of a measured body with all colliders.
 * @param at where the first goes; room for `most`; scratch ROTATION_SCRATCH bytes
 * @returns number of contacts
 */
export function addGrounds(row: usize, at: usize, most: i32, scratch: usize): i32 {
  if (load<f64>(row, L.SHAPE_INVERSE_MASS) === 0) return 0;
  const table = <usize>load<u32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_MEETS);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const ball = load<f64>(row, L.SHAPE_RADIUS) > 0;
  const surface = ball ? 1 : load<i32>(row, L.SHAPE_SURFACE);
  const contacts = at;
  let count = 0;
  bouncing = false;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n) || !isNear(row, c)) continue;
    for (let i = 0, p = first; i < surface && count < most; i++, p += 16) {
      if (!addGround(row, c, p, at)) continue;
      store<i32>(at, -1 - n, L.RIGID_CONTACT_COLLIDER);
      at += L.RIGID_CONTACT_BYTES;
      count++;
    }
  }
  if (ball) return addBall(row, contacts, count, most, scratch);
  return bouncing && !isSqueezed(contacts, count) ? leaveOutBounces(contacts, count) : count;
}

/** Adds contacts of a ball with triangles, if it is squeezed or rests on a rigid body. @returns number of all, or 0 */
function addBall(row: usize, contacts: usize, count: i32, most: i32, scratch: usize): i32 {
  const triangles = contacts + <usize>count * L.RIGID_CONTACT_BYTES;
  findStart(row, 0);
  put(scratch, startX, startY, startZ);
  const added = addTriangles(row, scratch, triangles, most - count, scratch + 24);
  const squeezed = isSqueezed(contacts, count + added);
  if (!squeezed && (bouncing || !touchesBlock(row, triangles, added))) return 0;
  for (let n = 0, at = triangles; n < added; n++, at += L.RIGID_CONTACT_BYTES) prepareTriangle(row, at, scratch);
  return squeezed || restsOnBlocks(triangles, added) ? count + added : 0;
}

/** Returns whether a ball touches a rigid body. */
function touchesBlock(row: usize, triangles: usize, count: i32): bool {
  const skin = <f64>SKIN * load<f64>(row, L.SHAPE_RADIUS);
  for (let n = 0, at = triangles; n < count; n++, at += L.RIGID_CONTACT_BYTES)
    if (load<u32>(at, L.RIGID_CONTACT_SECOND) && load<f64>(at, L.RIGID_CONTACT_GAP) < skin) return true;
  return false;
}

/** Returns whether all contacts with rigid bodies rest. */
function restsOnBlocks(triangles: usize, count: i32): bool {
  for (let n = 0, at = triangles; n < count; n++, at += L.RIGID_CONTACT_BYTES)
    if (load<u32>(at, L.RIGID_CONTACT_SECOND) && !load<i32>(at, L.RIGID_CONTACT_RESTS)) return false;
  return true;
}

/** Completes the contact of a ball with a triangle. */
function prepareTriangle(row: usize, contact: usize, scratch: usize): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const corner = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const mover = load<u32>(contact, L.RIGID_CONTACT_MOVER);
  const began = load<f64>(contact, L.RIGID_CONTACT_GAP);
  const R = load<f64>(row, L.SHAPE_RADIUS);
  const mx = load<f64>(contact, L.RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16);
  const skin = SKIN * <f32>R;
  begin(contact, row, skin);
  store<u32>(contact, <u32>two, L.RIGID_CONTACT_SECOND);
  store<u32>(contact, mover, L.RIGID_CONTACT_MOVER);
  put(contact + L.RIGID_CONTACT_ARM, -R * mx, -R * my, -R * mz);
  let inverse = inverseMassAt(row, -R * mx, -R * my, -R * mz, mx, my, mz);
  findMotion(row, contact + L.RIGID_CONTACT_ARM);
  let ux = motionX - load<f64>(contact, L.RIGID_CONTACT_CARRIED);
  let uy = motionY - load<f64>(contact, L.RIGID_CONTACT_CARRIED + 8);
  let uz = motionZ - load<f64>(contact, L.RIGID_CONTACT_CARRIED + 16);
  if (two) {
    if (!load<i32>(two, L.SHAPE_MEASURED)) measure(two, scratch);
    store<i32>(two, 1, L.SHAPE_MEASURED);
    const other = contact + L.RIGID_CONTACT_OTHER_ARM;
    for (let k: usize = 0; k < 24; k += 8) {
      const from = load<f64>(row + k, L.SHAPE_CENTER) - load<f64>(two + k, L.SHAPE_CENTER);
      store<f64>(other + k, from + load<f64>(contact + k, L.RIGID_CONTACT_ARM));
    }
    inverse += inverseMassAt(two, load<f64>(other), load<f64>(other, 8), load<f64>(other, 16), mx, my, mz);
    findMotion(two, other);
    ux -= motionX;
    uy -= motionY;
    uz -= motionZ;
  }
  const along = ux * mx + uy * my + uz * mz;
  const acc = <usize>load<u32>(row, L.SHAPE_FIRST) + toAcc;
  store<i32>(contact, rests(<f32>-along, acc, h) ? 1 : 0, L.RIGID_CONTACT_RESTS);
  store<f64>(contact, inverse, L.RIGID_CONTACT_INVERSE);
  put(contact + L.RIGID_CONTACT_BEGAN, ux, uy, uz);
  putGap(contact, <f32>began, along, skin, h);
  const mu = <f64>load<f32>(acc, 12) * <f64>load<f32>(corner + toAcc, 12);
  store<f64>(contact, mu, L.RIGID_CONTACT_DYNAMIC);
  store<f64>(contact, mu, L.RIGID_CONTACT_STATIC);
}

// displacement of a body at the end of an arm
let motionX: f64;
let motionY: f64;
let motionZ: f64;

function findMotion(row: usize, arm: usize): void {
  const x = load<f64>(arm);
  const y = load<f64>(arm, 8);
  const z = load<f64>(arm, 16);
  const turn = row + L.SHAPE_TURN;
  motionX = load<f64>(row, L.SHAPE_SHIFT) + load<f64>(turn, 8) * z - load<f64>(turn, 16) * y;
  motionY = load<f64>(row, L.SHAPE_SHIFT + 8) + load<f64>(turn, 16) * x - load<f64>(turn) * z;
  motionZ = load<f64>(row, L.SHAPE_SHIFT + 16) + load<f64>(turn) * y - load<f64>(turn, 8) * x;
}

/** Returns the MOTION row of a contact's collider; 0: none that moves. */
function motionOf(contact: usize): usize {
  const collider = load<i32>(contact, L.RIGID_CONTACT_COLLIDER);
  if (collider >= 0) return <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  const row = <usize>load<u32>(L.HEADER, L.H_COLLIDERS) + <usize>(-1 - collider) * L.COLLIDER_BYTES;
  return <usize>load<u32>(row, L.COLLIDER_MOTION);
}

/** Leaves impacts that may bounce to rigid.ts. @returns number of contacts left */
function leaveOutBounces(contacts: usize, count: i32): i32 {
  let left = contacts;
  for (let n = 0, at = contacts; n < count; n++, at += L.RIGID_CONTACT_BYTES) {
    if (load<i32>(at, L.RIGID_CONTACT_RESTS) === BOUNCES) continue;
    if (left < at) memory.copy(left, at, L.RIGID_CONTACT_BYTES);
    left += L.RIGID_CONTACT_BYTES;
  }
  return <i32>((left - contacts) / L.RIGID_CONTACT_BYTES);
}

/** Returns whether two of these contacts oppose each other, one of them with a mover. */
function isSqueezed(contacts: usize, count: i32): bool {
  const end = contacts + <usize>count * L.RIGID_CONTACT_BYTES;
  for (let one = contacts; one < end; one += L.RIGID_CONTACT_BYTES) {
    if (!motionOf(one)) continue;
    for (let two = contacts; two < end; two += L.RIGID_CONTACT_BYTES) {
      let along: f64 = 0;
      for (let k: usize = 0; k < 24; k += 8)
        along += load<f64>(one + k, L.RIGID_CONTACT_NORMAL) * load<f64>(two + k, L.RIGID_CONTACT_NORMAL);
      if (along < OPPOSED) return true;
    }
  }
  return false;
}

/** Returns the distance that a body's points keep from a collider, m; of a ball its radius. */
function marginOf(row: usize): f32 {
  const R = load<f64>(row, L.SHAPE_RADIUS);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  return R > 0 ? <f32>R : load<f32>(<usize>load<u32>(row, L.SHAPE_FIRST) + toPrev, 12);
}

let startX: f64;
let startY: f64;
let startZ: f64;

/** Finds where a surface particle, or a ball's center, was at the start of the substep. */
function findStart(row: usize, p: usize): void {
  if (load<f64>(row, L.SHAPE_RADIUS) > 0) {
    startX = load<f64>(row, L.SHAPE_CENTER) - load<f64>(row, L.SHAPE_SHIFT);
    startY = load<f64>(row, L.SHAPE_CENTER + 8) - load<f64>(row, L.SHAPE_SHIFT + 8);
    startZ = load<f64>(row, L.SHAPE_CENTER + 16) - load<f64>(row, L.SHAPE_SHIFT + 16);
    return;
  }
  const prev = p + <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const prevLow = lowPrevFrom() - (prev - p);
  startX = place(prev, prevLow);
  startY = place(prev + 4, prevLow);
  startZ = place(prev + 8, prevLow);
}

// displacement of a collider in the substep
let carriedX: f64;
let carriedY: f64;
let carriedZ: f64;

/** Finds the displacement of a collider at the place that `findStart` found, which is then in the collider's frame. */
function findCarried(motion: usize): void {
  carriedX = carriedY = carriedZ = 0;
  if (!motion) return;
  inFrame(motion, L.MOTION_S0, L.MOTION_R0, startX, startY, startZ);
  const x = frameX;
  const y = frameY;
  const z = frameZ;
  fromFrame(motion, L.MOTION_S1, L.MOTION_R1, x, y, z);
  carriedX = frameX - startX;
  carriedY = frameY - startY;
  carriedZ = frameZ - startZ;
  startX = x;
  startY = y;
  startZ = z;
}

/** Returns false only if no surface particle was near the collider when the substep began. */
function isNear(row: usize, c: usize): bool {
  const margin = marginOf(row);
  const x = load<f64>(row, L.SHAPE_CENTER) - load<f64>(row, L.SHAPE_SHIFT);
  const y = load<f64>(row, L.SHAPE_CENTER + 8) - load<f64>(row, L.SHAPE_SHIFT + 8);
  const z = load<f64>(row, L.SHAPE_CENTER + 16) - load<f64>(row, L.SHAPE_SHIFT + 16);
  const far: f32 = 1.001 * <f32>load<f64>(row, L.SHAPE_EXTENT) + 2 * margin;
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) return distanceTo(c, x, y, z) <= far;
  inFrame(motion, L.MOTION_S0, L.MOTION_R0, x, y, z);
  return distanceTo(c, frameX, frameY, frameZ) <= far;
}

/** Returns the displacement of a body by external acceleration in a substep, m. */
export function fallOf(row: usize): f64 {
  const acc =
    <usize>load<u32>(row, L.SHAPE_FIRST) + <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const h: f64 = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const x: f64 = load<f32>(acc);
  const y: f64 = load<f32>(acc, 4);
  const z: f64 = load<f32>(acc, 8);
  return h * h * sqrt(x * x + y * y + z * z);
}

/** Initializes a contact of a body with a collider, without a push. */
function begin(contact: usize, row: usize, thickness: f64): void {
  store<u32>(contact, 0, L.RIGID_CONTACT_LANE);
  store<u32>(contact, <u32>row, L.RIGID_CONTACT_FIRST);
  store<u32>(contact, 0, L.RIGID_CONTACT_SECOND);
  store<u32>(contact, 0, L.RIGID_CONTACT_MOVER);
  memory.fill(contact + L.RIGID_CONTACT_PUSHED, 0, 32);
  store<i32>(contact, 0, L.RIGID_CONTACT_GROUP);
  store<i32>(contact, 1, L.RIGID_CONTACT_FACE);
  store<f64>(contact, thickness, L.RIGID_CONTACT_THICKNESS);
}

/**
 * Returns the coefficient of friction on a collider for a displacement u, `along` of it along the normal. The static
 * one holds if u is at most the displacement of this substep's external acceleration.
 */
function frictionAt(row: usize, c: usize, root: f32, ux: f64, uy: f64, uz: f64, along: f64): f64 {
  const fall = fallOf(row);
  return ux * ux + uy * uy + uz * uz - along * along <= fall * fall
    ? <f64>rootStatic * <f64>load<f32>(c, L.COLLIDER_STATIC)
    : <f64>root * <f64>load<f32>(c, L.COLLIDER_FRICTION);
}

/** Adds the contact of one particle, or of a ball, with one collider. @returns whether there is one */
function addGround(row: usize, c: usize, p: usize, contact: usize): bool {
  const toX = <usize>load<u32>(L.HEADER, L.H_X);
  const acc = <usize>load<u32>(row, L.SHAPE_FIRST) + <usize>load<u32>(L.HEADER, L.H_ACC) - toX;
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  const R = load<f64>(row, L.SHAPE_RADIUS);
  const margin = marginOf(row);
  findStart(row, p);
  findCarried(motion);
  const gx = carriedX;
  const gy = carriedY;
  const gz = carriedZ;
  const distance = distanceTo(c, startX, startY, startZ);
  const began = distance - margin;
  if (!(distance > 0 && began < (R > 0 ? NEAR_BALL : NEAR) * margin)) return false;
  let mx = nx;
  let my = ny;
  let mz = nz;
  if (motion) {
    turnFromFrame(motion, L.MOTION_R1, mx, my, mz);
    mx = <f32>frameX;
    my = <f32>frameY;
    mz = <f32>frameZ;
  }
  const toLow = lowFrom();
  const center = row + L.SHAPE_CENTER;
  const rx = R > 0 ? -R * <f64>mx : place(p, toLow) - load<f64>(center);
  const ry = R > 0 ? -R * <f64>my : place(p + 4, toLow) - load<f64>(center, 8);
  const rz = R > 0 ? -R * <f64>mz : place(p + 8, toLow) - load<f64>(center, 16);
  put(contact + L.RIGID_CONTACT_ARM, rx, ry, rz);
  findMotion(row, contact + L.RIGID_CONTACT_ARM);
  const ux = motionX - gx;
  const uy = motionY - gy;
  const uz = motionZ - gz;
  const along = ux * mx + uy * my + uz * mz;
  const slow = rests(<f32>-along, acc, h);
  findCoefficients(<usize>load<u32>(row, L.SHAPE_FIRST), load<f32>(acc, 12));
  const bounces = !slow && rootBounce * load<f32>(c, L.COLLIDER_RESTITUTION) > 0;
  bouncing = bouncing || bounces;
  const skin = R > 0 ? SKIN * margin : margin;
  begin(contact, row, skin);
  store<i32>(contact, slow ? 1 : bounces ? BOUNCES : 0, L.RIGID_CONTACT_RESTS);
  put(contact + L.RIGID_CONTACT_NORMAL, mx, my, mz);
  put(contact + L.RIGID_CONTACT_CARRIED, gx, gy, gz);
  store<f64>(contact, inverseMassAt(row, rx, ry, rz, mx, my, mz), L.RIGID_CONTACT_INVERSE);
  put(contact + L.RIGID_CONTACT_BEGAN, ux, uy, uz);
  putGap(contact, began, along, skin, h);
  const mu = frictionAt(row, c, load<f32>(acc, 12), ux, uy, uz, along);
  store<f64>(contact, mu, L.RIGID_CONTACT_DYNAMIC);
  store<f64>(contact, mu, L.RIGID_CONTACT_STATIC);
  return true;
}

/** Stores the gap at the start of the substep and after its motion along the normal. */
function putGap(contact: usize, began: f32, along: f64, margin: f32, h: f32): void {
  const hold: f64 = min<f32>(0, began);
  store<f64>(contact, hold - <f64>began, L.RIGID_CONTACT_WANTED);
  store<f64>(contact, hold + min<f64>(-hold, RISE * margin * h), L.RIGID_CONTACT_MISSING);
  store<f64>(contact, <f64>began + along, L.RIGID_CONTACT_GAP);
}

// @inline
function put(at: usize, x: f64, y: f64, z: f64): void {
  store<f64>(at, x);
  store<f64>(at, y, 8);
  store<f64>(at, z, 16);
}
