/**
 * Of the contacts of two rigid bodies (or of one with what is fixed) along one direction, those that matter: where two
 * flat faces meet, u . n is linear over the face, so that the outermost contacts hold all others. Two boxes of 3 x 3
 * cells have some hundred near pairs, of which eight are left; without this a tower of eight boxes took 32 ms a tick.
 * What is left out is still checked at the end of the substep. Outermost in eight directions across the leader's
 * normal, as in other engines' manifolds (Jolt, Box2D); the first of those that are within NEARLY of each other, so
 * that the same ones are found in the next substep.
 */
import {
  RIGID_CONTACT_ARM,
  RIGID_CONTACT_BYTES,
  RIGID_CONTACT_FACE,
  RIGID_CONTACT_FIRST,
  RIGID_CONTACT_GROUP,
  RIGID_CONTACT_COLLIDER,
  RIGID_CONTACT_NORMAL,
  RIGID_CONTACT_OTHER_ARM,
  RIGID_CONTACT_SECOND,
  RIGID_CONTACT_WANTED,
  SHAPE_CONTACT,
  SHAPE_EXTENT,
} from "../layout/layout";
import { contactAt, prepare } from "./rigidRow";

/** Cosine between directions that are one, 1.8 degrees. */
const ONE_WAY: f64 = 0.9995;
/**
 * Where faces lie on each other their edges are near edges, too, and the way from edge to edge leans, 8 degrees where
 * they are 0.3 mm beside each other: pushes along it moved a tower's boxes aside. Within this cosine of a face's
 * direction, 10 degrees, it is the face's that counts.
 */
const LEANING: f64 = 0.985;
/** Those that do not touch yet are left to the face within this one, 45 degrees. */
const BESIDE: f64 = Math.SQRT1_2;
/** Part of a body's radius that does not make a contact lie further out. */
const NEARLY: f64 = 1e-3;
const DIRECTIONS: usize = 8;
/** Directions are turned by so much, 0.3 radians, out of the axes that faces and edges are often along. */
const COS: f64 = 0.955336489125606;
const SIN: f64 = 0.29552020666133955;

/**
 * Outermost contact of each direction, 0: none, and how far out: in scratch. (Static data are in the memory that all
 * threads share, and each that comes writes them anew.)
 */
let outermost: usize = 0;
let reached: usize = 0;

/** RIGID_CONTACT_GROUP of a contact that is not reduced yet, of one that is kept, of one that is not. */
const OPEN = 0;
const KEPT = 1;
const SPARE = 2;

/** The body whose chain a contact is in: of two the one that comes first. */
// @inline
function ownerOf(contact: usize): usize {
  const one = load<u32>(contact, RIGID_CONTACT_FIRST);
  const two = load<u32>(contact, RIGID_CONTACT_SECOND);
  return <usize>(one && (!two || one < two) ? one : two);
}

/** 1 where a contact's normal points to the body whose chain it is in, -1 where it points away. */
// @inline
function signOf(contact: usize): f64 {
  return ownerOf(contact) === <usize>load<u32>(contact, RIGID_CONTACT_FIRST) ? 1 : -1;
}

/** Where it is, from the center of that body. */
// @inline
function armOf(contact: usize): usize {
  return contact + (signOf(contact) > 0 ? RIGID_CONTACT_ARM : RIGID_CONTACT_OTHER_ARM);
}

/** The other one; 0: what is fixed. */
// @inline
function otherOf(contact: usize): u32 {
  return load<u32>(contact + (signOf(contact) > 0 ? RIGID_CONTACT_SECOND : RIGID_CONTACT_FIRST));
}

/**
 * Leaves out what others hold.
 * @param count contacts, prepared; those with soft particles are kept; scratch 96 bytes
 * @returns how many are left, in their order
 */
