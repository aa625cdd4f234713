/**
 * Contact of rigid bodies with other surfaces: near pairs of contactSolver.ts in which a rigid body takes part,
 * answered by the whole of it. (Its particles pushed one by one, and shape matching afterwards, pass on a part of an
 * impact only: two boxes of e = 0 left each other with 0.44 of their speed, of e = 0.9 with 0.58.) Every pair is an
 * impact in the sense of Mueller, Macklin, Chentanez, Jeschke & Kim 2020, on displacements since the start of the
 * substep:
 *   u = (shift + turn x r) of the one less that of the other,  g its gap,  g0 = g - u . n the one that it began with,
 *   a = -u . n
 *   u . n >= e a where a pair that comes nearer than its thickness approached by more than rest does (coefficients.ts),
 *   else g >= min(thickness, g0)
 *   lambda >= 0 summed up over the sweeps (projected Gauss-Seidel),  |friction| <= mu_static lambda, else cut to mu
 *   lambda
 *   w = 1/M + (r x n) . I^-1 (r x n) of a rigid body,  sum w_k b_k^2 of particles
 * What bounces moves by what it bounces: positions at the end are those at the start plus h times the velocities, so
 * that the push does not shift one body's line of motion against the other's, which would be angular momentum. Both
 * sides are pushed at one point, so friction is no couple either: that of the particles, or between two rigid bodies
 * the middle. What is still too near after that is set apart without a velocity (xPrev moves along), a quarter of it a
 * substep. Serial, in the order of the list.
 */
import {
  HEADER,
  H_X,
  H_XPREV,
  H_ACC,
  H_SUBSTEP_SECONDS,
  H_RIGID_CONTACTS,
  H_RIGID_CONTACT_CAPACITY,
  CONTACT_BLOCK_THICKNESS,
  CONTACT_BLOCK_WEIGHT,
  CONTACT_BLOCK_STATIC,
  CONTACT_BLOCK_DYNAMIC,
  CONTACT_BLOCK_BOUNCE,
  SHAPE_RADIUS,
  SHAPE_MEASURED,
  SHAPE_CENTER,
  SHAPE_SHIFT,
  SHAPE_TURN,
  SHAPE_PUSH,
  SHAPE_TWIST,
  SHAPE_PUSH_STILL,
  SHAPE_TWIST_STILL,
  RIGID_CONTACT_LANE,
  RIGID_CONTACT_FIRST,
  RIGID_CONTACT_SECOND,
  RIGID_CONTACT_NORMAL,
  RIGID_CONTACT_ARM,
  RIGID_CONTACT_OTHER_ARM,
  RIGID_CONTACT_INVERSE,
  RIGID_CONTACT_WANTED,
  RIGID_CONTACT_MISSING,
  RIGID_CONTACT_PUSHED,
  RIGID_CONTACT_DRAG,
  RIGID_CONTACT_WEIGHT,
  RIGID_CONTACT_BYTES,
  STAGE_RIGID,
} from "../layout/layout";
import { enterStage } from "../scheduler/clock";
import { rigidRow } from "../state/owners";
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
import { dot3 } from "../math/lanes";
import { gather } from "./contactLanes";
import { inverseMassAt, measure, moveParticles, pushAt } from "../rigid/rigidBody";

/**
 * Nine points of a face need about 20 to share an impact evenly; there is one such substep an impact. What rests is
 * shared out over substeps.
 */
const BOUNCE_SWEEPS = 64;
const SWEEPS = 8;
/** Sweeps end when the largest correction is this part of the first sweep's. */
const RESIDUE: f64 = 1e-3;
/** As in touch.ts. */
const RELEASE: f64 = 0.25;

let contacts = 0;
let bouncing = false;
// displacement of the first against the second of the last `relative`
let ux: f64;
let uy: f64;
let uz: f64;

// @inline
function contactAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_RIGID_CONTACTS) + <usize>n * RIGID_CONTACT_BYTES;
}
// @inline
function particleOf(lane: usize, k: usize): usize {
  return <usize>load<u32>(lane + (k << 4));
}
// @inline
function weightOf(contact: usize, k: usize): f64 {
  return load<f64>(contact + (k << 3), RIGID_CONTACT_WEIGHT);
}

/** Before an iteration's pairs are solved. */
export function beginRigidContacts(): void {
  contacts = 0;
}

/**
 * Takes the lanes of rigid bodies out of a block that is to be solved.
 * @param near its mask; again they were taken before, and are left alone.
 * @returns what is left of it for contactSolver.ts
 */
