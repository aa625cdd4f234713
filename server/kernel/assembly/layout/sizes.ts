/** Sizes of the fields of rows, in bytes. */
export const I32 = 4; // also addresses
export const F32 = 4;
export const I64 = 8;
export const F64 = 8;
/** Four lanes of 32 bits. */
export const LANES = 16;
