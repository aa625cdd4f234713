/**
 * The group that newton.ts steps: its current body, and history, targets, masses and sums of its bodies' vectors.
 * Vectors have the same number in all bodies. All sums are serial, body after body.
 */
import * as L from "../layout/layout";
import { combine, dot, squaredDistanceAt } from "../math/vectors";

/** Addresses of the group's IMPLICIT rows, and their number. */
export let group: usize = 0;
export let bodies = 0;
/** True after an impact: the step is Euler's, which does not use the step before. */
export let euler: bool = false;

// current body
export let row: usize = 0;
export let count: i32 = 0;
export let vector: usize = 0;
export let state: usize = 0;
export let coefficient: f64 = 0;
let work: usize = 0;
let mass: usize = 0;

export function useGroup(list: usize, length: i32): void {
  group = list;
  bodies = length;
}

/** Chooses between Euler's step and BDF2; effective from the next `open` on. */
export function setEuler(is: bool): void {
  euler = is;
}

// @inline
export function workVector(n: i32): usize {
  return work + <usize>n * vector;
}

/** Makes body number n of the group the current one. */
export function open(n: i32): void {
  row = <usize>load<u32>(group + ((<usize>n) << 2));
  count = load<i32>(row, L.IMPLICIT_COUNT);
  vector = 24 * <usize>count;
  work = <usize>load<u32>(row, L.IMPLICIT_WORK);
  mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  state = <usize>load<u32>(row, L.IMPLICIT_STATE);
  coefficient = euler ? load<f64>(row, L.IMPLICIT_EULER) : load<f64>(row, L.IMPLICIT_COEFFICIENT);
}

// @inline
export function count32(offset: usize, more: i32): void {
  store<i32>(row + offset, load<i32>(row + offset) + more);
}

// @inline
function massOf(i: i32): f64 {
  return load<f64>(mass + ((<usize>i) << 3));
}

/** x, v -> x1, v1; y -> x, and the velocity by BDF2 or Euler. */
export function advanceState(there: usize): void {
  const x = state;
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const v = x + vector;
  const x1 = v + vector;
  const v1 = x1 + vector;
  if (!euler) memory.copy(v1, v, vector);
  const over = f64x2.splat(euler ? h : 2 * h);
  for (let i = 0, at: usize = 0; i < count; i++, at += 24) {
    const xy = v128.load(x + at);
    const z = load<f64>(x + at, 16);
    let movedXY = f64x2.sub(v128.load(there + at), xy);
    let movedZ = load<f64>(there + at, 16) - z;
    if (!euler) {
      movedXY = f64x2.sub(f64x2.mul(f64x2.splat(3), movedXY), f64x2.sub(xy, v128.load(x1 + at)));
      movedZ = 3 * movedZ - (z - load<f64>(x1 + at, 16));
    }
    v128.store(v + at, f64x2.div(movedXY, over));
    store<f64>(v + at, movedZ / f64x2.extract_lane(over, 0), 16);
  }
  if (euler) memory.copy(v1, v, vector);
  memory.copy(x1, x, vector);
  memory.copy(x, there, vector);
  store<f64>(x + 4 * vector, load<f64>(row, L.IMPLICIT_ELASTIC));
  count32(L.IMPLICIT_STEPS_DONE, 1);
}

/** BDF2: xt -> target; 2x - x1 -> y; fixed particles: x -> y. */
export function aim(x: usize, y: usize, target: usize): void {
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const keep = load<f64>(row, L.IMPLICIT_KEEP);
  const toA = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  for (let i = 0, at: usize = 0; i < count; i++, at += 24) {
    const here = x + at;
    const free = massOf(i) > 0;
    const a = first + toA + ((<usize>i) << 4);
    const xy = v128.load(here);
    const xy1 = v128.load(here + 2 * vector);
    const extrapolated = free ? f64x2.sub(f64x2.mul(f64x2.splat(2), xy), xy1) : xy;
    v128.store(y + at, extrapolated);
    v128.store(
      target + at,
      free ? aimed(xy, v128.load(here + vector), xy1, v128.load(here + 3 * vector), v128.load64_zero(a), keep * h) : xy,
    );
    const z = v128.load64_splat(here, 16);
    const z1 = v128.load64_splat(here + 2 * vector, 16);
    const v = v128.load64_splat(here + vector, 16);
    const v1 = v128.load64_splat(here + 3 * vector, 16);
    v128.store64_lane(y + at, free ? f64x2.sub(f64x2.mul(f64x2.splat(2), z), z1) : z, 0, 16);
    v128.store64_lane(target + at, free ? aimed(z, v, z1, v1, v128.load32_zero(a, 8), keep * h) : z, 0, 16);
  }
}