export function takeRigid(block: usize, near: v128, again: bool): v128 {
  const lanes = i32x4.bitmask(near);
  const firstTaken = contacts;
  let taken = 0;
  for (let n = 0; n < 4; n++) {
    const lane = block + ((<usize>n) << 2);
    if (!((lanes >> n) & 1)) continue;
    let first: usize = 0;
    let second: usize = 0;
    for (let k: usize = 0; k < 4; k++) {
      const b = load<f32>(lane + (k << 4), CONTACT_BLOCK_WEIGHT);
      if (b > 0) {
        if (!first) first = rigidRow(particleOf(lane, k));
      } else if (b < 0 && !second) second = rigidRow(particleOf(lane, k));
    }
    if (!first && !second) continue;
    // a ball touches with its sphere: balls.ts
    const others =
      first === second ||
      !(load<f32>(lane, CONTACT_BLOCK_THICKNESS) > 0) ||
      (first && load<f64>(first, SHAPE_RADIUS) > 0) ||
      (second && load<f64>(second, SHAPE_RADIUS) > 0);
    if (!others && !again) {
      if (contacts >= load<i32>(HEADER, H_RIGID_CONTACT_CAPACITY)) continue; // then as particles
      const contact = contactAt(contacts);
      contacts++;
      store<u32>(contact, <u32>lane, RIGID_CONTACT_LANE);
      store<u32>(contact, <u32>first, RIGID_CONTACT_FIRST);
      store<u32>(contact, <u32>second, RIGID_CONTACT_SECOND);
    }
    taken |= 1 << n;
  }
  if (contacts > firstTaken) keepDirections(block, firstTaken);
  return taken
    ? v128.and(near, i32x4(taken & 1 ? 0 : -1, taken & 2 ? 0 : -1, taken & 4 ? 0 : -1, taken & 8 ? 0 : -1))
    : near;
}

/**
 * Directions and weights of the contacts from number `from` on, which are of one block; those that have passed each
 * other, or part, are dropped.
 */
function keepDirections(block: usize, from: i32): void {
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  const r = v128.load(block, CONTACT_BLOCK_THICKNESS);
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
    // What parts along its new direction, and is clear, does not meet. Held to that direction it could not bounce: from
    // in front of a face it points to where the substep would have gone, behind it.
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
    const lane = <i32>((<usize>load<u32>(taken, RIGID_CONTACT_LANE) - block) >> 2);
    if ((passed >> lane) & 1) continue;
    contacts++;
    memory.copy(contact, taken, RIGID_CONTACT_NORMAL);
    store<f64>(contact, pick(nx, lane), RIGID_CONTACT_NORMAL);
    store<f64>(contact, pick(ny, lane), RIGID_CONTACT_NORMAL + 8);
    store<f64>(contact, pick(nz, lane), RIGID_CONTACT_NORMAL + 16);
    store<f64>(contact, pick(b0, lane), RIGID_CONTACT_WEIGHT);
    store<f64>(contact, pick(b1, lane), RIGID_CONTACT_WEIGHT + 8);
    store<f64>(contact, pick(b2, lane), RIGID_CONTACT_WEIGHT + 16);
    store<f64>(contact, pick(b3, lane), RIGID_CONTACT_WEIGHT + 24);
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

/** All that `takeRigid` has taken since `beginRigidContacts`. @param scratch ROTATION_SCRATCH bytes */
export function solveRigidContacts(scratch: usize): void {
  if (!contacts) return;
  enterStage(STAGE_RIGID);
  for (let n = 0; n < contacts; n++) {
    const contact = contactAt(n);
    open(<usize>load<u32>(contact, RIGID_CONTACT_FIRST), scratch);
    open(<usize>load<u32>(contact, RIGID_CONTACT_SECOND), scratch);
  }
  bouncing = false;
  for (let n = 0; n < contacts; n++) prepare(contactAt(n));
  const sweeps = bouncing ? BOUNCE_SWEEPS : SWEEPS;
  let most: f64 = 0;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let largest: f64 = 0;
    for (let n = 0; n < contacts; n++) largest = max<f64>(largest, push(contactAt(n)));
    most = max<f64>(most, largest);
    if (!(largest > RESIDUE * most)) break;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let any = false;
    for (let n = 0; n < contacts; n++) any = release(contactAt(n)) || any;
    if (!any) break;
  }
  for (let n = 0; n < contacts; n++) {
    const contact = contactAt(n);
    close(<usize>load<u32>(contact, RIGID_CONTACT_FIRST));
    close(<usize>load<u32>(contact, RIGID_CONTACT_SECOND));
  }
}

