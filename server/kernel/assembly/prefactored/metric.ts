/**
 * Motion of a prefactored body by forces. P resists every change of its motion as if it were a strain, also of its
 * rotation: a cube of 10^6 Pa tipped over its edge as if it had twice its inertia, one of 10^7 Pa nine times. So the
 * forces on a solid that nothing holds move it as a rigid body with its own inertia, and P has only the rest:
 *   t = I^-1 sum a x r,  z = P^-1 (r - m/h^2 t x a),  z += (t - I^-1 sum a x m/h^2 z) x a,  I of m/h^2
 * about its center, a from there at xPrev. Symmetric and positive definite, as P^-1. (P keeps the sum of all forces.)
 */
import * as L from "../layout/layout";
import { lowFrom } from "../math/places";
import { countWork } from "../state/work";
import { backSolve, quadraticForm } from "./backSolve";
import { reachesFixed } from "../state/islands";
import { bodyOf } from "../state/owners";
import { isMet, usesMetric } from "./held";
import { isKnownToHold } from "./response";

/** Counted work of a column. */
const UNITS_OF_COLUMN = 3;

// current body; each thread has its own instance
let row: usize = 0;
let turns = false;
let columns: usize = 0;
let first: usize = 0;
let order: usize = 0;
let inertia: usize = 0;
let toPlace: usize = 0;
let toPlaceLow: usize = 0;
let center = f32x4.splat(0);
// inverse of its inertia
let i00: f64 = 0;
let i01: f64 = 0;
let i02: f64 = 0;
let i11: f64 = 0;
let i12: f64 = 0;
let i22: f64 = 0;

/**
 * Selects a body, in this substep. A body that others push turns only if its island is in the air: answers to pushes
 * are those of the substep before, and with turns towers fall over. @param at PREFACTORED row
 */
export function openMetric(at: usize): void {
  row = at;
  columns = <usize>load<i32>(at, L.PREFACTORED_COLUMNS);
  first = <usize>load<u32>(at, L.PREFACTORED_FIRST);
  order = <usize>load<u32>(at, L.PREFACTORED_ORDER);
  inertia = <usize>load<u32>(at, L.PREFACTORED_INERTIA);
  toPlace = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  toPlaceLow = <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - <usize>load<u32>(L.HEADER, L.H_X);
  turns = usesMetric(at) && !(isMet(at) && reachesFixed(bodyOf(first))) && isUnpinned(at) && !isHeldAtPoint();
  if (turns) measure();
}

/**
 * Length of the turn of column k that the last moveByForces added to P's motion, m; 0 for a body that does not turn.
 * With lane 3 of forces it bounds the motion of a column by forces of any direction.
 */
// @inline
export function turnOf(k: usize): f32 {
  if (!turns) return 0;
  const by = cross(added, armOf(k));
  return Mathf.sqrt(<f32>square(by));
}

/**
 * Lets a selected sheet that nothing holds turn in common, too, with its own inertia, at x: there its velocities have
 * their angular momentum.
 */
export function openMotion(): void {
  toPlace = 0;
  toPlaceLow = lowFrom();
  turns = turns || (isUnpinned(row) && !isHeldAtPoint());
  if (turns) measure();
}

// @inline
function isUnpinned(at: usize): bool {
  return load<u32>(at, L.PREFACTORED_END) - <u32>first === (<u32>columns) << 4;
}

function isHeldAtPoint(): bool {
  const end = load<u32>(row, L.PREFACTORED_END);
  let at = <usize>load<u32>(L.HEADER, L.H_POINTS);
  for (let n = load<i32>(L.HEADER, L.H_POINT_COUNT); n > 0; n--, at += L.POINT_BYTES) {
    if (!load<i32>(at, L.POINT_ACTIVE) || !isKnownToHold(at)) continue;
    for (let i = load<i32>(at, L.POINT_COUNT) - 1; i >= 0; i--) {
      const particle = load<u32>(at + ((<usize>i) << 2), L.POINT_ADDRESS);
      if (particle >= <u32>first && particle < end) return true;
    }
  }
  return false;
}

/** Column k's arm from the center of a body that turns, else 0. */
// @inline
function armOf(k: usize): v128 {
  return turns ? f32x4.sub(from(k), center) : f32x4.splat(0);
}

