/**
 * Movers that yield. A collider follows its path whatever its contacts weigh, until rigid bodies have no room: two jaws
 * that close to less than the width of a box, a press above a floor. No motion of the bodies satisfies such contacts,
 * and their pushes would grow in every sweep. So the force of a mover is limited, like that of a motor in other engines
 * (maxForce of Box2D's joints, forcerange of MuJoCo's actuators). Beyond the limit the mover leaves its path by a
 * translation y (MOTION_YIELD), and returns when it can:
 *   d = w (p - sum f n),  d = r or |p| = P,  P = M (GRIP max(g, G) h^2 + IMPACT a)
 * d change of y in this substep, r the wish to return, f pushes of its contacts along their normals n, p push of its
 * drive, w = 1/M, M mass of all bodies that push each other, a their largest approach. The normal pushes solve a
 * convex problem with bounds. Friction does not move a mover.
 * Islands are first solved with movers that do not yield. If a contact pushes one by more than P, its island is solved
 * again with movers that do; these yield until they are back on their paths.
 * Tried: without a bound, jaws threw a box of 1 kg at 3 m/s and a ball at 15. RESIDUE instead of ten times as much for
 * islands whose movers yield: the same motion, in up to 500 times as many sweeps. Contacts that give way in proportion
 * to their push, so that bodies beside each other share it: boxes slipped by 6 cm in a lift of 1 m.
 */
import * as L from "../../layout/layout";
import { moveCoreMesh } from "../../colliders/coreMeshes";
import { shiftEnd } from "../../colliders/motion";
import { gives, rootOf } from "./rigidIslands";
import { contactAt, particleOf, restMotion } from "./rigidRow";
import { motionOf } from "../../state/owners";
import { apply } from "./rigidRelease";

/** Limit of a mover's force over the weight of the bodies. */
const GRIP: f64 = 30;
/** Least acceleration that counts as weight, m/s^2: grippers hold without gravity, too. */
const G: f64 = 9.81;
/** A bounce changes a velocity by at most twice the approach. */
const IMPACT: f64 = 2;
/** Speed at which a mover returns to its path, m/s. */
const RETURN: f64 = 0.25;

/** Limit of a push, in kg m, of the last island of `limitMovers`. */
let limit: f64 = 0;
let root: usize = 0;

// @inline
function motionAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_MOTIONS) + <usize>n * L.MOTION_BYTES;
}

// @inline
function motions(): i32 {
  return load<i32>(L.HEADER, L.H_MOTION_COUNT);
}

/** Returns whether a mover yields in this solve. */
// @inline
function yields(mover: usize): bool {
  return mover !== 0 && load<f64>(mover, L.MOTION_INVERSE) > 0;
}

/** Returns the displacement by a weight in a substep, m. */
export function leastFall(): f64 {
  const h: f64 = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  return max<f64>(restMotion, G * h * h);
}

function lengthOf(at: usize): f64 {
  const x = load<f64>(at);
  const y = load<f64>(at, 8);
  const z = load<f64>(at, 16);
  return sqrt(x * x + y * y + z * z);
}

/** Prepares movers for a solve. @param first true for the substep's first solve: movers then return to their paths */
export function beginMovers(first: bool): void {
  const step = RETURN * <f64>load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  for (let n = 0; n < motions(); n++) {
    const mover = motionAt(n);
    memory.fill(mover + L.MOTION_STEP, 0, L.MOTION_BYTES - L.MOTION_STEP);
    const far = lengthOf(mover + L.MOTION_YIELD);
    if (far === 0) continue;
    store<f64>(mover, 1, L.MOTION_INVERSE);
    const share = first ? -min<f64>(1, step / far) : 0;
    for (let k: usize = 0; k < 24; k += 8)
      store<f64>(mover + k, share * load<f64>(mover + k, L.MOTION_YIELD), L.MOTION_RETURN);
  }
}

/** Finds the movers of the first `count` contacts. */
export function findMovers(count: i32): void {
  for (let n = 0; motions() && n < count; n++) {
    const contact = contactAt(n);
    store<u32>(contact, <u32>moverOf(contact), L.RIGID_CONTACT_MOVER);
    releaseBall(contact);
  }
}

/**
 * A mover that yields gives a ball its room, because the ball's mesh touches its sphere: an overlap is an intersection.
 * Overlap of other bodies is a small part of their margins and remains: released, it left only the widest of several
 * bodies between two jaws.
 */
function releaseBall(contact: usize): void {
  if (load<u32>(contact, L.RIGID_CONTACT_LANE) || !yields(<usize>load<u32>(contact, L.RIGID_CONTACT_MOVER))) return;
  if (load<f64>(<usize>load<u32>(contact, L.RIGID_CONTACT_FIRST), L.SHAPE_RADIUS) === 0) return;
  const began = load<f64>(contact, L.RIGID_CONTACT_GAP) + approachOf(contact);
  store<f64>(contact, load<f64>(contact, L.RIGID_CONTACT_MISSING) - began, L.RIGID_CONTACT_WANTED);
}

