/** What each thread that steps a room has of its own. */
import { I32, I64, LANES } from "./sizes.ts";

export const MAX_THREADS = 16;

/** On a cache line of its own; row 0 is the orchestrator's. */
export const HELPER_LEAVES = 0; // i32: 1: it is wanted elsewhere
// i32: 1 while it has a chunk, is about to claim one, or has not told of all that it has done
export const HELPER_CLAIMS = HELPER_LEAVES + I32;
// i64: the ticket's upper half << 32 | next chunk of this row's part of what is open
export const HELPER_NEXT = HELPER_CLAIMS + I32;
export const HELPER_BYTES = HELPER_NEXT + I64 + 48;

/**
 * The inversion path's spill: F and G (9 rows each); the paper's form has P for G, then E and which lanes are done,
 * then come U and V (9 each) and the three singular values. Constraints that are too large for registers have all
 * 48 rows to themselves. One area a thread.
 */
export const SCRATCH_F = 0;
export const SCRATCH_P = SCRATCH_F + 9 * LANES;
export const SCRATCH_G = SCRATCH_P;
export const SCRATCH_ENERGY = SCRATCH_P + 9 * LANES;
export const SCRATCH_DONE = SCRATCH_ENERGY + LANES;
export const SCRATCH_U = SCRATCH_DONE + LANES;
export const SCRATCH_V = SCRATCH_U + 9 * LANES;
export const SCRATCH_SIGMA = SCRATCH_V + 9 * LANES;
export const SCRATCH_BYTES = SCRATCH_SIGMA + 10 * LANES;
