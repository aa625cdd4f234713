/**
 * Guard of a prefactored body's energy while contacts push it: kinetic, elastic and potential energy may not grow in a
 * substep, for solids by more than the work of other bodies. An excess is taken from the velocities relative to the
 * motion in common (metric.ts), so momentum stays; a rest of it is taken from the motion in common. Crumpled stiff
 * sheets gain several times their energy without it. It does not act while something else may do work: a grab, a moving
 * collider, for sheets another body.
 */
import * as L from "../layout/layout";
import { lowFrom, lowPrevFrom } from "../math/places";
import { energyAt } from "./elements";
import { isSolid, usesMetric } from "./held";
import { bodyOf } from "../state/owners";
import { commonEnergy, commonOf, findMotion, openMetric, openMotion, relativeEnergy } from "./metric";
import { isKnownToHold } from "./response";
import { reachesFixed } from "../state/islands";

/** Energy that may come back after a loss, in units of the kinetic energy of a free fall of one substep. */
const ALLOWED: f64 = 16;
/**
 * Part of a solid's lost energy that may still come back after each further substep: P's inertia holds it meanwhile.
 * Gains that the velocities cannot give are taken in later substeps. When half of these were forgotten (and RESERVE was
 * 0.9), a fifth of the cubes rebounded above their start.
 */
const RESERVE: f64 = 0.99;

/** Returns whether nothing can do work on prefactored bodies. In a substep, the answer may only change to false. */
export function isClosed(): bool {
  if (load<i32>(L.HEADER, L.H_MOTION_COUNT)) return false;
  const points = <usize>load<u32>(L.HEADER, L.H_POINTS);
  for (let n = load<i32>(L.HEADER, L.H_POINT_COUNT) - 1; n >= 0; n--) {
    const at = points + <usize>n * L.POINT_BYTES;
    const active = load<i32>(at, L.POINT_ACTIVE);
    if (!active || !isKnownToHold(at)) continue;
    const last = load<f32>(at + ((load<i32>(at, L.POINT_COUNT) - 1) << 2), L.POINT_WEIGHT);
    if (active === L.POINT_GRAB || last < 0 || isDrawn(at)) return false;
  }
  return true;
}

/** Returns whether the target of an attachment moves in this tick. */
// @inline
function isDrawn(at: usize): bool {
  return (
    load<f32>(at, L.POINT_STEP) !== 0 || load<f32>(at, L.POINT_STEP + 4) !== 0 || load<f32>(at, L.POINT_STEP + 8) !== 0
  );
}

// @inline
function dot(a: v128, b: v128): f64 {
  const both = f32x4.mul(a, b);
  return <f64>f32x4.extract_lane(both, 0) + <f64>f32x4.extract_lane(both, 1) + <f64>f32x4.extract_lane(both, 2);
}

/**
 * Sum of m (|v|^2/2 - a.x), and of the elastic energy, J.
 * @param before at the start of the substep, whose v is the predicted one less h a
 */
function energyOf(row: usize, h: f32, before: bool): f64 {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toX = before ? <usize>load<u32>(L.HEADER, L.H_XPREV) - X : 0;
  const toLow = before ? lowPrevFrom() : lowFrom();
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const hh = f32x4.splat(before ? h : 0);
  if (usesMetric(row)) return energyBetween(row, h, toX, toLow, before);
  let sum: f64 = 0;
  for (let k = load<i32>(row, L.PREFACTORED_COLUMNS), p = order; k > 0; k--, p += 4) {
    const at = first + <usize>load<u32>(p);
    const a = v128.load(at + toAcc);
    const v = f32x4.sub(v128.load(at + toV), f32x4.mul(hh, a));
    sum += (0.5 * dot(v, v) - dot(a, v128.load(at + toX)) - dot(a, v128.load(at + toLow))) / <f64>load<f32>(at, 12);
  }
  return sum + energyAt(row, toX, toLow);
}

/** Part of the last `energyBetween` that is the solid's common motion and place, J. */
let wholeEnergy: f64 = 0;

/**
 * The same of a solid, with the kinetic energy of P's inertia, and half a substep before x: there the step keeps their
 * sum. (With the energies of m and at x, a cube of 10^7 Pa took 80 ticks to tip over its edge instead of 17: what P
 * holds for some substeps seemed to be gained.)
 */
function energyBetween(row: usize, h: f32, toX: usize, toLow: usize, before: bool): f64 {
  openMetric(row);
  findMotion(h, before ? 1 : 0);
  const lows = <usize>load<u32>(row, L.PREFACTORED_LOWS);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const columns = <usize>load<i32>(row, L.PREFACTORED_COLUMNS);
  const ahead = f32x4.splat(before ? h : 0);
  const half = f32x4.splat(-0.5 * h);
  let sum: f64 = commonEnergy;
  for (let k: usize = 0; k < columns; k++) {
    const at = first + <usize>load<u32>(order + (k << 2));
    const a = v128.load(at + toAcc);
    const v = f32x4.sub(v128.load(at + toV), f32x4.mul(ahead, a));
    const low = v128.load(at + toLow);
    v128.store(lows + (k << 4), low);
    const between = f32x4.add(low, f32x4.replace_lane(f32x4.mul(half, v), 3, 0));
    v128.store(at + toLow, between);
    sum -= (dot(a, v128.load(at + toX)) + dot(a, between)) / <f64>load<f32>(at, 12);
  }
  wholeEnergy = sum;
  sum += energyAt(row, toX, toLow);
  for (let k: usize = 0; k < columns; k++)
    v128.store(first + <usize>load<u32>(order + (k << 2)) + toLow, v128.load(lows + (k << 4)));
  return sum + relativeEnergy;
}

