/** Shared code of ccd.ts and ccdRefine.ts: f64x2 lanes that hold a number at t0 and at t1. */

/** Loads the coordinate at byte offset `byte` of a query of four points at t0, then at t1, scaled. */
// @inline
export function at(q: usize, byte: usize, scale: v128): v128 {
  return f64x2.mul(v128.load_lane<f64>(q + byte, v128.load_zero<f64>(q + byte), 1, 96), scale);
}

// @inline
export function swap(x: v128): v128 {
  return v128.shuffle<f64>(x, x, 1, 0);
}
