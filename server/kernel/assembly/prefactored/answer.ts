/**
 * Answer of a prefactored body to contacts with other bodies. A light stiff sheet moves as a whole: a push q at its
 * particles moves it by u = P^-1 q / h^2, as the elastic solve would, not by w q. So each column shows contacts the
 * inverse mass with which the sheet answered the last pushes there,
 *   w_k = (P^-1 |q|)_k / (h^2 |q_k|), for a body that turns (metric.ts) more by its turn; at most its own
 * and after the contacts its displacement w_k q_k is replaced by u_k. The other body has the opposite push already, and
 * P^-1 keeps the sum of all pushes, so momentum stays. While a sheet carries a load at rest, u undoes the motion of the
 * solve exactly: no force must be kept. A column without an answer moves with its own mass, which is too light: a new
 * contact begins soft, and throws nothing. Lane 3 of the back-solve takes |q|.
 */
import * as L from "../layout/layout";
import { pushBy, toLow, wayOf } from "../math/lanes";
import { hasMarks, mark, marksOf, numberOf, unmark } from "../state/marks";
import { countWork } from "../state/work";
import { unitsOfBackSolve } from "./backSolve";
import { isHeld, noteForces, noteMet, usesMetric } from "./held";
import { moveByForces, openMetric, turnOf } from "./metric";
import { pressOut } from "./press";

/**
 * Growth of an answer in a substep without a push, until it is the particle's own mass. A ball leaves out some of its
 * particles now and then; with answers that ended at once, it trembled at twice the speed.
 */
const SOFTER: f32 = 1.25;

// current body
let first: usize = 0;
let order: usize = 0;
let answers: usize = 0;
let places: usize = 0;
let before: usize = 0;
let moved: usize = 0;
let residual: usize = 0;
let columns: usize = 0;
let lows: usize = 0;
// bytes from X to other arrays
let toPrev: usize = 0;
let toLowPrev: usize = 0;

function open(row: usize): void {
  first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  answers = <usize>load<u32>(row, L.PREFACTORED_ANSWERS);
  places = <usize>load<u32>(row, L.PREFACTORED_PLACES);
  lows = <usize>load<u32>(row, L.PREFACTORED_LOWS);
  before = <usize>load<u32>(row, L.PREFACTORED_BEFORE);
  moved = <usize>load<u32>(row, L.PREFACTORED_MOVED);
  residual = <usize>load<u32>(row, L.PREFACTORED_RESIDUAL);
  columns = <usize>load<i32>(row, L.PREFACTORED_COLUMNS);
  toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  toLowPrev = <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - <usize>load<u32>(L.HEADER, L.H_X);
}

// @inline
function particleAt(k: usize): usize {
  return first + <usize>load<u32>(order + (k << 2));
}

/** Shows contacts the answers of a sheet, after its places are noted. */
export function showAnswers(row: usize): void {
  if (!hasMarks()) return;
  open(row);
  for (let k: usize = 0; k < columns; k++) {
    const at = particleAt(k);
    v128.store(before + (k << 4), wayOf(at, toPrev, toLowPrev));
    unmark(numberOf(at), L.MARK_MET);
    const w = load<f32>(answers + (k << 2));
    if (w > 0 && load<f32>(at, 12) > 0) store<f32>(at, w, 12);
  }
}

/**
 * Moves bodies begin .. end as wholes by the pushes of other bodies, then solids by those of colliders.
 * @param rows address of the PREFACTORED rows
 */
export function answerContacts(rows: usize, begin: i32, end: i32, pass: i32, h: f32): void {
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * L.PREFACTORED_BYTES;
    if (isHeld(row)) continue;
    if (load<u32>(row, L.PREFACTORED_ANSWERS) && hasMarks()) answerBodies(row, h);
    if (pass & L.PASS_LAST && usesMetric(row) && pressOut(row, h)) noteForces(row, true);
  }
}

function answerBodies(row: usize, h: f32): void {
  open(row);
  markNear(<usize>load<u32>(row, L.PREFACTORED_END));
  const pushed = collectPushes(h);
  noteMet(row, pushed);
  if (pushed) {
    openMetric(row);
    moveByForces(residual);
    countWork(unitsOfBackSolve(row));
  }
  let work: f64 = 0;
  for (let k: usize = 0; k < columns; k++) work += takeAnswer(k, pushed, 1 / (h * h));
  store<f64>(row, work, L.PREFACTORED_WORK);
}

/** Address behind the particles of all bodies: those of core meshes begin there. */
function endOfBodies(): usize {
  const count = load<i32>(L.HEADER, L.H_BODY_COUNT);
  return count < load<i32>(L.HEADER, L.H_SURFACE_COUNT)
    ? <usize>load<u32>(<usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>count * L.SURFACE_BYTES, L.SURFACE_FIRST)
    : usize.MAX_VALUE;
}

/**
 * Marks the sheet's particles in near pairs with other bodies. @param end address behind its last particle
 */
