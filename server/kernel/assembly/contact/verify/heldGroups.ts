/**
 * Holds groups of bodies at the safe positions S. If a group's contacts do not fit into the lists, it is held until the
 * tick ends. If the response cannot clear its contacts, it is held until the substep ends. All other bodies move on.
 * Held bodies do not move, so they cannot meet each other: pairs of two held surfaces are not listed, which makes room
 * for others. A group is a set of surfaces with rows between them, colliders left out. The group with the most rows is
 * held first, or the one that the response could not clear.
 */
import * as L from "../../layout/layout";
import { surfaceAt, surfaceOf } from "../../state/owners";
import { change, changedCount, changedParticle } from "./movedParticles";
import { leafPairRow } from "../detect/separatedPairs";

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
function holdOf(surface: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_HOLDS) + <usize>surface * L.HOLD_BYTES;
}
/** Returns whether any surface is held. */
// @inline
export function anyHeld(): bool {
  return load<i32>(front(), L.FRONT_HELD_ANY) !== 0;
}

/** Returns whether both surfaces are held. Then their pairs need not be known. */
export function bothHeld(a: i32, b: i32): bool {
  return load<i32>(holdOf(a), L.HOLD_HELD) !== 0 && load<i32>(holdOf(b), L.HOLD_HELD) !== 0;
}

/** Frees all surfaces at the start of a tick. */
export function endHolds(): void {
  release(L.HELD_TICK);
}

/** Frees surfaces held for HELD_* <= `span`, and has their pairs found anew. */
function release(span: i32): void {
  let left = false;
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    const hold = holdOf(n);
    const held = load<i32>(hold, L.HOLD_HELD);
    if (held > span) left = true;
    else if (held) {
      store<i32>(hold, 0, L.HOLD_HELD);
      store<i32>(L.HEADER, 0, L.H_LIST_VALID);
    }
  }
  store<i32>(front(), left ? 1 : 0, L.FRONT_HELD_ANY);
}

function rootOf(surface: i32): i32 {
  let root = surface;
  while (load<i32>(holdOf(root), L.HOLD_ROOT) !== root) root = load<i32>(holdOf(root), L.HOLD_ROOT);
  store<i32>(holdOf(surface), root, L.HOLD_ROOT);
  return root;
}

/** Merges the groups of two surfaces and adds their rows. A collider has no group. */
function countRows(both: u32, rows: i32): void {
  const a = <i32>(both >> 16);
  const b = <i32>(both & 0xffff);
  const fixedA = load<i32>(surfaceAt(a), L.SURFACE_SOLID) === L.SOLID_COLLIDER;
  const fixedB = load<i32>(surfaceAt(b), L.SURFACE_SOLID) === L.SOLID_COLLIDER;
  const first = rootOf(fixedA ? b : a);
  const second = rootOf(fixedB ? a : b);
  const all =
    load<i32>(holdOf(first), L.HOLD_ROWS) + rows + (first === second ? 0 : load<i32>(holdOf(second), L.HOLD_ROWS));
  const root = min<i32>(first, second);
  store<i32>(holdOf(max<i32>(first, second)), root, L.HOLD_ROOT);
  store<i32>(holdOf(root), all, L.HOLD_ROWS);
}

/** Counts the rows of each group, from the incomplete lists, before these are forgotten. */
export function countGroups(): void {
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    store<i32>(holdOf(n), n, L.HOLD_ROOT);
    store<i32>(holdOf(n), 0, L.HOLD_ROWS);
  }
  let row = leafPairRow(0);
  let any = false;
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT); n > 0; n--, row += L.LEAF_PAIR_BYTES) {
    if (!load<i32>(row, L.LEAF_PAIR_LANES)) continue;
    countRows(load<u32>(row, L.LEAF_PAIR_SURFACES), 4);
    any = true;
  }
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  const capacity = load<i32>(L.HEADER, L.H_PAIR_CAPACITY);
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_PAIRS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_PAIRS);
  for (let n = 0; n < vertices; n++) countRows(load<u32>(pairs + <usize>n * L.PAIR_BYTES, L.PAIR_SURFACES), 1);
  for (let n = capacity - edges; n < capacity; n++)
    countRows(load<u32>(pairs + <usize>n * L.PAIR_BYTES, L.PAIR_SURFACES), 1);
  if (any || vertices || edges) return;
  // the leaf pairs filled their list before any row was found: count leaf pairs instead
  row = leafPairRow(0);
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT); n > 0; n--, row += L.LEAF_PAIR_BYTES)
    countRows(load<u32>(row, L.LEAF_PAIR_SURFACES), 1);
}

/** Holds all surfaces of a group. @param span HELD_*. @returns whether any of them was not held before */
function holdGroup(root: i32, span: i32): bool {
  let more = false;
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    if (!isOfGroup(n, root)) continue;
    const hold = holdOf(n);
    const before = load<i32>(hold, L.HOLD_HELD);
    if (!before) more = true;
    if (before < span) store<i32>(hold, span, L.HOLD_HELD);
    if (before < span && span === L.HELD_TICK) store<i32>(hold, load<i32>(hold, L.HOLD_TICKS) + 1, L.HOLD_TICKS);
  }
  if (more) store<i32>(front(), 1, L.FRONT_HELD_ANY);
  return more;
}