/** (4p - x1)/3 + keep h (8v - 2 v1)/9 + a/c of two numbers. @param a f32 in the first two lanes */
// @inline
function aimed(p: v128, v: v128, x1: v128, v1: v128, a: v128, kept: f64): v128 {
  const four = f64x2.sub(f64x2.mul(f64x2.splat(4), p), x1);
  const eight = f64x2.sub(f64x2.mul(f64x2.splat(8), v), f64x2.mul(f64x2.splat(2), v1));
  return f64x2.add(
    f64x2.add(f64x2.div(four, f64x2.splat(3)), f64x2.div(f64x2.mul(f64x2.splat(kept), eight), f64x2.splat(9))),
    f64x2.div(f64x2.promote_low_f32x4(a), f64x2.splat(coefficient)),
  );
}

/** Euler: xt = x + keep h v + a/c -> target; x + h v -> y. */
export function aimOnce(x: usize, y: usize, target: usize): void {
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const keep = 1 / (h * h * coefficient);
  const toA = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const free = massOf(i) > 0;
    for (let r: usize = 0; r < 3; r++, at += 8) {
      const p = load<f64>(x + at);
      const a = <f64>load<f32>(first + toA + ((<usize>i) << 4) + (r << 2));
      const wanted = free ? p + keep * h * load<f64>(x + at + vector) + a / coefficient : p;
      store<f64>(target + at, wanted);
      store<f64>(y + at, free ? p + h * load<f64>(x + at + vector) : p);
    }
  }
}

/** c/2 (y - xt)^T M (y - xt) */
export function inertia(y: usize, target: usize): f64 {
  let sum: f64 = 0;
  let at: usize = 0;
  for (let i = 0; i < count; i++, at += 24) sum += massOf(i) * squaredDistanceAt(y + at, target + at);
  return 0.5 * coefficient * sum;
}

/** c M p -> q; if `from` is given, c M (p - from). */
export function multiplyMasses(p: usize, from: usize, q: usize): void {
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const m = coefficient * massOf(i);
    for (let r = 0; r < 3; r++, at += 8)
      store<f64>(q + at, m * (from ? load<f64>(p + at) - load<f64>(from + at) : load<f64>(p + at)));
  }
}

/** Returns |R|^2. */
export function residual(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    sum += dot(workVector(L.VECTOR_R), workVector(L.VECTOR_R), vector);
  }
  return sum;
}

/** Returns c times the mass of all bodies, kg/s^2. */
export function groupInertia(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    for (let i = 0; i < count; i++) sum += coefficient * massOf(i);
  }
  return sum;
}

/** Returns whether one of the bodies is a sheet. */
export function anySheet(): bool {
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (!load<u32>(row, L.IMPLICIT_ROTATIONS)) return true;
  }
  return false;
}

/** r = -r; zero for fixed particles. */
export function negate(r: usize): void {
  for (let at: usize = 0; at < vector; at += 8) store<f64>(r + at, -load<f64>(r + at));
  clearFixed(r);
}

/** Sets the numbers of fixed particles to zero. */
function clearFixed(r: usize): void {
  for (let i = 0, at = r; i < count; i++, at += 24) {
    if (massOf(i) > 0) continue;
    v128.store(at, f64x2.splat(0));
    store<f64>(at, 0, 16);
  }
}

/** d += alpha p; r -= alpha q, zero for fixed particles. */
export function advance(alpha: f64, d: usize, p: usize, r: usize, q: usize): void {
  combine(d, d, alpha, p, vector);
  combine(r, r, -alpha, q, vector);
  clearFixed(r);
}
