/**
 * Contact of rigid bodies with other surfaces: solves near pairs of contactSolver.ts that have a rigid body, as
 * contacts of the whole body. (Pushing its particles one by one, with shape matching afterwards, passes on a part of an
 * impact only: two boxes of e = 0 left each other with 0.44 of their speed, of e = 0.9 with 0.58.) Every pair is an
 * impact as in Mueller, Macklin, Chentanez, Jeschke & Kim 2020, on displacements since the start of the substep:
 *   u = (shift + turn x r) of the first minus that of the second,  g its gap,  g0 = g - u . n the gap at the start,
 *   a = -u . n
 *   u . n >= e a if g is below the thickness and a exceeds the approach of a resting body (coefficients.ts),
 *   else g >= min(thickness, g0)
 *   lambda >= 0 accumulated over the sweeps (projected Gauss-Seidel)
 *   |friction| <= mu_static lambda, else cut to mu lambda
 *   w = 1/M + (r x n) . I^-1 (r x n) of a rigid body,  sum w_k b_k^2 of particles
 * A bounce moves bodies by its displacement: positions at the end are those at the start plus h times the velocities.
 * So the push does not shift the bodies' lines of motion against each other, which would be angular momentum. Both
 * sides are pushed at one point, so friction is no couple either: at the particles, or in the middle between two rigid
 * bodies. Contacts that are still too near are separated without a velocity (rigidRelease.ts). Serial, forward and
 * backward, in the order of the list, then contacts on colliders by body (rigid/rigidGround.ts).
 * Only the outermost resting contacts are solved (rigidManifold.ts). They start with the pushes of the substep
 * before (rigidWarmStart.ts). Sweeps of an island (rigidIslands.ts) end at a correction below RESIDUE over the ratio of
 * the island's masses. It is relative to the largest correction so far, or to the displacement by external acceleration
 * in a substep.
 */
import * as L from "../../layout/layout";
import { laidFriction } from "../../colliders/leaveColliders";
import { enterStage } from "../../scheduler/clock";
import { countWork } from "../../state/work";
import { rigidRow } from "../../state/owners";
import {
  SAME_WAY,
  gapAlong,
  loadDirections,
  slide2Of,
  slides,
  turnAlong,
  nx,
  ny,
  nz,
  b0,
  b1,
  b2,
  b3,
} from "./contactSlide";
import { dot3 } from "../../math/lanes";
import { gather } from "./contactLanes";
import { inverseMassAt, measure, moveParticles } from "../../rigid/rigidBody";
import { shareWithoutGain } from "../../rigid/rigidBounce";
import { holdCorner, releaseCorner } from "../../rigid/heldCorners";
import { addGrounds, ballsHaveRows, fallOf, standingRow } from "../../rigid/rigidGround";
import { listBalls } from "../../rigid/balls";
import {
  beginRows,
  contactAt,
  noteFall,
  particleOf,
  prepare,
  relative,
  restMotion,
  ux,
  uy,
  uz,
  weightOf,
} from "./rigidRow";
import { beginsIsland, islandCount, islandLast, islandRatio, partIslands } from "./rigidIslands";
import {
  beginMovers,
  driveMovers,
  findMovers,
  limitMovers,
  moveMovers,
  overloadMovers,
  pushMover,
  leastFall,
  takeBackIsland,
} from "./movers";
import { reduceContacts } from "./rigidManifold";
import { apply, setApart } from "./rigidRelease";
import { keepPush, recall } from "./rigidWarmStart";

/**
 * Least number of sweeps, and pushes in all: islands of few contacts get more sweeps. Nine points of a face need about
 * 20 sweeps to share an impact evenly. A tower of eight boxes, which bends like a beam, needs more in every substep.
 * Two boxes, the upper one a thousand times as heavy, need PUSHES: with 8192, or without conjugate gradients, it was
 * thrown off at 30 m/s. With 8 and 16 sweeps, or a residue of 0.01, the tower crept by 0.1 to 0.3 mm/s a box.
 */
const SWEEPS = 64;
const PUSHES = 16384;
/** Sweeps end when the largest correction is below this part of the largest so far, over the ratio of masses. */
const RESIDUE: f64 = 1e-3;

/** The same for islands whose movers yield, in RESIDUE (movers.ts). */
const COARSER: f64 = 10;