/** Turn that the last moveByForces added to P's motion, rad. */
let added: v128 = f32x4.splat(0);

// motion of the selected body, after findMotion: common velocity, angular velocity, and energies, J
let mean: v128 = f32x4.splat(0);
let spin: v128 = f32x4.splat(0);
export let commonEnergy: f64 = 0;
export let relativeEnergy: f64 = 0;

/** Velocity of column k as part of the body's common motion. */
// @inline
export function commonOf(k: usize): v128 {
  return f32x4.add(mean, cross(spin, armOf(k)));
}

/**
 * Finds the body's common motion, and the kinetic energies of that and of the rest, for a solid with P's inertia. A
 * body moves in common with its center; one that turns (openMotion) also turns.
 * @param back substeps of external acceleration that the velocities are ahead
 */
export function findMotion(h: f32, back: f32): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const y = <usize>load<u32>(row, L.PREFACTORED_RESIDUAL);
  const ahead = f32x4.splat(back * h);
  const place = i32x4(-1, -1, -1, 0);
  let mass: f64 = 0;
  let xy = f64x2.splat(0);
  let zw = f64x2.splat(0);
  clear();
  for (let k: usize = 0; k < columns; k++) {
    const at = first + <usize>load<u32>(order + (k << 2));
    const v = v128.and(place, f32x4.sub(v128.load(at + toV), f32x4.mul(ahead, v128.load(at + toAcc))));
    v128.store(y + (k << 4), v);
    const m = load<f32>(inertia + (k << 2));
    const p = f32x4.mul(f32x4.splat(m), v);
    mass += m;
    xy = f64x2.add(xy, f64x2.promote_low_f32x4(p));
    zw = f64x2.add(zw, f64x2.promote_low_f32x4(v128.shuffle<f32>(p, p, 2, 3, 2, 3)));
    addTorque(armOf(k), p);
  }
  mean = f32x4(
    <f32>(f64x2.extract_lane(xy, 0) / mass),
    <f32>(f64x2.extract_lane(xy, 1) / mass),
    <f32>(f64x2.extract_lane(zw, 0) / mass),
    0,
  );
  spin = turns ? turnByTorque() : f32x4.splat(0);
  let common: f64 = 0;
  let relative: f64 = 0;
  for (let k: usize = 0; k < columns; k++) {
    const whole = commonOf(k);
    const u = f32x4.sub(v128.load(y + (k << 4)), whole);
    v128.store(y + (k << 4), u);
    const m: f64 = load<f32>(inertia + (k << 2));
    common += m * square(whole);
    relative += m * square(u);
  }
  if (usesMetric(row)) relative = quadraticForm(row + L.PREFACTORED_FACTOR, y);
  const scale = 0.5 * <f64>h * <f64>h;
  commonEnergy = scale * common;
  relativeEnergy = scale * relative;
}

// @inline
function square(a: v128): f64 {
  const all = f32x4.mul(a, a);
  return <f64>f32x4.extract_lane(all, 0) + <f64>f32x4.extract_lane(all, 1) + <f64>f32x4.extract_lane(all, 2);
}

/** Place of column k, from the first particle: at the start of the substep unless openMotion has set it to x. */
// @inline
function from(k: usize): v128 {
  const particle = first + <usize>load<u32>(order + (k << 2));
  const way = f32x4.sub(v128.load(particle + toPlace), v128.load(first + toPlace));
  const lows = f32x4.sub(v128.load(particle + toPlaceLow), v128.load(first + toPlaceLow));
  return f32x4.replace_lane(f32x4.add(way, lows), 3, 0);
}

