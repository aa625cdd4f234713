/**
 * Impacts of implicit solids on standing shape colliders. An implicit Euler step loses all vibrations, and with them
 * the rebound: a cube of 10^7 Pa that falls by 1 m touches for 4.5 ms, and fell dead. So a solid that strikes takes
 * explicit steps (symplectic Euler, which keeps energy; Hairer, Lubich & Wanner 2006):
 *   v += h (a - M^-1 dE/dx) / (1 + h d),  x += h v,  and `collide` stops touching particles, with friction
 * of at most MARGIN/omega, until it has been clear of colliders for as long as sound needs to cross it, or TOUCHES
 * times as long after its last strike. omega^2 bounds the eigenvalues of M^-1 K at rest, by Gershgorin's theorem for
 * the matrix of V (3 lambda + 2 mu) |grad u|^2, which lies above K. An implicit step fills the rest of its step.
 */
import * as L from "../layout/layout";
import { entersFast } from "./colliderContacts";
import { isViscous } from "./viscosity";
import { addForcesOfTets } from "./solids";
import { meets } from "../state/filters";
import { combine } from "../math/vectors";

/** Steps below 2/omega are stable. Compressed elements may be stiffer than at rest. */
const MARGIN: f64 = 1.2;
/**
 * A body strikes if it approaches by more than STRIKES times the displacement that its external acceleration makes in a
 * step. Slower bodies count as resting (coefficients.ts). At 4 steps a tick the limit is 0.08 m/s. (With a limit of
 * 0.33 m/s a landing plate slid 5 % too far, because small impacts in implicit steps lose friction.)
 */
const STRIKES: f64 = 2;

/** A bar's end touches a wall for two crossings, a compact body for about three. */
export const TOUCHES: f64 = 6;

/** Length of an explicit step, and the time in which sound crosses the body, s; set by `findPace`. */
export let pace: f64 = 0;
export let crossing: f64 = 0;

/** Returns whether a body is a solid that only standing shapes and its own elements push. */
export function mayStrike(row: usize): bool {
  if (!load<u32>(row, L.IMPLICIT_TOUCHES) || !load<u32>(row, L.IMPLICIT_ROTATIONS)) return false;
  if (load<i32>(row, L.IMPLICIT_HELD_COUNT) > 0 || isViscous(row)) return false;
  const table = <usize>load<u32>(row, L.IMPLICIT_MEETS);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES)
    if (load<u32>(c, L.COLLIDER_MOTION) && meets(table, n)) return false;
  return true;
}

/** Returns whether a body strikes a collider in this step. @param state x, v; scratch a vector */
export function strikes(row: usize, state: usize, scratch: usize): bool {
  const vector = 24 * <usize>load<i32>(row, L.IMPLICIT_COUNT);
  combine(scratch, state, load<f64>(row, L.IMPLICIT_STEP_SECONDS), state + vector, vector);
  return entersFast(row, state, scratch, STRIKES);
}

/** Sets `pace` and `crossing`. @param scratch a vector */
export function findPace(row: usize, scratch: usize): void {
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const mu = load<f64>(row, L.IMPLICIT_MU);
  const lambda = load<f64>(row, L.IMPLICIT_LAMBDA);
  memory.fill(scratch, 0, 24 * <usize>count);
  const volume = addBounds(row, scratch, 3 * lambda + 2 * mu);
  let most: f64 = 0;
  let total: f64 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const m = load<f64>(mass + (i << 3));
    if (!(m > 0)) continue;
    total += m;
    most = max<f64>(most, load<f64>(scratch + 24 * i) / m);
  }
  crossing = diagonalOf(row, count) / sqrt<f64>(((lambda + 2 * mu) * volume) / total);
  pace = MARGIN / sqrt<f64>(most);
}

/** Adds w V sum_j |b_i . b_j| of all elements to the first number of each particle. @returns the body's volume, m^3 */
function addBounds(row: usize, bounds: usize, w: f64): f64 {
  let tet = <usize>load<u32>(row, L.IMPLICIT_TETS);
  let volume: f64 = 0;
  for (let n = load<i32>(row, L.IMPLICIT_TET_COUNT); n > 0; n--, tet += L.IMPLICIT_TET_BYTES) {
    const V = load<f64>(tet, L.IMPLICIT_TET_VOLUME);
    volume += V;
    for (let i: usize = 0; i < 4; i++) {
      let sum: f64 = 0;
      for (let j: usize = 0; j < 4; j++) {
        let product: f64 = 0;
        for (let r: usize = 0; r < 24; r += 8) product += gradient(tet, i, r) * gradient(tet, j, r);
        sum += abs<f64>(product);
      }
      const at = bounds + <usize>load<u32>(tet + (i << 2));
      store<f64>(at, load<f64>(at) + w * V * sum);
    }
  }
  return volume;
}