/** Returns the representative of the group with the most rows, -1: there is none. */
function fullestGroup(): i32 {
  let root = -1;
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--)
    if (load<i32>(holdOf(n), L.HOLD_ROWS) > (root < 0 ? 0 : load<i32>(holdOf(root), L.HOLD_ROWS)) && rootOf(n) === n)
      root = n;
  return root;
}

/** Holds the group with the most rows. @returns false if no group was left to hold */
export function holdFullest(): bool {
  const root = fullestGroup();
  return root >= 0 && holdGroup(root, L.HELD_TICK);
}

/**
 * Halves the displacement from S of the group with the most rows: shorter paths have fewer rows.
 * @returns false if it moves no further than its thickness, so that halving would not help
 */
export function halveFullest(): bool {
  const root = fullestGroup();
  if (root < 0 || !goesFar(root)) return false;
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  const half = f32x4.splat(0.5);
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    if (rootOf(n) !== root) continue;
    let at = <usize>load<u32>(surfaceAt(n), L.SURFACE_FIRST);
    for (let i = load<i32>(surfaceAt(n), L.SURFACE_COUNT); i > 0; i--, at += 16) {
      const x = v128.load(at);
      const S = v128.load(at + toSafe);
      if ((v128.bitmask<i32>(f32x4.eq(x, S)) & 7) === 7) continue;
      change(at);
      v128.store(at, f32x4.replace_lane(f32x4.add(S, f32x4.mul(half, f32x4.sub(x, S))), 3, f32x4.extract_lane(x, 3)));
    }
  }
  return true;
}

/** Returns whether a particle of the group moves further than its surface's contact radius. */
function goesFar(root: i32): bool {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    if (rootOf(n) !== root) continue;
    const r = load<f32>(surfaceAt(n), L.SURFACE_RADIUS);
    let at = <usize>load<u32>(surfaceAt(n), L.SURFACE_FIRST);
    for (let i = load<i32>(surfaceAt(n), L.SURFACE_COUNT); i > 0; i--, at += 16) {
      const d = f32x4.sub(v128.load(at), v128.load(at + toSafe));
      const dd = f32x4.mul(d, d);
      if (f32x4.extract_lane(dd, 0) + f32x4.extract_lane(dd, 1) + f32x4.extract_lane(dd, 2) > r * r) return true;
    }
  }
  return false;
}

/**
 * Returns the representative of a particle's group, after `countGroups`, and -1 if a particle of the group was asked
 * for before, or if it is a collider's.
 */
export function takeGroup(particle: usize): i32 {
  const row = surfaceOf(particle);
  if (load<i32>(row, L.SURFACE_SOLID) === L.SOLID_COLLIDER) return -1;
  const root = rootOf(<i32>((row - surfaceAt(0)) / L.SURFACE_BYTES));
  if (load<i32>(holdOf(root), L.HOLD_ROWS) < 0) return -1;
  store<i32>(holdOf(root), -1, L.HOLD_ROWS);
  return root;
}

/** Returns whether a surface belongs to a group and is no collider's. */
export function isOfGroup(surface: i32, root: i32): bool {
  return rootOf(surface) === root && load<i32>(surfaceAt(surface), L.SURFACE_SOLID) !== L.SOLID_COLLIDER;
}

/** Holds the groups of all particles that the response has moved. @returns as `holdFullest` */
export function holdChanged(): bool {
  let more = false;
  for (let n = 0; n < changedCount; n++) {
    const row = surfaceOf(changedParticle(n));
    const surface = <i32>((row - surfaceAt(0)) / L.SURFACE_BYTES);
    if (load<i32>(row, L.SURFACE_SOLID) !== L.SOLID_COLLIDER && !load<i32>(holdOf(surface), L.HOLD_HELD))
      more = holdGroup(rootOf(surface), L.HELD_SUBSTEP) || more;
  }
  return more;
}

/** Puts held particles to S with inverse mass 0, until `releaseHeld`. */
export function keepHeld(): void {
  if (!anyHeld()) return;
  store<i32>(front(), 0, L.FRONT_PACKED);
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    if (!load<i32>(holdOf(n), L.HOLD_HELD)) continue;
    let at = <usize>load<u32>(surfaceAt(n), L.SURFACE_FIRST);
    for (let i = load<i32>(surfaceAt(n), L.SURFACE_COUNT); i > 0; i--, at += 16) {
      change(at);
      v128.store(at, f32x4.replace_lane(v128.load(at + toSafe), 3, 0));
    }
  }
}

/** Restores inverse masses, before velocities are updated from the response's changes. */
export function releaseHeld(): void {
  if (!anyHeld()) return;
  store<i32>(front(), 0, L.FRONT_PACKED);
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--) {
    if (!load<i32>(holdOf(n), L.HOLD_HELD)) continue;
    const count = load<i32>(surfaceAt(n), L.SURFACE_COUNT);
    store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_COUNT_STOPS) + count, L.H_COUNT_STOPS);
    let at = <usize>load<u32>(surfaceAt(n), L.SURFACE_FIRST);
    for (let i = count; i > 0; i--, at += 16) store<f32>(at, load<f32>(at + toSafe, 12), 12);
  }
  release(L.HELD_SUBSTEP);
}
