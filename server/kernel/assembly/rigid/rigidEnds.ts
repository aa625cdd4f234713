/**
 * Rigid bodies that a weighted point holds (points.ts). They move as wholes: with its particle's mass alone a body
 * would seem light. With c the displacement of the point, r from a body's center to it, J = I^-1 and b the body's
 * weight,
 *   K L = -c,  K = W + sum b^2 (1/M - [r] J [r]),  push += b L/M,  twist += b J (r0 x L)
 * with r0 the arm at the start of the substep, as in RATTLE (Andersen 1983). With r, the arm at its end, an undamped
 * rod of 1 m gained 1.8 % of its energy a second with 20 substeps.
 * Velocities are solved like positions at the end of the substep, with r: held points rest (points/pointSpeeds.ts).
 * Without that, the next substep would begin with the error of this one, omega^2 h of its own velocity.
 */
import * as L from "../layout/layout";
import { ROTATION_SCRATCH } from "../math/rotation";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { rigidOf } from "../state/owners";
import { measure, moveByPushes, pushAt } from "./rigidBody";

export { rigidOf } from "../state/owners";

/** Most rigid bodies that a point holds. */
const MOST = 2;
/** Rounding of a sum of weights that is 0: both sides of the point are on this body, and no push moves them apart. */
const NOTHING: f64 = 1e-6;

// an end: SHAPE row; sum b; f64x3 sum b r; f64x3 the arm of pushes, sum b r0 or sum b r
const ROW: usize = 0;
const WEIGHT: usize = 8;
const ARM: usize = 16;
const START: usize = 40;
const END_BYTES: usize = 64;

/** Ends of the current point. */
let list: usize = 0;
let ends = 0;

/** Returns whether a point holds a rigid body. @param at POINT slot */
export function holdsRigid(at: usize): bool {
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--)
    if (rigidOf(<usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS))) return true;
  return false;
}

/**
 * Finds the rigid bodies that a point holds.
 * @param speeds whether pushes are for velocities; scratch this thread's SCRATCH_BYTES
 * @returns sum of their weighted displacement by pushes so far, m
 */
export function openRigid(at: usize, scratch: usize, speeds: bool): v128 {
  list = scratch + ROTATION_SCRATCH;
  ends = 0;
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const row = rigidOf(particle);
    const end = row ? endOf(row) : 0;
    if (!end) continue;
    if (!load<i32>(row, L.SHAPE_MEASURED)) {
      store<i32>(row, 1, L.SHAPE_MEASURED);
      measure(row, scratch);
    }
    addArm(end, row, particle, <f64>load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT), speeds);
  }
  if (ends === 1 && abs<f64>(load<f64>(list, WEIGHT)) < NOTHING) ends = 0;
  let x: f64 = 0;
  let y: f64 = 0;
  let z: f64 = 0;
  for (let n = 0, end = list; n < ends; n++, end += END_BYTES) {
    const row = <usize>load<u32>(end, ROW);
    const b = load<f64>(end, WEIGHT);
    const tx = load<f64>(row, L.SHAPE_TWIST);
    const ty = load<f64>(row, L.SHAPE_TWIST + 8);
    const tz = load<f64>(row, L.SHAPE_TWIST + 16);
    const rx = load<f64>(end, ARM);
    const ry = load<f64>(end, ARM + 8);
    const rz = load<f64>(end, ARM + 16);
    x += b * load<f64>(row, L.SHAPE_PUSH) + ty * rz - tz * ry;
    y += b * load<f64>(row, L.SHAPE_PUSH + 8) + tz * rx - tx * rz;
    z += b * load<f64>(row, L.SHAPE_PUSH + 16) + tx * ry - ty * rx;
  }
  return f32x4(<f32>x, <f32>y, <f32>z, 0);
}

/** Returns the current point's end at a rigid body, a new one if there is none; 0: no room. */
function endOf(row: usize): usize {
  let end = list;
  for (let n = 0; n < ends; n++, end += END_BYTES) if (<usize>load<u32>(end, ROW) === row) return end;
  if (ends === MOST) return 0;
  ends++;
  memory.fill(end, 0, END_BYTES);
  store<u32>(end, <u32>row, ROW);
  return end;
}

/** Adds a particle of weight b to an end. */
function addArm(end: usize, row: usize, particle: usize, b: f64, speeds: bool): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  const prevLow = lowPrevFrom() - toPrev;
  store<f64>(end, load<f64>(end, WEIGHT) + b, WEIGHT);
  for (let r: usize = 0; r < 3; r++) {
    const c = load<f64>(row + (r << 3), L.SHAPE_CENTER);
    const at = particle + (r << 2);
    const arm = b * (place(at, toLow) - c);
    const start = speeds ? arm : b * (place(at + toPrev, prevLow) - (c - load<f64>(row + (r << 3), L.SHAPE_SHIFT)));
    store<f64>(end + (r << 3), load<f64>(end + (r << 3), ARM) + arm, ARM);
    store<f64>(end + (r << 3), load<f64>(end + (r << 3), START) + start, START);
  }
}