function open(row: usize, scratch: usize): void {
  if (!row || load<i32>(row, SHAPE_MEASURED)) return;
  store<i32>(row, 1, SHAPE_MEASURED);
  measure(row, scratch);
}

function close(row: usize): void {
  if (!row || !load<i32>(row, SHAPE_MEASURED)) return;
  store<i32>(row, 0, SHAPE_MEASURED);
  moveParticles(
    row,
    <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X),
    SHAPE_PUSH_STILL,
    SHAPE_TWIST_STILL,
  );
  moveParticles(row, 0, SHAPE_PUSH, SHAPE_TWIST);
}

/** Where it is pushed, and what is wanted of it. */
function prepare(contact: usize): void {
  const lane = <usize>load<u32>(contact, RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, RIGID_CONTACT_SECOND);
  const X = <usize>load<u32>(HEADER, H_X);
  const toAcc = <usize>load<u32>(HEADER, H_ACC) - X;
  const mx = load<f64>(contact, RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, RIGID_CONTACT_NORMAL + 16);
  const r: f64 = load<f32>(lane, CONTACT_BLOCK_THICKNESS);
  let ax: f64 = 0;
  let ay: f64 = 0;
  let az: f64 = 0;
  let bx: f64 = 0;
  let by: f64 = 0;
  let bz: f64 = 0;
  let light: f64 = 0;
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
    if (!(b > 0 ? one : two)) light += <f64>load<f32>(at, 12) * b * b;
    const gx: f64 = load<f32>(at + toAcc);
    const gy: f64 = load<f32>(at + toAcc, 4);
    const gz: f64 = load<f32>(at + toAcc, 8);
    if (load<f32>(at, 12) !== 0) most = max<f64>(most, gx * gx + gy * gy + gz * gz);
  }
  const gap = (ax - bx) * mx + (ay - by) * my + (az - bz) * mz;
  // particles can be pushed where they are only; nothing is passed on to what is fixed
  let px = 0.5 * (ax + bx);
  let py = 0.5 * (ay + by);
  let pz = 0.5 * (az + bz);
  if (light > 0) {
    px = one ? bx : ax;
    py = one ? by : ay;
    pz = one ? bz : az;
  }
  let inverse = light;
  if (one) {
    const x = px - load<f64>(one, SHAPE_CENTER);
    const y = py - load<f64>(one, SHAPE_CENTER + 8);
    const z = pz - load<f64>(one, SHAPE_CENTER + 16);
    store<f64>(contact, x, RIGID_CONTACT_ARM);
    store<f64>(contact, y, RIGID_CONTACT_ARM + 8);
    store<f64>(contact, z, RIGID_CONTACT_ARM + 16);
    inverse += inverseMassAt(one, x, y, z, mx, my, mz);
  }
  if (two) {
    const x = px - load<f64>(two, SHAPE_CENTER);
    const y = py - load<f64>(two, SHAPE_CENTER + 8);
    const z = pz - load<f64>(two, SHAPE_CENTER + 16);
    store<f64>(contact, x, RIGID_CONTACT_OTHER_ARM);
    store<f64>(contact, y, RIGID_CONTACT_OTHER_ARM + 8);
    store<f64>(contact, z, RIGID_CONTACT_OTHER_ARM + 16);
    inverse += inverseMassAt(two, x, y, z, mx, my, mz);
  }
  memory.fill(contact + RIGID_CONTACT_PUSHED, 0, 32);
  store<f64>(contact, inverse, RIGID_CONTACT_INVERSE);
  relative(contact);
  const along = ux * mx + uy * my + uz * mz;
  const approach = -along;
  const began = gap + approach;
  const hold = min<f64>(r, began);
  const h: f64 = load<f32>(HEADER, H_SUBSTEP_SECONDS);
  const e: f64 = load<f32>(lane, CONTACT_BLOCK_BOUNCE);
  const bounces = e > 0 && gap < r && approach > 2 * h * h * sqrt(most);
  if (bounces) bouncing = true;
  store<f64>(contact, bounces ? e * approach : hold - began, RIGID_CONTACT_WANTED);
  store<f64>(contact, hold + RELEASE * (r - hold), RIGID_CONTACT_MISSING);
}

