/**
 * Weighted points of prefactored bodies (points.ts). A force L/h^2 at a point with weights b moves the
 * whole body by u L, u = P^-1 b / h^2, as the elastic solve would. So a weight of any size hangs on a light sheet after
 * one pass. u takes one back-solve, when the point begins to hold the body, and is kept in its RESPONSE row. A rigid
 * body at the other end moves as a whole, too: with its particle's mass alone it would seem light.
 */
import * as L from "../layout/layout";
import { pushBy, toLow } from "../math/lanes";
import { word } from "../math/places";
import { bodyOf, rigidRow } from "../state/owners";
import { measure, moveParticles, pushAt } from "../rigid/rigidBody";
import { countWork } from "../state/work";
import { backSolve } from "./backSolve";
import { isHeld } from "./held";

/** Counted work of a column. */
const UNITS_OF_COLUMN = 6;

/** Returns whether a point holds a prefactored body. @param at POINT slot */
// @inline
export function holdsPrefactored(at: usize): bool {
  const response = <usize>load<u32>(at, L.POINT_RESPONSE);
  if (!response) return false;
  if (!load<i32>(response, L.RESPONSE_VALID)) findBodies(at, response);
  return load<u32>(response, L.RESPONSE_BODY) !== 0;
}

/** Returns whether a point was found to hold a prefactored body. It changes nothing: threads may ask at once. */
export function isKnownToHold(at: usize): bool {
  const response = <usize>load<u32>(at, L.POINT_RESPONSE);
  return response !== 0 && load<i32>(response, L.RESPONSE_VALID) !== 0 && load<u32>(response, L.RESPONSE_BODY) !== 0;
}

// rigid body of the current point: its row, 0 if there is none; sum of its weights; that times the held point from its
// center, m
let rigid: usize = 0;
let rigidWeight: f64 = 0;
let armX: f64 = 0;
let armY: f64 = 0;
let armZ: f64 = 0;

/**
 * Finds the rigid body that a point holds, if there is one.
 * @param scratch ROTATION_SCRATCH bytes
 * @returns sum of its weighted displacement by this pass, m
 */
export function openRigid(at: usize, scratch: usize): v128 {
  rigid = 0;
  rigidWeight = armX = armY = armZ = 0;
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const row = rigidRow(particle);
    if (!row || (rigid && rigid !== row)) continue;
    rigid = row;
    if (!load<i32>(row, L.SHAPE_MEASURED)) {
      store<i32>(row, 1, L.SHAPE_MEASURED);
      measure(row, scratch);
    }
    const b = <f64>load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT);
    rigidWeight += b;
    armX += b * (<f64>load<f32>(particle) + word(particle, toLow) - load<f64>(row, L.SHAPE_CENTER));
    armY += b * (<f64>load<f32>(particle, 4) + word(particle + 4, toLow) - load<f64>(row, L.SHAPE_CENTER + 8));
    armZ += b * (<f64>load<f32>(particle, 8) + word(particle + 8, toLow) - load<f64>(row, L.SHAPE_CENTER + 16));
  }
  if (!rigid) return f32x4.splat(0);
  const x = load<f64>(rigid, L.SHAPE_TWIST);
  const y = load<f64>(rigid, L.SHAPE_TWIST + 8);
  const z = load<f64>(rigid, L.SHAPE_TWIST + 16);
  return f32x4(
    <f32>(rigidWeight * load<f64>(rigid, L.SHAPE_PUSH) + y * armZ - z * armY),
    <f32>(rigidWeight * load<f64>(rigid, L.SHAPE_PUSH + 8) + z * armX - x * armZ),
    <f32>(rigidWeight * load<f64>(rigid, L.SHAPE_PUSH + 16) + x * armY - y * armX),
    0,
  );
}

