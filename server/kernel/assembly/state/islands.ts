/**
 * Islands: bodies that exchange momentum, because the pair list has them near each other or a ball touches them.
 * Union-find over body numbers, in the BODY rows; the body with the smallest number represents its island.
 */
import * as L from "../layout/layout";

/** Root of the union-find over body numbers: the smallest of them. */
export function islandOf(rows: usize, body: u32): u32 {
  let b = body;
  while (load<u32>(rows + <usize>b * L.BODY_BYTES, L.BODY_ISLAND) !== b)
    b = load<u32>(rows + <usize>b * L.BODY_BYTES, L.BODY_ISLAND);
  return b;
}

/** Resets the neighbors for a new pair list. */
export function forgetListed(): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const bodies = load<i32>(L.HEADER, L.H_BODY_COUNT);
  for (let b = 0; b < bodies; b++) {
    store<i32>(rows + <usize>b * L.BODY_BYTES, b, L.BODY_LISTED);
    store<i32>(rows + <usize>b * L.BODY_BYTES, 0, L.BODY_AGAINST);
  }
}

/**
 * Records that two surfaces are near each other.
 * @param both numbers of the two surfaces, first << 16 | second
 * @returns whether that is new
 */
function noteBoth(rows: usize, bodies: u32, both: u32): bool {
  const a = both >> 16;
  const b = both & 0xffff;
  if (a === b) return false;
  if (a >= bodies || b >= bodies) {
    const row = rows + <usize>min<u32>(a, b) * L.BODY_BYTES;
    const known = load<i32>(row, L.BODY_AGAINST);
    store<i32>(row, 1, L.BODY_AGAINST);
    return !known;
  }
  const first = listedWith(rows, a);
  const second = listedWith(rows, b);
  store<u32>(rows + <usize>max<u32>(first, second) * L.BODY_BYTES, min<u32>(first, second), L.BODY_LISTED);
  return first !== second;
}

/** Records that two surfaces are near each other (noteBoth), for the current BODY rows. */
export function noteSurfaces(both: u32): bool {
  return noteBoth(<usize>load<u32>(L.HEADER, L.H_BODIES), <u32>load<i32>(L.HEADER, L.H_BODY_COUNT), both);
}

function listedWith(rows: usize, body: u32): u32 {
  let b = body;
  while (load<u32>(rows + <usize>b * L.BODY_BYTES, L.BODY_LISTED) !== b)
    b = load<u32>(rows + <usize>b * L.BODY_BYTES, L.BODY_LISTED);
  return b;
}

/** Joins the islands of two bodies that exchange momentum. */
export function join(rows: usize, a: u32, b: u32): void {
  const first = islandOf(rows, a);
  const second = islandOf(rows, b);
  if (first === second) return;
  store<i32>(rows + <usize>a * L.BODY_BYTES, 0, L.BODY_FREE);
  store<i32>(rows + <usize>b * L.BODY_BYTES, 0, L.BODY_FREE);
  store<i32>(rows + <usize>max<u32>(first, second) * L.BODY_BYTES, min<u32>(first, second), L.BODY_ISLAND);
}

/** Marks a body that exchanges momentum with a fixed object. */
// @inline
export function meetsFixed(row: usize): void {
  store<i32>(row, 0, L.BODY_FREE);
  store<i32>(row, load<i32>(row, L.BODY_HELD) | 2, L.BODY_HELD);
}

/** Returns whether body number b represents an island of several bodies, none of them held or rigid. */
export function standsForIsland(rows: usize, b: i32): bool {
  return !load<i32>(rows + <usize>b * L.BODY_BYTES, L.BODY_HELD) && standsForSeveral(rows, b);
}

/** Returns whether a body or one of its island is held, or may reach something fixed. @param row BODY row */
export function reachesFixed(row: usize): bool {
  const island = <usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>load<i32>(row, L.BODY_ISLAND) * L.BODY_BYTES;
  return (load<i32>(island, L.BODY_HELD) & 3) !== 0;
}

/** Returns whether the solve must conserve the momentum of the bodies that body number b represents. */
export function keepsMomentum(rows: usize, b: i32): bool {
  return load<i32>(rows + <usize>b * L.BODY_BYTES, L.BODY_FREE) !== 0 || standsForIsland(rows, b);
}

/** Returns whether body number b represents an island of several bodies, one of them rigid. */
export function standsForRigid(rows: usize, b: i32): bool {
  return load<i32>(rows + <usize>b * L.BODY_BYTES, L.BODY_HELD) === L.HELD_RIGID && standsForSeveral(rows, b);
}

function standsForSeveral(rows: usize, b: i32): bool {
  const row = rows + <usize>b * L.BODY_BYTES;
  if (load<i32>(row, L.BODY_ISLAND) !== b) return false;
  for (let n = b + 1; n < load<i32>(L.HEADER, L.H_BODY_COUNT); n++)
    if (load<i32>(rows + <usize>n * L.BODY_BYTES, L.BODY_ISLAND) === b) return true;
  return false;
}

/** Returns whether the room has a pile: pairs keep their pushes (contact/solve/piles.ts). */
// @inline
export function hasLoads(): bool {
  return load<i32>(L.HEADER, L.H_PRESSED) === L.PILES;
}
