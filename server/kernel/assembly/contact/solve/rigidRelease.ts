/**
 * Applies pushes of rigid contacts (rigidContact.ts), and separates contacts that are still too near after the solve.
 * That adds no velocity (xPrev moves along) and restores a quarter of the violation a substep, on colliders 2 margins a
 * second.
 * If both bodies can move, only the one with more contacts between it and the ground is moved (Guendelman, Bridson &
 * Fedkiw 2003, shock propagation). So few sweeps suffice for any masses.
 * Tried: moving both, by their inverse masses. A light box that rose into its gap was pushed back by a heavy one on it,
 * never in exactly the same way. One of 100 times its mass slid off within 10 s.
 */
import * as L from "../../layout/layout";
import { lowFrom, lowPrevFrom, place, put } from "../../math/places";
import { inverseMassAt, pushAt } from "../../rigid/rigidBody";
import { gives, isSoft } from "./rigidIslands";
import { contactAt, particleOf, weightOf } from "./rigidRow";

const SWEEPS = 8;
/** Level of a body that rests on no fixed thing, not even through other bodies. */
const NONE: u32 = 0xffffffff;

// @inline
function levelOf(row: usize): u32 {
  return load<u32>(row, L.SHAPE_ISLAND);
}

/**
 * Finds the levels of all bodies: number of contacts between them and the nearest fixed thing.
 * @param count contacts, whose islands are not needed any more
 */
function findLevels(count: i32): void {
  for (let n = 0; n < count; n++) {
    const one = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_FIRST);
    const two = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_SECOND);
    if (one) store<u32>(one, NONE, L.SHAPE_ISLAND);
    if (two) store<u32>(two, NONE, L.SHAPE_ISLAND);
  }
  for (let n = 0; n < count; n++) {
    const one = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_FIRST);
    const two = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_SECOND);
    if (gives(one) !== gives(two) && !isSoft(contactAt(n))) store<u32>(gives(one) ? one : two, 1, L.SHAPE_ISLAND);
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (let n = 0; n < count; n++) {
      const one = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_FIRST);
      const two = <usize>load<u32>(contactAt(n), L.RIGID_CONTACT_SECOND);
      if (!gives(one) || !gives(two)) continue;
      changed = raise(one, two) || raise(two, one) || changed;
    }
  }
}

/** Lowers a body's level to one above that of the other body, if that is lower. @returns whether it changed */
function raise(row: usize, other: usize): bool {
  if (levelOf(other) === NONE || levelOf(row) <= levelOf(other) + 1) return false;
  store<u32>(row, levelOf(other) + 1, L.SHAPE_ISLAND);
  return true;
}

/**
 * Separates contacts that are too near. @param count solved contacts; residue part of their thickness that may be
 * missing
 */
export function setApart(count: i32, residue: f64): void {
  findLevels(count);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let any = false;
    for (let n = 0; n < count; n++) any = release(contactAt(n), residue) || any;
    if (!any) break;
  }
}

/** Separates one contact. @returns whether it was too near */
function release(contact: usize, residue: f64): bool {
  const mx = load<f64>(contact, L.RIGID_CONTACT_NORMAL);
  const my = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 8);
  const mz = load<f64>(contact, L.RIGID_CONTACT_NORMAL + 16);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const both = !gives(one) || !gives(two) || levelOf(one) === levelOf(two);
  const first = both || levelOf(one) > levelOf(two);
  const second = both || !first;
  const W = both
    ? load<f64>(contact, L.RIGID_CONTACT_INVERSE)
    : inverseMassOf(first ? one : two, contact + (first ? L.RIGID_CONTACT_ARM : L.RIGID_CONTACT_OTHER_ARM), mx, my, mz);
  if (!(W > 0)) return false;
  const missing = load<f64>(contact, L.RIGID_CONTACT_MISSING) - gapNow(contact, mx, my, mz);
  if (!(missing > residue * load<f64>(contact, L.RIGID_CONTACT_THICKNESS))) return false;
  const lambda = missing / W;
  applyTo(contact, lambda * mx, lambda * my, lambda * mz, true, first, second);
  return true;
}

/** Returns the inverse mass of a body along m at the end of an arm, f64x3, 1/kg. */
// @inline
function inverseMassOf(row: usize, arm: usize, mx: f64, my: f64, mz: f64): f64 {
  return inverseMassAt(row, load<f64>(arm), load<f64>(arm, 8), load<f64>(arm, 16), mx, my, mz);
}