function markNear(end: usize): void {
  const front = <usize>load<u32>(L.HEADER, L.H_FRONT);
  if (!front) return;
  const vertices = load<i32>(front, L.FRONT_SOLVED_VERTEX);
  const all = vertices + load<i32>(front, L.FRONT_SOLVED_EDGE);
  const from = i32x4.splat(<i32>first);
  const size = i32x4.splat(<i32>(end - first));
  const last = i32x4.splat(<i32>endOfBodies());
  let head = <usize>load<u32>(front, L.FRONT_SOLVED_HEADS);
  let block = <usize>load<u32>(front, L.FRONT_SOLVED);
  for (let n = 0; n < all; n++, block += L.CONTACT_BLOCK_BYTES, head += 4) {
    if (!load<i32>(head)) continue;
    // the first and the last particle of a pair are on its two sides
    const one = v128.load(block);
    const two = v128.load(block, 48);
    const inOne = i32x4.lt_u(i32x4.sub(one, from), size);
    const inTwo = i32x4.lt_u(i32x4.sub(two, from), size);
    const ofBodies = v128.and(i32x4.lt_u(one, last), i32x4.lt_u(two, last));
    const near = v128.and(ofBodies, v128.load(block, L.CONTACT_BLOCK_NEAR));
    const met = i32x4.bitmask(v128.and(near, v128.xor(inOne, inTwo)));
    if (met) markSide(block, met, i32x4.bitmask(inOne), n < vertices ? 16 : 32);
  }
}

/** Marks the sheet's side of pairs `met`: the first side of those in `ofFirst`. @param middle offset of the second */
function markSide(block: usize, met: i32, ofFirst: i32, middle: usize): void {
  for (let lane = 0; lane < 4; lane++) {
    if (!((met >> lane) & 1)) continue;
    const isFirst = (ofFirst >> lane) & 1;
    const from = block + ((<usize>lane) << 2) + (isFirst ? 0 : middle);
    const bytes: usize = isFirst ? middle : 64 - middle;
    for (let k: usize = 0; k < bytes; k += 16) mark(numberOf(<usize>load<u32>(from + k)), L.MARK_MET);
  }
}

// @inline
function isMarked(at: usize): bool {
  return (marksOf(numberOf(at)) & L.MARK_MET) !== 0;
}

/** Displacement of a column by contacts in this iteration, without the part that makes no velocity. */
// @inline
function pushOf(k: usize, at: usize): v128 {
  return f32x4.replace_lane(f32x4.sub(wayOf(at, toPrev, toLowPrev), v128.load(before + (k << 4))), 3, 0);
}

// @inline
function lengthOf(a: v128): f32 {
  const square = f32x4.mul(a, a);
  return Mathf.sqrt(f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2));
}

/** residual = q / h^2 of columns with an answer; lane 3: |q| / h^2 of all. @returns whether there are pushes */
function collectPushes(h: f32): bool {
  const inverse: f32 = 1 / (h * h);
  const none = f32x4.splat(0);
  let any = false;
  for (let k: usize = 0; k <= columns; k++) v128.store(residual + (k << 4), none);
  for (let k: usize = 0; k < columns; k++) {
    const at = particleAt(k);
    const w = load<f32>(at, 12);
    if (!(w > 0) || !isMarked(at)) continue;
    const q = f32x4.mul(f32x4.splat(inverse / w), pushOf(k, at));
    const size = lengthOf(q);
    if (!(size > 0)) continue;
    any = true;
    v128.store(residual + (k << 4), f32x4.replace_lane(load<f32>(answers + (k << 2)) > 0 ? q : none, 3, size));
  }
  return any;
}

/**
 * Replaces a column's push by the motion of the whole sheet. Restores its inverse mass, and updates its answer.
 * @param perSquare 1/h^2
 * @returns work of the push, J: force times the mean of the displacements before and after it. (The mean of those
 * without and with all forces of the substep is exact at rest, but stacks of 1:10 then tremble at 0.2 m/s.)
 */
function takeAnswer(k: usize, pushed: bool, perSquare: f32): f64 {
  const at = particleAt(k);
  const place = places + (k << 4);
  const own = load<f32>(place, 12);
  const shown = load<f32>(at, 12);
  store<f32>(at, own, 12);
  const answer = answers + (k << 2);
  const old = load<f32>(answer);
  const push = isMarked(at) ? pushOf(k, at) : f32x4.splat(0);
  const size = lengthOf(push);
  if (!(size > 0)) store<f32>(answer, SOFTER * old < own ? SOFTER * old : 0);
  if (!pushed) return 0;
  const u = v128.load(residual + (k << 4));
  const whole = f32x4.replace_lane(u, 3, 0);
  const d = moved + (k << 4);
  v128.store(d, f32x4.add(v128.load(d), whole));
  let by = whole;
  if (old > 0 && size > 0) {
    by = f32x4.sub(whole, push);
    // d leaves out impulses, so the target of inertia, x - d, moves by this one (step.ts)
    v128.store(d, f32x4.sub(v128.load(d), f32x4.mul(f32x4.splat(own / shown), push)));
  }
  if (size > 0) store<f32>(answer, min<f32>(own, ((f32x4.extract_lane(u, 3) + turnOf(k)) * shown) / size));
  pushBy(at, toLow, by);
  // kept forces count pushes from here
  const low = lows + (k << 4);
  v128.store(low, f32x4.add(v128.load(low), whole));
  if (!(size > 0)) return 0;
  const twice = f32x4.mul(push, f32x4.add(v128.load(before + (k << 4)), wayOf(at, toPrev, toLowPrev)));
  const sum = f32x4.extract_lane(twice, 0) + f32x4.extract_lane(twice, 1) + f32x4.extract_lane(twice, 2);
  return 0.5 * <f64>(perSquare / shown) * <f64>sum;
}
