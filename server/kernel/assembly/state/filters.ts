/**
 * Collision filters (sim/memory/contact/filters.ts): tables of bytes, 1 for pairs that may touch; no table (0): all
 * may.
 */
import * as L from "../layout/layout";

/**
 * Returns whether the surface at `row` may touch surface number `other`, and contact between them has not been switched
 * off for an intersection.
 */
// @inline
export function meetsSurface(row: usize, other: i32): bool {
  const may = load<u8>(<usize>load<u32>(row, L.SURFACE_MEETS) + <usize>other);
  return may === L.MEETS || may === L.MEETS_MARKED;
}

// @inline
export function meets(table: usize, other: i32): bool {
  return !table || load<u8>(table + <usize>other) !== 0;
}