/** Counted work of a contact in two sweeps. */
const UNITS_OF_PUSHES = 15;

let contacts = 0;
/** Call before the pairs of an iteration are solved. */
export function beginRigidContacts(): void {
  contacts = 0;
  store<i32>(L.HEADER, 0, L.H_RIGID_CONTACT_COUNT);
}

/**
 * Collects near lanes of rigid bodies from a block.
 * @param near mask of near lanes; again whether they were collected before, and are only skipped now
 * @returns mask of the lanes that contactSolver.ts solves
 */
export function collectRigidPairs(block: usize, near: v128, again: bool): v128 {
  const lanes = i32x4.bitmask(near);
  const firstTaken = contacts;
  let taken = 0;
  for (let n = 0; n < 4; n++) {
    const lane = block + ((<usize>n) << 2);
    if (!((lanes >> n) & 1)) continue;
    let first: usize = 0;
    let second: usize = 0;
    for (let k: usize = 0; k < 4; k++) {
      const b = load<f32>(lane + (k << 4), L.CONTACT_BLOCK_WEIGHT);
      if (b > 0) {
        if (!first) first = rigidRow(particleOf(lane, k));
      } else if (b < 0 && !second) second = rigidRow(particleOf(lane, k));
    }
    if (!first && !second) continue;
    // a ball's contacts are those of its sphere: balls.ts
    const others =
      first === second ||
      !(load<f32>(lane, L.CONTACT_BLOCK_THICKNESS) > 0) ||
      (first && load<f64>(first, L.SHAPE_RADIUS) > 0) ||
      (second && load<f64>(second, L.SHAPE_RADIUS) > 0);
    if (!others && !again) {
      if (contacts >= load<i32>(L.HEADER, L.H_RIGID_CONTACT_CAPACITY)) continue; // no room: solved as particles
      const contact = contactAt(contacts);
      contacts++;
      store<u32>(contact, <u32>lane, L.RIGID_CONTACT_LANE);
      store<u32>(contact, <u32>first, L.RIGID_CONTACT_FIRST);
      store<u32>(contact, <u32>second, L.RIGID_CONTACT_SECOND);
    }
    taken |= 1 << n;
  }
  if (contacts > firstTaken) keepDirections(block, firstTaken);
  return taken
    ? v128.and(near, i32x4(taken & 1 ? 0 : -1, taken & 2 ? 0 : -1, taken & 4 ? 0 : -1, taken & 8 ? 0 : -1))
    : near;
}

/**
 * Sets directions and weights of the contacts from number `from` on, all of one block. Drops contacts that have passed
 * each other or are separating.
 */
function keepDirections(block: usize, from: i32): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const r = v128.load(block, L.CONTACT_BLOCK_THICKNESS);
  const to = contacts;
  gather(block, 0);
  loadDirections(block);
  const slid = slides(slide2Of(block, toPrev), r);
  const ox = nx;
  const oy = ny;
  const oz = nz;
  let gone = slid;
  if (v128.any_true(slid)) {
    gone = turnAlong(block, slid, toPrev, r);
    // A pair that separates along its new direction, and is clear, does not meet. With that direction it could not
    // bounce: in front of a face it points to where the substep would have gone, behind it.
    const end = gapAlong();
    gather(block, toPrev);
    const parts = v128.and(f32x4.ge(end, r), f32x4.ge(end, gapAlong()));
    const other = f32x4.lt(dot3(ox, nx, oy, ny, oz, nz), f32x4.splat(SAME_WAY));
    gone = v128.or(gone, v128.and(slid, v128.and(parts, other)));
  }
  const passed = i32x4.bitmask(gone);
  contacts = from;
  for (let n = from; n < to; n++) {
    const taken = contactAt(n);
    const contact = contactAt(contacts);
    const lane = <i32>((<usize>load<u32>(taken, L.RIGID_CONTACT_LANE) - block) >> 2);
    if ((passed >> lane) & 1) continue;
    contacts++;
    memory.copy(contact, taken, L.RIGID_CONTACT_NORMAL);
    store<f64>(contact, pick(nx, lane), L.RIGID_CONTACT_NORMAL);
    store<f64>(contact, pick(ny, lane), L.RIGID_CONTACT_NORMAL + 8);
    store<f64>(contact, pick(nz, lane), L.RIGID_CONTACT_NORMAL + 16);
    store<f64>(contact, pick(b0, lane), L.RIGID_CONTACT_WEIGHT);
    store<f64>(contact, pick(b1, lane), L.RIGID_CONTACT_WEIGHT + 8);
    store<f64>(contact, pick(b2, lane), L.RIGID_CONTACT_WEIGHT + 16);
    store<f64>(contact, pick(b3, lane), L.RIGID_CONTACT_WEIGHT + 24);
  }
}

