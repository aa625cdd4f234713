/**
 * Rows found by measuring leaves (measureLeaves.ts). They go straight into the list (rows.ts), or are recorded, so
 * that several threads can measure at once. Recorded rows enter the list later, in the order of the front.
 */
import { edgeRow, vertexRow } from "../prepare/rows";

/**
 * Names of the rows of a leaf pair. From 0: vertices of the first leaf with triangles of the second. From SWAPPED_NAME:
 * vertices of the second leaf. From EDGE_NAME: edges.
 */
export const LEAF_MOST = 12;
export const SWAPPED_NAME = 4 * LEAF_MOST;
export const EDGE_NAME = 8 * LEAF_MOST;

/** i32 name, i32x4 particle addresses. */
const FOUND_BYTES: usize = 20;

// address of the next recorded row, and end of the memory; 0: rows go straight into the list
let next: usize = 0;
let end: usize = 0;
/** True if rows found since `openResults` did not fit. */
export let missed = false;

/** Starts recording rows between `from` and `to`. */
export function openResults(from: usize, to: usize): void {
  next = from;
  end = to;
  missed = false;
}

/** Ends recording: rows go straight into the list again. @returns end of the recorded rows */
export function closeResults(): usize {
  const at = next;
  next = 0;
  return at;
}

/** Adds a row of these particles: a vertex and a triangle's corners, or the ends of two edges. */
export function addResult(p: u32, q: u32, r: u32, s: u32, name: i32): void {
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

/** Puts rows recorded between `from` and `to` into the list. */
export function applyResults(from: usize, to: usize): void {
  for (let at = from; at < to; at += FOUND_BYTES)
    give(load<u32>(at, 4), load<u32>(at, 8), load<u32>(at, 12), load<u32>(at, 16), load<i32>(at));
}
