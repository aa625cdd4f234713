/** What fields of rows are made of, in bytes. */
export const I32 = 4; // and addresses
export const F32 = 4;
export const I64 = 8;
export const F64 = 8;
/** Four lanes of 32 bits. */
export const LANES = 16;