function pick(a: v128, lane: i32): f64 {
  return lane === 0
    ? f32x4.extract_lane(a, 0)
    : lane === 1
      ? f32x4.extract_lane(a, 1)
      : lane === 2
        ? f32x4.extract_lane(a, 2)
        : f32x4.extract_lane(a, 3);
}

/**
 * Solves all contacts collected by `collectRigidPairs` since `beginRigidContacts`, and those of rigid bodies on
 * colliders.
 * @param first the substep's first iteration: starts with the pushes of the substep before
 * @param scratch ROTATION_SCRATCH bytes
 */
export function solveRigidContacts(first: bool, scratch: usize): void {
  if (!load<u32>(L.HEADER, L.H_RIGID_CONTACTS)) return;
  enterStage(L.STAGE_RIGID);
  for (let n = 0; n < contacts; n++) {
    const contact = contactAt(n);
    open(<usize>load<u32>(contact, L.RIGID_CONTACT_FIRST), scratch);
    open(<usize>load<u32>(contact, L.RIGID_CONTACT_SECOND), scratch);
  }
  beginRows();
  for (let n = 0; n < contacts; n++) visitSoft(contactAt(n), true);
  for (let n = 0; n < contacts; n++) prepare(contactAt(n));
  const balls = ballsHaveRows();
  if (balls && load<i32>(L.HEADER, L.H_BALL_COUNT)) listBalls(scratch);
  addColliders(balls, scratch);
  beginMovers(first);
  if (!contacts) {
    moveMovers(0);
    return;
  }
  contacts = reduceContacts(contacts, scratch);
  store<i32>(L.HEADER, contacts, L.H_RIGID_CONTACT_COUNT);
  findMovers(contacts);
  if (first) warmStart();
  solveIslands();
  moveMovers(contacts);
  if (first) for (let n = 0; n < contacts; n++) keepPush(contactAt(n));
  setApart(contacts, RESIDUE);
  for (let n = 0; n < contacts; n++) {
    const contact = contactAt(n);
    close(<usize>load<u32>(contact, L.RIGID_CONTACT_FIRST));
    close(<usize>load<u32>(contact, L.RIGID_CONTACT_SECOND));
    if (load<u32>(contact, L.RIGID_CONTACT_LANE)) visitSoft(contact, false);
  }
}

/**
 * Holds a pair's soft particles that are in colliders (heldCorners.ts), or ends their holds. Not those that slide more
 * easily on the collider than in the pair: the body drags them along.
 */
function visitSoft(contact: usize, holds: bool): void {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  if (one && two) return;
  const grips = 0.99 * load<f32>(lane, L.CONTACT_BLOCK_DYNAMIC);
  for (let k: usize = 0; k < 4; k++) {
    if (weightOf(contact, k) > 0 ? one : two) continue;
    const at = particleOf(lane, k);
    if (!holds || (holdCorner(at, false) && laidFriction < grips)) releaseCorner(at);
  }
}

/** Solves all islands, and those again that overload a mover. */
function solveIslands(): void {
  partIslands(contacts);
  let again = false;
  for (let n = 0; n < contacts; n++) {
    if (!beginsIsland(contactAt(n))) continue;
    const yielding = solveIsland(contactAt(n));
    const overloads = overloadMovers(contactAt(n));
    if (!yielding && !overloads) takeGain(contactAt(n));
    again = again || overloads;
  }
  if (!again) return;
  partIslands(contacts);
  for (let n = 0; n < contacts; n++)
    if (beginsIsland(contactAt(n)) && takeBackIsland(contactAt(n))) solveIsland(contactAt(n));
}

/**
 * Solves an island by projected Gauss-Seidel, forward and backward (weight goes up a tower in one sweep, down in the
 * next), accelerated by nonlinear conjugate gradients (Silcowitz, Niebe & Erleben 2010). If a heavy body lies on a
 * light one, a sweep changes little although much is missing, by the ratio of their masses. So the residue is divided
 * by that ratio.
 * @returns whether it has movers that yield
 */
