/** State of each thread that steps a room. */
import { I32, I64, LANES } from "./sizes.ts";

export const MAX_THREADS = 16;

/** HELPER row, on a cache line of its own; row 0 is the orchestrator's. */
export const HELPER_LEAVES = 0; // i32: 1: the thread is needed elsewhere
// i32: 1 while it has a chunk, is about to claim one, or has not reported all finished ones
export const HELPER_CLAIMS = HELPER_LEAVES + I32;
// i64: the ticket's upper half << 32 | next chunk of this row's part of the open phase
export const HELPER_NEXT = HELPER_CLAIMS + I32;
export const HELPER_BYTES = HELPER_NEXT + I64 + 48;

/**
 * Spill area of the inversion path: F and G (9 rows each; the paper's form has P for G), energy and finished lanes,
 * then U and V (9 each) and the three singular values. Constraints too large for registers use all 48 rows. One area a
 * thread.
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
