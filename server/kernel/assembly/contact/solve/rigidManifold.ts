/**
 * Contact manifolds: reduces the contacts of two rigid bodies (or of one with fixed things) along one direction to the
 * outermost ones. If two flat faces meet, u . n is linear over the face, so the outermost contacts bound all others.
 * Two boxes of 3 x 3 cells have some hundred near pairs, of which eight are left. Without this a tower of eight boxes
 * took 32 ms a tick. Contacts left out are still verified at the end of the substep. The outermost are found in eight
 * directions across the leader's normal, as in other engines' manifolds (Jolt, Box2D). Between contacts within NEARLY
 * of each other the first is taken, so that the next substep finds the same ones.
 */
import * as L from "../../layout/layout";
import { contactAt, prepare } from "./rigidRow";

/** Cosine between directions that count as one, 1.8 degrees. */
const ONE_WAY: f64 = 0.9995;
/**
 * Cosine, 10 degrees, within which a contact takes a face's direction. If two faces lie on each other, their edges are
 * near edges too. The direction from edge to edge leans: by 8 degrees at an offset of 0.3 mm, and pushes along it moved
 * a tower's boxes aside.
 */
const LEANING: f64 = 0.985;
/** LEANING for contacts that do not touch yet: 45 degrees. */
const BESIDE: f64 = Math.SQRT1_2;
/** Part of a body's radius by which a contact must lie further out to replace another one. */
const NEARLY: f64 = 1e-3;
const DIRECTIONS: usize = 8;
/** Directions are turned by 0.3 radians out of the axes, which faces and edges often follow. */
const COS: f64 = 0.955336489125606;
const SIN: f64 = 0.29552020666133955;

/**
 * Outermost contact of each direction (0: none), and its distance along the direction. In scratch, because static data
 * lie in the memory that all threads share, and every new instance overwrites them.
 */
let outermost: usize = 0;
let reached: usize = 0;

/** RIGID_CONTACT_GROUP of a contact: not reduced yet, kept, left out. */
const OPEN = 0;
const KEPT = 1;
const SPARE = 2;

/** Returns the body whose chain a contact is in: the first of the two in memory. */
// @inline
function ownerOf(contact: usize): usize {
  const one = load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = load<u32>(contact, L.RIGID_CONTACT_SECOND);
  return <usize>(one && (!two || one < two) ? one : two);
}

/** Returns 1 if a contact's normal points to the body whose chain it is in, else -1. */
// @inline
function signOf(contact: usize): f64 {
  return ownerOf(contact) === <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST) ? 1 : -1;
}

/** Address of the contact's place, from the center of that body. */
// @inline
function armOf(contact: usize): usize {
  return contact + (signOf(contact) > 0 ? L.RIGID_CONTACT_ARM : L.RIGID_CONTACT_OTHER_ARM);
}

/** Returns the other body; 0: fixed. */
// @inline
function otherOf(contact: usize): u32 {
  return load<u32>(contact + (signOf(contact) > 0 ? L.RIGID_CONTACT_SECOND : L.RIGID_CONTACT_FIRST));
}

/**
 * Leaves out contacts that others bound.
 * @param count prepared contacts; those with soft particles are kept; scratch 96 bytes
 * @returns number of contacts left, in their order
 */
export function reduceContacts(count: i32, scratch: usize): i32 {
  outermost = scratch;
  reached = scratch + (DIRECTIONS << 2);
  for (let n = 0; n < count; n++) store<u32>(ownerOf(contactAt(n)), 0, L.SHAPE_CONTACT);
  // chains begin with their first contact
  for (let n = count - 1; n >= 0; n--) {
    const contact = contactAt(n);
    const owner = ownerOf(contact);
    store<u32>(contact, load<u32>(owner, L.SHAPE_CONTACT), L.RIGID_CONTACT_GROUP + 4);
    store<u32>(owner, <u32>contact, L.SHAPE_CONTACT);
  }
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    if (load<i32>(contact, L.RIGID_CONTACT_GROUP) === OPEN && load<i32>(contact, L.RIGID_CONTACT_FACE))
      reduceGroup(contact);
  }
  for (let n = 0; n < count; n++)
    if (load<i32>(contactAt(n), L.RIGID_CONTACT_GROUP) === OPEN) reduceGroup(contactAt(n));
  let left = 0;
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    if (load<i32>(contact, L.RIGID_CONTACT_GROUP) === SPARE) continue;
    if (left < n) memory.copy(contactAt(left), contact, L.RIGID_CONTACT_BYTES);
    left++;
  }
  return left;
}