function solveIsland(island: usize): bool {
  const sweeps = max<i32>(SWEEPS, PUSHES / islandCount);
  const residue = RESIDUE / islandRatio;
  let most = restMotion;
  let before: f64 = 0;
  const yielding = limitMovers(island);
  if (yielding) {
    most = COARSER * leastFall();
    driveMovers();
  }
  for (let sweep = 0; sweep < sweeps; sweep += 2) {
    countWork(UNITS_OF_PUSHES * islandCount);
    let largest: f64 = 0;
    for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
      notePush(at);
      largest = max<f64>(largest, push(at));
    }
    if (yielding) largest = max<f64>(largest, driveMovers());
    for (let at = islandLast; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_BEFORE))
      largest = max<f64>(largest, push(at));
    if (yielding) largest = max<f64>(largest, driveMovers());
    most = max<f64>(most, largest);
    if (!(largest > residue * most)) break;
    // an extrapolation needs sweeps after it, which restore the bounds of pushes
    if (sweep + 2 < sweeps) before = driveOn(island, before);
  }
  return yielding;
}

/** Reduces the pushes of an island that bounces until they add no energy. */
function takeGain(island: usize): void {
  let bounces = false;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT))
    bounces = bounces || load<f64>(at, L.RIGID_CONTACT_WANTED) > 0;
  if (!bounces) return;
  let before: f64 = 0;
  let after: f64 = 0;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
    notePush(at);
    relative(at);
    const fx = load<f64>(at, L.RIGID_CONTACT_BEFORE);
    const fy = load<f64>(at, L.RIGID_CONTACT_BEFORE + 8);
    const fz = load<f64>(at, L.RIGID_CONTACT_BEFORE + 16);
    before +=
      fx * load<f64>(at, L.RIGID_CONTACT_BEGAN) +
      fy * load<f64>(at, L.RIGID_CONTACT_BEGAN + 8) +
      fz * load<f64>(at, L.RIGID_CONTACT_BEGAN + 16);
    after += fx * ux + fy * uy + fz * uz;
  }
  const share = shareWithoutGain(before, after);
  if (share === 1) return;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
    const fx = load<f64>(at, L.RIGID_CONTACT_BEFORE);
    const fy = load<f64>(at, L.RIGID_CONTACT_BEFORE + 8);
    const fz = load<f64>(at, L.RIGID_CONTACT_BEFORE + 16);
    apply(at, (share - 1) * fx, (share - 1) * fy, (share - 1) * fz, false);
    store<f64>(at, share * load<f64>(at, L.RIGID_CONTACT_PUSHED), L.RIGID_CONTACT_PUSHED);
    for (let k: usize = 0; k < 24; k += 8)
      store<f64>(at + k, share * load<f64>(at + k, L.RIGID_CONTACT_DRAG), L.RIGID_CONTACT_DRAG);
  }
}

/** Stores a contact's push and friction before two sweeps. */
function notePush(contact: usize): void {
  const pushed = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
  for (let k: usize = 0; k < 24; k += 8) {
    const along = pushed * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
    store<f64>(contact + k, along + load<f64>(contact + k, L.RIGID_CONTACT_DRAG), L.RIGID_CONTACT_BEFORE);
  }
}

/**
 * Extrapolates by conjugate gradients. The change d by the two sweeps stands for the gradient. Pushes move by b p along
 * the last direction p; then p = b p + d.
 *   D = sum W d^2,  b = D / (D of the last call), 0 if it would be above 1
 * @param before D of the last call, 0: none
 * @returns D
 */
function driveOn(island: usize, before: f64): f64 {
  let now: f64 = 0;
  for (let contact = island; contact; contact = <usize>load<u32>(contact, L.RIGID_CONTACT_ISLAND_NEXT)) {
    const pushed = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
    let square: f64 = 0;
    for (let k: usize = 0; k < 24; k += 8) {
      const along = pushed * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
      const all = along + load<f64>(contact + k, L.RIGID_CONTACT_DRAG);
      const d = all - load<f64>(contact + k, L.RIGID_CONTACT_BEFORE);
      store<f64>(contact + k, d, L.RIGID_CONTACT_BEFORE);
      square += d * d;
    }
    now += load<f64>(contact, L.RIGID_CONTACT_INVERSE) * square;
  }
  const b: f64 = before > 0 && now < before ? now / before : 0;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) driveOnOne(at, b);
  return now;
}