export function reduceContacts(count: i32, scratch: usize): i32 {
  outermost = scratch;
  reached = scratch + (DIRECTIONS << 2);
  for (let n = 0; n < count; n++) store<u32>(ownerOf(contactAt(n)), 0, SHAPE_CONTACT);
  // chains end with their first contact
  for (let n = count - 1; n >= 0; n--) {
    const contact = contactAt(n);
    const owner = ownerOf(contact);
    store<u32>(contact, load<u32>(owner, SHAPE_CONTACT), RIGID_CONTACT_GROUP + 4);
    store<u32>(owner, <u32>contact, SHAPE_CONTACT);
  }
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    if (load<i32>(contact, RIGID_CONTACT_GROUP) === OPEN && load<i32>(contact, RIGID_CONTACT_FACE))
      reduceGroup(contact);
  }
  for (let n = 0; n < count; n++) if (load<i32>(contactAt(n), RIGID_CONTACT_GROUP) === OPEN) reduceGroup(contactAt(n));
  let left = 0;
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    if (load<i32>(contact, RIGID_CONTACT_GROUP) === SPARE) continue;
    if (left < n) memory.copy(contactAt(left), contact, RIGID_CONTACT_BYTES);
    left++;
  }
  return left;
}

/** All in the leader's chain that are of its two and of its direction. */
function reduceGroup(leader: usize): void {
  const sign = signOf(leader);
  const mx = sign * load<f64>(leader, RIGID_CONTACT_NORMAL);
  const my = sign * load<f64>(leader, RIGID_CONTACT_NORMAL + 8);
  const mz = sign * load<f64>(leader, RIGID_CONTACT_NORMAL + 16);
  // two directions across: from the axis that is least along the normal
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
  const nearly = NEARLY * load<f64>(ownerOf(leader), SHAPE_EXTENT);
  for (
    let at = <usize>load<u32>(ownerOf(leader), SHAPE_CONTACT);
    at;
    at = <usize>load<u32>(at, RIGID_CONTACT_GROUP + 4)
  ) {
    if (!isOf(leader, at, mx, my, mz)) continue;
    store<i32>(at, SPARE, RIGID_CONTACT_GROUP);
    if (leansOn(at, leader)) {
      if (load<f64>(at, RIGID_CONTACT_WANTED) < 0) continue;
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
    store<i32>(<usize>load<u32>(outermost + (k << 2)), KEPT, RIGID_CONTACT_GROUP);
}

/** Is a contact one of the leader's group? m: the leader's normal, to the body whose chain it is */
function isOf(leader: usize, at: usize, mx: f64, my: f64, mz: f64): bool {
  if (load<i32>(at, RIGID_CONTACT_GROUP) !== OPEN || otherOf(at) !== otherOf(leader)) return false;
  if (load<i32>(at, RIGID_CONTACT_COLLIDER) !== load<i32>(leader, RIGID_CONTACT_COLLIDER)) return false;
  const along =
    mx * load<f64>(at, RIGID_CONTACT_NORMAL) +
    my * load<f64>(at, RIGID_CONTACT_NORMAL + 8) +
    mz * load<f64>(at, RIGID_CONTACT_NORMAL + 16);
  const beside = load<f64>(at, RIGID_CONTACT_WANTED) < 0 ? BESIDE : LEANING;
  const least = leansOn(at, leader) ? beside : ONE_WAY;
  return signOf(at) * along > least;
}

/** Is a contact beside a face, and the leader on one? */
// @inline
function leansOn(at: usize, leader: usize): bool {
  return load<i32>(leader, RIGID_CONTACT_FACE) !== 0 && !load<i32>(at, RIGID_CONTACT_FACE);
}

/** Gives a contact beside a face the face's direction. */
function lean(at: usize, mx: f64, my: f64, mz: f64): void {
  const sign = signOf(at);
  store<f64>(at, sign * mx, RIGID_CONTACT_NORMAL);
  store<f64>(at, sign * my, RIGID_CONTACT_NORMAL + 8);
  store<f64>(at, sign * mz, RIGID_CONTACT_NORMAL + 16);
  prepare(at);
  store<i32>(at, SPARE, RIGID_CONTACT_GROUP);
}

// @inline
function reach(k: usize, at: usize, far: f64, nearly: f64): void {
  if (load<u32>(outermost + (k << 2)) && !(far > load<f64>(reached + (k << 3)) + nearly)) return;
  store<u32>(outermost + (k << 2), <u32>at);
  store<f64>(reached + (k << 3), far);
}
