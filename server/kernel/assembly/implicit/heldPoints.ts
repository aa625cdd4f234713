/**
 * Attachments and grabs of an implicit body, as springs in the objective of its step:
 *   c = sum_i b_i x_i - target,   E = k |c|^2 / 2 up to |c| = F/k, from there on F (|c| - F/2k), F the force limit
 *   k = 1/(alpha + W/(RIGID coefficient)),  W = sum_i b_i^2/m_i
 * At the limit the force is constant along c: with F/|c| in that direction, too, each step let a body that begins to
 * slip fall by a part only, and held it for 25 ms with up to three times the limit.
 * POINT_LAMBDA is the force times the squared substep, as for other bodies. Twin: sim/reference/implicit/heldPoints.ts.
 */
import * as L from "../layout/layout";
import { targetOf } from "../points/points";

/** Stiffness of a point without compliance, relative to the inertia of the particles that it holds. */
const RIGID: f64 = 1e4;
/** N: a limit above this one counts as no limit. */
const ANY_FORCE: f32 = 1e38;

// sum_i b_i x_i of the last point
let c0: f64 = 0;
let c1: f64 = 0;
let c2: f64 = 0;

/** Lists the points that hold the body, with their current targets. */
export function holdPoints(row: usize): void {
  const first = load<u32>(row, L.IMPLICIT_FIRST);
  const end = first + (load<u32>(row, L.IMPLICIT_COUNT) << 4);
  let point = <usize>load<u32>(L.HEADER, L.H_POINTS);
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  let count = 0;
  for (let n = load<i32>(L.HEADER, L.H_POINT_COUNT); n > 0; n--, point += L.POINT_BYTES) {
    const address = load<u32>(point, L.POINT_ADDRESS);
    if (load<i32>(point, L.POINT_ACTIVE) !== L.POINT_IMPLICIT || address < first || address >= end) continue;
    const target = targetOf(point);
    store<u32>(held, <u32>point, L.HELD_POINT);
    store<f64>(held, <f64>f32x4.extract_lane(target, 0), L.HELD_TARGET);
    store<f64>(held, <f64>f32x4.extract_lane(target, 1), L.HELD_TARGET + 8);
    store<f64>(held, <f64>f32x4.extract_lane(target, 2), L.HELD_TARGET + 16);
    store<f64>(
      held,
      1 /
        (<f64>load<f32>(point, L.POINT_ALPHA) + weight(row, point) / (RIGID * load<f64>(row, L.IMPLICIT_COEFFICIENT))),
      L.HELD_STIFFNESS,
    );
    held += L.HELD_BYTES;
    count++;
  }
  store<i32>(row, count, L.IMPLICIT_HELD_COUNT);
}

/** Returns whether a grab holds the body, or an attachment with a force limit. */
export function anyGrab(row: usize): bool {
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  for (let n = load<i32>(row, L.IMPLICIT_HELD_COUNT); n > 0; n--, held += L.HELD_BYTES)
    if (load<f32>(<usize>load<u32>(held, L.HELD_POINT), L.POINT_MAX_FORCE) < ANY_FORCE) return true;
  return false;
}

/** Returns the force limit, N; for a grab, its share of the whole body's limit (sim/grabs/grabLimits.ts). */
// @inline
function forceLimit(point: usize): f64 {
  return <f64>load<f32>(point, L.POINT_MAX_FORCE) * <f64>load<f32>(point, L.POINT_SHARE);
}

/** Returns W = sum_i b_i^2/m_i over the free particles, 1/kg. */
function weight(row: usize, point: usize): f64 {
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  let W: f64 = 0;
  for (let i = 0; i < load<i32>(point, L.POINT_COUNT); i++) {
    const m = load<f64>(mass + (offset(row, point, i) << 3));
    const b = <f64>load<f32>(point + ((<usize>i) << 2), L.POINT_WEIGHT);
    W += m > 0 ? (b * b) / m : 0;
  }
  return W;
}

/** Number of a point's particle in the body. */
// @inline
function offset(row: usize, point: usize, i: i32): usize {
  return <usize>(load<u32>(point + ((<usize>i) << 2), L.POINT_ADDRESS) - load<u32>(row, L.IMPLICIT_FIRST)) >> 4;
}

/** sum_i b_i x_i -> c0 .. c2. */
function weighted(row: usize, point: usize, x: usize): void {
  c0 = 0;
  c1 = 0;
  c2 = 0;
  for (let i = 0; i < load<i32>(point, L.POINT_COUNT); i++) {
    const at = x + 24 * offset(row, point, i);
    const b = <f64>load<f32>(point + ((<usize>i) << 2), L.POINT_WEIGHT);
    c0 += b * load<f64>(at);
    c1 += b * load<f64>(at, 8);
    c2 += b * load<f64>(at, 16);
  }
}