function driveOnOne(contact: usize, b: f64): void {
  const px = b > 0 ? b * load<f64>(contact, L.RIGID_CONTACT_DIRECTION) : 0;
  const py = b > 0 ? b * load<f64>(contact, L.RIGID_CONTACT_DIRECTION + 8) : 0;
  const pz = b > 0 ? b * load<f64>(contact, L.RIGID_CONTACT_DIRECTION + 16) : 0;
  store<f64>(contact, px + load<f64>(contact, L.RIGID_CONTACT_BEFORE), L.RIGID_CONTACT_DIRECTION);
  store<f64>(contact, py + load<f64>(contact, L.RIGID_CONTACT_BEFORE + 8), L.RIGID_CONTACT_DIRECTION + 8);
  store<f64>(contact, pz + load<f64>(contact, L.RIGID_CONTACT_BEFORE + 16), L.RIGID_CONTACT_DIRECTION + 16);
  if (px === 0 && py === 0 && pz === 0) return;
  const mx = load<f64>(contact, L.RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16);
  const had = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
  const hadX = load<f64>(contact, L.RIGID_CONTACT_DRAG);
  const hadY = load<f64>(contact, L.RIGID_CONTACT_DRAG + 8);
  const hadZ = load<f64>(contact, L.RIGID_CONTACT_DRAG + 16);
  const along = px * mx + py * my + pz * mz;
  const all = max<f64>(0, had + along);
  // without a push there is no friction
  const dx = all > 0 ? hadX + px - along * mx : 0;
  const dy = all > 0 ? hadY + py - along * my : 0;
  const dz = all > 0 ? hadZ + pz - along * mz : 0;
  store<f64>(contact, all, L.RIGID_CONTACT_PUSHED);
  store<f64>(contact, dx, L.RIGID_CONTACT_DRAG);
  store<f64>(contact, dy, L.RIGID_CONTACT_DRAG + 8);
  store<f64>(contact, dz, L.RIGID_CONTACT_DRAG + 16);
  const add = all - had;
  apply(contact, add * mx + dx - hadX, add * my + dy - hadY, add * mz + dz - hadZ, false);
  pushMover(contact, add);
}

/** Adds contacts of all rigid bodies with analytic colliders. @param balls `ballsHaveRows` */
function addColliders(balls: bool, scratch: usize): void {
  const most = load<i32>(L.HEADER, L.H_RIGID_CONTACT_CAPACITY);
  for (let n = 0, bodies = load<i32>(L.HEADER, L.H_BODY_COUNT); n < bodies; n++) {
    const row = standingRow(n, balls);
    if (!row) continue;
    const open = load<i32>(row, L.SHAPE_MEASURED);
    if (!open) measure(row, scratch);
    const added = addGrounds(row, contactAt(contacts), most - contacts, scratch);
    if (added) noteFall(fallOf(row));
    if (added && !open) store<i32>(row, 1, L.SHAPE_MEASURED);
    contacts += added;
  }
}

/** Starts resting contacts with their pushes of the substep before. */
function warmStart(): void {
  for (let n = 0; n < contacts; n++) {
    const contact = contactAt(n);
    if (!recall(contact)) continue;
    const pushed = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
    apply(
      contact,
      pushed * load<f64>(contact, L.RIGID_CONTACT_NORMAL) + load<f64>(contact, L.RIGID_CONTACT_DRAG),
      pushed * load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8) + load<f64>(contact, L.RIGID_CONTACT_DRAG + 8),
      pushed * load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16) + load<f64>(contact, L.RIGID_CONTACT_DRAG + 16),
      false,
    );
  }
}

function open(row: usize, scratch: usize): void {
  if (!row || load<i32>(row, L.SHAPE_MEASURED)) return;
  store<i32>(row, 1, L.SHAPE_MEASURED);
  measure(row, scratch);
}

function close(row: usize): void {
  if (!row || !load<i32>(row, L.SHAPE_MEASURED)) return;
  store<i32>(row, 0, L.SHAPE_MEASURED);
  moveParticles(
    row,
    <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X),
    L.SHAPE_PUSH_STILL,
    L.SHAPE_TWIST_STILL,
  );
  moveParticles(row, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
}

