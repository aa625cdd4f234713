/** A factor L D L^T with numbers as entries, in groups of columns (prefactored/backSolve.ts). */
import { F32, I32 } from "./sizes.ts";

/** Part of a PREFACTORED or an IMPLICIT row. */
export const FACTOR_GROUPS = 0; // i32 pointer: GROUP rows, in the order of their columns
export const FACTOR_GROUP_COUNT = FACTOR_GROUPS + I32; // i32
// i32 pointer: i32 byte offset in a vector of f32x4 of each row of each group
export const FACTOR_ENTRY_ROWS = FACTOR_GROUP_COUNT + I32;
export const FACTOR_ENTRY_COUNT = FACTOR_ENTRY_ROWS + I32; // i32 rows of all groups
export const FACTOR_ENTRIES = FACTOR_ENTRY_COUNT + I32; // i32 pointer: f32x4 for each of them, a lane a column
export const FACTOR_BYTES = FACTOR_ENTRIES + I32;

/**
 * Up to four consecutive columns of a factor L D L^T: i32 byte offset of the first in a vector, i32 number of columns,
 * i32 number of rows below; f32 entries of L between its columns, and D^-1.
 */
export const GROUP_FIRST = 0;
export const GROUP_COLUMNS = GROUP_FIRST + I32;
export const GROUP_ROWS = GROUP_COLUMNS + I32;
export const GROUP_L10 = GROUP_ROWS + I32;
export const GROUP_L20 = GROUP_L10 + F32;
export const GROUP_L21 = GROUP_L20 + F32;
export const GROUP_L30 = GROUP_L21 + F32;
export const GROUP_L31 = GROUP_L30 + F32;
export const GROUP_L32 = GROUP_L31 + F32;
export const GROUP_D0 = GROUP_L32 + F32;
export const GROUP_D1 = GROUP_D0 + F32;
export const GROUP_D2 = GROUP_D1 + F32;
export const GROUP_D3 = GROUP_D2 + F32;
export const GROUP_BYTES = GROUP_D3 + F32 + 12;