function measure(): void {
  let mass: f64 = 0;
  let x: f64 = 0;
  let y: f64 = 0;
  let z: f64 = 0;
  for (let k: usize = 0; k < columns; k++) {
    const m: f64 = load<f32>(inertia + (k << 2));
    const a = from(k);
    mass += m;
    x += m * <f64>f32x4.extract_lane(a, 0);
    y += m * <f64>f32x4.extract_lane(a, 1);
    z += m * <f64>f32x4.extract_lane(a, 2);
  }
  center = f32x4(<f32>(x / mass), <f32>(y / mass), <f32>(z / mass), 0);
  let xx: f64 = 0;
  let yy: f64 = 0;
  let zz: f64 = 0;
  let xy: f64 = 0;
  let xz: f64 = 0;
  let yz: f64 = 0;
  for (let k: usize = 0; k < columns; k++) {
    const m: f64 = load<f32>(inertia + (k << 2));
    const a = f32x4.sub(from(k), center);
    x = f32x4.extract_lane(a, 0);
    y = f32x4.extract_lane(a, 1);
    z = f32x4.extract_lane(a, 2);
    xx += m * x * x;
    yy += m * y * y;
    zz += m * z * z;
    xy += m * x * y;
    xz += m * x * z;
    yz += m * y * z;
  }
  invert(yy + zz, -xy, -xz, xx + zz, -yz, xx + yy);
}

/** Inverts a symmetric matrix; a body without extent does not turn. */
function invert(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64): void {
  const k00 = d * f - e * e;
  const k01 = c * e - b * f;
  const k02 = b * e - c * d;
  const determinant = a * k00 + b * k01 + c * k02;
  const trace = a + d + f;
  turns = determinant > 1e-9 * trace * trace * trace;
  const inverse = 1 / determinant;
  i00 = inverse * k00;
  i01 = inverse * k01;
  i02 = inverse * k02;
  i11 = inverse * (a * f - c * c);
  i12 = inverse * (b * c - a * e);
  i22 = inverse * (a * d - b * b);
}

// @inline
function cross(a: v128, b: v128): v128 {
  const left = f32x4.mul(v128.shuffle<f32>(a, a, 1, 2, 0, 3), v128.shuffle<f32>(b, b, 2, 0, 1, 3));
  return f32x4.sub(left, f32x4.mul(v128.shuffle<f32>(a, a, 2, 0, 1, 3), v128.shuffle<f32>(b, b, 1, 2, 0, 3)));
}

// torque: x and y, then z and 0
let torqueXY = f64x2.splat(0);
let torqueZ = f64x2.splat(0);

// @inline
function clear(): void {
  torqueXY = torqueZ = f64x2.splat(0);
}

// @inline
function addTorque(arm: v128, force: v128): void {
  const torque = cross(arm, force);
  torqueXY = f64x2.add(torqueXY, f64x2.promote_low_f32x4(torque));
  torqueZ = f64x2.add(torqueZ, f64x2.promote_low_f32x4(v128.shuffle<f32>(torque, torque, 2, 3, 2, 3)));
}

function turnByTorque(): v128 {
  const x = f64x2.extract_lane(torqueXY, 0);
  const y = f64x2.extract_lane(torqueXY, 1);
  const z = f64x2.extract_lane(torqueZ, 0);
  return f32x4(
    <f32>(i00 * x + i01 * y + i02 * z),
    <f32>(i01 * x + i11 * y + i12 * z),
    <f32>(i02 * x + i12 * y + i22 * z),
    0,
  );
}

/**
 * Replaces forces on the columns of the selected body, N, by the displacement that they cause in a substep, m. Lane 3
 * is solved by P alone. @param y f32x4 for each column, and one more
 */
export function moveByForces(y: usize): void {
  if (!turns) {
    backSolve(row + L.PREFACTORED_FACTOR, y);
    return;
  }
  countWork(UNITS_OF_COLUMN * <i32>columns);
  clear();
  for (let k: usize = 0; k < columns; k++) addTorque(armOf(k), v128.load(y + (k << 4)));
  const turn = turnByTorque();
  for (let k: usize = 0; k < columns; k++) {
    const by = f32x4.mul(v128.load32_splat(inertia + (k << 2)), cross(turn, armOf(k)));
    v128.store(y + (k << 4), f32x4.sub(v128.load(y + (k << 4)), by));
  }
  backSolve(row + L.PREFACTORED_FACTOR, y);
  clear();
  for (let k: usize = 0; k < columns; k++)
    addTorque(armOf(k), f32x4.mul(v128.load32_splat(inertia + (k << 2)), v128.load(y + (k << 4))));
  added = f32x4.sub(turn, turnByTorque());
  for (let k: usize = 0; k < columns; k++)
    v128.store(y + (k << 4), f32x4.add(v128.load(y + (k << 4)), cross(added, armOf(k))));
}