/** Moves the rigid bodies that `openRigid` has found since the last call. */
export function moveRigidBodies(): void {
  let row = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = load<i32>(L.HEADER, L.H_BODY_COUNT); b > 0; b--, row += L.BODY_BYTES) {
    const shape = <usize>load<u32>(row, L.BODY_RIGID);
    if (!shape || !load<i32>(shape, L.SHAPE_MEASURED)) continue;
    store<i32>(shape, 0, L.SHAPE_MEASURED);
    moveParticles(shape, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
  }
}

/**
 * Returns K^-1 c for the displacement c of a point, with K = W + the rigid body's response, 3x3. @param W 1/kg of all
 * other particles, with the compliance
 */
export function multiplierFor(c: v128, W: f32): v128 {
  if (!rigid) return f32x4.div(c, f32x4.splat(W));
  const I = rigid + L.SHAPE_INVERSE_INERTIA;
  const w = <f64>W + rigidWeight * rigidWeight * load<f64>(rigid, L.SHAPE_INVERSE_MASS);
  // [r]^T J [r] with J = I^-1: the columns of J [r], then their cross products with r
  const a = load<f64>(I);
  const b = load<f64>(I, 8);
  const d = load<f64>(I, 16);
  const e = load<f64>(I, 24);
  const f = load<f64>(I, 32);
  const g = load<f64>(I, 40);
  const x = armX;
  const y = armY;
  const z = armZ;
  const k00 = w + z * (b * z - g * y) - y * (g * z - d * y);
  const k01 = -z * (e * z - g * x) + y * (f * z - d * x);
  const k02 = z * (e * y - b * x) - y * (f * y - g * x);
  const k11 = w + z * (a * z - f * x) - x * (f * z - d * x);
  const k12 = -z * (a * y - e * x) + x * (f * y - g * x);
  const k22 = w + y * (a * y - e * x) - x * (e * y - b * x);
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

/** Pushes the rigid body of the current point by a change of its multiplier. */
function pushRigid(change: v128): void {
  if (!rigid) return;
  const x = armX / rigidWeight;
  const y = armY / rigidWeight;
  const z = armZ / rigidWeight;
  pushAt(rigid, x, y, z, 1, 0, 0, rigidWeight * <f64>f32x4.extract_lane(change, 0), 0);
  pushAt(rigid, x, y, z, 0, 1, 0, rigidWeight * <f64>f32x4.extract_lane(change, 1), 0);
  pushAt(rigid, x, y, z, 0, 0, 1, rigidWeight * <f64>f32x4.extract_lane(change, 2), 0);
}

/** Returns sum_i w_i b_i^2 of particles without a body that moves as a whole, and b^T u of prefactored ones, 1/kg. */
export function weightOf(at: usize): f32 {
  let sum: f32 = 0;
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const b = load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT);
    if (!rowOf(particle) && !rigidRow(particle)) sum += load<f32>(particle, 12) * b * b;
  }
  let response = <usize>load<u32>(at, L.POINT_RESPONSE);
  while (response && load<u32>(response, L.RESPONSE_BODY)) {
    sum += load<f32>(response, L.RESPONSE_WEIGHT);
    response = <usize>load<u32>(response, L.RESPONSE_OTHER);
  }
  return sum;
}

/** Moves the point's bodies by a change of its multiplier, N s^2. */
export function moveHeld(at: usize, change: v128): void {
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const share = load<f32>(particle, 12) * load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT);
    const by = f32x4.mul(f32x4.splat(share), change);
    const row = rowOf(particle);
    if (row && share !== 0) leaveTarget(row, particle, by);
    else if (!row && !rigidRow(particle)) pushBy(particle, toLow, by);
  }
  pushRigid(change);
  let response = <usize>load<u32>(at, L.POINT_RESPONSE);
  while (response && load<u32>(response, L.RESPONSE_BODY)) {
    moveBody(response, change);
    response = <usize>load<u32>(response, L.RESPONSE_OTHER);
  }
}

/** PREFACTORED row of the body that owns a particle, if it is not held; else 0. */
function rowOf(particle: usize): usize {
  const row = <usize>load<u32>(bodyOf(particle), L.BODY_PREFACTORED);
  return row && !isHeld(row) ? row : 0;
}

