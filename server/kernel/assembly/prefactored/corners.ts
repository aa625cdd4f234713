/** Corners of four elements: edges between them, and forces on their columns. */
import { between, firstHalves, high, low, secondHalves, sub } from "../math/lanes";

/** Sum of four lanes, in order. */
// @inline
export function sumOf(a: v128): f64 {
  return (
    <f64>f32x4.extract_lane(a, 0) +
    <f64>f32x4.extract_lane(a, 1) +
    <f64>f32x4.extract_lane(a, 2) +
    <f64>f32x4.extract_lane(a, 3)
  );
}

/** Subtracts four forces from the columns whose addresses are stored at `at`. */
// @inline
export function subtract(at: usize, x: v128, y: v128, z: v128): void {
  const none = f32x4.splat(0);
  const xyLow = low(x, y);
  const zLow = low(z, none);
  const xyHigh = high(x, y);
  const zHigh = high(z, none);
  subtractOne(<usize>load<u32>(at, 0), firstHalves(xyLow, zLow));
  subtractOne(<usize>load<u32>(at, 4), secondHalves(xyLow, zLow));
  subtractOne(<usize>load<u32>(at, 8), firstHalves(xyHigh, zHigh));
  subtractOne(<usize>load<u32>(at, 12), secondHalves(xyHigh, zHigh));
}

/** Returns the position of one corner minus that of another. @param from, to where a row stores their addresses */
// @inline
export function edge(at: usize, from: usize, to: usize, by: usize, lows: usize): v128 {
  return between(<usize>load<u32>(at + from) + by, <usize>load<u32>(at + to) + by, lows - by);
}

// @inline
function subtractOne(at: usize, force: v128): void {
  v128.store(at, sub(v128.load(at), force));
}
