/**
 * Warm start of rigid contacts: resting contacts start with the pushes of the substep before. Gauss-Seidel passes a
 * tower's weight on by one body a sweep, and its bending moments far slower. A contact takes over the push of the
 * nearest one of the same two bodies, within SAME of their size and along the same direction. It cannot be found by its
 * particles: which near pairs represent a face changes from substep to substep if several have the same place. An
 * open-addressed table; a substep reads all that it needs before it writes.
 * Tried: starting anew in every tick (a tower of eight boxes rocked for ever and crept by 0.1 mm/s a box, in 64
 * sweeps); finding contacts by their particles alone (lost pushes now and then, 1 mm/s each time).
 */
import * as L from "../../layout/layout";

/** A contact without a place after PROBES probes is not stored. */
const PROBES: u32 = 64;
/** Part of a body's radius within which contacts count as the same. */
const SAME: f64 = 0.02;
/** Cosine within which their directions count as the same. */
const SAME_WAY: f64 = 0.98;

// of the current contact: the two bodies, its sign, and its place from the first body's center
let one: u32;
let two: u32;
let sign: f64;
let arm: usize;

/** Finds the two bodies of a contact, in the order of their addresses. A fixed body is the second. */
function name(contact: usize): void {
  const first = load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const second = load<u32>(contact, L.RIGID_CONTACT_SECOND);
  sign = first && (!second || first < second) ? 1 : -1;
  one = sign > 0 ? first : second;
  two = sign > 0 ? second : first;
  arm = contact + (sign > 0 ? L.RIGID_CONTACT_ARM : L.RIGID_CONTACT_OTHER_ARM);
  // colliders are told apart by their numbers; particles of other surfaces count as one
  if (!two) two = load<u32>(contact, L.RIGID_CONTACT_COLLIDER);
}

// @inline
function keptAt(probe: u32): usize {
  const hash = (one ^ rotl<u32>(two, 16)) * 0x9e3779b1;
  const slot = ((hash ^ (hash >> 15)) + probe) & (load<u32>(L.HEADER, L.H_RIGID_KEPT_CAPACITY) - 1);
  return <usize>load<u32>(L.HEADER, L.H_RIGID_KEPT) + <usize>slot * L.RIGID_KEPT_BYTES;
}

/** Number of this substep since the room began, never 0. */
// @inline
function substep(): u32 {
  const ticks = load<u32>(L.HEADER, L.H_TICK) - load<u32>(L.HEADER, L.H_PAUSED_TICKS);
  return ticks * load<u32>(L.HEADER, L.H_SUBSTEPS) + load<u32>(L.HEADER, L.H_SUBSTEP) + 1;
}

// @inline
function dot(a: usize, b: usize): f64 {
  return load<f64>(a) * load<f64>(b) + load<f64>(a, 8) * load<f64>(b, 8) + load<f64>(a, 16) * load<f64>(b, 16);
}

/** Sets push and friction of a resting contact to those of the substep before. @returns whether it had any */
export function recall(contact: usize): bool {
  if (load<i32>(contact, L.RIGID_CONTACT_RESTS) !== 1) return false;
  name(contact);
  const before = substep() - 1;
  const within = SAME * load<f64>(<usize>one, L.SHAPE_EXTENT);
  let least = within * within;
  let found: usize = 0;
  for (let probe: u32 = 0; probe < PROBES; probe++) {
    const kept = keptAt(probe);
    if (load<u32>(kept, L.RIGID_KEPT_SUBSTEP) !== before) break;
    if (load<i32>(kept, L.RIGID_KEPT_TAKEN) || load<u32>(kept, L.RIGID_KEPT_FIRST) !== one) continue;
    if (load<u32>(kept, L.RIGID_KEPT_SECOND) !== two) continue;
    const x = load<f64>(arm) - load<f64>(kept, L.RIGID_KEPT_ARM);
    const y = load<f64>(arm, 8) - load<f64>(kept, L.RIGID_KEPT_ARM + 8);
    const z = load<f64>(arm, 16) - load<f64>(kept, L.RIGID_KEPT_ARM + 16);
    const far = x * x + y * y + z * z;
    if (!(far < least) || !(sign * dot(contact + L.RIGID_CONTACT_NORMAL, kept + L.RIGID_KEPT_NORMAL) > SAME_WAY))
      continue;
    least = far;
    found = kept;
  }
  if (!found) return false;
  store<i32>(found, 1, L.RIGID_KEPT_TAKEN);
  const pushed = sign * dot(contact + L.RIGID_CONTACT_NORMAL, found + L.RIGID_KEPT_PUSH);
  store<f64>(contact, pushed, L.RIGID_CONTACT_PUSHED);
  for (let k: usize = 0; k < 24; k += 8) {
    const along = pushed * load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
    store<f64>(contact + k, sign * load<f64>(found + k, L.RIGID_KEPT_PUSH) - along, L.RIGID_CONTACT_DRAG);
  }
  return true;
}

/** Stores a contact's push if it rests and has any. */
export function keepPush(contact: usize): void {
  const pushed = load<f64>(contact, L.RIGID_CONTACT_PUSHED);
  if (load<i32>(contact, L.RIGID_CONTACT_RESTS) !== 1 || !(pushed > 0)) return;
  name(contact);
  const now = substep();
  for (let probe: u32 = 0; probe < PROBES; probe++) {
    const kept = keptAt(probe);
    if (load<u32>(kept, L.RIGID_KEPT_SUBSTEP) === now) continue;
    store<u32>(kept, now, L.RIGID_KEPT_SUBSTEP);
    store<u32>(kept, one, L.RIGID_KEPT_FIRST);
    store<u32>(kept, two, L.RIGID_KEPT_SECOND);
    store<i32>(kept, 0, L.RIGID_KEPT_TAKEN);
    for (let k: usize = 0; k < 24; k += 8) {
      const along = load<f64>(contact + k, L.RIGID_CONTACT_NORMAL);
      store<f64>(kept + k, load<f64>(arm + k), L.RIGID_KEPT_ARM);
      store<f64>(kept + k, sign * along, L.RIGID_KEPT_NORMAL);
      store<f64>(kept + k, sign * (pushed * along + load<f64>(contact + k, L.RIGID_CONTACT_DRAG)), L.RIGID_KEPT_PUSH);
    }
    return;
  }
}
