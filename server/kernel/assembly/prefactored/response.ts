/**
 * Weighted points of prefactored bodies (points.ts). A force L/h^2 at a point with weights b moves the
 * whole body by u L, u = P^-1 b / h^2, as the elastic solve would. So a weight of any size hangs on a light sheet after
 * one pass. u takes one back-solve, when the point begins to hold the body, and is kept in its RESPONSE row.
 */
import * as L from "../layout/layout";
import { pushBy, toLow } from "../math/lanes";
import { bodyOf, rigidOf } from "../state/owners";
import { pushRigid } from "../rigid/rigidEnds";
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

/** Returns sum_i w_i b_i^2 of particles without a body that moves as a whole, and b^T u of prefactored ones, 1/kg. */
export function weightOf(at: usize): f32 {
  let sum: f32 = 0;
  for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
    const particle = <usize>load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
    const b = load<f32>(at + ((<usize>i) << 2), L.POINT_WEIGHT);
    if (!rowOf(particle) && !rigidOf(particle)) sum += load<f32>(particle, 12) * b * b;
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
    else if (!row && !rigidOf(particle)) pushBy(particle, toLow, by);
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
  const low = toLow;
  countWork(UNITS_OF_COLUMN * columns);
  for (let k: usize = 0; k < <usize>columns; k++, d += 16) {
    const by = f32x4.mul(v128.load32_splat(response + (k << 2), L.RESPONSE_MOTION), change);
    pushBy(first + <usize>load<u32>(order + (k << 2)), low, by);
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