/** Solves one contact. @returns its correction along the normal or by friction, the larger one, m */
function push(contact: usize): f64 {
  const mx = load<f64>(contact, L.RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16);
  const mover = <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  const W = load<f64>(contact, L.RIGID_CONTACT_INVERSE) + (mover ? load<f64>(mover, L.MOTION_INVERSE) : 0);
  const had = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
  if (!(W > 0)) return 0;
  relative(contact);
  const all = max<f64>(0, had + (load<f64>(contact, L.RIGID_CONTACT_WANTED) - (ux * mx + uy * my + uz * mz)) / W);
  const add = all - had;
  if (add !== 0) {
    store<f64>(contact, all, L.RIGID_CONTACT_PUSHED);
    apply(contact, add * mx, add * my, add * mz, false);
    pushMover(contact, add);
  }
  const dragged = all > 0 || had > 0 ? drag(contact, all, mx, my, mz) : 0;
  return max<f64>(abs<f64>(add), dragged) * W;
}

/** Returns the inverse mass of a contact's two sides along t, where it pushes them, 1/kg. */
function inverseMassAlong(contact: usize, tx: f64, ty: f64, tz: f64): f64 {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  let W: f64 = 0;
  if (one)
    W += inverseMassAt(
      one,
      load<f64>(contact, L.RIGID_CONTACT_ARM),
      load<f64>(contact, L.RIGID_CONTACT_ARM + 8),
      load<f64>(contact, L.RIGID_CONTACT_ARM + 16),
      tx,
      ty,
      tz,
    );
  if (two)
    W += inverseMassAt(
      two,
      load<f64>(contact, L.RIGID_CONTACT_OTHER_ARM),
      load<f64>(contact, L.RIGID_CONTACT_OTHER_ARM + 8),
      load<f64>(contact, L.RIGID_CONTACT_OTHER_ARM + 16),
      tx,
      ty,
      tz,
    );
  for (let k: usize = 0; lane && k < 4; k++) {
    const b = weightOf(contact, k);
    if (!(b > 0 ? one : two)) W += <f64>load<f32>(particleOf(lane, k), 12) * b * b;
  }
  return W;
}

/** Solves friction for a normal push `pushed`. @returns change of the friction, kg m */
function drag(contact: usize, pushed: f64, mx: f64, my: f64, mz: f64): f64 {
  const still = load<f64>(contact, L.RIGID_CONTACT_STATIC);
  const mu = load<f64>(contact, L.RIGID_CONTACT_DYNAMIC);
  if (!(still > 0) && !(mu > 0)) return 0;
  relative(contact);
  const along = ux * mx + uy * my + uz * mz;
  let tx = ux - along * mx;
  let ty = uy - along * my;
  let tz = uz - along * mz;
  const slide = sqrt(tx * tx + ty * ty + tz * tz);
  const hadX = load<f64>(contact, L.RIGID_CONTACT_DRAG);
  const hadY = load<f64>(contact, L.RIGID_CONTACT_DRAG + 8);
  const hadZ = load<f64>(contact, L.RIGID_CONTACT_DRAG + 16);
  let dx = hadX;
  let dy = hadY;
  let dz = hadZ;
  if (slide > 0) {
    tx /= slide;
    ty /= slide;
    tz /= slide;
    const s = slide / inverseMassAlong(contact, tx, ty, tz);
    dx -= s * tx;
    dy -= s * ty;
    dz -= s * tz;
  }
  const size = sqrt(dx * dx + dy * dy + dz * dz);
  if (size > still * pushed) {
    const k = min<f64>(1, (mu * pushed) / size);
    dx *= k;
    dy *= k;
    dz *= k;
  }
  if (dx === hadX && dy === hadY && dz === hadZ) return 0;
  store<f64>(contact, dx, L.RIGID_CONTACT_DRAG);
  store<f64>(contact, dy, L.RIGID_CONTACT_DRAG + 8);
  store<f64>(contact, dz, L.RIGID_CONTACT_DRAG + 16);
  apply(contact, dx - hadX, dy - hadY, dz - hadZ, false);
  return sqrt((dx - hadX) * (dx - hadX) + (dy - hadY) * (dy - hadY) + (dz - hadZ) * (dz - hadZ));
}
