/** Plans and writes factors in groups of columns (kernel/assembly/prefactored/backSolve.ts). */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../../kernel/assembly/layout/sizes.ts";
import type { Factor } from "../../implicit/factor.ts";
import { groupColumns } from "../../prefactored/groups.ts";
import type { Allocator } from "../memoryMap.ts";

/** Writes a planned factor and its FACTOR block at this address. */
export type WriteFactor = (buffer: ArrayBufferLike, at: number) => void;

export function planFactor(factor: Factor, allocator: Allocator): WriteFactor {
  const { groups, rows, entries } = groupColumns(factor);
  const groupRows = allocator.take(L.GROUP_BYTES * groups.length);
  const entryRows = allocator.take(rows.byteLength);
  const numbers = allocator.take(entries.byteLength);
  return (buffer, at) => {
    const view = new DataView(buffer);
    const integer = (field: number, value: number): void => view.setInt32(at + field, value, true);
    integer(L.FACTOR_GROUPS, groupRows);
    integer(L.FACTOR_GROUP_COUNT, groups.length);
    integer(L.FACTOR_ENTRY_ROWS, entryRows);
    integer(L.FACTOR_ENTRY_COUNT, rows.length);
    integer(L.FACTOR_ENTRIES, numbers);
    new Uint32Array(buffer, entryRows, rows.length).set(rows.map((row) => LANES * row));
    new Float32Array(buffer, numbers, entries.length).set(entries);
    groups.forEach((group, n) => {
      const row = groupRows + n * L.GROUP_BYTES;
      view.setInt32(row + L.GROUP_FIRST, LANES * group.first, true);
      view.setInt32(row + L.GROUP_COLUMNS, group.columns, true);
      view.setInt32(row + L.GROUP_ROWS, group.rows, true);
      group.within.forEach((value, k) => view.setFloat32(row + L.GROUP_L10 + 4 * k, value, true));
      group.diagonal.forEach((value, k) => view.setFloat32(row + L.GROUP_D0 + 4 * k, value, true));
    });
  };
}
