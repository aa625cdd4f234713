/**
 * Islands of rigid bodies: contacts that pass pushes on to each other are solved together, each island with the sweeps
 * that it needs. All bodies that touch soft particles are joined. Fixed bodies do not join islands.
 */
import * as L from "../../layout/layout";
import { contactAt, particleOf, weightOf } from "./rigidRow";

/**
 * The last island found by `beginsIsland`: mass of its heaviest body, or of the soft particles that it pushes, over
 * that of its lightest body; number of contacts; last contact.
 */
export let islandRatio: f64 = 1;
export let islandCount: i32 = 0;
export let islandLast: usize = 0;

/** Returns whether a body moves when it is pushed. */
// @inline
export function gives(row: usize): bool {
  return row !== 0 && load<f64>(row, L.SHAPE_INVERSE_MASS) > 0;
}

export function rootOf(row: usize): usize {
  for (let up = <usize>load<u32>(row, L.SHAPE_ISLAND); up !== row; up = <usize>load<u32>(row, L.SHAPE_ISLAND)) row = up;
  return row;
}

/** Joins two islands. The root is the row with the lower address. */
function join(one: usize, two: usize): void {
  const a = rootOf(one);
  const b = rootOf(two);
  if (a < b) store<u32>(b, <u32>a, L.SHAPE_ISLAND);
  else store<u32>(a, <u32>b, L.SHAPE_ISLAND);
}

/** Returns the mean mass of a contact's soft particles, by their weights, kg; 0: there are none that move. */
function softMass(contact: usize): f64 {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = load<u32>(contact, L.RIGID_CONTACT_SECOND);
  if (!lane || (one && two)) return 0;
  let mass: f64 = 0;
  for (let k: usize = 0; k < 4; k++) {
    const b = weightOf(contact, k);
    const w: f64 = load<f32>(particleOf(lane, k), 12);
    if (w > 0 && !(b > 0 ? one : two)) mass += abs<f64>(b) / w;
  }
  return mass;
}

/** Returns whether a contact pushes a particle of a soft body. */
// @inline
export function isSoft(contact: usize): bool {
  return softMass(contact) > 0;
}

/** Returns the body by which a contact's island is found. */
function bodyOf(contact: usize): usize {
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  if (gives(one)) return one;
  return two ? two : one;
}

/** Joins bodies that push the same mover, if it yields. */
function joinMover(contact: usize): void {
  const mover = <usize>load<u32>(contact, L.RIGID_CONTACT_MOVER);
  if (!mover || !(load<f64>(mover, L.MOTION_INVERSE) > 0)) return;
  const before = <usize>load<u32>(mover, L.MOTION_ROOT);
  if (before) join(before, bodyOf(contact));
  else store<u32>(mover, <u32>bodyOf(contact), L.MOTION_ROOT);
}

/** Sorts `count` contacts into islands: chains in the order of the contacts. */
export function partIslands(count: i32): void {
  for (let n = 0; n < count; n++) {
    const one = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_FIRST);
    const two = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_SECOND);
    if (one) store<u32>(one, <u32>one, L.SHAPE_ISLAND);
    if (two) store<u32>(two, <u32>two, L.SHAPE_ISLAND);
  }
  let soft: usize = 0;
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
    const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
    if (gives(one) && gives(two)) join(one, two);
    joinMover(contact);
    if (!isSoft(contact)) continue;
    if (soft) join(soft, bodyOf(contact));
    else soft = bodyOf(contact);
  }
  for (let n = 0; n < count; n++) store<u32>(rootOf(bodyOf(contactAt(n))), 0, L.SHAPE_CONTACT);
  for (let n = 0; n < count; n++) {
    const contact = contactAt(n);
    const root = rootOf(bodyOf(contact));
    const before = <usize>load<u32>(root, L.SHAPE_CONTACT);
    store<u32>(contact, <u32>before, L.RIGID_CONTACT_ISLAND_BEFORE);
    store<u32>(contact, 0, L.RIGID_CONTACT_ISLAND_NEXT);
    if (before) store<u32>(before, <u32>contact, L.RIGID_CONTACT_ISLAND_NEXT);
    store<u32>(root, <u32>contact, L.SHAPE_CONTACT);
  }
}

/** @returns whether an island begins with this contact; then islandCount, islandLast and islandRatio are set */
export function beginsIsland(contact: usize): bool {
  if (load<u32>(contact, L.RIGID_CONTACT_ISLAND_BEFORE)) return false;
  let least = Infinity;
  let most: f64 = 0;
  let soft: f64 = 0;
  islandCount = 0;
  for (let at = contact; at; at = <usize>load<u32>(at, L.RIGID_CONTACT_ISLAND_NEXT)) {
    islandCount++;
    islandLast = at;
    soft += softMass(at);
    for (let side: usize = 0; side < 8; side += 4) {
      const row = <usize>load<u32>(at + side, L.RIGID_CONTACT_FIRST);
      if (!gives(row)) continue;
      least = min<f64>(least, load<f64>(row, L.SHAPE_INVERSE_MASS));
      most = max<f64>(most, load<f64>(row, L.SHAPE_INVERSE_MASS));
    }
  }
  islandRatio = most > 0 ? most * max<f64>(1 / least, soft) : 1;
  return true;
}