/** Returns a number of b_i, the gradient of corner i's shape function. */
function gradient(tet: usize, i: usize, r: usize): f64 {
  const dm = tet + L.IMPLICIT_TET_DM + r;
  return i < 3 ? load<f64>(dm + 24 * i) : -(load<f64>(dm) + load<f64>(dm, 24) + load<f64>(dm, 48));
}

/** Returns the diagonal of the body's bounding box, m. */
function diagonalOf(row: usize, count: i32): f64 {
  const x = <usize>load<u32>(row, L.IMPLICIT_STATE);
  let sum: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    let least = load<f64>(x + r);
    let most = least;
    for (let i: usize = 1; i < <usize>count; i++) {
      least = min<f64>(least, load<f64>(x + r + 24 * i));
      most = max<f64>(most, load<f64>(x + r + 24 * i));
    }
    sum += (most - least) * (most - least);
  }
  return sqrt<f64>(sum);
}

/** v += h (a - M^-1 dE/dx) / (1 + h d). @param state x, v; scratch a vector */
export function kick(row: usize, state: usize, scratch: usize, h: f64): void {
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const keep = 1 / (1 + h * dampingOf(row));
  memory.fill(scratch, 0, 24 * <usize>count);
  addForcesOfTets(row, state, scratch);
  let a =
    <usize>load<u32>(row, L.IMPLICIT_FIRST) + (<usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X));
  let v = state + 24 * <usize>count;
  for (let i = 0, g = scratch; i < count; i++, a += 16, v += 24, g += 24) {
    const m = load<f64>(mass + ((<usize>i) << 3));
    if (!(m > 0)) continue;
    const scale = h / m;
    for (let r: usize = 0; r < 3; r++) {
      const change = h * <f64>load<f32>(a + (r << 2)) - scale * load<f64>(g + (r << 3));
      store<f64>(v + (r << 3), keep * (load<f64>(v + (r << 3)) + change));
    }
  }
}

/** Returns the damping of air, 1/s. */
function dampingOf(row: usize): f64 {
  return (1.5 * (1 / load<f64>(row, L.IMPLICIT_KEEP) - 1)) / load<f64>(row, L.IMPLICIT_STEP_SECONDS);
}

/** Sets the length of implicit steps, s, until `restoreStep`. */
export function shortenStep(row: usize, h: f64): void {
  memory.copy(row + L.IMPLICIT_WHOLE, row + L.IMPLICIT_STEP_SECONDS, L.IMPLICIT_WHOLE - L.IMPLICIT_STEP_SECONDS);
  const damping = dampingOf(row);
  const keep = 1 / (1 + (2 * h * damping) / 3);
  store<f64>(row, h, L.IMPLICIT_STEP_SECONDS);
  store<f64>(row, keep, L.IMPLICIT_KEEP);
  store<f64>(row, 2.25 / (h * h * keep), L.IMPLICIT_COEFFICIENT);
  store<f64>(row, (1 + h * damping) / (h * h), L.IMPLICIT_EULER);
}

/** Sets the length of implicit steps to that of a whole one again, to the bit. */
export function restoreStep(row: usize): void {
  memory.copy(row + L.IMPLICIT_STEP_SECONDS, row + L.IMPLICIT_WHOLE, L.IMPLICIT_WHOLE - L.IMPLICIT_STEP_SECONDS);
}

/** Sets x1 and v1 as if only external acceleration had acted in the step before. @param state x, v, x1, v1 */
export function setPast(row: usize, state: usize): void {
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const keep = load<f64>(row, L.IMPLICIT_KEEP);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const vector = 24 * <usize>count;
  const toA = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let a = <usize>load<u32>(row, L.IMPLICIT_FIRST) + toA;
  for (let i = 0, x = state; i < count; i++, a += 16)
    for (let r: usize = 0; r < 3; r++, x += 8) {
      const free = load<f64>(mass + ((<usize>i) << 3)) > 0;
      const change = free ? h * keep * <f64>load<f32>(a + (r << 2)) : 0;
      const v = load<f64>(x + vector);
      store<f64>(x + 2 * vector, load<f64>(x) - h * (v - 0.5 * change));
      store<f64>(x + 3 * vector, v - change);
    }
}
