/**
 * Rows that the measuring of leaves finds (frontMeasure.ts): straight into the list (frontRows.ts), or noted, so that
 * several threads may measure at once, and given to the list later, in the order of the front.
 */
import { edgeRow, vertexRow } from "./frontRows";

/** Names of rows in a pair of leaves: vertex and triangle, those of the second leaf's vertices, edges. */
export const LEAF_MOST = 12;
export const SWAPPED_NAME = 4 * LEAF_MOST;
export const EDGE_NAME = 8 * LEAF_MOST;

/** i32 name, i32x4 particle addresses. */
const FOUND_BYTES: usize = 20;

// where the next one goes and the end of the memory; 0: straight into the list
let next: usize = 0;
let end: usize = 0;
/** Some of what was found since `openFound` did not fit. */
export let missed = false;

/** From now on rows are noted from `from` on. */
export function openFound(from: usize, to: usize): void {
  next = from;
  end = to;
  missed = false;
}

/** Rows go into the list again. @returns where those that are noted end */
export function closeFound(): usize {
  const at = next;
  next = 0;
  return at;
}

/** A row of these particles: one and a triangle's three, or two edges' ends. */
export function foundRow(p: u32, q: u32, r: u32, s: u32, name: i32): void {
  if (!next) {
    give(p, q, r, s, name);
    return;
  }
  if (next + FOUND_BYTES > end) {
    missed = true;
    return;
  }
  store<i32>(next, name);
  store<u32>(next, p, 4);
  store<u32>(next, q, 8);
  store<u32>(next, r, 12);
  store<u32>(next, s, 16);
  next += FOUND_BYTES;
}

function give(p: u32, q: u32, r: u32, s: u32, name: i32): void {
  if (name < EDGE_NAME) vertexRow(p, q, r, s, name >= SWAPPED_NAME, name);
  else edgeRow(p, q, r, s, name);
}

/** What was noted from `from` to `to` goes into the list. */
export function giveFound(from: usize, to: usize): void {
  for (let at = from; at < to; at += FOUND_BYTES)
    give(load<u32>(at, 4), load<u32>(at, 8), load<u32>(at, 12), load<u32>(at, 16), load<i32>(at));
}
