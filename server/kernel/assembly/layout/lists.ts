/** Lists that grow (contact/prepare/listMemory.ts). */
import { I32 } from "./sizes.ts";

/** Kinds: lists of a kind have one capacity. */
export const LIST_LEAF_PAIRS = 0; // LEAF_PAIR rows
export const LIST_PAIR_RESULTS = 1; // words of FRONT_RESULTS
export const LIST_ROWS = 2; // PAIR rows, edge-edge at the end
export const LIST_SEPARATED = 3; // SEPARATED rows; those to split are at the end
export const LIST_BLOCKS = 4; // contact blocks, edge-edge at the end
export const LIST_SOLVED = 5; // packed contact blocks that are solved
export const LIST_PICKED = 6; // lanes of near pairs
export const LIST_KINDS = 7;
// Rows of implicit bodies (ROW). This list does not grow; H_LISTS_FULL has its bit behind those of the others.
export const LIST_IMPLICIT = LIST_KINDS;

export const LIST_POINTER = 0; // i32 address of the word that points to the list
export const LIST_KIND = LIST_POINTER + I32; // i32
export const LIST_UNIT = LIST_KIND + I32; // i32 bytes for each unit of the kind's capacity
export const LIST_BYTES = LIST_UNIT + I32 + 4;

export const GROWTH_CAPACITY = 0; // i32 address of the word with the capacity
export const GROWTH_MOST = GROWTH_CAPACITY + I32; // i32 largest capacity that numbers in other lists can address
export const GROWTH_PEAK = GROWTH_MOST + I32; // i32 most units in use since the room began
export const GROWTH_BYTES = GROWTH_PEAK + I32 + 4;