/** Their gap after all pushes. */
function gapNow(contact: usize, mx: f64, my: f64, mz: f64): f64 {
  const lane = <usize>load<u32>(contact, RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, RIGID_CONTACT_SECOND);
  const last = particleOf(lane, 3);
  const ox: f64 = load<f32>(last);
  const oy: f64 = load<f32>(last, 4);
  const oz: f64 = load<f32>(last, 8);
  let gap: f64 = 0;
  for (let k: usize = 0; k < 3; k++) {
    const at = particleOf(lane, k);
    gap +=
      weightOf(contact, k) *
      ((<f64>load<f32>(at) - ox) * mx + (<f64>load<f32>(at, 4) - oy) * my + (<f64>load<f32>(at, 8) - oz) * mz);
  }
  if (one) gap += pushed(one, contact + RIGID_CONTACT_ARM, mx, my, mz);
  if (two) gap -= pushed(two, contact + RIGID_CONTACT_OTHER_ARM, mx, my, mz);
  return gap;
}

/** How far a rigid body's pushes take the end of an arm along n. */
// @inline
function pushed(row: usize, arm: usize, mx: f64, my: f64, mz: f64): f64 {
  const x = load<f64>(arm);
  const y = load<f64>(arm, 8);
  const z = load<f64>(arm, 16);
  const tx = load<f64>(row, SHAPE_TWIST);
  const ty = load<f64>(row, SHAPE_TWIST + 8);
  const tz = load<f64>(row, SHAPE_TWIST + 16);
  return (
    mx * (load<f64>(row, SHAPE_PUSH) + ty * z - tz * y) +
    my * (load<f64>(row, SHAPE_PUSH + 8) + tz * x - tx * z) +
    mz * (load<f64>(row, SHAPE_PUSH + 16) + tx * y - ty * x)
  );
}

/** How far the first went against the second in this substep, where they touch. */
function relative(contact: usize): void {
  const lane = <usize>load<u32>(contact, RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, RIGID_CONTACT_SECOND);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  ux = 0;
  uy = 0;
  uz = 0;
  if (one) addMotion(one, contact + RIGID_CONTACT_ARM, 1);
  if (two) addMotion(two, contact + RIGID_CONTACT_OTHER_ARM, -1);
  for (let k: usize = 0; k < 4; k++) {
    const at = particleOf(lane, k);
    const b = weightOf(contact, k);
    if (b > 0 ? one : two) continue;
    ux += b * (<f64>load<f32>(at) - <f64>load<f32>(at + toPrev));
    uy += b * (<f64>load<f32>(at, 4) - <f64>load<f32>(at + toPrev, 4));
    uz += b * (<f64>load<f32>(at, 8) - <f64>load<f32>(at + toPrev, 8));
  }
}

// @inline
function addMotion(row: usize, arm: usize, sign: f64): void {
  const x = load<f64>(arm);
  const y = load<f64>(arm, 8);
  const z = load<f64>(arm, 16);
  const tx = load<f64>(row, SHAPE_TURN) + load<f64>(row, SHAPE_TWIST);
  const ty = load<f64>(row, SHAPE_TURN + 8) + load<f64>(row, SHAPE_TWIST + 8);
  const tz = load<f64>(row, SHAPE_TURN + 16) + load<f64>(row, SHAPE_TWIST + 16);
  ux += sign * (load<f64>(row, SHAPE_SHIFT) + load<f64>(row, SHAPE_PUSH) + ty * z - tz * y);
  uy += sign * (load<f64>(row, SHAPE_SHIFT + 8) + load<f64>(row, SHAPE_PUSH + 8) + tz * x - tx * z);
  uz += sign * (load<f64>(row, SHAPE_SHIFT + 16) + load<f64>(row, SHAPE_PUSH + 16) + tx * y - ty * x);
}

/** A push (kg m) on the first, and its opposite on the second. @param still it makes no velocity */
function apply(contact: usize, x: f64, y: f64, z: f64, still: bool): void {
  const lane = <usize>load<u32>(contact, RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, RIGID_CONTACT_SECOND);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  if (one)
    pushAt(
      one,
      load<f64>(contact, RIGID_CONTACT_ARM),
      load<f64>(contact, RIGID_CONTACT_ARM + 8),
      load<f64>(contact, RIGID_CONTACT_ARM + 16),
      x,
      y,
      z,
      1,
      still ? 1 : 0,
    );
  if (two)
    pushAt(
      two,
      load<f64>(contact, RIGID_CONTACT_OTHER_ARM),
      load<f64>(contact, RIGID_CONTACT_OTHER_ARM + 8),
      load<f64>(contact, RIGID_CONTACT_OTHER_ARM + 16),
      x,
      y,
      z,
      -1,
      still ? -1 : 0,
    );
  for (let k: usize = 0; k < 4; k++) {
    const at = particleOf(lane, k);
    const b = weightOf(contact, k);
    const s = <f64>load<f32>(at, 12) * b;
    if ((b > 0 ? one : two) || s === 0) continue;
    move(at, s * x, s * y, s * z);
    if (still) move(at + toPrev, s * x, s * y, s * z);
  }
}