/** Reduces all contacts in the leader's chain that are of the same two and direction. */
function reduceGroup(leader: usize): void {
  const sign = signOf(leader);
  const mx = sign * load<f64>(leader, L.RIGID_CONTACT_NORMAL);
  const my = sign * load<f64>(leader, L.RIGID_CONTACT_NORMAL + 8);
  const mz = sign * load<f64>(leader, L.RIGID_CONTACT_NORMAL + 16);
  // two directions across the normal: from the axis that is least along it
  const ax = abs<f64>(mx) <= abs<f64>(my) && abs<f64>(mx) <= abs<f64>(mz) ? 1 : 0;
  const ay = !ax && abs<f64>(my) <= abs<f64>(mz) ? 1 : 0;
  const az = 1 - ax - ay;
  let sx = my * az - mz * ay;
  let sy = mz * ax - mx * az;
  let sz = mx * ay - my * ax;
  const scale = 1 / sqrt(sx * sx + sy * sy + sz * sz);
  sx *= scale;
  sy *= scale;
  sz *= scale;
  const tx = my * sz - mz * sy;
  const ty = mz * sx - mx * sz;
  const tz = mx * sy - my * sx;
  memory.fill(outermost, 0, DIRECTIONS * 4);
  const nearly = NEARLY * load<f64>(ownerOf(leader), L.SHAPE_EXTENT);
  for (
    let at = <usize>load<u32>(ownerOf(leader), L.SHAPE_CONTACT);
    at;
    at = <usize>load<u32>(at, L.RIGID_CONTACT_GROUP + 4)
  ) {
    if (!isOf(leader, at, mx, my, mz)) continue;
    store<i32>(at, SPARE, L.RIGID_CONTACT_GROUP);
    if (leansOn(at, leader)) {
      if (load<f64>(at, L.RIGID_CONTACT_WANTED) < 0) continue;
      lean(at, mx, my, mz);
    }
    const arm = armOf(at);
    const x = load<f64>(arm);
    const y = load<f64>(arm, 8);
    const z = load<f64>(arm, 16);
    const u = sx * x + sy * y + sz * z;
    const v = tx * x + ty * y + tz * z;
    const s = COS * u + SIN * v;
    const t = COS * v - SIN * u;
    reach(0, at, s, nearly);
    reach(1, at, t, nearly);
    reach(2, at, -s, nearly);
    reach(3, at, -t, nearly);
    reach(4, at, Math.SQRT1_2 * (s + t), nearly);
    reach(5, at, Math.SQRT1_2 * (t - s), nearly);
    reach(6, at, Math.SQRT1_2 * (-s - t), nearly);
    reach(7, at, Math.SQRT1_2 * (s - t), nearly);
  }
  for (let k: usize = 0; k < DIRECTIONS; k++)
    store<i32>(<usize>load<u32>(outermost + (k << 2)), KEPT, L.RIGID_CONTACT_GROUP);
}

/**
 * Returns whether a contact belongs to the leader's group. m: the leader's normal, towards the body whose chain it is
 */
function isOf(leader: usize, at: usize, mx: f64, my: f64, mz: f64): bool {
  if (load<i32>(at, L.RIGID_CONTACT_GROUP) !== OPEN || otherOf(at) !== otherOf(leader)) return false;
  if (load<i32>(at, L.RIGID_CONTACT_COLLIDER) !== load<i32>(leader, L.RIGID_CONTACT_COLLIDER)) return false;
  const along =
    mx * load<f64>(at, L.RIGID_CONTACT_NORMAL) +
    my * load<f64>(at, L.RIGID_CONTACT_NORMAL + 8) +
    mz * load<f64>(at, L.RIGID_CONTACT_NORMAL + 16);
  const beside = load<f64>(at, L.RIGID_CONTACT_WANTED) < 0 ? BESIDE : LEANING;
  const least = leansOn(at, leader) ? beside : ONE_WAY;
  return signOf(at) * along > least;
}

/** Returns whether the leader is on a face and the contact is not. */
// @inline
function leansOn(at: usize, leader: usize): bool {
  return load<i32>(leader, L.RIGID_CONTACT_FACE) !== 0 && !load<i32>(at, L.RIGID_CONTACT_FACE);
}

/** Gives a contact beside a face the face's direction. */
function lean(at: usize, mx: f64, my: f64, mz: f64): void {
  const sign = signOf(at);
  store<f64>(at, sign * mx, L.RIGID_CONTACT_NORMAL);
  store<f64>(at, sign * my, L.RIGID_CONTACT_NORMAL + 8);
  store<f64>(at, sign * mz, L.RIGID_CONTACT_NORMAL + 16);
  prepare(at);
  store<i32>(at, SPARE, L.RIGID_CONTACT_GROUP);
}

// @inline
function reach(k: usize, at: usize, far: f64, nearly: f64): void {
  if (load<u32>(outermost + (k << 2)) && !(far > load<f64>(reached + (k << 3)) + nearly)) return;
  store<u32>(outermost + (k << 2), <u32>at);
  store<f64>(reached + (k << 3), far);
}