/** Notes the energy at the start of the substep, after the prediction. */
export function noteEnergy(row: usize, h: f32): void {
  store<f64>(row, energyOf(row, h, true), L.PREFACTORED_ENERGY);
  store<f64>(row, wholeEnergy, L.PREFACTORED_COMMON);
  store<i32>(row, 1, L.PREFACTORED_NOTED);
}

/** Returns whether the energy at the start of this substep is known. @param begins at its start */
export function isNoted(row: usize, begins: bool): bool {
  // between ticks, inputs change velocities
  if (begins && load<i32>(L.HEADER, L.H_SUBSTEP) === 0) store<i32>(row, 0, L.PREFACTORED_NOTED);
  return load<i32>(row, L.PREFACTORED_NOTED) !== 0;
}

/** Returns the work of other bodies on this one in this substep, J. */
function workOfOthers(row: usize): f64 {
  return load<i32>(row, L.PREFACTORED_MET) ? load<f64>(row, L.PREFACTORED_WORK) : 0;
}

/** Returns the energy that may come back after a loss: ALLOWED falls of one substep, J. */
function allowance(row: usize, h: f32): f64 {
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  let sum: f64 = 0;
  for (let k = load<i32>(row, L.PREFACTORED_COLUMNS), p = order; k > 0; k--, p += 4) {
    const at = first + <usize>load<u32>(p);
    const a = v128.load(at + toAcc);
    sum += dot(a, a) / <f64>load<f32>(at, 12);
  }
  return 0.5 * ALLOWED * <f64>h * <f64>h * sum;
}

/**
 * Takes the energy that the body has gained from the velocities. Rounding gains and loses a little in every substep:
 * gains after losses, up to `allowance`, are left, or a sheet that stands on its edge would never tip over.
 * @param account address of an f64: energy regained since the last losses, J; for solids below 0 after losses that may
 *   come back
 */
export function takeGain(row: usize, account: usize, h: f32): void {
  const solid = isSolid(row);
  const end = energyOf(row, h, false);
  const change = end - load<f64>(row, L.PREFACTORED_ENERGY);
  const old = load<f64>(account);
  const gained = solid ? (old < 0 ? RESERVE * old : old) + change - workOfOthers(row) : max<f64>(0, old + change);
  const limit = allowance(row, h);
  store<f64>(account, min<f64>(gained, limit));
  const gain = gained - limit;
  if (gain <= 0) {
    store<f64>(row, end, L.PREFACTORED_ENERGY);
    store<f64>(row, wholeEnergy, L.PREFACTORED_COMMON);
    store<i32>(row, solid ? 1 : 0, L.PREFACTORED_NOTED);
    return;
  }
  store<u32>(row, load<u32>(row, L.PREFACTORED_GUARDED) + 1, L.PREFACTORED_GUARDED);
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const free = !reachesFixed(bodyOf(first));
  openMetric(row);
  if (free) openMotion();
  findMotion(h, 0);
  const relative = relativeEnergy;
  const common = commonEnergy;
  // A support that threw the whole body: its common motion has gained, too. A solid's gives no more than that, or a
  // body that owes vibrations could neither fall nor tip over.
  const most = usesMetric(row) ? max<f64>(0, wholeEnergy - load<f64>(row, L.PREFACTORED_COMMON)) : common;
  const rest = min<f64>(min<f64>(common, most), max<f64>(0, gain - relative));
  if (solid) store<f64>(account, limit + max<f64>(0, gain - relative - rest));
  // momentum that bodies exchange stays, and that of a free body or island
  const keeps = relative > gain || free || load<i32>(row, L.PREFACTORED_MET) !== 0;
  const all = keeps ? 1 : sqrt<f64>(max<f64>(0, 1 - rest / max<f64>(common, 1e-30)));
  const share = f32x4.splat(relative > gain ? <f32>sqrt<f64>(1 - gain / relative) : 0);
  const left = f32x4.splat(<f32>all);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const columns = <usize>load<i32>(row, L.PREFACTORED_COLUMNS);
  for (let k: usize = 0; k < columns; k++) {
    const v = first + <usize>load<u32>(order + (k << 2)) + toV;
    const damping = load<f32>(v, 12);
    const whole = commonOf(k);
    const u = f32x4.add(f32x4.mul(left, whole), f32x4.mul(share, f32x4.sub(v128.load(v), whole)));
    v128.store(v, f32x4.replace_lane(u, 3, damping));
  }
}
