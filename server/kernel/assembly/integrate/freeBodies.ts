/**
 * Finds the bodies that are free in this tick, and those that exchange momentum (state/islands.ts). momentum.ts
 * conserves the momentum of bodies without outside contact.
 */
import * as L from "../layout/layout";
import { distanceTo } from "../colliders/colliderDistance";
import { bindBalls } from "../rigid/balls";
import { dotXyz } from "../math/lanes";
import { meets } from "../state/filters";
import { islandOf, join, meetsFixed } from "../state/islands";

/** Finds the free bodies, and counts inactive and sleeping ones. Called once a tick, after the broad phase. */
export function findFreeBodies(): void {
  const bodies = load<i32>(L.HEADER, L.H_BODY_COUNT);
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  let leftOut = 0;
  for (let b = 0; b < bodies; b++) {
    const row = rows + <usize>b * L.BODY_BYTES;
    if (load<i32>(row, L.BODY_INACTIVE)) leftOut++;
    else chooseDrift(row);
    const held = heldBy(row);
    const free = held === 0;
    store<i32>(row, free ? 1 : 0, L.BODY_FREE);
    store<i32>(row, held, L.BODY_HELD);
    store<i32>(row, b, L.BODY_ISLAND);
    if (free) sumForces(row);
  }
  store<i32>(L.HEADER, leftOut, L.H_LEFT_OUT);
  let point = <usize>load<u32>(L.HEADER, L.H_POINTS);
  for (let n = load<i32>(L.HEADER, L.H_POINT_COUNT); n > 0; n--, point += L.POINT_BYTES) {
    if (!load<i32>(point, L.POINT_ACTIVE)) continue;
    for (let i = 0; i < load<i32>(point, L.POINT_COUNT); i++)
      bind(rows, bodies, load<u32>(point + (i << 2), L.POINT_ADDRESS));
  }
  bindNeighbors();
}

/**
 * Joins bodies that the pair list has near each other. Bodies near a collider's core mesh are not free. Surfaces of
 * bodies come first, in body order.
 */
export function bindNeighbors(): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const bodies = <u32>load<i32>(L.HEADER, L.H_BODY_COUNT);
  // A list that is built in the middle of a tick may have other neighbors: begin anew.
  for (let b: u32 = 0; b < bodies; b++) {
    const row = rows + <usize>b * L.BODY_BYTES;
    const held = load<i32>(row, L.BODY_HELD) & 1;
    store<i32>(row, b, L.BODY_ISLAND);
    store<i32>(row, held, L.BODY_HELD);
    store<i32>(row, held ? 0 : 1, L.BODY_FREE);
  }
  const listed = load<u32>(L.HEADER, L.H_SAFE) !== 0;
  if (listed)
    for (let b: u32 = 0; b < bodies; b++) {
      const row = rows + <usize>b * L.BODY_BYTES;
      join(rows, b, load<u32>(row, L.BODY_LISTED));
      if (load<i32>(row, L.BODY_AGAINST)) meetsFixed(row);
    }
  bindBalls();
  // surfaces that are driven apart (resolution.ts)
  if (listed)
    for (
      let n = load<i32>(L.HEADER, L.H_DRIVE_COUNT), intersection = <usize>load<u32>(L.HEADER, L.H_INTERSECTIONS);
      n > 0;
      n--, intersection += L.INTERSECTION_BYTES
    )
      bindBoth(rows, bodies, load<u32>(intersection, L.INTERSECTION_SURFACES));
  // a held body holds its whole island; an island with a rigid body gets its momentum back after rigid.ts
  for (let b: u32 = 0; b < bodies; b++) {
    const row = rows + <usize>b * L.BODY_BYTES;
    const all = islandOf(rows, b);
    store<i32>(row, all, L.BODY_ISLAND);
    const at = rows + <usize>all * L.BODY_BYTES;
    if (load<i32>(row, L.BODY_HELD) & 3) store<i32>(at, load<i32>(at, L.BODY_HELD) | 2, L.BODY_HELD);
    if (load<i32>(row, L.BODY_RIGID)) store<i32>(at, load<i32>(at, L.BODY_HELD) | L.HELD_RIGID, L.BODY_HELD);
  }
}

/** Joins two surfaces. @param both a pair's surfaces, first << 16 | second */
// @inline
function bindBoth(rows: usize, bodies: u32, both: u32): void {
  const a = both >> 16;
  const b = both & 0xffff;
  if (a === b) return;
  if (a < bodies && b < bodies) join(rows, a, b);
  else meetsFixed(rows + <usize>(a < bodies ? a : b) * L.BODY_BYTES);
}