/** c = sum_i b_i x_i - target. @returns |c| */
function gap(row: usize, held: usize, x: usize): f64 {
  weighted(row, <usize>load<u32>(held, L.HELD_POINT), x);
  c0 -= load<f64>(held, L.HELD_TARGET);
  c1 -= load<f64>(held, L.HELD_TARGET + 8);
  c2 -= load<f64>(held, L.HELD_TARGET + 16);
  return sqrt<f64>(c0 * c0 + c1 * c1 + c2 * c2);
}

/** g_i += b_i k c */
function scatter(row: usize, point: usize, k: f64, g: usize): void {
  const x = k * c0;
  const y = k * c1;
  const z = k * c2;
  for (let i = 0; i < load<i32>(point, L.POINT_COUNT); i++) {
    const at = g + 24 * offset(row, point, i);
    const b = <f64>load<f32>(point + ((<usize>i) << 2), L.POINT_WEIGHT);
    store<f64>(at, load<f64>(at) + b * x);
    store<f64>(at, load<f64>(at, 8) + b * y, 8);
    store<f64>(at, load<f64>(at, 16) + b * z, 16);
  }
}

/** Returns the sum of E over the points that hold the body, J, at the vector x. */
export function energyOfPoints(row: usize, x: usize): f64 {
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  let sum: f64 = 0;
  for (let n = load<i32>(row, L.IMPLICIT_HELD_COUNT); n > 0; n--, held += L.HELD_BYTES) {
    const k = load<f64>(held, L.HELD_STIFFNESS);
    const size = gap(row, held, x);
    const F = forceLimit(<usize>load<u32>(held, L.HELD_POINT));
    sum += k * size <= F ? 0.5 * k * size * size : F * (size - (0.5 * F) / k);
  }
  return sum;
}

/** g += dE/dx at x; stores data for products. */
export function linearizePoints(row: usize, x: usize, g: usize): void {
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  for (let n = load<i32>(row, L.IMPLICIT_HELD_COUNT); n > 0; n--, held += L.HELD_BYTES) {
    const point = <usize>load<u32>(held, L.HELD_POINT);
    const k = load<f64>(held, L.HELD_STIFFNESS);
    const size = gap(row, held, x);
    const F = forceLimit(point);
    const slips = k * size > F;
    const effective = slips ? F / size : k;
    store<f64>(held, effective, L.HELD_EFFECTIVE);
    store<f64>(held, slips ? c0 / size : 0, L.HELD_ALONG);
    store<f64>(held, slips ? c1 / size : 0, L.HELD_ALONG + 8);
    store<f64>(held, slips ? c2 / size : 0, L.HELD_ALONG + 16);
    scatter(row, point, effective, g);
  }
}

/** q += H p of the last linearization. */
export function multiplyPoints(row: usize, p: usize, q: usize): void {
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  for (let n = load<i32>(row, L.IMPLICIT_HELD_COUNT); n > 0; n--, held += L.HELD_BYTES) {
    const point = <usize>load<u32>(held, L.HELD_POINT);
    weighted(row, point, p);
    const x = load<f64>(held, L.HELD_ALONG);
    const y = load<f64>(held, L.HELD_ALONG + 8);
    const z = load<f64>(held, L.HELD_ALONG + 16);
    const along = x * c0 + y * c1 + z * c2;
    c0 -= along * x;
    c1 -= along * y;
    c2 -= along * z;
    scatter(row, point, load<f64>(held, L.HELD_EFFECTIVE), q);
  }
}

/** Stores the forces at x in POINT_LAMBDA. @param substep s */
export function notePoints(row: usize, x: usize, substep: f32): void {
  const hh = <f64>substep * <f64>substep;
  let held = <usize>load<u32>(row, L.IMPLICIT_HELD);
  for (let n = load<i32>(row, L.IMPLICIT_HELD_COUNT); n > 0; n--, held += L.HELD_BYTES) {
    const point = <usize>load<u32>(held, L.HELD_POINT);
    const k = load<f64>(held, L.HELD_STIFFNESS);
    const size = gap(row, held, x);
    const F = forceLimit(point);
    const scale = -hh * (k * size <= F ? k : F / size);
    v128.store(point, f32x4(<f32>(scale * c0), <f32>(scale * c1), <f32>(scale * c2), 0), L.POINT_LAMBDA);
  }
}