/** Returns how far the sides of a contact approach each other in this substep without pushes, m. */
function approachOf(contact: usize): f64 {
  let along: f64 = 0;
  for (let k: usize = 0; k < 24; k += 8)
    along += load<f64>(contact + k, L.RIGID_CONTACT_BEGAN) * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
  return -along;
}

/** Returns the MOTION row of the collider that a contact pushes; 0: none that moves. */
function moverOf(contact: usize): usize {
  const collider = load<i32>(contact, L.RIGID_CONTACT_COLLIDER);
  if (collider < 0) {
    const row = <usize>load<u32>(L.HEADER, L.H_COLLIDERS) + <usize>(-1 - collider) * L.COLLIDER_BYTES;
    return <usize>load<u32>(row, L.COLLIDER_MOTION);
  }
  const one = load<u32>(contact, L.RIGID_CONTACT_FIRST);
  if (one && load<u32>(contact, L.RIGID_CONTACT_SECOND)) return 0;
  if (!load<u32>(contact, L.RIGID_CONTACT_LANE)) return <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  // of a pair of primitives the first particle is the first's, the last the second's
  return motionOf(particleOf(<usize>load<u32>(contact, L.RIGID_CONTACT_LANE), one ? 3 : 0));
}

/** Returns 1 if a contact's normal points from its mover to the body, else -1. */
// @inline
function moverSign(contact: usize): f64 {
  return load<u32>(contact, L.RIGID_CONTACT_FIRST) ? 1 : -1;
}

/** Pushes the mover of a contact back by a push along the normal, kg m. */
export function pushMover(contact: usize, push: f64): void {
  const mover = <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  if (!yields(mover)) return;
  const by = -moverSign(contact) * push * load<f64>(mover, L.MOTION_INVERSE);
  for (let k: usize = 0; k < 24; k += 8)
    store<f64>(
      mover + k,
      load<f64>(mover + k, L.MOTION_STEP) + by * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL),
      L.MOTION_STEP,
    );
}

/** Sets the limit of an island, and the masses of its movers that yield. @returns whether it has any */
export function limitMovers(island: usize): bool {
  if (!motions()) return false;
  const one = <usize>load<u32>(island, L.RIGID_CONTACT_FIRST);
  root = rootOf(gives(one) ? one : <usize>load<u32>(island, L.RIGID_CONTACT_SECOND));
  let mass: f64 = 0;
  const bodies = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let n = load<i32>(L.HEADER, L.H_BODY_COUNT) - 1; n >= 0; n--) {
    const row = <usize>load<u32>(bodies + <usize>n * L.BODY_BYTES, L.BODY_RIGID);
    if (row && load<i32>(row, L.SHAPE_MEASURED) && gives(row) && rootOf(row) === root)
      mass += 1 / load<f64>(row, L.SHAPE_INVERSE_MASS);
  }
  let approach: f64 = 0;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT))
    approach = max<f64>(approach, approachOf(at));
  limit = mass * (GRIP * leastFall() + IMPACT * approach);
  let any = false;
  for (let n = 0; n < motions(); n++) {
    const mover = motionAt(n);
    if (!isOfIsland(mover)) continue;
    any = true;
    store<f64>(mover, 1 / mass, L.MOTION_INVERSE);
    store<f64>(mover, limit, L.MOTION_MOST);
  }
  // pushes of the substep before
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT))
    pushMover(at, load<f64>(at, L.RIGID_CONTACT_PUSHED));
  return any;
}

// @inline
function isOfIsland(mover: usize): bool {
  const row = <usize>load<u32>(mover, L.MOTION_ROOT);
  return row !== 0 && rootOf(row) === root;
}

/** Solves the drives of the island's movers. @returns the largest correction, m */
export function driveMovers(): f64 {
  let largest: f64 = 0;
  for (let n = 0; n < motions(); n++) if (isOfIsland(motionAt(n))) largest = max<f64>(largest, driveOne(motionAt(n)));
  return largest;
}

function driveOne(mover: usize): f64 {
  const w = load<f64>(mover, L.MOTION_INVERSE);
  const had = mover + L.MOTION_DRIVE;
  const step = mover + L.MOTION_STEP;
  const x = load<f64>(had) + (load<f64>(mover, L.MOTION_RETURN) - load<f64>(step)) / w;
  const y = load<f64>(had, 8) + (load<f64>(mover, L.MOTION_RETURN + 8) - load<f64>(step, 8)) / w;
  const z = load<f64>(had, 16) + (load<f64>(mover, L.MOTION_RETURN + 16) - load<f64>(step, 16)) / w;
  const size = sqrt(x * x + y * y + z * z);
  const most = load<f64>(mover, L.MOTION_MOST);
  const cut: f64 = size > most ? most / size : 1;
  const dx = cut * x - load<f64>(had);
  const dy = cut * y - load<f64>(had, 8);
  const dz = cut * z - load<f64>(had, 16);
  add(had, dx, dy, dz);
  add(step, w * dx, w * dy, w * dz);
  return w * sqrt(dx * dx + dy * dy + dz * dz);
}

