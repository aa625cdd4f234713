/**
 * Measures the two primitives of one PAIR row, whose addresses are set: writes their gap and the unit normal between
 * them.
 */
import * as L from "../../layout/layout";
import { closestEdges, closestVertexTriangle, differenceX, differenceY, differenceZ } from "../../math/closestPoints";

// @inline
function position(row: usize, corner: usize, shift: usize): v128 {
  return v128.load(<usize>load<u32>(row + (corner << 2), L.PAIR_ADDRESS) + shift);
}

/** Writes normal and gap of a pair from the difference of closestPoints.ts and its square. */
// @inline
export function writeMeasured(row: usize, x: f64, y: f64, z: f64, squared: f64): void {
  const gap = Math.sqrt(squared);
  const scale = gap > 0 ? 1 / gap : 0;
  store<f32>(row, <f32>(x * scale), L.PAIR_NORMAL);
  store<f32>(row, <f32>(y * scale), L.PAIR_NORMAL + 4);
  store<f32>(row, <f32>(z * scale), L.PAIR_NORMAL + 8);
  store<f32>(row, <f32>gap, L.PAIR_GAP);
}

/**
 * Measures a row of vertex and triangle. If they touch, gap and normal are 0.
 * @param shift offset from X to the array of positions to measure in
 * @returns the squared distance, m^2
 */
export function measureVertexTriangle(row: usize, shift: usize): f64 {
  const squared = closestVertexTriangle(
    position(row, 0, shift),
    position(row, 1, shift),
    position(row, 2, shift),
    position(row, 3, shift),
  );
  writeMeasured(row, differenceX, differenceY, differenceZ, squared);
  return squared;
}

/** Measures a row of two edges; @see measureVertexTriangle */
export function measureEdges(row: usize, shift: usize): f64 {
  const squared = closestEdges(
    position(row, 0, shift),
    position(row, 1, shift),
    position(row, 2, shift),
    position(row, 3, shift),
  );
  writeMeasured(row, differenceX, differenceY, differenceZ, squared);
  return squared;
}
