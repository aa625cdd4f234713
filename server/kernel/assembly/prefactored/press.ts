/**
 * Contact of a prefactored solid with colliders, in the metric of its solve (metric.ts): a force F on its particles
 * moves all of them by P^-1 F, as the solve itself would. So F is an unknown of the substep, kept for the next one:
 *   F in the cone of Coulomb's friction, gap(x + P^-1 (F - F_old)) >= 0, no motion along the collider where it grips
 * by projected conjugate gradients in the touching particles, preconditioned with STIFFER m/h^2, the scale of P's
 * diagonal. If a step leaves a cone, the part outside is taken back from the motion, too: else friction was up to twice
 * as large. A body that rests has the F of its equilibrium, and no step is left to make.
 */
import * as L from "../layout/layout";
import { dotXyz } from "../math/lanes";
import { mayBeAnswered } from "../colliders/colliderLanes";
import { approach, depth, findTouch, grips, normal, rubs, slide } from "../colliders/touch";
import { rests } from "../colliders/coefficients";
import { carryAll } from "../math/carry";
import { pushBy, toLow } from "../math/lanes";
import { hasMarks, marksOf, numberOf } from "../state/marks";
import { bodyOf } from "../state/owners";
import { countWork } from "../state/work";
import { unitsOfBackSolve } from "./backSolve";
import { moveByForces, openMetric } from "./metric";

/** Most steps of a substep. */
const MOST_STEPS = 6;
/** Square of the part of a fall of one substep that may be left. */
const LEFT: f32 = 1e-4;

// current body
let row: usize = 0;
let columns: i32 = 0;
let first: usize = 0;
let order: usize = 0;
let residual: usize = 0;
let inertia: usize = 0;
let kept: usize = 0;
let lows: usize = 0;
let touches: usize = 0;
let end: usize = 0;
let tolerance: f32 = 0;

/**
 * Moves a solid out of the colliders, after other bodies have pushed it. @param at PREFACTORED row
 * @returns whether it touches one
 */
export function pressOut(at: usize, h: f32): bool {
  if (!load<i32>(L.HEADER, L.H_COLLIDER_COUNT)) return false;
  openMetric(at);
  row = at;
  columns = load<i32>(at, L.PREFACTORED_COLUMNS);
  first = <usize>load<u32>(at, L.PREFACTORED_FIRST);
  order = <usize>load<u32>(at, L.PREFACTORED_ORDER);
  residual = <usize>load<u32>(at, L.PREFACTORED_RESIDUAL);
  inertia = <usize>load<u32>(at, L.PREFACTORED_INERTIA);
  kept = <usize>load<u32>(at, L.PREFACTORED_KEPT);
  lows = <usize>load<u32>(at, L.PREFACTORED_LOWS);
  touches = <usize>load<u32>(at, L.PREFACTORED_TOUCHES);
  end = touches;
  tolerance = 0;
  findTouches(h);
  if (end === touches) return false;
  settle();
  return true;
}

// @inline
function times(a: f32, b: v128): v128 {
  return f32x4.mul(f32x4.splat(a), b);
}

function findTouches(h: f32): void {
  const after = <usize>load<u32>(row, L.PREFACTORED_END);
  carryAll(numberOf(first), numberOf(after));
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const table = <usize>load<u32>(bodyOf(first), L.BODY_MEETS);
  const column = <usize>load<u32>(row, L.PREFACTORED_COLUMN);
  const marked = hasMarks();
  let may = 0;
  let lane = 0;
  for (let at = first, c = column; at < after; at += 16, c += 4, lane++) {
    if ((lane & 3) === 0) may = at + 64 <= after ? mayBeAnswered(at, at + toPrev, table) : 15;
    const k = <usize>load<u32>(c);
    const force = kept + k;
    const touched = load<f32>(at, 12) > 0 && load<f32>(force, 12) !== 0;
    if (!((may >> (lane & 3)) & 1) && !touched) continue;
    if (load<f32>(at, 12) === 0) continue;
    const marks = marked ? marksOf(numberOf(at)) : 0;
    const tangled = (marks & (L.MARK_WITHIN | L.MARK_SLOW)) !== 0;
    const near = touched && v128.any_true(f32x4.replace_lane(v128.load(force), 3, 0));
    if (!tangled && findTouch(at, at + toPrev, h, table, near) && !leaves(at, h))
      note(k, (marks & L.MARK_GLIDES) !== 0, at, h);
    else if (touched) v128.store(force, f32x4.splat(0));
  }
}

/**
 * Returns whether a particle is clear and moves away: then its force ends, but its displacement in this substep stays.
 * (When it was undone, cubes of 10^6 and 10^7 Pa rebounded to 0.8 of their height.)
 */
function leaves(at: usize, h: f32): bool {
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  return depth <= 0 && !rests(-approach, at + toAcc, h);
}

/** Notes a touch of the column at offset k. */
function note(k: usize, glides: bool, at: usize, h: f32): void {
  const force = kept + k;
  const acc = at + (<usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X));
  v128.store(force, f32x4.replace_lane(v128.load(force), 3, 1));
  v128.store(end, normal);
  v128.store(end, f32x4.sub(times(depth, normal), slide), L.PREFACTORED_TOUCH_LACKS);
  v128.store(end, f32x4.splat(0), L.PREFACTORED_TOUCH_CHANGE);
  store<u32>(end, <u32>k, L.PREFACTORED_TOUCH_COLUMN);
  store<f32>(end, glides ? 0 : grips, L.PREFACTORED_TOUCH_STATIC);
  store<f32>(end, glides ? 0 : rubs, L.PREFACTORED_TOUCH_FRICTION);
  end += L.PREFACTORED_TOUCH_BYTES;
  const a = v128.load(acc);
  const m = load<f32>(inertia + (k >> 2));
  tolerance += LEFT * m * h * h * h * h * dotXyz(a, a);
}