// K of the current point, symmetric
let k00: f64 = 0;
let k01: f64 = 0;
let k02: f64 = 0;
let k11: f64 = 0;
let k12: f64 = 0;
let k22: f64 = 0;

/**
 * Finds K of the current point. @param W 1/kg of everything else, with the compliance
 * @returns a third of its trace, 1/kg
 */
export function findResponse(W: f32): f32 {
  k00 = k11 = k22 = W;
  k01 = k02 = k12 = 0;
  for (let n = 0, end = list; n < ends; n++, end += END_BYTES) {
    const row = <usize>load<u32>(end, ROW);
    const b = load<f64>(end, WEIGHT);
    const w = b * b * load<f64>(row, L.SHAPE_INVERSE_MASS);
    const I = row + L.SHAPE_INVERSE_INERTIA;
    // [r]^T J [r]: the columns of J [r], then their cross products with r
    const a = load<f64>(I);
    const c = load<f64>(I, 8);
    const d = load<f64>(I, 16);
    const e = load<f64>(I, 24);
    const f = load<f64>(I, 32);
    const g = load<f64>(I, 40);
    const x = load<f64>(end, ARM);
    const y = load<f64>(end, ARM + 8);
    const z = load<f64>(end, ARM + 16);
    k00 += w + z * (c * z - g * y) - y * (g * z - d * y);
    k01 += -z * (e * z - g * x) + y * (f * z - d * x);
    k02 += z * (e * y - c * x) - y * (f * y - g * x);
    k11 += w + z * (a * z - f * x) - x * (f * z - d * x);
    k12 += -z * (a * y - e * x) + x * (f * y - g * x);
    k22 += w + y * (a * y - e * x) - x * (e * y - c * x);
  }
  return <f32>((k00 + k11 + k22) / 3);
}

/** Returns K^-1 c for the displacement c of a point. */
export function multiplierFor(c: v128): v128 {
  if (!ends) return f32x4.div(c, f32x4.splat(<f32>k00));
  const c00 = k11 * k22 - k12 * k12;
  const c01 = k02 * k12 - k01 * k22;
  const c02 = k01 * k12 - k02 * k11;
  const scale = 1 / (k00 * c00 + k01 * c01 + k02 * c02);
  const cx = <f64>f32x4.extract_lane(c, 0);
  const cy = <f64>f32x4.extract_lane(c, 1);
  const cz = <f64>f32x4.extract_lane(c, 2);
  return f32x4(
    <f32>(scale * (c00 * cx + c01 * cy + c02 * cz)),
    <f32>(scale * (c01 * cx + (k00 * k22 - k02 * k02) * cy + (k01 * k02 - k00 * k12) * cz)),
    <f32>(scale * (c02 * cx + (k01 * k02 - k00 * k12) * cy + (k00 * k11 - k01 * k01) * cz)),
    0,
  );
}

/** Pushes the current point's rigid bodies by a change of its multiplier. */
export function pushRigid(change: v128): void {
  for (let n = 0, end = list; n < ends; n++, end += END_BYTES) {
    const row = <usize>load<u32>(end, ROW);
    const b = load<f64>(end, WEIGHT);
    const x = load<f64>(end, START) / b;
    const y = load<f64>(end, START + 8) / b;
    const z = load<f64>(end, START + 16) / b;
    pushAt(row, x, y, z, 1, 0, 0, b * <f64>f32x4.extract_lane(change, 0), 0);
    pushAt(row, x, y, z, 0, 1, 0, b * <f64>f32x4.extract_lane(change, 1), 0);
    pushAt(row, x, y, z, 0, 0, 1, b * <f64>f32x4.extract_lane(change, 2), 0);
  }
}

/** Moves the rigid bodies that `openRigid` has found since the last call. */
export function moveRigidBodies(scratch: usize): void {
  let row = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = load<i32>(L.HEADER, L.H_BODY_COUNT); b > 0; b--, row += L.BODY_BYTES) {
    const shape = <usize>load<u32>(row, L.BODY_RIGID);
    if (!shape || !load<i32>(shape, L.SHAPE_MEASURED)) continue;
    store<i32>(shape, 0, L.SHAPE_MEASURED);
    moveByPushes(shape, scratch);
  }
}
