/** Who may touch whom (sim/memory/filters.ts): tables of bytes, 1 where two may touch; no table (0): all. */
import { SURFACE_MEETS, MEETS, MEETS_MARKED } from "../layout/layout";

/**
 * May the surface at `row` touch surface number `other`, and are the two not so tangled that contact between them is
 * off?
 */
// @inline
export function meetsSurface(row: usize, other: i32): bool {
  const may = load<u8>(<usize>load<u32>(row, SURFACE_MEETS) + <usize>other);
  return may === MEETS || may === MEETS_MARKED;
}

// @inline
export function meets(table: usize, other: i32): bool {
  return !table || load<u8>(table + <usize>other) !== 0;
}
