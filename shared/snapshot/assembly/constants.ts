/** The numbers of ../format.ts with AssemblyScript types; tests/shared/snapshot/parity.test.ts detects differences. */
export const COORDINATE_LIMIT: i32 = 268435455;
/** 1.5 * 2^23: adding it rounds to integers. */
export const ROUNDER: f32 = 12582912;
export const ROUNDER_BITS: i32 = 0x4b400000;
export const TABLE_BITS: i32 = 14;
export const STATE_FLOOR: u32 = 32768;
export const FIRST_ACTIVITY: f32 = 64;
export const GATE_SHARE: f32 = 0.8;
export const ACTIVITY_GATES: f32 = 1152;
export const EDGE_WEIGHT_LIMIT: f32 = 32;
export const GROWTH_LIMIT: f32 = 4;
export const STRETCH_SCALE: f32 = 576;
export const STRETCH_OFFSET: f32 = 58;
export const STRETCH_LIMIT: f32 = 1152921504606846976;
export const FIRST_SHIFTED_BIN: i32 = 14;
export const LAST_BIN: i32 = 40;
export const RESIDUAL_LIMIT: i32 = 15;
export const ESCAPE: i32 = 31;
export const SYMBOLS: i32 = 32;
export const FLAG_CONTEXT: i32 = 114;
