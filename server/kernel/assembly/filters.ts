/** Who may touch whom (sim/memory/filters.ts): tables of bytes, 1 where two may touch; no table (0): all. */
import { SURFACE_MEETS } from "./layout";

/** May the surface at `row` touch surface number `other`? */
@inline export function meetsSurface(row: usize, other: i32): bool {
  return meets(load<u32>(row, SURFACE_MEETS), other);
}

@inline export function meets(table: usize, other: i32): bool {
  return !table || load<u8>(table + <usize>other) != 0;
}
