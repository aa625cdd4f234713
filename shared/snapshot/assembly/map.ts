/** Memory addresses, set once by ../kernel.ts. */
import { COORDINATE_LIMIT, FIRST_SHIFTED_BIN, GROWTH_LIMIT, LAST_BIN, RESIDUAL_LIMIT, ROUNDER } from "./constants";

export let bodies: i32 = 0;
export let starts: usize = 0;
/**
 * By rank: addresses of four neighbors and six corners of gates among `particles`, counts of both as u16, offset of the
 * particle in a frame.
 */
export let records: usize = 0;
export const RECORD_BYTES: usize = 48;
/**
 * By rank: f32x4 displacement x, y, z, unused; i32x4 previous position x, y, z, unused; f32 activity; f32 stretch. One
 * additional entry stays 0, for absent neighbors and gates. The displacement has its own vector, because the next
 * particle depends on it.
 */
export let particles: usize = 0;
export const PARTICLE_BYTES: usize = 48;
/** int32[3*total], by particle. */
export let previous: usize = 0;
export let current: usize = 0;
/** Per context and symbol 16 bytes: u16 start, u16 frequency, u32 reciprocal, u32 its shift, u32 unused. */
export let coding: usize = 0;
/** Starts of a context's symbols, u16, 64 bytes a context: the decoder searches them. */
export let search: usize = 0;
/** u32 symbols and raw values of the frame being encoded. */
export let symbols: usize = 0;
export let bytes: usize = 0;
export let capacity: usize = 0;

/** f32[5]: 1/k, 0 for k = 0. v128[5]: all bits set in the first k lanes. */
export const INVERSES: usize = 16;
export const MASKS: usize = 48;
/** Constants in all four lanes. V8 rebuilds a vector literal with three instructions at each use; a load is one. */
export const ONES: usize = 128;
export const HALVES: usize = 144;
export const EIGHTS: usize = 160;
export const ROUNDERS: usize = 176;
export const LAST_BINS: usize = 192;
export const UNSHIFTED: usize = 208;
export const FOURS: usize = 224;
export const SEVENS: usize = 240;
export const RESIDUALS: usize = 256;
export const SYMBOL_LIMITS: usize = 272;
export const COORDINATES: usize = 288;
export const RANGES: usize = 304;
export const GROWTHS: usize = 320;

export function setMap(
  bodyCount: i32,
  startsAt: usize,
  recordsAt: usize,
  particlesAt: usize,
  previousAt: usize,
  currentAt: usize,
): void {
  bodies = bodyCount;
  starts = startsAt;
  records = recordsAt;
  particles = particlesAt;
  previous = previousAt;
  current = currentAt;
  for (let k: usize = 0; k < 5; k++) {
    store<f32>(INVERSES + 4 * k, k === 0 ? 0 : <f32>1 / <f32>k);
    for (let lane: usize = 0; lane < 4; lane++) store<i32>(MASKS + 16 * k + 4 * lane, lane < k ? -1 : 0);
  }
  v128.store(ONES, f32x4.splat(1));
  v128.store(HALVES, f32x4.splat(0.5));
  v128.store(EIGHTS, f32x4.splat(8));
  v128.store(ROUNDERS, f32x4.splat(ROUNDER));
  v128.store(LAST_BINS, i32x4.splat(LAST_BIN));
  v128.store(UNSHIFTED, i32x4.splat(FIRST_SHIFTED_BIN - 1));
  v128.store(FOURS, i32x4.splat(4));
  v128.store(SEVENS, i32x4.splat(7));
  v128.store(RESIDUALS, i32x4.splat(RESIDUAL_LIMIT));
  v128.store(SYMBOL_LIMITS, i32x4.splat(2 * RESIDUAL_LIMIT));
  v128.store(COORDINATES, i32x4.splat(COORDINATE_LIMIT));
  v128.store(GROWTHS, f32x4.splat(GROWTH_LIMIT));
  v128.store(RANGES, i32x4.splat(2 * COORDINATE_LIMIT));
}

export function setBuffers(
  codingAt: usize,
  searchAt: usize,
  symbolsAt: usize,
  bytesAt: usize,
  capacityBytes: usize,
): void {
  coding = codingAt;
  search = searchAt;
  symbols = symbolsAt;
  bytes = bytesAt;
  capacity = capacityBytes;
}