// @inline
function move(at: usize, x: f64, y: f64, z: f64): void {
  store<f32>(at, <f32>(<f64>load<f32>(at) + x));
  store<f32>(at, <f32>(<f64>load<f32>(at, 4) + y), 4);
  store<f32>(at, <f32>(<f64>load<f32>(at, 8) + z), 8);
}

/** @returns by how much it changed the way along the normal, m */
function push(contact: usize): f64 {
  const mx = load<f64>(contact, RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, RIGID_CONTACT_NORMAL + 16);
  const W = load<f64>(contact, RIGID_CONTACT_INVERSE);
  const had = load<f64>(contact, RIGID_CONTACT_PUSHED);
  if (!(W > 0)) return 0;
  relative(contact);
  const all = max<f64>(0, had + (load<f64>(contact, RIGID_CONTACT_WANTED) - (ux * mx + uy * my + uz * mz)) / W);
  const add = all - had;
  if (add !== 0) {
    store<f64>(contact, all, RIGID_CONTACT_PUSHED);
    apply(contact, add * mx, add * my, add * mz, false);
  }
  if (all > 0 || had > 0) drag(contact, all, mx, my, mz);
  return abs<f64>(add) * W;
}

/** Friction, while the normal push is `pushed`. */
function drag(contact: usize, pushed: f64, mx: f64, my: f64, mz: f64): void {
  const lane = <usize>load<u32>(contact, RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, RIGID_CONTACT_SECOND);
  const still: f64 = load<f32>(lane, CONTACT_BLOCK_STATIC);
  const mu: f64 = load<f32>(lane, CONTACT_BLOCK_DYNAMIC);
  if (!(still > 0) && !(mu > 0)) return;
  relative(contact);
  const along = ux * mx + uy * my + uz * mz;
  let tx = ux - along * mx;
  let ty = uy - along * my;
  let tz = uz - along * mz;
  const slide = sqrt(tx * tx + ty * ty + tz * tz);
  const hadX = load<f64>(contact, RIGID_CONTACT_DRAG);
  const hadY = load<f64>(contact, RIGID_CONTACT_DRAG + 8);
  const hadZ = load<f64>(contact, RIGID_CONTACT_DRAG + 16);
  let dx = hadX;
  let dy = hadY;
  let dz = hadZ;
  if (slide > 0) {
    tx /= slide;
    ty /= slide;
    tz /= slide;
    let W: f64 = 0;
    if (one)
      W += inverseMassAt(
        one,
        load<f64>(contact, RIGID_CONTACT_ARM),
        load<f64>(contact, RIGID_CONTACT_ARM + 8),
        load<f64>(contact, RIGID_CONTACT_ARM + 16),
        tx,
        ty,
        tz,
      );
    if (two)
      W += inverseMassAt(
        two,
        load<f64>(contact, RIGID_CONTACT_OTHER_ARM),
        load<f64>(contact, RIGID_CONTACT_OTHER_ARM + 8),
        load<f64>(contact, RIGID_CONTACT_OTHER_ARM + 16),
        tx,
        ty,
        tz,
      );
    for (let k: usize = 0; k < 4; k++) {
      const b = weightOf(contact, k);
      if (!(b > 0 ? one : two)) W += <f64>load<f32>(particleOf(lane, k), 12) * b * b;
    }
    const s = slide / W;
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
  if (dx === hadX && dy === hadY && dz === hadZ) return;
  store<f64>(contact, dx, RIGID_CONTACT_DRAG);
  store<f64>(contact, dy, RIGID_CONTACT_DRAG + 8);
  store<f64>(contact, dz, RIGID_CONTACT_DRAG + 16);
  apply(contact, dx - hadX, dy - hadY, dz - hadZ, false);
}

/** Sets apart what is too near whatever it does, without a velocity. @returns whether there was anything */
function release(contact: usize): bool {
  const mx = load<f64>(contact, RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, RIGID_CONTACT_NORMAL + 16);
  const W = load<f64>(contact, RIGID_CONTACT_INVERSE);
  if (!(W > 0)) return false;
  const missing = load<f64>(contact, RIGID_CONTACT_MISSING) - gapNow(contact, mx, my, mz);
  if (!(missing > RESIDUE * <f64>load<f32>(<usize>load<u32>(contact, RIGID_CONTACT_LANE), CONTACT_BLOCK_THICKNESS)))
    return false;
  const lambda = missing / W;
  apply(contact, lambda * mx, lambda * my, lambda * mz, true);
  return true;
}