/** An impulse moves its particle's target of inertia, too: d is measured from there (step.ts). */
function leaveTarget(row: usize, particle: usize, by: v128): void {
  const d =
    <usize>load<u32>(row, L.PREFACTORED_MOVED) +
    <usize>(
      load<u32>(
        <usize>load<u32>(row, L.PREFACTORED_COLUMN) + ((particle - <usize>load<u32>(row, L.PREFACTORED_FIRST)) >> 2),
      )
    );
  v128.store(d, f32x4.sub(v128.load(d), by));
}

/** x += u change, d += u change */
function moveBody(response: usize, change: v128): void {
  const row = <usize>load<u32>(response, L.RESPONSE_BODY);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const columns = load<i32>(row, L.PREFACTORED_COLUMNS);
  let d = <usize>load<u32>(row, L.PREFACTORED_MOVED);
  countWork(UNITS_OF_COLUMN * columns);
  for (let k: usize = 0; k < <usize>columns; k++, d += 16) {
    const by = f32x4.mul(v128.load32_splat(response + (k << 2), L.RESPONSE_MOTION), change);
    pushBy(first + <usize>load<u32>(order + (k << 2)), toLow, by);
    v128.store(d, f32x4.add(v128.load(d), by));
  }
}

/** Finds the prefactored bodies of a point, at most two, and their responses. */
function findBodies(at: usize, response: usize): void {
  const other = <usize>load<u32>(response, L.RESPONSE_OTHER);
  store<u32>(response, 0, L.RESPONSE_BODY);
  store<u32>(other, 0, L.RESPONSE_BODY);
  store<i32>(response, 1, L.RESPONSE_VALID);
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const row = rowOf(<usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS));
    if (!row || <usize>load<u32>(response, L.RESPONSE_BODY) === row) continue;
    const free = load<u32>(response, L.RESPONSE_BODY) ? other : response;
    if (<usize>load<u32>(free, L.RESPONSE_BODY) === row) continue;
    store<u32>(free, <u32>row, L.RESPONSE_BODY);
    findResponse(at, free, row);
  }
}

/** u = P^-1 b / h^2 and b^T u of one body. */
function findResponse(at: usize, response: usize, row: usize): void {
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const column = <usize>load<u32>(row, L.PREFACTORED_COLUMN);
  const columns = load<i32>(row, L.PREFACTORED_COLUMNS);
  const y = <usize>load<u32>(row, L.PREFACTORED_RESIDUAL);
  memory.fill(y, 0, (<usize>columns + 1) << 4);
  const count = load<i32>(at, L.POINT_COUNT);
  for (let i: usize = 0; i < <usize>count; i++) {
    const particle = <usize>load<u32>(at + (i << 2), L.POINT_ADDRESS);
    if (rowOf(particle) !== row) continue;
    const to = y + <usize>load<u32>(column + ((particle - first) >> 2));
    store<f32>(to, load<f32>(to) + load<f32>(at + (i << 2), L.POINT_WEIGHT));
  }
  backSolve(row + L.PREFACTORED_FACTOR, y);
  const scale: f32 = 1 / (h * h);
  for (let k: usize = 0; k < <usize>columns; k++)
    store<f32>(response + (k << 2), scale * load<f32>(y + (k << 4)), L.RESPONSE_MOTION);
  let sum: f32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const particle = <usize>load<u32>(at + (i << 2), L.POINT_ADDRESS);
    if (rowOf(particle) !== row || load<f32>(particle, 12) === 0) continue;
    const k = <usize>load<u32>(column + ((particle - first) >> 2)) >> 4;
    sum += load<f32>(at + (i << 2), L.POINT_WEIGHT) * load<f32>(response + (k << 2), L.RESPONSE_MOTION);
  }
  store<f32>(response, sum, L.RESPONSE_WEIGHT);
}