// @inline
function add(at: usize, x: f64, y: f64, z: f64): void {
  store<f64>(at, load<f64>(at) + x);
  store<f64>(at, load<f64>(at, 8) + y, 8);
  store<f64>(at, load<f64>(at, 16) + z, 16);
}

/** Has movers yield that a contact of the last island pushes beyond its limit. @returns whether there are any */
export function overloadMovers(island: usize): bool {
  if (!motions()) return false;
  let any = false;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
    const mover = <usize>load<u32>(at, L.RIGID_CONTACT_MOVER);
    if (!mover || yields(mover) || !(load<f64>(at, L.RIGID_CONTACT_PUSHED) > limit)) continue;
    store<f64>(mover, 1, L.MOTION_INVERSE);
    any = true;
  }
  return any;
}

/** Takes back all pushes of an island that pushes a yielding mover. @returns false: it pushes none */
export function takeBackIsland(island: usize): bool {
  let any = false;
  for (let at = island; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT))
    any = any || yields(<usize>load<u32>(at, L.RIGID_CONTACT_MOVER));
  for (let at = island; any && at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
    const pushed = load<f64>(at, L.RIGID_CONTACT_PUSHED);
    apply(
      at,
      -pushed * load<f64>(at, L.RIGID_CONTACT_NORMAL) - load<f64>(at, L.RIGID_CONTACT_DRAG),
      -pushed * load<f64>(at, L.RIGID_CONTACT_NORMAL + 8) - load<f64>(at, L.RIGID_CONTACT_DRAG + 8),
      -pushed * load<f64>(at, L.RIGID_CONTACT_NORMAL + 16) - load<f64>(at, L.RIGID_CONTACT_DRAG + 16),
      false,
    );
    memory.fill(at + L.RIGID_CONTACT_PUSHED, 0, 32);
    const mover = <usize>load<u32>(at, L.RIGID_CONTACT_MOVER);
    if (!yields(mover)) continue;
    memory.fill(mover + L.MOTION_STEP, 0, 24);
    memory.fill(mover + L.MOTION_DRIVE, 0, 24);
  }
  return any;
}

/** Returns whether a rigid body sleeps where a mover may touch it: without contacts, it must not return into that. */
function holdsSleeper(mover: usize): bool {
  const bodies = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let n = load<i32>(L.HEADER, L.H_BODY_COUNT) - 1; n >= 0; n--) {
    const body = bodies + <usize>n * L.BODY_BYTES;
    const row = <usize>load<u32>(body, L.BODY_RIGID);
    if (!row || !load<i32>(body, L.BODY_INACTIVE)) continue;
    let far: f64 = 0;
    for (let k: usize = 0; k < 3; k++) {
      const d = load<f64>(row + (k << 3), L.SHAPE_CENTER) - <f64>load<f32>(mover + (k << 2), L.MOTION_S1);
      far += d * d;
    }
    const reach = <f64>load<f32>(mover, L.MOTION_RADIUS) + 1.1 * load<f64>(row, L.SHAPE_EXTENT);
    if (!(far > reach * reach)) return true;
  }
  return false;
}

/** Moves the movers that yield, with their core meshes. @param count contacts */
export function moveMovers(count: i32): void {
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  for (let n = 0; n < motions(); n++) {
    const mover = motionAt(n);
    if (!yields(mover)) continue;
    const step = mover + L.MOTION_STEP;
    // a drive below its limit has its way, without the residue of sweeps
    const touched = load<u32>(mover, L.MOTION_ROOT) !== 0;
    if (!(touched && lengthOf(mover + L.MOTION_DRIVE) >= (1 - 1e-9) * load<f64>(mover, L.MOTION_MOST)))
      memory.copy(step, mover + L.MOTION_RETURN, 24);
    if (!touched && holdsSleeper(mover)) memory.fill(step, 0, 24);
    const x = load<f64>(step);
    const y = load<f64>(step, 8);
    const z = load<f64>(step, 16);
    add(mover + L.MOTION_YIELD, x, y, z);
    shiftEnd(mover);
    moveCoreMesh(mover, 0, load<i32>(mover, L.MOTION_CORE_COUNT), h);
  }
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    const mover = <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
    if (!yields(mover) || load<u32>(contact, L.RIGID_CONTACT_LANE)) continue;
    let along: f64 = 0;
    for (let k: usize = 0; k < 24; k += 8)
      along += load<f64>(mover + k, L.MOTION_STEP) * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
    store<f64>(contact, load<f64>(contact, L.RIGID_CONTACT_GAP) - along, L.RIGID_CONTACT_GAP);
    add(
      contact + L.RIGID_CONTACT_CARRIED,
      load<f64>(mover, L.MOTION_STEP),
      load<f64>(mover, L.MOTION_STEP + 8),
      load<f64>(mover, L.MOTION_STEP + 16),
    );
  }
}
