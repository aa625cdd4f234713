/** Angular velocity of a body or island for a given angular momentum: w = I^-1 L about its center. */
import * as L from "../layout/layout";
import { lowFrom, word } from "../math/places";

/** Mass of the last measured island, kg, and its center relative to its first particle, m. */
export let mass: f64, centerX: f64, centerY: f64, centerZ: f64;
/** Its sum m x x^T, kg m^2, relative to its first particle. */
let sumXX: f64;
let sumYY: f64;
let sumZZ: f64;
let sumXY: f64;
let sumXZ: f64;
let sumYZ: f64;

/** Results of `findTurn`, 1/s. */
export let turnX: f64 = 0;
export let turnY: f64 = 0;
export let turnZ: f64 = 0;

/** Number of an island that is one body, without its neighbors. */
export const ALONE = -1;

/** Returns whether a row from the island's own on belongs to it. */
// @inline
export function isIn(row: usize, island: i32): bool {
  return island === ALONE || load<i32>(row, L.BODY_ISLAND) === island;
}

/** Returns the number of rows from `row` on that contain the island's bodies: a free body has one row. */
// @inline
export function bodiesOf(row: usize, island: i32): i32 {
  return island === ALONE || load<i32>(row, L.BODY_FREE) ? 1 : load<i32>(L.HEADER, L.H_BODY_COUNT) - island;
}

/** Measures mass, center and inertia at x of the island that body number `island` represents. */
export function measureIsland(row: usize, island: i32): void {
  const bodies = bodiesOf(row, island);
  const first = <usize>load<u32>(row, L.BODY_FIRST);
  const toLow = lowFrom();
  // relative to the first particle, to keep digits
  const ox: f64 = load<f32>(first);
  const oy: f64 = load<f32>(first, 4);
  const oz: f64 = load<f32>(first, 8);
  let M: f64 = 0;
  let sx: f64 = 0;
  let sy: f64 = 0;
  let sz: f64 = 0;
  let xx: f64 = 0;
  let yy: f64 = 0;
  let zz: f64 = 0;
  let xy: f64 = 0;
  let xz: f64 = 0;
  let yz: f64 = 0;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (!isIn(other, island)) continue;
    for (let i = load<i32>(other, L.BODY_COUNT), at = <usize>load<u32>(other, L.BODY_FIRST); i > 0; i--, at += 16) {
      const m = 1.0 / <f64>load<f32>(at, 12);
      const x = <f64>load<f32>(at) - ox + word(at, toLow);
      const y = <f64>load<f32>(at, 4) - oy + word(at + 4, toLow);
      const z = <f64>load<f32>(at, 8) - oz + word(at + 8, toLow);
      M += m;
      sx += m * x;
      sy += m * y;
      sz += m * z;
      xx += m * x * x;
      yy += m * y * y;
      zz += m * z * z;
      xy += m * x * y;
      xz += m * x * z;
      yz += m * y * z;
    }
  }
  mass = M;
  centerX = sx / M;
  centerY = sy / M;
  centerZ = sz / M;
  sumXX = xx;
  sumYY = yy;
  sumZZ = zz;
  sumXY = xy;
  sumXZ = xz;
  sumYZ = yz;
}

/**
 * Finds the angular velocity of the measured island: I = tr(Q) - Q, Q = sum m (x - c)(x - c)^T = sum m x x^T - M c c^T.
 * @param gx, gy, gz f64 kg m^2/s, about c
 */
export function findTurn(gx: f64, gy: f64, gz: f64): void {
  const xx = sumXX - mass * centerX * centerX;
  const yy = sumYY - mass * centerY * centerY;
  const zz = sumZZ - mass * centerZ * centerZ;
  const xy = sumXY - mass * centerX * centerY;
  const xz = sumXZ - mass * centerX * centerZ;
  const yz = sumYZ - mass * centerY * centerZ;
  const i00 = yy + zz;
  const i11 = xx + zz;
  const i22 = xx + yy;
  const i01 = -xy;
  const i02 = -xz;
  const i12 = -yz;
  const k00 = i11 * i22 - i12 * i12;
  const k01 = i02 * i12 - i01 * i22;
  const k02 = i01 * i12 - i02 * i11;
  const k11 = i00 * i22 - i02 * i02;
  const k12 = i01 * i02 - i00 * i12;
  const k22 = i00 * i11 - i01 * i01;
  const determinant = i00 * k00 + i01 * k01 + i02 * k02;
  const trace = i00 + i11 + i22;
  // the rotation of a straight body about its line is undetermined
  const inverse: f64 = determinant > 1e-9 * trace * trace * trace ? 1.0 / determinant : 0.0;
  turnX = inverse * (k00 * gx + k01 * gy + k02 * gz);
  turnY = inverse * (k01 * gx + k11 * gy + k12 * gz);
  turnZ = inverse * (k02 * gx + k12 * gy + k22 * gz);
}