// @inline
function hold(row: usize): void {
  store<i32>(row, 0, L.BODY_FREE);
  store<i32>(row, 1, L.BODY_HELD);
}

/** Makes the body that owns the particle at `address` not free. */
function bind(rows: usize, bodies: i32, address: u32): void {
  for (let b = 0, row = rows; b < bodies; b++, row += L.BODY_BYTES) {
    const first = load<u32>(row, L.BODY_FIRST);
    if (address >= first && address < first + (load<u32>(row, L.BODY_COUNT) << 4)) {
      hold(row);
      return;
    }
  }
}

/** Sets BODY_DRIFT. */
function chooseDrift(row: usize): void {
  const later = load<f32>(row, L.BODY_LATER);
  const calm = load<f32>(row, L.BODY_CALM);
  store<f32>(row, later > 0 && fastest2(row) > calm * calm ? later : 0, L.BODY_DRIFT);
}

/** Square of the speed of a body's fastest particle, m^2/s^2. */
function fastest2(row: usize): f32 {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let most: f32 = 0;
  for (let i = load<i32>(row, L.BODY_COUNT), at = <usize>load<u32>(row, L.BODY_FIRST) + toV; i > 0; i--, at += 16) {
    const v = v128.load(at);
    most = max<f32>(most, dotXyz(v, v));
  }
  return most;
}

/** Sums external force and mass of a body without fixed particles. */
function sumForces(row: usize): void {
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let mass: f64 = 0;
  let x: f64 = 0;
  let y: f64 = 0;
  let z: f64 = 0;
  const unforced = load<i32>(row, L.BODY_UNFORCED);
  for (let i = load<i32>(row, L.BODY_COUNT), at = <usize>load<u32>(row, L.BODY_FIRST); i > 0; i--, at += 16) {
    const m = 1.0 / <f64>load<f32>(at, 12);
    const acc = at + toAcc;
    mass += m;
    if (unforced) continue;
    x += m * <f64>load<f32>(acc);
    y += m * <f64>load<f32>(acc, 4);
    z += m * <f64>load<f32>(acc, 8);
  }
  store<f64>(row, x, L.BODY_FORCE);
  store<f64>(row, y, L.BODY_FORCE + 8);
  store<f64>(row, z, L.BODY_FORCE + 16);
  store<f64>(row, mass, L.BODY_MASS);
}

/**
 * Returns 0 if no particle is fixed, and no collider is within reach of the ball around the body, if it moved on for
 * 1.5 ticks; else 1.
 */
function heldBy(row: usize): i32 {
  if (load<i32>(row, L.BODY_IMPLICIT)) return 1; // its own step conserves momentum
  const first = <usize>load<u32>(row, L.BODY_FIRST);
  const count = load<i32>(row, L.BODY_COUNT);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let low = v128.load(first);
  let high = low;
  let speed2: f32 = 0;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    if (load<f32>(at, 12) === 0) return 1;
    const x = v128.load(at);
    low = f32x4.min(low, x);
    high = f32x4.max(high, x);
    const a = load<f32>(at + toV);
    const b = load<f32>(at + toV, 4);
    const c = load<f32>(at + toV, 8);
    speed2 = max<f32>(speed2, a * a + b * b + c * c);
  }
  const half = f32x4.mul(f32x4.sub(high, low), f32x4.splat(0.5));
  const center = f32x4.add(low, half);
  const hx = f32x4.extract_lane(half, 0);
  const hy = f32x4.extract_lane(half, 1);
  const hz = f32x4.extract_lane(half, 2);
  const reach: f32 =
    Mathf.sqrt(hx * hx + hy * hy + hz * hz) + 1.5 * Mathf.sqrt(speed2) * load<f32>(L.HEADER, L.H_TICK_SECONDS);
  if (!(reach < Infinity)) return 1; // blown up: the guard handles it
  let c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const table = <usize>load<u32>(row, L.BODY_MEETS);
  for (let n = 0; n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (!meets(table, n)) continue;
    const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
    if (motion) {
      // clear of the bounding ball on the collider's path
      const toward = f32x4.sub(center, v128.load(motion, L.MOTION_S1));
      const x = f32x4.extract_lane(toward, 0);
      const y = f32x4.extract_lane(toward, 1);
      const z = f32x4.extract_lane(toward, 2);
      const apart: f32 = reach + load<f32>(motion, L.MOTION_RADIUS) + load<f32>(motion, L.MOTION_TRAVEL);
      if (!(x * x + y * y + z * z > apart * apart)) return 1;
    } else if (
      distanceTo(c, f32x4.extract_lane(center, 0), f32x4.extract_lane(center, 1), f32x4.extract_lane(center, 2)) <=
      reach
    )
      return 1;
  }
  return 0;
}