/** Returns a contact's gap after all pushes. */
function gapNow(contact: usize, mx: f64, my: f64, mz: f64): f64 {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  let gap: f64 = lane ? gapOf(contact, lane, mx, my, mz) : load<f64>(contact, L.RIGID_CONTACT_GAP);
  if (one) gap += pushed(one, contact + L.RIGID_CONTACT_ARM, mx, my, mz);
  if (two) gap -= pushed(two, contact + L.RIGID_CONTACT_OTHER_ARM, mx, my, mz);
  return gap;
}

/** Returns the gap of a pair at its particles' positions. */
function gapOf(contact: usize, lane: usize, mx: f64, my: f64, mz: f64): f64 {
  const last = particleOf(lane, 3);
  const toLow = lowFrom();
  const ox = place(last, toLow);
  const oy = place(last + 4, toLow);
  const oz = place(last + 8, toLow);
  let gap: f64 = 0;
  for (let k: usize = 0; k < 3; k++) {
    const at = particleOf(lane, k);
    gap +=
      weightOf(contact, k) *
      ((place(at, toLow) - ox) * mx + (place(at + 4, toLow) - oy) * my + (place(at + 8, toLow) - oz) * mz);
  }
  return gap;
}

/** Returns how far a rigid body's pushes move the end of an arm along n. */
// @inline
function pushed(row: usize, arm: usize, mx: f64, my: f64, mz: f64): f64 {
  const x = load<f64>(arm);
  const y = load<f64>(arm, 8);
  const z = load<f64>(arm, 16);
  const tx = load<f64>(row, L.SHAPE_TWIST);
  const ty = load<f64>(row, L.SHAPE_TWIST + 8);
  const tz = load<f64>(row, L.SHAPE_TWIST + 16);
  return (
    mx * (load<f64>(row, L.SHAPE_PUSH) + ty * z - tz * y) +
    my * (load<f64>(row, L.SHAPE_PUSH + 8) + tz * x - tx * z) +
    mz * (load<f64>(row, L.SHAPE_PUSH + 16) + tx * y - ty * x)
  );
}

/** Applies a push (kg m) to the first, and its opposite to the second. @param still whether it makes no velocity */
export function apply(contact: usize, x: f64, y: f64, z: f64, still: bool): void {
  applyTo(contact, x, y, z, still, true, true);
}

/** Applies a push to a body at the end of an arm, f64x3. */
// @inline
function pushEnd(row: usize, arm: usize, x: f64, y: f64, z: f64, sign: f64, still: bool): void {
  pushAt(row, load<f64>(arm), load<f64>(arm, 8), load<f64>(arm, 16), x, y, z, sign, still ? sign : 0);
}

/** Applies a push; of two rigid bodies only to those selected. */
function applyTo(contact: usize, x: f64, y: f64, z: f64, still: bool, first: bool, second: bool): void {
  const lane = <usize>load<u32>(contact, L.RIGID_CONTACT_LANE);
  const one = <usize>load<u32>(contact, L.RIGID_CONTACT_FIRST);
  const two = <usize>load<u32>(contact, L.RIGID_CONTACT_SECOND);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  if (one && first) pushEnd(one, contact + L.RIGID_CONTACT_ARM, x, y, z, 1, still);
  if (two && second) pushEnd(two, contact + L.RIGID_CONTACT_OTHER_ARM, x, y, z, -1, still);
  if (!lane) return;
  for (let k: usize = 0; k < 4; k++) {
    const at = particleOf(lane, k);
    const b = weightOf(contact, k);
    const s = <f64>load<f32>(at, 12) * b;
    if ((b > 0 ? one : two) || s === 0) continue;
    move(at, lowFrom(), s * x, s * y, s * z);
    if (still) move(at + toPrev, lowPrevFrom() - toPrev, s * x, s * y, s * z);
  }
}

/** Low words keep what float32 would lose: thousands of sweeps lost 1e-4 of the momentum. */
// @inline
function move(at: usize, toLow: usize, x: f64, y: f64, z: f64): void {
  put(at, place(at, toLow) + x, toLow);
  put(at + 4, place(at + 4, toLow) + y, toLow);
  put(at + 8, place(at + 8, toLow) + z, toLow);
}