/** Moves the body by P^-1 of the changes of its touches, which are in `residual` already, times `step`. */
function moveBy(step: f32): void {
  for (let k: usize = 0; k < <usize>columns; k++) {
    const by = f32x4.replace_lane(times(step, v128.load(residual + (k << 4))), 3, 0);
    pushBy(first + <usize>load<u32>(order + (k << 2)), toLow, by);
    // kept forces count pushes from here
    v128.store(lows + (k << 4), f32x4.add(v128.load(lows + (k << 4)), by));
  }
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES) {
    const by = times(step, v128.load(residual + <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN)));
    v128.store(
      touch,
      f32x4.sub(v128.load(touch, L.PREFACTORED_TOUCH_LACKS), f32x4.replace_lane(by, 3, 0)),
      L.PREFACTORED_TOUCH_LACKS,
    );
  }
}

/** residual = P^-1 of the changes. */
function answerChanges(): void {
  memory.fill(residual, 0, (<usize>columns + 1) << 4);
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES)
    v128.store(
      residual + <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN),
      v128.load(touch, L.PREFACTORED_TOUCH_CHANGE),
    );
  moveByForces(residual);
  countWork(unitsOfBackSolve(row));
}

/** s.(P^-1 s) after `answerChanges`. */
function responseOfChanges(): f32 {
  let sum: f32 = 0;
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES)
    sum += dotXyz(
      v128.load(touch, L.PREFACTORED_TOUCH_CHANGE),
      v128.load(residual + <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN)),
    );
  return sum;
}

/** Returns a force in the cone of Coulomb's friction about a touch's normal. */
function inCone(touch: usize, force: v128): v128 {
  const n = v128.load(touch);
  const out = dotXyz(force, n);
  if (!(out > 0)) return f32x4.splat(0);
  const along = f32x4.replace_lane(f32x4.sub(force, times(out, n)), 3, 0);
  const length = Mathf.sqrt(dotXyz(along, along));
  if (length <= load<f32>(touch, L.PREFACTORED_TOUCH_STATIC) * out) return f32x4.add(times(out, n), along);
  const most = min<f32>(length, load<f32>(touch, L.PREFACTORED_TOUCH_FRICTION) * out);
  return f32x4.add(times(out, n), times(most / length, along));
}

/** Finds the forces of touches, and moves the body by their changes. */
function settle(): void {
  const stiffer = load<f32>(row, L.PREFACTORED_STIFFER);
  let before: f32 = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const work = findChanges(stiffer, before);
    if (!(work > tolerance)) return;
    answerChanges();
    before = responseOfChanges();
    if (!(before > 0)) return;
    moveBy(work / before);
    if (!projectForces(work / before)) continue;
    answerChanges();
    moveBy(1);
    before = 0;
  }
}

/**
 * Adds a step of the changes to the forces, and cuts these to their cones. The changes become minus the parts that are
 * cut off. @returns whether there are such parts
 */
function projectForces(step: f32): bool {
  let any = false;
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES) {
    const at = kept + <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN);
    const asked = f32x4.add(v128.load(at), times(step, v128.load(touch, L.PREFACTORED_TOUCH_CHANGE)));
    const force = inCone(touch, asked);
    const change = f32x4.replace_lane(f32x4.sub(force, asked), 3, 0);
    any = any || v128.any_true(f32x4.ne(change, f32x4.splat(0)));
    v128.store(touch, change, L.PREFACTORED_TOUCH_CHANGE);
    v128.store(at, f32x4.replace_lane(force, 3, 1));
  }
  return any;
}

/**
 * Finds the changes of the forces: projected gradients, conjugate to the changes before.
 * @param before response of the changes before, which `residual` still has; 0: none
 * @returns the work of the changes along the residual of the touches
 */
function findChanges(stiffer: f32, before: f32): f32 {
  let mixed: f32 = 0;
  let straight: f32 = 0;
  let last: f32 = 0;
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES) {
    const k = <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN);
    const gradient = gradientOf(touch, k, stiffer);
    const lacks = v128.load(touch, L.PREFACTORED_TOUCH_LACKS);
    straight += dotXyz(gradient, lacks);
    if (!(before > 0)) continue;
    mixed += dotXyz(gradient, v128.load(residual + k));
    last += dotXyz(v128.load(touch, L.PREFACTORED_TOUCH_CHANGE), lacks);
  }
  const share: f32 = before > 0 ? -mixed / before : 0;
  const conjugate = before > 0 && straight + share * last > 0;
  for (let touch = touches; touch < end; touch += L.PREFACTORED_TOUCH_BYTES) {
    let change = gradientOf(touch, <usize>load<u32>(touch, L.PREFACTORED_TOUCH_COLUMN), stiffer);
    if (conjugate) change = f32x4.add(change, times(share, v128.load(touch, L.PREFACTORED_TOUCH_CHANGE)));
    v128.store(touch, change, L.PREFACTORED_TOUCH_CHANGE);
  }
  return conjugate ? straight + share * last : straight;
}

/** Projected step of one touch's force, N. */
function gradientOf(touch: usize, k: usize, stiffer: f32): v128 {
  const force = f32x4.replace_lane(v128.load(kept + k), 3, 0);
  const push = times(stiffer * load<f32>(inertia + (k >> 2)), v128.load(touch, L.PREFACTORED_TOUCH_LACKS));
  return f32x4.sub(inCone(touch, f32x4.add(force, push)), force);
}
